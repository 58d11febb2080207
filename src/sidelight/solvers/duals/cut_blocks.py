"""Terms of any structure as the blocks of `frank_wolfe`, one term at a time.

Each term stores its cuts so far as sparse rows, with their dual variables and inner products. This is the general path:
one inference call for every visit. For chains and classes, whole passes run in one kernel
(`objective.online.online_margin`), which makes the same steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints, Keys
from sidelight.core.file_contents import array_of, lengths_of
from sidelight.features.rows import offsets_of
from sidelight.objective.chain_block import pairwise_steps
from sidelight.objective.cuts import Worst
from sidelight.objective.margin import TargetTerms


@dataclass(slots=True)
class _KnownCuts:
    """The cuts of one term."""

    rows: list[tuple[Ids, Floats]] = field(default_factory=list)  # slopes: indices, values
    offsets: Floats = field(default_factory=lambda: np.zeros(0))
    alphas: Floats = field(default_factory=lambda: np.zeros(0))
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def values(self, weights: Floats) -> Floats:
        products = [float(values @ weights[indices]) for indices, values in self.rows]
        return self.offsets + np.array(products, dtype=np.float64)

    def put(self, place: int, indices: Ids, values: Floats, offset: float, scratch: Floats) -> None:
        """Store a cut at a place, replacing one without weight, or append it."""
        size = len(self.rows)
        if place == size:
            self.rows.append((indices, values))
            self.offsets, self.alphas = np.append(self.offsets, 0.0), np.append(self.alphas, 0.0)
            self.gram = np.pad(self.gram, (0, 1))
        self.rows[place] = indices, values
        self.offsets[place] = offset
        scratch[indices] = values
        products = np.array([float(row_values @ scratch[row]) for row, row_values in self.rows])
        scratch[indices] = 0.0
        self.gram[place], self.gram[:, place] = products, products


class CutBlocks:
    """The terms as blocks."""

    def __init__(self, terms: TargetTerms, size: int) -> None:
        self.terms = terms
        self.prices = terms.prices
        self._parts = [terms.part(i, i + 1) for i in range(len(terms))]
        self._blocks = [_KnownCuts() for _ in range(len(terms))]
        self._scratch = np.zeros(size)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def offset(self) -> float:
        """Σ α offset."""
        return float(sum(block.alphas @ block.offsets for block in self._blocks))

    @property
    def outputs(self) -> int:
        """The total number of known cuts."""
        return sum(len(block.rows) for block in self._blocks)

    def evaluate(self, weights: Floats) -> tuple[Floats, Floats]:
        """v of every term, and its gap. # [N], [N]"""
        values = self.terms.worst(weights).values
        paid = np.array([block.alphas @ block.values(weights) for block in self._blocks])
        return values, self.prices * np.maximum(values, 0.0) - paid

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
        """See `ChainBlocks.visit`; a change of the weights is added clock (clock + 1) / 2 times to the totals."""
        if order is None:
            random[0] += np.uint64(1)
            rng = np.random.Generator(np.random.PCG64(int(random[0])))
        for k in range(len(self) if order is None else len(order)):
            if order is None:
                if gaps.sum() <= 0.0:
                    break
                i = int(rng.choice(len(self), p=gaps / gaps.sum()))
            else:
                i = int(order[k])
            moves = self._visit(i, weights, gaps, look=look, steps=steps, share=share)
            for move, (indices, values) in zip(moves, self._blocks[i].rows):
                if move != 0.0:
                    weights[indices] -= move * values
                    if totals is not None:
                        totals[indices] -= 0.5 * clock * (clock + 1.0) * move * values
            clock += 1.0
        return clock

    def _visit(self, i: int, weights: Floats, gaps: Floats, *, look: bool, steps: int, share: float) -> Floats:
        """Visit one term and change its dual variables; returns the change."""
        block, price = self._blocks[i], float(self.prices[i])
        if price <= 0.0:
            gaps[i] = 0.0
            return np.zeros(len(block.rows))
        values = block.values(weights)
        worst = int(np.argmax(values)) if len(values) and values.max() > 0.0 else -1
        if look:
            maximum = self._parts[i].worst(weights)
            value = float(maximum.values[0])
            gaps[i] = max(price * max(value, 0.0) - float(block.alphas @ values), 0.0)
            if value > max(values.max(initial=0.0), 0.0) + 1e-12 * (1.0 + abs(value)):
                worst = self._add(i, maximum, values)
                values = block.values(weights)
        if steps == 0:
            target = np.zeros(len(values))
            if worst >= 0:
                target[worst] = price
            moves = target - block.alphas
            norm = float(moves @ block.gram @ moves)
            moves *= 1.0 if norm <= gaps[i] else gaps[i] / norm
            block.alphas = target if norm <= gaps[i] else block.alphas + moves
            return moves
        moves = np.zeros(len(values))
        size = len(values)
        pairwise_steps(price, block.alphas, 0, size, block.gram.ravel(), 0, size, values, moves, steps, share)
        return moves

    def _add(self, i: int, worst: Worst, values: Floats) -> int:
        """Add a cut, replacing one without weight if there is one; returns its place."""
        block = self._blocks[i]
        idle = np.flatnonzero(block.alphas == 0.0)
        place = int(idle[np.argmin(values[idle])]) if len(idle) else len(values)
        cut = self._parts[i].cuts(worst, np.zeros(1, dtype=np.int64))
        block.put(place, cut.slopes.indices, cut.slopes.values, float(cut.offsets[0]), self._scratch)
        return place

    def state(self) -> dict[str, NDArray[Any]]:
        """The complete state as arrays, for a checkpoint."""
        blocks = self._blocks
        rows = [row for block in blocks for row in block.rows]
        nothing = np.zeros(0)
        return {
            "counts": np.array([len(block.rows) for block in blocks], dtype=np.int64),
            "lengths": np.array([len(indices) for indices, _ in rows], dtype=np.int64),
            "indices": np.concatenate([np.zeros(0, dtype=np.int32), *(indices for indices, _ in rows)]),
            "values": np.concatenate([nothing, *(values for _, values in rows)]),
            "offsets": np.concatenate([nothing, *(block.offsets for block in blocks)]),
            "alphas": np.concatenate([nothing, *(block.alphas for block in blocks)]),
            "gram": np.concatenate([nothing, *(block.gram.ravel() for block in blocks)]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from such arrays; raises `ModelFileError` if they are invalid."""
        many, size = len(arrays.get("lengths", ())), len(self._scratch)
        counts = lengths_of(arrays, "counts", count=len(self), total=many)
        entries = len(arrays.get("indices", ()))
        lengths = lengths_of(arrays, "lengths", count=many, total=entries)
        indices = array_of(arrays, "indices", np.int32, [entries], low=0, high=size - 1)
        values = array_of(arrays, "values", np.float64, [entries])
        offsets = array_of(arrays, "offsets", np.float64, [many])
        alphas = array_of(arrays, "alphas", np.float64, [many], low=0.0)
        gram = array_of(arrays, "gram", np.float64, [int((counts**2).sum())])
        firsts, cuts, grams = offsets_of(counts), offsets_of(lengths), offsets_of(counts**2)
        for i, block in enumerate(self._blocks):
            lo, hi = int(firsts[i]), int(firsts[i + 1])
            pieces = [slice(cuts[k], cuts[k + 1]) for k in range(lo, hi)]
            block.rows = [(indices[piece].copy(), values[piece].copy()) for piece in pieces]
            block.offsets, block.alphas = offsets[lo:hi].copy(), alphas[lo:hi].copy()
            block.gram = gram[grams[i] : grams[i + 1]].reshape(hi - lo, hi - lo).copy()
