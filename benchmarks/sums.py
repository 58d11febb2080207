"""Forward–backward with gradient on prepared scores, one thread: tokens per second at 22 and 45 labels.

The peer is pytorch-crf's log-likelihood and its `backward` (extra `bench-torch`). The first row of each size is
`chain_sums.beliefs` alone: log-sums, token marginals, expected transitions. The second also scores the given labels and
subtracts, which is all that the peer computes: the log-likelihood and its gradient with respect to every score.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, in_child, seconds
from benchmarks.sums_data import LENGTH, Chains, chains
from sidelight.core.arrays import Floats
from sidelight.spaces import ChainSpace, GivenScores
from sidelight.spaces.chains.chain_sums import Beliefs, beliefs

SEQUENCES, SMALL = 8000, 200
CHECKED = 4
REPEAT = 5
PUBLISHED = {22: 144_000.0, 45: 81_000.0}  # tokens per second of pytorch-crf, measured once on two Zen 4 cores


def run(*, quick: bool = False) -> list[Row]:
    sequences = SMALL if quick else SEQUENCES
    return [row for labels in PUBLISHED for row in _rows(sequences, labels)]


def _rows(sequences: int, labels: int) -> list[Row]:
    given = chains(sequences, labels)
    space, scores = _problem(given)
    peer, name, about = _peer(given, sequences, labels)
    beliefs(space, scores)
    alone, found = seconds(lambda: beliefs(space, scores), repeat=REPEAT)
    flat = given.labels.ravel()
    whole, _ = seconds(lambda: likelihood(space, scores, flat), repeat=REPEAT)
    tokens = sequences * LENGTH
    about = f"{tokens:,} tokens in sequences of {LENGTH}, {found.in_logs} in logarithms; {about}"
    return [
        _row(f"log-sums and marginals, {labels} labels", tokens / alone, peer, name, about),
        _row(f"log-likelihood and gradient, {labels} labels", tokens / whole, peer, name, about),
    ]


def likelihood(space: ChainSpace, scores: GivenScores, labels: NDArray[np.int32]) -> tuple[float, tuple[Floats, ...]]:
    """Σ log p(y | x), and its gradient with respect to token, transition, start and end scores."""
    found: Beliefs = beliefs(space, scores)
    value = float(np.sum(space.score(scores, labels) - found.log_sums))
    tokens = np.negative(found.tokens, out=found.tokens)
    tokens[np.arange(len(labels)), labels] += 1.0
    by_sequence = labels.reshape(-1, LENGTH).astype(np.int64)
    size = space.n_labels
    pairs = (by_sequence[:, :-1] * size + by_sequence[:, 1:]).ravel()
    moves = np.bincount(pairs, minlength=size * size).reshape(size, size) - found.transitions
    start = np.bincount(by_sequence[:, 0], minlength=size) - found.start
    end = np.bincount(by_sequence[:, -1], minlength=size) - found.end
    return value, (tokens, moves, start, end)


def _problem(given: Chains) -> tuple[ChainSpace, GivenScores]:
    count, length, labels = given.tokens.shape
    scores = GivenScores(given.tokens.reshape(-1, labels), given.transition, given.start, given.end)
    return ChainSpace(np.arange(count + 1, dtype=np.int64) * length, labels), scores


def _peer(given: Chains, sequences: int, labels: int) -> tuple[float, str, str]:
    """Tokens per second of the peer, its name, and where the figure is from."""
    for package in ("torch", "torchcrf"):
        if find_spec(package) is None:
            about = f"{package} is not installed (extra bench-torch): the peer's figure is a published one"
            return PUBLISHED[labels], "pytorch-crf, published", about
    told = in_child("benchmarks.sums_torch", str(sequences), str(labels), str(CHECKED))
    _check(given, told)
    about = f"peer with torch {told['torch']}, float32, batches of {told['batch']} (its best)"
    return sequences * LENGTH / told["seconds"], "pytorch-crf", about


def _check(given: Chains, told: dict[str, Any]) -> None:
    """Raise where the two sides do not compute the same thing."""
    few = Chains(given.tokens[:CHECKED], given.transition, given.start, given.end, given.labels[:CHECKED])
    value, gradients = likelihood(*_problem(few), few.labels.ravel())
    np.testing.assert_allclose(value, told["value"], rtol=1e-9)
    for ours, theirs in zip(gradients, told["gradients"], strict=True):
        np.testing.assert_allclose(ours.ravel(), theirs, atol=1e-9)


def _row(what: str, ours: float, peer: float, peer_name: str, note: str) -> Row:
    ratio = ours / peer
    return Row("sums", what, ours, "tokens/s", peer, peer_name, ratio, "at least 10 times", ratio >= 10, note)
