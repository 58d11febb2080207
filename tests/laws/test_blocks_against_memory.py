"""Learning block by block from files is learning in memory: the same features, the same objective, the same bits where
the order of examples is the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight import features, recipes
from sidelight.core.one_at_a_time import OneAtATime
from sidelight.data import StoredCorpus, load_evidence, stored, text_pieces, write_columns
from sidelight.features import extractor_of
from sidelight.features.feature_counts import FeatureCounts
from sidelight.learners.likelihood import labelled
from sidelight.learners.perceptron import GoldBlock, PerceptronLearner
from sidelight.objective.likelihood import Labelled, LikelihoodProblem, likelihood_problem
from sidelight.objective.online.online_likelihood import LikelihoodBlocks, OnlineLikelihood
from sidelight.prepared import preparation
from sidelight.solvers.perceptron import Perceptron
from sidelight.specs.fit_data import FitData
from sidelight.training import Training

RNG = np.random.default_rng(5)
WORDS = [f"{'abcde'[k % 5]}{'xyz'[k % 3]}{k}" for k in range(60)]
XS = [[(WORDS[min(int(k), 59)],) for k in RNG.exponential(9, RNG.integers(1, 9))] for _ in range(120)]
YS = [[f"T{(len(word) + ord(word[0]) + t) % 4}" for t, (word,) in enumerate(x)] for x in XS]
FEW: dict[str, Any] = {"n_jobs": 1, "max_rounds": 3}
LEARNERS = {"perceptron": "perceptron", "crf": "crf", "sgd": recipes.crf(solver="sgd"), "hmm": "hmm", "em": "em"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "gold.txt").write_text(write_columns(XS[:80], YS[:80]), encoding="utf-8")
    (tmp_path / "raw.txt").write_text(write_columns(XS[80:]), encoding="utf-8")
    return {"gold": tmp_path / "gold.txt", "unlabeled": tmp_path / "raw.txt"}


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Blocks of some sentences."""
    monkeypatch.setattr(preparation, "SHARD_TOKENS", 90)
    monkeypatch.setattr(text_pieces, "SIZE", 300)
    yield


def _evidence(files: dict[str, Path], learner: str) -> tuple[list[Any], dict[str, Path]]:
    own = files if learner == "em" else {"gold": files["gold"]}
    return [piece for kind, path in own.items() for piece in load_evidence(path, kind)], own


def _tagger(learner: str, **others: Any) -> sl.Tagger:
    made = features.emissions(min_count=2) if learner in ("hmm", "em") else features.standard(min_count=2)
    return sl.Tagger(learner=LEARNERS[learner], features=made, **{**FEW, **others})


def _data(files: dict[str, Path], learner: str, folder: Path) -> FitData:
    corpus = stored(**_evidence(files, learner)[1], folder=folder)
    return Training(_tagger(learner)._settings(), corpus).data


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_block_gives_the_bits_of_memory(learner: str, files: dict[str, Path], tmp_path: Path) -> None:
    evidence, own = _evidence(files, learner)
    memory, blocks = _tagger(learner).fit(evidence), _tagger(learner).fit(stored(**own, folder=tmp_path / "p"))
    assert np.array_equal(memory.model_.weights, blocks.model_.weights)
    assert memory.predict(XS) == blocks.predict(XS)
    assert memory.evidence_ == blocks.evidence_
    assert [one.objective for one in memory.rounds_] == [one.objective for one in blocks.rounds_]


@pytest.mark.parametrize("learner", ["crf", "hmm", "em"])
@pytest.mark.usefixtures("small_blocks")
def test_sums_over_many_blocks_are_those_of_memory(learner: str, files: dict[str, Path], tmp_path: Path) -> None:
    evidence, own = _evidence(files, learner)
    memory, blocks = _tagger(learner).fit(evidence), _tagger(learner).fit(stored(**own, folder=tmp_path / "p"))
    assert len(list(tmp_path.glob("p/*/shard-*"))) > 3
    np.testing.assert_allclose(blocks.model_.weights, memory.model_.weights, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("small_blocks")
def test_features_and_names_are_those_of_memory(files: dict[str, Path], tmp_path: Path) -> None:
    data = _data(files, "crf", tmp_path / "p")
    memory = Training(_tagger("crf")._settings(), _evidence(files, "crf")[0])
    assert data.stored is not None
    parts = list(data.stored.of())
    for own, name in ((memory.rows, "indices"), (memory.encoded, "targets")):
        found = [getattr(part.rows if name == "indices" else part.encoded, name) for part in parts]
        assert np.array_equal(np.concatenate(found), getattr(own, name))
    before, after = memory.structure.extractor.state(), data.structure.extractor.state()  # type: ignore[attr-defined]
    assert before[0] == after[0]
    assert before[1].keys() == after[1].keys()
    assert all(np.array_equal(before[1][name], after[1][name]) for name in before[1])


@pytest.mark.usefixtures("small_blocks")
def test_the_same_order_gives_the_same_bits_in_the_perceptron(files: dict[str, Path], tmp_path: Path) -> None:
    data = _data(files, "perceptron", tmp_path / "p")
    memory = Training(_tagger("perceptron")._settings(), _evidence(files, "perceptron")[0]).data
    learner = data.settings.learner.make(data)
    assert isinstance(learner, PerceptronLearner) and len(learner.gold) > 3
    whole = GoldBlock(memory.batch(np.arange(80)), memory.encoded.targets, memory.encoded.weights)
    one, many = Perceptron.fresh(memory.size), Perceptron.fresh(memory.size)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        order = rng.permutation(80) if seed == 0 else learner.examples.shuffled(rng)
        assert sorted(order.tolist()) == list(range(80))
        assert one.epoch(whole.epoch, order) == many.epoch(learner._epoch, order)
        assert np.array_equal(one.weights, many.weights) and np.array_equal(one.totals, many.totals)


@pytest.mark.usefixtures("small_blocks")
def test_the_same_order_gives_the_same_bits_in_stochastic_descent(files: dict[str, Path], tmp_path: Path) -> None:
    data = _data(files, "sgd", tmp_path / "p")
    memory = Training(_tagger("sgd")._settings(), _evidence(files, "sgd")[0]).data
    blocks, whole = likelihood_problem(labelled(data)), likelihood_problem(labelled(memory))
    assert isinstance(blocks.terms, OneAtATime) and len(blocks.terms) > 3
    many, one = LikelihoodBlocks.of_terms(blocks.terms), OnlineLikelihood.of_terms(whole.terms)  # type: ignore[arg-type]
    assert (len(many), many.size) == (len(one), one.size)
    v, w = np.zeros(one.size), np.zeros(one.size)
    for seed in range(3):
        order = many.order(np.random.default_rng(seed))
        options = {"scale": 0.9, "clock": 50.0, "decay": 0.02}
        (met, scale), (also, same) = one.epoch(order, v, **options), many.epoch(order, w, **options)
        assert scale == same and np.array_equal(v, w)
        np.testing.assert_allclose(met, also, rtol=1e-12)
    assert np.array_equal(one.weights(v, 0.5), many.weights(w, 0.5))
    found = many.weights(w, 1.0)
    assert np.array_equal(one.vector(found), many.vector(found))


@pytest.mark.usefixtures("small_blocks")
def test_blocks_in_files_give_the_bits_of_the_same_blocks_in_memory(files: dict[str, Path], tmp_path: Path) -> None:
    data = _data(files, "crf", tmp_path / "p")
    parts = labelled(data)
    memory: list[Labelled] = list(parts)  # all of them at once
    for support in ("seen", "all"):
        problems: list[LikelihoodProblem] = [likelihood_problem(one, support=support) for one in (parts, memory)]
        weights = np.random.default_rng(0).normal(size=problems[0].size)
        values, slopes = [], []
        for problem in problems:
            slopes.append(np.zeros(problem.size))
            values += [problem.value_and_gradient(weights, slopes[-1]), problem.value(weights)]
            assert np.array_equal(problem.curvature(), problems[0].curvature())
        assert values[:2] == values[2:] and np.array_equal(*slopes)


@settings(max_examples=25)
@given(
    sentences=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=6), min_size=1, max_size=25),
    least=st.integers(1, 3),
    most=st.integers(1, 200),
    cut=st.integers(1, 8),
)
def test_counts_in_pieces_give_the_vocabulary_of_the_whole(
    sentences: list[list[int]], least: int, most: int, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    xs = [[WORDS[k] for k in one] for one in sentences]
    templates = features.parse_templates(
        "U0:%x[0,0]\nU1:%x[-1,0]|%x[0,0]\nU2:%shape[0,0]\nU3:%x[-2,0]|%x[-1,0]|%x[0,0]|%x[1,0]\nB", min_count=least
    )
    whole = extractor_of(templates)
    rows = whole.grow(xs)
    counts = FeatureCounts(extractor_of(templates), tmp_path_factory.mktemp("runs"), most=most)  # type: ignore[arg-type]
    found = [counts.add(xs[first : first + cut]) for first in range(0, len(xs), cut)]
    own = counts.finish()
    assert own.n_attributes == whole.n_attributes
    before, after = whole.state(), own.state()
    assert before[0] == after[0] and all(np.array_equal(before[1][name], after[1][name]) for name in before[1])
    pieces = [own.rows_of(starts, views) for starts, views in found]
    assert np.array_equal(np.concatenate([piece.indices for piece in pieces]), rows.indices)


def test_what_is_stored_is_named() -> None:
    corpus = stored(gold=["a.txt", "b.txt"], unlabeled="c.txt", folder="p")
    assert isinstance(corpus, StoredCorpus) and str(corpus) == "gold in a.txt, b.txt and unlabeled in c.txt"
