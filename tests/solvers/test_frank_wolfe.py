"""Frank–Wolfe: what holds after every pass, and that the kernel takes the steps of the plain path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import generators, law
from drawing_margins import gold_terms
from hypothesis import given
from hypothesis import strategies as st

from sidelight.objective import known_outputs
from sidelight.objective.cuts import total_loss
from sidelight.objective.margin import Worst
from sidelight.objective.online.online_margin import ChainBlocks
from sidelight.solvers.duals.cut_blocks import CutBlocks
from sidelight.solvers.frank_wolfe import FrankWolfe, FrankWolfeOptions

options = st.builds(
    FrankWolfeOptions,
    sampling=st.sampled_from(["uniform", "gap"]),
    steps=st.sampled_from([0, 1, 5, 50]),
    share=st.sampled_from([0.0, 0.1]),
    cached=st.integers(0, 2),
    average=st.booleans(),
    every=st.just(1),
    seed=st.integers(0, 99),
)


def weights_of(terms, known):
    """−Σ α slope, from the outputs themselves, whose offsets and inner products must be right."""
    size = terms.batch.scorer.size
    weights = np.zeros(size)
    for i in range(len(terms)):
        a, b = terms.batch.scorer.rows.starts[i : i + 2]
        slopes = np.zeros((known.counts[i], size))
        for j in range(known.counts[i]):
            outputs = np.array(terms.cost.targets)
            outputs[a:b] = known.labels[known.labels_at[i] + j * (b - a) :][: b - a]
            cuts = terms.cuts(Worst(np.zeros(len(terms)), outputs), np.array([i]))
            assert cuts.offsets[0] == pytest.approx(known.offsets[known.first[i] + j])
            slopes[j, cuts.slopes.indices] = cuts.slopes.values
        weights -= known.alphas[known.first[i] :][: known.counts[i]] @ slopes
        rows = int(known.first[i + 1] - known.first[i])
        gram = known.gram[known.gram_at[i] : known.gram_at[i + 1]].reshape(rows, rows)
        np.testing.assert_allclose(gram[: len(slopes), : len(slopes)], slopes @ slopes.T, atol=1e-9)
    return weights


def primal_of(terms, weights):
    return 0.5 * weights @ weights + total_loss(terms.worst(weights).values, terms.prices, 1)


@law(60)
@given(gold_terms(), options, st.sampled_from([1, 8]))
def test_dual_climbs_and_stays_below_the_primal(terms, chosen, room):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_outputs, "FIRST_ROOM", room)
        blocks = ChainBlocks.of(terms)
    solver = FrankWolfe.fresh(terms.batch.scorer.size, len(terms), chosen)
    dual, best = 0.0, np.inf
    for _ in range(6):
        progress = solver.round(blocks, tolerance=1e-9)
        known = blocks.known
        np.testing.assert_allclose(solver.weights, weights_of(terms, known), atol=1e-9)
        assert np.all(known.alphas >= 0)
        sums = np.array([known.alphas[a : a + n].sum() for a, n in zip(known.first, known.counts)])
        assert np.all(sums <= terms.prices * (1 + 1e-9) + 1e-12)
        primal, of_mean = (primal_of(terms, weights) for weights in (solver.weights, solver.recent))
        assert progress.primal == pytest.approx(of_mean, rel=1e-9, abs=1e-12)
        if progress.primal - progress.dual > 1e-9 * progress.primal:  # else the mean was enough
            assert of_mean <= primal * (1 + 1e-9) + 1e-12
            assert solver.gaps.sum() == pytest.approx(primal - progress.dual, rel=1e-6, abs=1e-9)
        assert progress.dual <= primal + 1e-9
        assert progress.dual >= dual - 1e-9
        dual = progress.dual
        best = min(best, of_mean)
        assert solver.best_primal <= best + 1e-12
        assert primal_of(terms, solver.best) == pytest.approx(solver.best_primal, rel=1e-9, abs=1e-12)
        assert solver.gap == pytest.approx(solver.best_primal - dual, abs=1e-12)


@law(60)
@given(gold_terms(generic=True), options)
def test_the_kernel_makes_the_steps_of_the_plain_path(terms, chosen):
    """In the first pass: exact steps make outputs tie at the example they belong to, and any of them may be next."""
    chosen = replace(chosen, sampling="uniform", cached=0)
    size = terms.batch.scorer.size
    solvers = [FrankWolfe.fresh(size, len(terms), chosen) for _ in range(2)]
    kinds = [ChainBlocks.of(terms), CutBlocks(terms, size)]
    for solver, blocks in zip(solvers, kinds):
        solver.round(blocks, tolerance=0.0)
    np.testing.assert_allclose(solvers[0].weights, solvers[1].weights, atol=1e-9)
    assert kinds[0].offset == pytest.approx(kinds[1].offset, abs=1e-9)
    if chosen.average:
        np.testing.assert_allclose(solvers[0].average(), solvers[1].average(), atol=1e-9)


@law(25)
@given(gold_terms(), options)
def test_plain_path_by_gaps(terms, chosen):
    chosen = replace(chosen, sampling="gap")
    blocks = CutBlocks(terms, terms.batch.scorer.size)
    solver = FrankWolfe.fresh(terms.batch.scorer.size, len(terms), chosen)
    dual = 0.0
    for _ in range(3):
        progress = solver.round(blocks, tolerance=0.0)
        assert dual - 1e-9 <= progress.dual <= progress.primal + 1e-9
        dual = progress.dual


@law(30)
@given(gold_terms(), generators())
def test_the_average_weighs_the_k_th_weights_by_k(terms, rng):
    chosen = FrankWolfeOptions(average=True, cached=0, seed=3)
    size = terms.batch.scorer.size
    blocks = ChainBlocks.of(terms)
    weights, totals, gaps = np.zeros(size), np.zeros(size), np.full(len(terms), np.inf)
    random = np.zeros(1, dtype=np.uint64)
    met, clock = [], 0.0
    for _ in range(2):
        for i in rng.permutation(len(terms)):
            one = np.full(len(terms), i)
            single = replace(terms, prices=np.where(np.arange(len(terms)) == i, terms.prices, 0.0))
            blocks.prices = single.prices  # so that only one of the visits moves the weights
            order = np.concatenate([one[:1], np.delete(np.arange(len(terms)), i)])
            clock = blocks.visit(
                weights, totals, gaps, order=order, look=True, steps=5, share=0.0, clock=clock, random=random
            )
            met += [weights.copy()] * len(terms)
    solver = FrankWolfe.fresh(size, len(terms), chosen)
    solver.weights, solver.totals, solver.clock = weights, totals, clock
    k = np.arange(1, len(met) + 1)
    expected = (k[:, None] * np.array(met)).sum(0) / k.sum()
    np.testing.assert_allclose(solver.average(), expected, atol=1e-9)


@law(20)
@given(gold_terms(), options, st.booleans())
def test_restored_blocks_go_on_to_the_same_bits(terms, chosen, plain):
    size = terms.batch.scorer.size

    def fresh():
        return CutBlocks(terms, size) if plain else ChainBlocks.of(terms)

    blocks, other = fresh(), fresh()
    solver = FrankWolfe.fresh(size, len(terms), chosen)
    solver.round(blocks, tolerance=0.0)
    other.restore(blocks.state())
    copy = replace(
        solver,
        weights=solver.weights.copy(),
        gaps=solver.gaps.copy(),
        random=solver.random.copy(),
        best=solver.best.copy(),
        recent=solver.recent.copy(),
        totals=None if solver.totals is None else solver.totals.copy(),
    )
    for _ in range(2):
        assert solver.round(blocks, tolerance=0.0) == copy.round(other, tolerance=0.0)
        np.testing.assert_array_equal(solver.weights, copy.weights)


@law(10)
@given(gold_terms(most=8))
def test_drawing_prefers_wide_gaps(terms):
    """An example whose gap is all there is gets every visit."""
    blocks = ChainBlocks.of(terms)
    weights, gaps = np.zeros(terms.batch.scorer.size), np.zeros(len(terms))
    paid = np.flatnonzero(terms.prices > 0)
    if len(paid) == 0:
        return
    gaps[paid[-1]] = 1.0
    random = np.zeros(1, dtype=np.uint64)
    blocks.visit(weights, None, gaps, order=None, look=True, steps=5, share=0.0, clock=0.0, random=random)
    assert np.all(np.delete(blocks.known.counts, paid[-1]) == 0)


def test_options_are_checked():
    with pytest.raises(ValueError, match="sampling"):
        FrankWolfeOptions(sampling="best")
    with pytest.raises(ValueError, match="negative"):
        FrankWolfeOptions(steps=-1)
    with pytest.raises(ValueError, match="average"):
        FrankWolfe.fresh(3, 2, FrankWolfeOptions()).average()
