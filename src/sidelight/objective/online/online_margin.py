"""Whole epochs of block-coordinate Frank–Wolfe over chains and classes, inside one kernel.

Every example stores its worst outputs so far, with their dual variables (`KnownOutputs`), instead of the resulting
weight vector w_i: outputs are small, and weight can move from one to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ints, Keys
from sidelight.core.kernels import inner, inner_kernel, kernel, uniform
from sidelight.features.layout import Layout
from sidelight.objective.chain_block import (
    augment,
    backtrack,
    contest,
    cost_of,
    decode,
    leads,
    move_weights,
    pairwise_steps,
    scratch_for,
    slope_products,
)
from sidelight.objective.entries import ChainWeights, Examples, examples_of, no_weights, score_tokens, views_of
from sidelight.objective.known_outputs import KnownOutputs, grown, no_outputs, stored_outputs
from sidelight.objective.margin import TargetTerms
from sidelight.objective.scorers.chain_scorer import chain_of
from sidelight.parallel import shards, threads
from sidelight.spaces import Cost
from sidelight.spaces.chains.chain_kernels import forward


@dataclass(slots=True)
class ChainBlocks:
    """Examples of chains or classes as the blocks of `solvers.frank_wolfe`."""

    data: Examples
    layout: Layout
    prices: Floats
    known: KnownOutputs
    n_jobs: int | None = None

    @classmethod
    def of(cls, terms: TargetTerms) -> ChainBlocks:
        """The blocks of target terms, without known outputs; raises `ValueError` if they are not of order 1."""
        if not isinstance(terms.cost, Cost):
            raise ValueError("epochs in one kernel need a cost against a target")
        data = examples_of(terms.batch, terms.cost)
        return cls(data, chain_of(terms.batch).layout, terms.prices, no_outputs(data.starts), terms.batch.n_jobs)

    def __len__(self) -> int:
        return len(self.prices)

    @property
    def offset(self) -> float:
        """Σ α Δ."""
        return inner(self.known.alphas, self.known.offsets)

    @property
    def outputs(self) -> int:
        """The total number of known outputs."""
        return int(self.known.counts.sum())

    def evaluate(self, weights: Floats) -> tuple[Floats, Floats]:
        """The largest v of every example at these weights, and its share of the duality gap. # [N], [N]"""
        values, gaps = np.empty(len(self)), np.empty(len(self))
        views = views_of(self.layout, weights)

        def run(shard: tuple[int, int]) -> None:
            _evaluate(self.data, self.prices, views, self.known, shard[0], shard[1], values, gaps)

        threads(run, shards(self.data.starts), n_jobs=self.n_jobs)
        return values, gaps

    def visit(
        self,
        weights: Floats,
        totals: Floats | None,
        gaps: Floats,
        *,
        order: Ints | None,
        look: bool,
        steps: int,
        share: float,
        clock: float,
        random: Keys,
    ) -> float:
        """Visit examples in the given order, or draw as many as there are in proportion to their gaps.

        A visit looks for the worst output at the current weights if `look`, and then makes steps of exact length: up
        to `steps` pairwise ones, or with 0 one Frank–Wolfe step towards the worst output. Weights, totals, gaps (those
        just before each visit) and the random state change in place. Returns the clock, one tick per visit.
        """
        sums = no_weights(self.layout.columns) if totals is None else views_of(self.layout, totals)
        slope = views_of(self.layout, self.layout.zeros())
        done = 0
        drawn = np.zeros(0, dtype=np.int64) if order is None else order
        visits = len(self) if order is None else len(order)
        while True:
            done, clock = _epoch(
                self.data,
                self.prices,
                views_of(self.layout, weights),
                sums,
                slope,
                self.known,
                gaps,
                drawn,
                done,
                visits,
                look,
                steps,
                share,
                totals is not None,
                clock,
                random,
            )
            if done == visits:
                return clock
            self.known = grown(self.known, self.data.starts)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that hold everything, for a checkpoint."""
        return dict(self.known._asdict())

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up such arrays; raises `ModelFileError` if they make no sense."""
        self.known = stored_outputs(arrays, self.data.starts, self.layout.n_labels)


@inner_kernel
def add_offsets(values: Floats, offsets: Floats, alphas: Floats, first: int, count: int) -> float:
    """From leads to v; returns Σ α v."""
    paid = 0.0
    for j in range(count):
        values[j] += offsets[first + j]
        paid += alphas[first + j] * values[j]
    return paid


@inner_kernel
def highest(values: Floats, count: int) -> int:
    """The largest v, or -1 for the target if none is above zero."""
    place = -1
    top = 0.0
    for j in range(count):
        if values[j] > top:
            top = values[j]
            place = j
    return place


@inner_kernel
def place_for(values: Floats, alphas: Floats, first: int, count: int, room: int) -> int:
    """A place for one more output: that of the least violated one without weight, a new one, or -1.

    Outputs without weight are the first to go: keeping them costs more in every visit than finding them again.
    """
    place = -1
    for j in range(count):
        if alphas[first + j] == 0.0 and (place < 0 or values[j] < values[place]):
            place = j
    if place < 0 and count < room:
        return count
    return place


@inner_kernel
def plain_step(
    price: float,
    alphas: Floats,
    first: int,
    count: int,
    gram: Floats,
    gram_at: int,
    rows: int,
    gap: float,
    worst: int,
    moves: Floats,
) -> int:
    """One Frank–Wolfe step of exact length towards the worst output."""
    norm = 0.0
    for j in range(count):
        moves[j] = (price if j == worst else 0.0) - alphas[first + j]
        for k in range(j):
            norm += 2.0 * moves[j] * moves[k] * gram[gram_at + j * rows + k]
        norm += moves[j] * moves[j] * gram[gram_at + j * rows + j]
    step = 1.0 if norm <= gap else gap / norm
    for j in range(count):
        moves[j] *= step
        alphas[first + j] = (price if j == worst else 0.0) if step == 1.0 else alphas[first + j] + moves[j]
    return 1


@inner_kernel
def _most_room(known: KnownOutputs) -> int:
    most = 1
    for i in range(known.counts.shape[0]):
        most = max(most, known.first[i + 1] - known.first[i])
    return most


@kernel
def _evaluate(
    data: Examples,
    prices: Floats,
    weights: ChainWeights,
    known: KnownOutputs,
    lo: int,
    hi: int,
    values: Floats,
    gaps: Floats,
) -> None:
    room = scratch_for(data, weights, _most_room(known))
    zero: Any = np.int64(0)  # as numbers of their own they would compile everything once more
    one: Any = np.int64(1)
    for i in range(lo, hi):
        score_tokens(data, weights, i, room.every, data.starts[i + 1] - data.starts[i], room.scores)
        decode(data, i, 1.0, room)
        leads(data, weights, i, room.guess, zero, one, room.scores, room.moves)
        values[i] = cost_of(data, i, room.guess, zero) + room.moves[0]
        leads(data, weights, i, known.labels, known.labels_at[i], known.counts[i], room.scores, room.values)
        paid = add_offsets(room.values, known.offsets, known.alphas, known.first[i], known.counts[i])
        gaps[i] = prices[i] * max(values[i], 0.0) - paid


@inner_kernel
def _draw(tree: Floats, total: float, state: Keys) -> int:
    """An example in proportion to its gap, by a binary indexed tree of the gaps."""
    left = uniform(state) * total
    count = tree.shape[0] - 1
    bit = 1
    while 2 * bit <= count:
        bit *= 2
    at = 0
    while bit > 0:
        if at + bit <= count and tree[at + bit] <= left:
            at += bit
            left -= tree[at]
        bit //= 2
    drawn: int = min(at, count - 1)
    return drawn


@inner_kernel
def _change(tree: Floats, i: int, amount: float) -> None:
    i += 1
    while i < tree.shape[0]:
        tree[i] += amount
        i += i & -i


@kernel
def _epoch(
    data: Examples,
    prices: Floats,
    weights: ChainWeights,
    totals: ChainWeights,
    slope: ChainWeights,
    known: KnownOutputs,
    gaps: Floats,
    order: Ints,
    done: int,
    visits: int,
    look: bool,
    steps: int,
    share: float,
    averaging: bool,
    clock: float,
    random: Keys,
) -> tuple[int, float]:
    room = scratch_for(data, weights, _most_room(known))
    zero: Any = np.int64(0)  # as numbers of their own they would compile everything once more
    one: Any = np.int64(1)
    starts, firsts, counts = data.starts, known.first, known.counts
    labels_ats, gram_ats = known.labels_at, known.gram_at
    labels, gram, offsets, alphas = known.labels, known.gram, known.offsets, known.alphas
    scores, augmented, best, guess, every = room.scores, room.augmented, room.best, room.guess, room.every
    transition, start, end = room.transition, room.start, room.end
    where, turn, values, moves, none = room.where, room.turn, room.values, room.moves, room.none
    drawing = order.shape[0] == 0
    tree = np.zeros(gaps.shape[0] + 1 if drawing else 1)
    total = 0.0
    if drawing:
        for i in range(gaps.shape[0]):
            _change(tree, i, gaps[i])
            total += gaps[i]
    while done < visits:
        if drawing and total <= 0.0:
            return visits, clock
        before = random[0]
        i = _draw(tree, total, random) if drawing else order[done]
        old_gap, price = gaps[i], prices[i]
        if price <= 0.0:
            gaps[i] = 0.0
            done += 1
            clock += 1.0
            continue
        first, at, gram_at = firsts[i], labels_ats[i], gram_ats[i]
        rows, length = firsts[i + 1] - first, starts[i + 1] - starts[i]
        count = counts[i]
        worst = -1  # the target, whose cut is zero
        if look:
            score_tokens(data, weights, i, every, length, scores)
            leads(data, weights, i, labels, at, count, scores, values)
            augment(data, i, 1.0, scores, augmented)
            forward(augmented, transition, start, 0, length, best)
            backtrack(best, transition, end, length, guess)
            offset = cost_of(data, i, guess, zero)
            leads(data, weights, i, guess, zero, one, scores, moves)
            value = offset + moves[0]
            paid = add_offsets(values, offsets, alphas, first, count)
            gaps[i] = max(price * max(value, 0.0) - paid, 0.0)
            worst = highest(values, count)
            highest_known = 0.0 if worst < 0 else values[worst]
            if value > highest_known + 1e-12 * (1.0 + abs(value)):
                worst = place_for(values, alphas, first, count, rows)
                if worst < 0:
                    random[0] = before
                    return done, clock
                count = max(count, worst + 1)
                counts[i] = count
                for t in range(length):
                    labels[at + worst * length + t] = guess[t]
                offsets[first + worst] = offset
                alphas[first + worst] = 0.0
                slope_products(data, slope, i, labels, at, count, worst, room, moves)
                for j in range(count):
                    gram[gram_at + worst * rows + j] = moves[j]
                    gram[gram_at + j * rows + worst] = moves[j]
                values[worst] = value
        contested = contest(data, i, labels, at, count, where)
        if not look:
            score_tokens(data, weights, i, where, contested, scores)
            leads(data, weights, i, labels, at, count, scores, values)
            add_offsets(values, offsets, alphas, first, count)
        if steps > 0:
            steps_taken = pairwise_steps(price, alphas, first, count, gram, gram_at, rows, values, moves, steps, share)
        else:
            steps_taken = plain_step(price, alphas, first, count, gram, gram_at, rows, gaps[i], worst, moves)
        if steps_taken > 0:
            move_weights(data, weights, i, labels, at, count, moves, 1.0, where, contested, turn, transition)
            if averaging:
                by = 0.5 * clock * (clock + 1.0)
                move_weights(data, totals, i, labels, at, count, moves, by, where, contested, turn, none)
        if drawing:
            _change(tree, i, gaps[i] - old_gap)
            total += gaps[i] - old_gap
        done += 1
        clock += 1.0
    return done, clock
