"""What is no input, output or setting at all ends in an error of ours that says what to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import SidelightError
from sidelight.evaluate import convert, span_counts, span_f1, spans

X, Y = [["a", "b"], ["b"]], [["X", "Y"], ["Y"]]


def _named(value: Any) -> str:
    """The same in every process: no addresses."""
    return "object" if type(value) is object else repr(value)


WRONG = [None, 3, 2.5, True, object(), np.array("x"), sl.Tagger]


@pytest.fixture(scope="module")
def fitted() -> dict[str, Any]:
    classes = sl.Classifier(n_jobs=1, max_rounds=3).fit([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    pairs = [(["a"], ["b"]), (["a", "c"], ["b", "d"])]
    return {
        "tagger": sl.Tagger(learner="crf", n_jobs=1, max_rounds=3).fit(X, Y),
        "classifier": classes,
        "segments": sl.SegmentTagger(max_rounds=3, n_jobs=1).fit(X, Y),
        "aligner": sl.Aligner(n_jobs=1).fit(pairs),
    }


def refuses(what: Callable[[], Any], *, wrong: Any) -> None:
    """Raises an error of ours, or a ValueError with a remedy."""
    try:
        what()
    except SidelightError:
        return
    except ValueError as error:
        assert "; give" in str(error), (wrong, error)
        return
    raise AssertionError(f"{wrong!r} went through")


@pytest.mark.parametrize("name", ["tagger", "classifier", "segments"])
@pytest.mark.parametrize("wrong", WRONG, ids=_named)
def test_no_inputs_at_all(fitted: dict[str, Any], name: str, wrong: Any) -> None:
    model = fitted[name]
    inputs = X if name != "classifier" else [{"a": 1.0}, {"b": 1.0}]
    for method in ("predict", "predict_marginals", "log_partition", "sample", "solutions", "score", "prepare", "judge"):
        if hasattr(model, method):
            refuses(lambda method=method: getattr(model, method)(wrong), wrong=wrong)
    refuses(lambda: model.score(inputs, wrong) if wrong is not None else model.score(inputs), wrong=wrong)
    refuses(lambda: model.log_probability(inputs, wrong), wrong=wrong)
    if wrong is not None:
        refuses(lambda: model.score(inputs, model.predict(inputs), wrong), wrong=wrong)
        refuses(lambda: type(model)().fit(inputs, wrong), wrong=wrong)
    refuses(lambda: type(model)().fit(wrong), wrong=wrong)


@pytest.mark.parametrize("wrong", [{"X", "Y"}, {"X": 1, "Y": 2}, b"XY"], ids=["set", "dict", "bytes"])
def test_what_has_no_order_has_no_labels_to_compare(wrong: Any) -> None:
    refuses(lambda: sl.evaluate(wrong, wrong), wrong=wrong)
    refuses(lambda: sl.evaluate([wrong], [wrong]), wrong=wrong)


@pytest.mark.parametrize("wrong", WRONG, ids=_named)
def test_no_outputs_to_compare(wrong: Any) -> None:
    refuses(lambda: sl.evaluate(wrong, Y), wrong=wrong)
    refuses(lambda: sl.evaluate(Y, wrong), wrong=wrong)
    refuses(lambda: sl.compare(Y, Y, wrong), wrong=wrong)
    refuses(lambda: spans(wrong), wrong=wrong)
    refuses(lambda: span_counts(wrong, Y), wrong=wrong)
    refuses(lambda: span_f1(wrong), wrong=wrong)
    refuses(lambda: convert(wrong, to="BIO"), wrong=wrong)
    refuses(lambda: list(sl.GoldFolds(2).split(wrong)), wrong=wrong)
    refuses(lambda: sl.shuffled(wrong), wrong=wrong)
    refuses(lambda: sl.shuffled([wrong]), wrong=wrong)
    if wrong != 3:
        refuses(lambda: sl.compare(Y, Y, Y, rounds=wrong), wrong=wrong)
        refuses(lambda: sl.shuffled(X, copies=wrong), wrong=wrong)


@pytest.mark.parametrize("wrong", [*WRONG, "text", {"a": 1}], ids=_named)
def test_other_structures_and_files(fitted: dict[str, Any], wrong: Any, tmp_path: Any) -> None:
    refuses(lambda: sl.save_model(wrong, tmp_path / "model"), wrong=wrong)
    if wrong != {"a": 1}:
        refuses(lambda: sl.Joint(wrong, []), wrong=wrong)
    joint = sl.Joint({"e": ["a", "b"]}, [])
    refuses(lambda: joint.predict(["x"], [wrong]), wrong=wrong)
    refuses(lambda: joint.predict(["x"], wrong), wrong=wrong)
    if not isinstance(wrong, str):
        refuses(lambda: sl.features.parse_templates(wrong), wrong=wrong)
    aligner = fitted["aligner"]
    for given in (wrong, [wrong], [(wrong, wrong)], [([wrong], [wrong])] if not isinstance(wrong, str) else wrong):
        refuses(lambda given=given: aligner.align(given), wrong=given)
        refuses(lambda given=given: sl.Aligner().fit(given), wrong=given)


@pytest.mark.parametrize("wrong", [None, "text", 2.5, [], object()], ids=_named)
@pytest.mark.parametrize("name", ["model1_iterations", "steps", "agreement", "gamma", "tolerance", "callbacks"])
def test_settings_of_an_aligner(name: str, wrong: Any) -> None:
    if (name, wrong) in (("gamma", 2.5), ("tolerance", 2.5)) or (name == "callbacks" and wrong == []):
        return
    with pytest.raises(ValueError, match=f"{name} is .*; give"):
        sl.Aligner(**{name: wrong}).fit([(["a"], ["b"])])
