"""Every parameter and every option with every wrong value: it works, or it is refused by name, and it ends."""

from __future__ import annotations

import inspect
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import sidelight as sl
from sidelight import features, recipes
from sidelight.errors import SidelightError
from sidelight.estimators.segment_tagger import SegmentTagger
from sidelight.recipes import LEARNERS
from sidelight.rules import gallery

XS = [["Anna", "visits", "Rome"], ["Paul", "is", "in", "Oslo"], ["Rome", "is", "old"], ["Anna", "sees", "Paul"]]
YS = [["PER", "O", "LOC"], ["PER", "O", "O", "LOC"], ["LOC", "O", "O"], ["PER", "O", "PER"]]
PAIRS = [
    (["a", "green", "house"], ["une", "maison", "verte"]),
    (["green"], ["verte"]),
    (["a", "house"], ["une", "maison"]),
]
VALUES: list[Any] = [float("nan"), float("inf"), float("-inf"), -1, 0, 2.5, 1e308, 10**30, "x", None, True, [], {}]
LIMIT = 300  # seconds


@contextmanager
def limited() -> Iterator[None]:
    """A hang fails: not by time, which machines differ in, but for good."""

    def end(*_: object) -> None:
        raise AssertionError(f"it has not ended after {LIMIT} s")

    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGALRM, end)
        signal.alarm(LIMIT)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
    else:
        yield


def check(name: str, value: Any, work: Callable[[], object]) -> str | None:
    """None where the work is done or refused in our words; else what it came to."""
    with limited(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            work()
        except (SidelightError, ValueError) as error:
            told = str(error)
            ours = name in told or "; " in told
            return None if ours and "\n" not in told else f"{name}={value!r}: {type(error).__name__}: {told}"
        except AssertionError as error:
            return f"{name}={value!r}: {error!r}"
        except Exception as error:
            return f"{name}={value!r}: raw {error!r}"
    return None


def evidence_for(learner: str) -> list[Any]:
    """What a learner can learn from."""
    if learner in ("cllp", "mms", "naive", "cl_svm"):
        return sl.candidates(XS, [[{y, "O"} for y in ys] for ys in YS])
    if learner in (
        "em",
        "hard_em",
        "unified_em",
        "codl",
        "posterior_regularization",
        "self_training",
        "transductive_svm",
    ):
        return [*sl.gold(XS, YS), *sl.unlabeled(XS[:2])]
    if learner == "contrastive":
        return [*sl.gold(XS, YS), *sl.unlabeled(XS[:2])]
    return sl.gold(XS, YS)


def fitted(learner: Any, name: str, **given: Any) -> Any:
    kind = SegmentTagger if name in ("semi_crf", "semi_svm") else sl.Tagger
    few = {} if "max_rounds" in given else {"max_rounds": 4}
    rules = {"rules": [gallery.changes_after_punctuation()]} if name in ("codl", "posterior_regularization") else {}
    given = {"features": features.words(), "n_jobs": 1, **few, **rules, **given}
    return kind(learner=learner, **given).fit(evidence_for(name)).predict(XS)


ASIDE = {"learner", "checkpoint", "callbacks", "rules", "features", "segment_features", "first", "second", "views"}


def parameters(kind: Any) -> list[str]:
    return [name for name in inspect.signature(kind.__init__).parameters if name not in ASIDE | {"self"}]


TAGGERS = ["jlis", "structural_svm", "crf", "em", "cllp", "perceptron", "self_training", "codl"]
SOLVERS = [recipes.structural_svm(solver=name) for name in ("frank_wolfe", "one_slack", "n_slack_qp", "subgradient")]


@pytest.mark.parametrize("learner", TAGGERS)
def test_parameters_of_taggers(learner):
    odd = [
        check(name, value, lambda name=name, value=value: fitted(learner, learner, **{name: value}))
        for name in parameters(sl.Tagger)
        for value in VALUES
    ]
    assert not [one for one in odd if one]


@pytest.mark.parametrize("solver", SOLVERS, ids=[solver.solver for solver in SOLVERS])
def test_tolerances_of_solvers(solver):
    odd = [
        check(
            name, value, lambda name=name, value=value: fitted(solver, "structural_svm", loss="hinge", **{name: value})
        )
        for name in ("tolerance", "violation", "decrease", "max_rounds", "cost", "class_weight", "prices", "seed")
        for value in VALUES
    ]
    assert not [one for one in odd if one]


@pytest.mark.parametrize("learner", ["semi_crf", "semi_svm"])
def test_parameters_of_segment_taggers(learner):
    odd = [
        check(name, value, lambda name=name, value=value: fitted(learner, learner, **{name: value}))
        for name in parameters(SegmentTagger)
        for value in VALUES
    ]
    assert not [one for one in odd if one]


def test_parameters_of_classifiers():
    def work(name: str, value: Any) -> Any:
        few = {} if name == "max_rounds" else {"max_rounds": 4}
        return sl.Classifier(**{"n_jobs": 1, **few, name: value}).fit(XS, ["p", "q", "p", "q"]).predict(XS)

    names = parameters(sl.Classifier)
    odd = [check(name, value, lambda name=name, value=value: work(name, value)) for name in names for value in VALUES]
    assert not [one for one in odd if one]


def test_parameters_of_aligners():
    def work(name: str, value: Any) -> Any:
        given = {"n_jobs": 1, "model1_iterations": 2, "hmm_iterations": 2, name: value}
        return sl.Aligner(**given).fit(PAIRS).align(PAIRS)

    names = parameters(sl.Aligner)
    odd = [check(name, value, lambda name=name, value=value: work(name, value)) for name in names for value in VALUES]
    assert not [one for one in odd if one]


def test_parameters_of_co_training():
    def work(name: str, value: Any) -> Any:
        given = {"max_rounds": 1, name: value}
        one = sl.Tagger(n_jobs=1, max_rounds=3)
        return sl.CoTraining(one, one, **given).fit([*sl.gold(XS, YS), *sl.unlabeled(XS[:2])])

    names = parameters(sl.CoTraining)
    odd = [check(name, value, lambda name=name, value=value: work(name, value)) for name in names for value in VALUES]
    assert not [one for one in odd if one]


@pytest.mark.parametrize("learner", sorted(set(LEARNERS) - {"naive_bayes"}))
def test_options_of_recipes(learner):
    make = LEARNERS[learner]
    odd = [
        check(name, value, lambda name=name, value=value: fitted(make(**{name: value}), learner))
        for name in inspect.signature(make).parameters
        for value in VALUES
    ]
    assert not [one for one in odd if one]


def test_options_of_naive_bayes():
    make = LEARNERS["naive_bayes"]

    def work(name: str, value: Any) -> Any:
        return sl.Classifier(learner=make(**{name: value}), n_jobs=1).fit(XS, ["p", "q", "p", "q"]).predict(XS)

    names = inspect.signature(make).parameters
    odd = [check(name, value, lambda name=name, value=value: work(name, value)) for name in names for value in VALUES]
    assert not [one for one in odd if one]


NO_AMOUNTS = [float("nan"), float("inf"), float("-inf"), -1.0]


@pytest.mark.parametrize("value", NO_AMOUNTS)
@pytest.mark.parametrize("learner", ["jlis", "structural_svm", "mira", "arow", "self_training"])
def test_costs_and_class_weights_are_amounts(learner, value):
    """They were taken, and a wrong model was called converged."""
    with pytest.raises(ValueError, match=r"cost .*; give a number that is not negative"):
        fitted(learner, learner, cost={("PER", "O"): value})
    with pytest.raises(ValueError, match=r"class_weight .*; give a number that is not negative"):
        fitted(learner, learner, class_weight={"PER": value})


@pytest.mark.parametrize("value", NO_AMOUNTS)
def test_tolerances_and_prices_are_amounts(value):
    for name in ("tolerance", "violation", "decrease"):
        with pytest.raises(ValueError, match=rf"{name} is .*; give a number that is not negative"):
            fitted("jlis", "jlis", **{name: value})
        with pytest.raises(ValueError, match=rf"{name} is .*; give a number that is not negative"):
            fitted("semi_svm", "semi_svm", **{name: value})
    with pytest.raises(ValueError, match=r"the price of gold is .*; give a number that is not negative"):
        fitted("jlis", "jlis", prices={"gold": value})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e308, -1.0, "x", None])
@pytest.mark.parametrize("kind", [sl.Tagger, SegmentTagger])
def test_weights_of_evidence(kind, value):
    learner = "jlis" if kind is sl.Tagger else "semi_crf"
    for pieces in ([sl.Gold(XS[0], YS[0], weight=value)], [*sl.gold(XS, YS), sl.Partial(XS[0], YS[0], weight=value)]):
        assert check("weight", value, lambda pieces=pieces: kind(learner=learner, n_jobs=1).fit(pieces)) is None
    with pytest.raises(ValueError, match="weight"):
        kind(n_jobs=1).fit([sl.Gold(XS[0], YS[0], weight=value)])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e308, -1.0, "x", None])
def test_sample_weights(value):
    for given in ([value] * 4, [1.0, 1.0, 1.0, value]):
        with pytest.raises(ValueError, match="weight"):
            sl.Tagger(n_jobs=1).fit(XS, YS, sample_weight=given)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e400, 1e155, -1e300])
def test_feature_values(value):
    tokens = [[{"a": value}, {"a": 1.0}]]
    with pytest.raises(sl.DataError, match="NaN and infinite"):
        sl.Tagger(n_jobs=1).fit(tokens, [["A", "B"]])
    with pytest.raises(sl.DataError, match="NaN and infinite"):
        sl.Tagger(n_jobs=1).fit([[{"a": 1.0}]], [["A"]]).predict(tokens)
    with pytest.raises(sl.DataError, match="NaN and infinite"):
        sl.Classifier(n_jobs=1).fit(np.array([[value], [1.0]]), ["p", "q"])
    with pytest.raises(sl.DataError, match="NaN and infinite"):
        sl.Matrix(dense=np.array([[value], [1.0]]), lengths=[2])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, "x", True, 1e308])
def test_clamps(value):
    fitted_once = sl.Tagger(n_jobs=1, max_rounds=2).fit(XS, YS)
    for clamp in (value, [value], [[value, None, None]]):
        for method in ("predict", "predict_marginals", "log_partition", "sample"):
            work = lambda clamp=clamp, method=method: getattr(fitted_once, method)(XS[:1], clamp=clamp)  # noqa: E731
            assert check("clamp", clamp, work) is None


def test_weights_too_large_for_a_file_are_refused():
    xs = [[{"w": word, "size": 1e120 * len(word)} for word in x] for x in XS]
    with pytest.raises(sl.DataError, match="weights that were learned are too large, or no numbers; scale"):
        sl.Tagger(learner="perceptron", n_jobs=1).fit(xs, YS)
