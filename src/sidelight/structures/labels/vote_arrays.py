"""Votes of functions as flat arrays.

A *symbol* is one thing that one function says: a label, or a set of labels. Every function has its own symbols, so that
what a function means by its votes can be learned for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.errors import DataError
from sidelight.evidence import Evidence, Voted, voted_labels
from sidelight.structures.labels.label_sets import LabelSet
from sidelight.voting.encoded import EncodedVotes

Unknown = Callable[[int, int, Any], DataError]  # the error for a label of an input's token that does not exist


def encode_votes(evidence: Sequence[Evidence], labels: LabelSet, starts: Ints, unknown: Unknown) -> EncodedVotes | None:
    """The votes in the evidence, or `None` where it has none; raises what `unknown` makes at an unknown label."""
    voted = [(i, piece) for i, piece in enumerate(evidence) if isinstance(piece, Voted)]
    if not voted:
        return None
    functions = tuple(dict.fromkeys(name for _, piece in voted for name in piece.votes))
    number = {name: f for f, name in enumerate(functions)}
    symbols: dict[tuple[int, frozenset[Any]], int] = {}
    known: dict[tuple[int, Any], int] = {}  # the same by votes as they are written
    tokens: list[int] = []
    votes: list[int] = []
    for i, piece in voted:
        first = int(starts[i])
        for name, given in piece.votes.items():
            f = number[name]
            for t, vote in enumerate(() if given is None else given):
                if vote is None:
                    continue
                key = f, (frozenset(vote) if isinstance(vote, Set) else vote)
                symbol = known.get(key)
                if symbol is None:
                    named = frozenset(voted_labels(vote))
                    for label in named:
                        if label not in labels:
                            raise unknown(i, t, label)
                    symbol = known[key] = symbols.setdefault((f, named), len(symbols))
                tokens.append(first + t)
                votes.append(symbol)
    at = np.array(tokens, dtype=np.int64)
    order = np.argsort(at, kind="stable")
    counts = np.bincount(at, minlength=int(starts[-1]))
    named_by = [tuple(label for label in labels.classes if label in named) for _, named in symbols]
    masks = [labels.mask(names) for names in named_by]
    return EncodedVotes(
        functions,
        tuple(named_by),
        np.array([f for f, _ in symbols], dtype=np.int64),
        np.array(masks, dtype=np.uint8).reshape(len(masks), len(labels)),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array(votes, dtype=np.int32)[order],
    )
