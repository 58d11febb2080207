"""Significance tests for the difference between two systems on the same data.

`compare` is paired approximate randomisation (Noreen 1989; Yeh 2000). If the systems are equal, exchanging their
outputs for a sentence makes no difference. So p is the share of random exchanges with a difference at least as large as
the observed one, which is counted among them.

`paired_t` is Student's test on pairs of numbers, such as the scores of two methods on the same random draws.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sidelight.core import html
from sidelight.core.checks import generator, is_among, is_listed, real_numbers
from sidelight.errors import DataError
from sidelight.evaluate.spans import Coded, Ints, Scheme, code, counts_of

Metric = Literal["accuracy", "f1"]
Floats = NDArray[np.float64]

_CELLS = 1 << 20  # exchanges (rounds × sentences) held at once: 8 MB
_TIE = 1e-9  # percentage points below which two differences count as equal


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same data: their scores in percent, and the p-value of their difference."""

    metric: str
    a: float
    b: float
    difference: float  # a - b
    p_value: float  # two-sided
    rounds: int

    def __str__(self) -> str:
        scores = f"{self.a:.2f} against {self.b:.2f}, difference {self.difference:+.2f}"
        return f"{self.metric}: {scores}, p = {self.p_value:.4g} ({self.rounds} rounds)"

    def _repr_html_(self) -> str:
        cells = f"{self.a:.2f}", f"{self.b:.2f}", f"{self.difference:+.2f}", f"{self.p_value:.4g}"
        heads = "first", "second", "difference", f"p ({self.rounds:,} exchanges)"
        return html.block(f"Comparison by {self.metric}", html.table(heads, [cells]))


MOST_ROUNDS = 10**8


def compare(
    gold: Iterable[object],
    predicted_a: Iterable[object],
    predicted_b: Iterable[object],
    *,
    metric: Metric = "accuracy",
    rounds: int = 10000,
    seed: int | np.random.Generator = 0,
    scheme: Scheme = "auto",
) -> Comparison:
    """Compare two systems by token accuracy or span F1, exchanging whole sentences (or examples) at random.

    The p-value is at least 1 / (rounds + 1). Raises `DataError` if lengths differ.

    >>> gold = [["B-NP", "O"]] * 40
    >>> print(compare(gold, gold, [["B-NP", "B-NP"]] * 40, rounds=999))
    accuracy: 100.00 against 50.00, difference +50.00, p = 0.001 (999 rounds)
    """
    if not is_among(metric, ("accuracy", "f1")):
        raise DataError(f"unknown metric {metric!r}", remedy='use "accuracy" or "f1"')
    coded = code({"gold": gold, "predicted_a": predicted_a, "predicted_b": predicted_b}, scheme=scheme)
    statistics = _accuracy_statistics if metric == "accuracy" else _f1_statistics
    return exchanged(metric, *statistics(coded), rounds=rounds, seed=seed)


def exchanged(
    metric: str, a: Ints, b: Ints, fixed: int, *, rounds: int = 10000, seed: int | np.random.Generator = 0
) -> Comparison:
    """Compare two systems by counts of every input: right parts of each system [N, 1], and all parts (`fixed`).

    With right and predicted parts [N, 2], and gold parts as `fixed`, compare by F1.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 1:
        raise DataError(f"{rounds!r} rounds", remedy="ask for at least 1")
    if rounds > MOST_ROUNDS:
        raise DataError(f"{rounds:,} rounds", remedy=f"ask for at most {MOST_ROUNDS:,}")
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    differs = (a != b).any(axis=1)  # [N] exchanging equal statistics changes nothing
    gap = (a - b)[differs].astype(np.float64)  # [D, K]
    score_a, score_b = (float(_score(total, fixed)) for total in (total_a, total_b))
    least = abs(score_a - score_b) - _TIE
    rng = generator(seed)
    chunk = max(1, _CELLS // max(1, len(gap)))
    extreme = 0
    for done in range(0, rounds, chunk):
        moved = _exchange(gap, min(chunk, rounds - done), rng)
        change = _score(total_a - moved, fixed) - _score(total_b + moved, fixed)
        extreme += int((np.abs(change) >= least).sum())
    return Comparison(metric, score_a, score_b, score_a - score_b, (1 + extreme) / (1 + rounds), rounds)


def paired_t(values_a: Iterable[float], values_b: Iterable[float]) -> tuple[float, float]:
    """Student's paired t and its two-sided p, for pairs of values.

    Equal values throughout give (0, 1); one constant difference gives an infinite t and p = 0. Raises DataError for
    fewer than two pairs, unequal numbers of values, or values that are not finite.

    >>> t, p = paired_t([81.0, 83.0, 82.0], [80.0, 81.0, 81.0])
    >>> round(t, 3), round(p, 3)
    (4.0, 0.057)
    """
    named = ("values_a", values_a), ("values_b", values_b)
    a, b = (real_numbers(name, list(values) if is_listed(values) else values) for name, values in named)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise DataError(
            f"values of shapes {a.shape} and {b.shape}", remedy="give two lists of equal length, at least 2"
        )
    gap = a - b
    if not np.isfinite(gap).all():
        raise DataError(
            f"pair {int(np.argmin(np.isfinite(gap)))} (from 0) is not finite", remedy="leave out failed draws"
        )
    mean, error = float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))
    if error == 0.0:
        return (0.0, 1.0) if mean == 0.0 else (float(np.copysign(np.inf, mean)), 0.0)
    from scipy import stats

    t = mean / error
    return t, float(2 * stats.t.sf(abs(t), len(gap) - 1))


def _accuracy_statistics(coded: Coded) -> tuple[Ints, Ints, int]:
    """Per sentence [N, 1]: correct tokens of a, of b; and the number of tokens."""
    gold, *systems = coded.sides
    a, b = (_per_sentence(side == gold, coded.offsets)[:, None] for side in systems)
    return a, b, len(gold)


def _f1_statistics(coded: Coded) -> tuple[Ints, Ints, int]:
    """Per sentence [N, 2]: correct and predicted spans of a, of b; and the number of gold spans."""
    a, b = (counts_of(coded, side) for side in (1, 2))
    return a[:, :2], b[:, :2], int(a[:, 2].sum())


def _per_sentence(marks: NDArray[np.bool_], offsets: Ints) -> Ints:
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(marks)])
    return np.diff(before[offsets])


def _score(totals: Ints | Floats, fixed: int) -> Floats:
    """Percent, from totals [..., K]: accuracy when K = 1, F1 when K = 2."""
    part, whole = totals[..., 0], np.full(totals.shape[:-1], fixed, dtype=np.float64)
    if totals.shape[-1] == 2:
        part, whole = 2 * part, whole + totals[..., 1]
    return np.divide(100.0 * part, whole, out=np.zeros_like(whole), where=whole > 0)


def _exchange(gap: Floats, rounds: int, rng: np.random.Generator) -> Floats:
    """The exchanged amount of each round [R, K]: the sum of the gaps [D, K] of a random half of the sentences. Sums are
    exact.
    """
    octets = rng.integers(0, 256, size=(rounds, -(-len(gap) // 8)), dtype=np.uint8)
    swaps = np.unpackbits(octets, axis=1, count=len(gap))
    return swaps.astype(np.float64) @ gap
