"""Votes of functions as flat arrays; `structures.encoded_votes` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Ids, Ints


@dataclass(frozen=True, slots=True)
class EncodedVotes:
    """The votes on all inputs of a batch; inputs of other kinds have none."""

    functions: tuple[str, ...]  # [F]
    symbols: tuple[tuple[Any, ...], ...]  # [S] the labels that each one votes for
    function_of: Ints  # [S]
    admits: Bytes  # [S, L] the same labels as a mask, of all their states where these are hidden
    starts: Ints  # [T + 1] where the votes on each token begin
    votes: Ids  # [V] symbols, token by token

    def take(self, tokens: Ints) -> EncodedVotes:
        """The votes on some of the tokens."""
        counts = np.diff(self.starts)[tokens]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        places = np.repeat(self.starts[tokens] - starts[:-1], counts) + np.arange(starts[-1])
        return EncodedVotes(
            self.functions,
            self.symbols,
            self.function_of,
            self.admits,
            starts,
            np.ascontiguousarray(self.votes[places]),
        )
