"""What segments have in common with chains: every learner that asks for the best output or for sums, every kind of
evidence, costs, validation, checkpoints; each works, or names what is missing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sidelight import (
    Candidates,
    Companion,
    DataError,
    Gold,
    Partial,
    SegmentTagger,
    Tagger,
    Unlabeled,
    features,
    gold,
    recipes,
    unlabeled,
    votes,
)
from sidelight.corpus import references
from sidelight.features.segments.segment_sources import SegmentFeatures
from sidelight.recipes import LEARNERS

CORPUS = references(60, seed=5)
XS, YS = [list(r.tokens) for r in CORPUS], [list(r.labels) for r in CORPUS]
FIELDS = sorted({label for y in YS for label in y})
MISSING = {
    "contrastive": "neighbours of an output",
    "naive_bayes": "labels of single tokens",
    "one_against_rest": "labels of single tokens",
    "cl_svm": "a list of all candidate outputs",
    **dict.fromkeys(
        ("hmm", "em", "hard_em", "unified_em", "codl_as_printed", "posterior_regularization"), "a generative model"
    ),
}
GOLD_ALONE = ("structural_svm", "crf", "perceptron", "mira", "passive_aggressive", "arow")
OWN_PRECISION = ("cllp", "cllp_as_printed", "mms")


def tagger(learner: object = "semi_crf", **options: object) -> SegmentTagger:
    usual: dict[str, object] = {"features": features.words(before=1), "labels": FIELDS, "max_length": 4, "n_jobs": 1}
    usual |= {"max_rounds": 12, "segment_features": SegmentFeatures(families=("length", "first"))}
    return SegmentTagger(learner=learner, **{**usual, **options})


def mixed_evidence(kinds: str) -> list:
    found: list = [*gold(XS[:6], YS[:6])]
    if "p" in kinds:
        found += [Partial(x, [y if t % 2 else None for t, y in enumerate(ys)]) for x, ys in zip(XS[6:9], YS[6:9])]
        found += [Candidates(x, [{y, FIELDS[0]} for y in ys]) for x, ys in zip(XS[9:12], YS[9:12])]
    if "u" in kinds:
        found += [*unlabeled(XS[12:15])]
    if "c" in kinds:
        found += [Companion(x, 1) for x in XS[15:18]] + [Companion(x[::-1], -1) for x in XS[18:21]]
    if "v" in kinds:
        found += votes(XS[21:25], {"year": lambda words: ["date" if w[:2] == "19" else None for w in words]})
    return found


@pytest.mark.parametrize("name", [name for name, one in LEARNERS.items() if "gold" in one.takes])
def test_every_learner_works_or_names_what_is_missing(name: str) -> None:
    if name in MISSING:
        with pytest.raises(ValueError, match=f"needs {MISSING[name]}, which segments do not have"):
            tagger(name).fit(XS[:4], YS[:4])
        return
    if name == "semi_crf":
        with pytest.raises(ValueError, match="needs beliefs under rules"):
            tagger(recipes.posterior_regularization(base="crf")).fit(XS[:4], YS[:4])
    takes = {"jlis": "puc", "partial_crf": "pucv", "semi_crf": "pucv", **dict.fromkeys(GOLD_ALONE, "")}.get(name, "pu")
    few = {"max_rounds": None, "max_completions": 1} if name in OWN_PRECISION else {}
    evidence = mixed_evidence(takes)
    if name in OWN_PRECISION:
        evidence = evidence[:9]
    fitted = tagger(name, **few).fit(evidence)
    assert fitted.model_.about["learner"] == name and len(fitted.rounds_) > 0
    assert fitted.score(XS[:6], YS[:6]) > (0.3 if name == "naive" else 0.6)
    assert all(len(y) == len(x) for x, y in zip(XS, fitted.predict(XS)))


@pytest.mark.parametrize("learner", ["jlis", "latent_svm", "transductive_svm", "semi_crf"])
def test_the_objective_never_rises(learner: str) -> None:
    evidence = mixed_evidence("puc" if learner in ("jlis", "semi_crf") else "pu")
    fitted = tagger(learner, max_rounds=60, tolerance=0.1, prices={"gold": 0.1}).fit(evidence)
    joint = [record.objective for record in fitted.rounds_ if record.completion or learner == "semi_crf"]
    assert len(joint) > 2 and all(b <= a * (1 + 1e-9) for a, b in pairwise(joint))


def test_companion_answers_are_judged() -> None:
    good, bad = XS[:12], [x[::-1] for x in XS[:12]]
    for learner in ("jlis", "semi_crf"):
        answers = [*(Companion(x, 1) for x in good), *(Companion(x, -1) for x in bad)]
        prices = {"companion": 5.0, "gold": 0.1}
        fitted = tagger(learner, prices=prices, max_rounds=60).fit([*gold(XS[:6], YS[:6]), *answers])
        assert fitted.judge(good).mean() > fitted.judge(bad).mean() + 0.02
    assert fitted.model_.temperature > 0


@pytest.mark.parametrize("solver", ["dual_coordinate", "one_slack", "n_slack_qp", "frank_wolfe"])
def test_solvers_of_the_structural_svm_meet(solver: str) -> None:
    usual = {"max_rounds": 400, "tolerance": 1e-3, "prices": {"gold": 0.05}, "loss": "hinge"}
    one = tagger(recipes.structural_svm(solver=solver), **usual).fit(XS[:6], YS[:6]).rounds_[-1]
    other = tagger("semi_svm", **usual).fit(XS[:6], YS[:6]).rounds_[-1]
    assert one.objective == pytest.approx(other.objective, rel=5e-3)
    with pytest.raises(ValueError, match="jlis needs random ties, which segments do not have; leave restarts at 1"):
        tagger(recipes.jlis(restarts=2)).fit(XS[:3], YS[:3])


def test_without_segments_of_more_than_a_token_it_is_the_chain() -> None:
    """J-LIS with companions and a cost: the same convex problem, so the same objective."""
    evidence = [*gold(XS[:6], YS[:6]), *(Companion(x, -1) for x in XS[6:9])]
    shared = {"features": features.words(before=1), "labels": FIELDS, "n_jobs": 1, "tolerance": 1e-3}
    shared |= {"cost": {("date", "title"): 3.0}, "class_weight": {"date": 2.0}, "prices": {"gold": 0.02}}
    bare = SegmentFeatures(families=())
    one = SegmentTagger(learner="jlis", segment_features=bare, max_length=1, **shared).fit(evidence)
    other = Tagger(learner="jlis", **shared).fit(evidence)
    assert one.rounds_[-1].objective == pytest.approx(other.rounds_[-1].objective, rel=3e-3)


def test_costs_and_class_weights_are_heeded_or_refused() -> None:
    plain, costly = (tagger("semi_svm", cost=cost).fit(XS[:6], YS[:6]) for cost in (None, {("date", "title"): 9.0}))
    assert plain.rounds_[0].primal != costly.rounds_[0].primal
    with pytest.raises(ValueError, match="semi_crf knows no cost"):
        tagger("semi_crf", class_weight="balanced").fit(XS[:6], YS[:6])


def test_validation_keeps_the_best_and_patience_ends() -> None:
    fitted = tagger("latent_svm", max_rounds=80, patience=1, metric="accuracy", tolerance=0.1, prices={"gold": 0.1})
    fitted.fit(mixed_evidence("pu"), validation=(XS[40:50], YS[40:50]))
    scores = [record.validation for record in fitted.rounds_ if record.validation is not None]
    assert scores and fitted.score(XS[40:50], YS[40:50]) == pytest.approx(max(scores))


@pytest.mark.parametrize("learner", ["semi_crf", "jlis", "cllp"])
def test_an_interrupted_fit_goes_on_to_the_same_bits(learner: str, tmp_path) -> None:
    def stop(record) -> None:
        if record.number == 2:
            raise KeyboardInterrupt

    few = {"max_rounds": None, "max_completions": 2} if learner == "cllp" else {"max_rounds": 8}
    evidence = mixed_evidence("puc" if learner == "jlis" else "p")[:9]
    path = tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        tagger(learner, checkpoint=path, callbacks=[stop], **few).fit(evidence)
    rest, whole = (tagger(learner, checkpoint=at, **few).fit(evidence) for at in (path, None))
    np.testing.assert_array_equal(rest.model_.weights, whole.model_.weights)


def test_fits_go_on_from_fits() -> None:
    fitted = tagger("jlis", warm_start=True).fit(XS[:6], YS[:6])
    before = fitted.model_
    again = fitted.fit(XS[:10], YS[:10])
    assert again.model_.structure.layout.size > before.structure.layout.size
    old, new = before.structure, again.model_.structure
    assert new.segments.names[: old.segments.n_attributes] == old.segments.names
    moved = new.moved(before.weights, old)
    assert np.count_nonzero(moved) == np.count_nonzero(before.weights)
    assert new.batch(new.rows(XS[:6])).best(moved).values == pytest.approx(
        old.batch(old.rows(XS[:6])).best(before.weights).values
    )
    partly = tagger("semi_svm").fit(XS[:6], YS[:6])
    size = partly.model_.structure.layout.size
    partly.partial_fit(XS[6:9], YS[6:9])
    assert partly.model_.structure.layout.size > size and partly.score(XS[:9], YS[:9]) > 0.6
    frozen = tagger("semi_svm", freeze_vocabulary=True).fit(XS[:6], YS[:6])
    size = frozen.model_.structure.layout.size
    assert frozen.partial_fit(XS[6:9], YS[6:9]).model_.structure.layout.size == size


def test_votes_and_marginal_decoding() -> None:
    fitted = tagger("semi_crf", max_rounds=30).fit(mixed_evidence("v"))
    assert [one.function for one in fitted.reliabilities_] == ["year"]
    assert all(0.0 <= one.share <= 1.0 for one in fitted.reliabilities_)
    best, likely = fitted.predict(XS[30:40]), fitted.predict(XS[30:40], by="marginals")
    shares = fitted.marginals(XS[30:40])
    for one, other, share in zip(best, likely, shares):
        gains = [sum(row[FIELDS.index(label)] for label, row in zip(y, share)) for y in (one, other)]
        assert gains[1] >= gains[0] - 1e-9
    rows = fitted.prepare(XS[30:40])
    assert fitted.predict(rows) == best


def test_inputs_without_labels_are_completed() -> None:
    evidence: list = [Gold(XS[0], YS[0]), Unlabeled(XS[1]), *gold(XS[2:6], YS[2:6])]
    fitted = tagger("semi_svm", max_rounds=60, tolerance=0.1).fit(evidence)
    assert fitted.rounds_[-1].completion >= 1


def test_without_gold_features_are_those_of_all_segments():
    answers = [*(Companion(x, 1) for x in XS[:8]), *(Companion(x[::-1], -1) for x in XS[:8])]
    alone = SegmentTagger(learner="lclr", labels=FIELDS, max_length=3, n_jobs=1).fit(answers)
    assert alone.model_.structure.segments.features.counted == "all"
    assert alone.model_.weights[alone.model_.structure.layout.tokens.size :].any()
    with pytest.raises(DataError, match=r'no Gold to take segment features from; give segment_features=Segment.*"all"'):
        tagger("lclr").fit(answers)
