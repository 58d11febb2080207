"""LCLR by its name: the objective of `LatentClassifier`, over any structure, from answers alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.corpus.spellings import spellings, transliterations
from sidelight.objective.decisions import decisions
from sidelight.objective.structure import first_weights_of
from sidelight.structures.alignments import SegmentAlignment
from sidelight.structures.graphs import Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment
from sidelight.structures.trees import DependencyTree

LETTERS = CharacterAlignment(bits=10)


def answers(count: int, seed: int) -> tuple[list, list]:
    """Names with their transliterations, and with those of others."""
    good = [item.x for item in transliterations(count, seed)]
    bad = [(good[i][0], good[i - 1][1]) for i in range(count)]
    return [*good, *bad], [1] * count + [-1] * count


XS, ZS = answers(25, 0)
PIECES = [sl.Companion(x, z) for x, z in zip(XS, ZS)]


def predictor(**options):
    return sl.Predictor(LETTERS, **{"learner": "lclr", "n_jobs": 1, **options})


def test_it_is_the_latent_classifier():
    fitted = predictor(prices={"companion": 0.5}).fit(PIECES)
    other = sl.LatentClassifier(LETTERS, C=0.5).fit(XS, ZS)
    np.testing.assert_allclose(fitted.model_.weights, other.weights_, atol=1e-9)
    new, right = answers(15, 1)
    assert fitted.predict(new) == [one.output for one in other.judge(new)]
    np.testing.assert_allclose(fitted.judge(new), other.decision_function(new))
    scores = fitted.judge(new)
    assert scores[np.array(right) > 0].mean() > scores[np.array(right) < 0].mean()
    assert fitted.rounds_[-1].objective == pytest.approx(other.objective_, rel=1e-6)


def test_what_is_kept_is_the_better_of_two_starts():
    fitted = predictor().fit(PIECES)
    ends = {record.restart: record.objective for record in fitted.rounds_}
    assert set(ends) == {0, 1} and fitted.rounds_[-1].objective == min(ends.values())
    data = decisions(LETTERS, XS, ZS)
    assert data.objective(fitted.model_.weights, power=2) == pytest.approx(min(ends.values()), rel=1e-6)


def test_algorithm_12_holds_all_structures():
    fitted = predictor(learner=recipes.lclr(method="lclr_approximate", repeats=3)).fit(PIECES)
    other = sl.LatentClassifier(LETTERS, method="lclr_approximate", rounds=3).fit(XS, ZS)
    np.testing.assert_allclose(fitted.model_.weights, other.weights_, atol=1e-9)


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path: Path):
    whole = predictor().fit(PIECES).model_.weights

    @dataclass
    class Stopping:
        left: int

        def __call__(self, record):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt

    for after in (1, 3):
        path = tmp_path / f"{after}.checkpoint"
        with pytest.raises(KeyboardInterrupt):
            predictor(checkpoint=path, callbacks=[Stopping(after)]).fit(PIECES)
        assert np.array_equal(predictor(checkpoint=path).fit(PIECES).model_.weights, whole)


def test_a_warm_start_is_where_it_begins():
    fitted = predictor(warm_start=True).fit(PIECES)
    again = fitted.fit(PIECES)
    assert again.rounds_[-1].objective <= predictor().fit(PIECES).rounds_[-1].objective * (1 + 1e-3)


def test_chains_and_classes_have_it_too():
    good = [["the", "light"], ["a", "lamp"], ["the", "lamp"]] * 3
    pieces = [*sl.companion(good, +1), *sl.companion([x[::-1] for x in good], -1)]
    tagger = sl.Tagger(learner="lclr", labels=["D", "N"], n_jobs=1).fit(pieces)
    assert (tagger.judge(good) > tagger.judge([x[::-1] for x in good])).all()


@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        ([*PIECES, sl.Unlabeled(XS[0])], "the learner lclr learns from Companion only; use the learner jlis"),
        (PIECES[:5], "no bad inputs; give inputs that are good, and some that are bad"),
        (PIECES[-5:], "no good inputs; give inputs that are good"),
    ],
)
def test_other_evidence_is_refused(evidence, problem):
    with pytest.raises(sl.DataError, match=problem):
        predictor().fit(evidence)


@pytest.mark.parametrize("structure", [LETTERS, SegmentAlignment(bits=10), GraphAlignment(bits=10)])
def test_first_weights_find_structures_where_zeros_find_none(structure):
    graph = Graph((("light", "N"), ("falls", "V")), ((1, 0, "subj"),))
    x = (graph, graph) if isinstance(structure, GraphAlignment) else spellings(1, 0)[0].x
    batch, first = structure.batch([x]), first_weights_of(structure)
    assert first.shape == (batch.scorer.size,) and first[0] == 0.0
    assert batch.best(first).labels.any() and not batch.best(np.zeros(len(first))).labels.any()


def test_structures_that_need_no_first_weights_have_none():
    assert first_weights_of(DependencyTree()) is None
