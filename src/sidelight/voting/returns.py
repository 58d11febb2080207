"""What a labelling function returned, as one vote for every token.

Which of the forms it has is plain from its type:

| returned | means |
|---|---|
| `None` | nothing |
| a label (a string, a number, a truth) | it holds for every token |
| a set of labels | one of them holds for every token |
| a dict from token to vote | votes on these tokens, counted from 0 |
| a list or a tuple of spans, `(first, last, label)` | the label, or set, of these tokens, the last one included |
| a list, tuple or array with one vote per token | a label, a set of labels or `None` for each |

Where an input has one label in all, a label or a set is its vote, alone or in a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from sidelight.core.checks import is_hashable
from sidelight.voting.functions import LabellingFunction

FORMS = "return a label, a set of labels or None for each token, spans (first, last, label), or one of the first three"
_SPAN = "give spans as (first token, last token, label), tokens counted from 0, the last one included"


class BadReturn(Exception):
    """What a function returned cannot be read; with the remedy."""

    def __init__(self, problem: str, remedy: str = FORMS) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


def read_votes(
    returned: Any, length: int, *, function: LabellingFunction, scheme: str | None = None, single: bool = False
) -> list[Any] | None:
    """One vote for each of the tokens, or `None` for no vote at all; raises `BadReturn`.

    >>> spans = LabellingFunction(lambda words: [], "names")
    >>> read_votes([(1, 2, "PER")], 4, function=spans, scheme="BIO")
    [None, 'B-PER', 'I-PER', None]
    >>> read_votes({"N", "V"}, 2, function=spans) == [{"N", "V"}, {"N", "V"}]
    True
    """
    if isinstance(returned, Iterator):
        returned = list(returned)
    if isinstance(returned, np.ndarray | np.generic):
        returned = returned.tolist()
    form = _form(returned, function, single=single)
    votes: list[Any] = [None] * length
    if form == "spans":
        votes = _spans(returned, length, scheme=function.scheme or scheme, outside=function.outside)
    elif form == "sentence":
        votes = [_vote(returned)] * length
    elif form == "sparse":
        for token, vote in returned.items():
            if isinstance(token, bool) or not isinstance(token, int | np.integer) or not 0 <= token < length:
                raise BadReturn(f"a vote on token {token!r} of {length}", "count tokens from 0")
            votes[int(token)] = _vote(vote)
    elif form == "tokens":
        if len(returned) != length:
            raise BadReturn(f"{len(returned)} votes for {length} token{'s' * (length != 1)}")
        votes = [_vote(vote) for vote in returned]
    return None if all(vote is None for vote in votes) else votes


def _form(returned: Any, function: LabellingFunction, *, single: bool) -> str:
    """Which of the forms it has, checked against what the function was declared to return."""
    if returned is None:
        return "spans" if function.returns == "spans" else "nothing"
    listed = isinstance(returned, list | tuple)
    declared = function.returns
    if listed and declared in ("auto", "spans") and not single and _are_spans(returned):
        return "spans"
    if isinstance(returned, tuple) and _is_span(returned) and not isinstance(returned[2], int):
        raise BadReturn(f"a span alone, {returned!r}", "return a list of spans")
    form = "tokens" if listed else "sparse" if isinstance(returned, Mapping) else "sentence"
    fits = {"auto": True, "tokens": form in ("tokens", "sparse"), "spans": False, "sentence": form == "sentence"}
    if not fits[declared]:
        remedy = _SPAN if declared == "spans" else FORMS
        raise BadReturn(f"{_shown(returned)}, where {declared} were declared", remedy)
    return form


def _are_spans(returned: Sequence[Any]) -> bool:
    return all(isinstance(part, tuple | list) and _is_span(part) for part in returned)


def _is_span(part: Sequence[Any]) -> bool:
    return len(part) == 3 and all(isinstance(end, int | np.integer) and not isinstance(end, bool) for end in part[:2])


def _spans(returned: Sequence[Any] | None, length: int, *, scheme: str | None, outside: Any) -> list[Any]:
    votes: list[Any] = [None] * length
    for first, last, label in returned or ():
        if not 0 <= first <= last < length:
            raise BadReturn(f"a span from token {first} to {last} of {length}", _SPAN)
        for t in range(first, last + 1):
            if votes[t] is not None:
                raise BadReturn(f"two spans with token {t}", "return spans that do not overlap")
            prefix = "" if scheme is None else "B-" if t == first else "I-"
            votes[t] = _prefixed(prefix, _vote(label))
    return [outside if vote is None else vote for vote in votes]


def _prefixed(prefix: str, vote: Any) -> Any:
    if vote is None:
        raise BadReturn("a span without a label", _SPAN)
    if not prefix:
        return vote
    return frozenset(f"{prefix}{label}" for label in vote) if isinstance(vote, Set) else f"{prefix}{vote}"


def _vote(vote: Any) -> Any:
    """A label, a frozen set of labels, or `None`."""
    if isinstance(vote, np.generic):
        vote = vote.item()
    if isinstance(vote, Set):
        if not vote or any(label is None or not is_hashable(label) for label in vote):
            raise BadReturn(f"the vote {_shown(vote)}", "a set has at least one label; nothing is None")
        return frozenset(vote)
    if isinstance(vote, list | tuple | Mapping) or not is_hashable(vote) or vote != vote:
        raise BadReturn(f"the vote {_shown(vote)}")
    return vote


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
