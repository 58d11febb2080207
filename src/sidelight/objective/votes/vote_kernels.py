"""Votes on tokens, added up: what they say of every label, and how often each was given where a label is believed."""

from __future__ import annotations

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel


@kernel
def add_votes(starts: Ints, votes: Ids, gains: Floats, out: Floats) -> None:
    """out[t] += Σ over the votes s on token t of gains[s]; starts are [T + 1], gains [S, L], out [T, L]."""
    size = gains.shape[1]
    for t in range(starts.shape[0] - 1):
        row = out[t]
        for place in range(starts[t], starts[t + 1]):
            gain = gains[votes[place]]
            for label in range(size):
                row[label] += gain[label]


@kernel
def count_votes(starts: Ints, votes: Ids, tokens: Floats, out: Floats) -> None:
    """out[s] += Σ over the tokens t with a vote s of tokens[t]; tokens are [T, L], out [S, L]."""
    size = out.shape[1]
    for t in range(starts.shape[0] - 1):
        row = tokens[t]
        for place in range(starts[t], starts[t + 1]):
            count = out[votes[place]]
            for label in range(size):
                count[label] += row[label]
