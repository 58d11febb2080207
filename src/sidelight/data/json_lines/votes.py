"""Votes of functions in JSON lines, read and written.

    {"tokens": ["Lights", "on"], "votes": {"suffix": ["NOUN", null], "words": [null, ["ADP", "ADV"]], "caps": null}}
    {"features": {"w=on": 1}, "votes": {"greeting": "ham", "length": null}}

A vote is a label, a list of labels of which one is right, or null. Null instead of a function's votes means that it was
called and abstained on every token.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from sidelight.data.json_lines.lines import FileLine, Record, one_each
from sidelight.evidence import Voted

VOTE = 'write a label, a list of labels, or null, e.g. {"suffix": ["NOUN", null], "words": [null, ["ADP", "ADV"]]}'


def votes_of(record: Record) -> dict[str, Any]:
    """The votes of a line in the form for `Voted`; raises `DataError` with the file and the line."""
    place = FileLine(record.origin.file, record.origin.line(0))
    if "votes" not in record.more:
        place.fail('no "votes"', "add the votes of functions, or read the file as something else than votes")
    value = record.more["votes"]
    if not isinstance(value, Mapping) or not value:
        place.fail(f'"votes" is {json.dumps(value)}', f"give an object with the votes of at least one function; {VOTE}")
    return {name: _votes(name, votes, record.x, place) for name, votes in value.items()}


def _votes(name: str, votes: Any, x: Any, place: FileLine) -> list[Any] | None:
    if votes is None:
        return None
    listed = [votes] if isinstance(x, dict) else one_each(f"votes of {name!r}", votes, len(x), place=place)
    return [_vote(name, vote, t, place) for t, vote in enumerate(listed)]


def _vote(name: str, vote: Any, t: int, place: FileLine) -> Any:
    named = vote if isinstance(vote, list) else [] if vote is None else [vote]
    if vote == [] or not all(isinstance(label, str) and label for label in named):
        place.fail(f"token {t}: {name!r} votes {json.dumps(vote)}", VOTE)
    return frozenset(vote) if isinstance(vote, list) else vote


def votes_as_lines(pieces: Iterable[Voted]) -> str:
    """The pieces as JSON lines, which can be read back; labels become strings."""
    return "".join(json.dumps(_entry(piece), ensure_ascii=False) + "\n" for piece in pieces)


def _entry(piece: Voted) -> dict[str, Any]:
    single = isinstance(piece.x, Mapping)
    votes = {name: None if own is None else [_written(vote) for vote in own] for name, own in piece.votes.items()}
    entry: dict[str, Any] = {"features": piece.x} if single else {"tokens": [_token(token) for token in piece.x]}
    entry["votes"] = {name: own[0] if own and single else own for name, own in votes.items()}
    return entry if piece.weight == 1.0 else entry | {"weight": piece.weight}


def _written(vote: Any) -> Any:
    if vote is None:
        return None
    return sorted(map(str, vote)) if isinstance(vote, Collection) and not isinstance(vote, str) else str(vote)


def _token(token: Any) -> Any:
    """A word, columns, or attributes; one column is a word."""
    if isinstance(token, np.generic):
        return token.item()
    return token[0] if isinstance(token, tuple) and len(token) == 1 else token
