"""Votes of labelling functions on inputs, as evidence and as flat arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from sidelight.core.arrays import Bytes, Ids, Ints
from sidelight.core.checks import flag, is_listed, shown
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Gold, Partial, Voted, voted_labels
from sidelight.voting.functions import (
    OUTSIDE,
    BadReturn,
    LabellingFunction,
    check_outside,
    check_scheme,
    named_functions,
    read_votes,
)
from sidelight.voting.table import VoteTable, vote_table


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


@dataclass(frozen=True, slots=True)
class Votes(Sequence[Voted]):
    """A `Voted` for every input, followed by one for every input of the Gold that the functions were tried on.

    `table` says how often each function votes and how often it is right; `str` shows it.
    """

    pieces: tuple[Voted, ...]  # of the inputs
    tried: tuple[Voted, ...]  # of Gold's inputs
    table: VoteTable

    def __len__(self) -> int:
        return len(self.pieces) + len(self.tried)

    @overload
    def __getitem__(self, index: int) -> Voted: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Voted]: ...

    def __getitem__(self, index: int | slice) -> Voted | Sequence[Voted]:
        return (self.pieces + self.tried)[index]

    def __iter__(self) -> Iterator[Voted]:
        yield from self.pieces
        yield from self.tried

    def __str__(self) -> str:
        return str(self.table)

    def majority(self) -> list[Partial]:
        """The label with the most votes on each token, for learners that take no votes; votes on Gold are left out.

        A set counts as one vote, divided among its labels. The result is `None` if labels are tied, or if there are no
        votes.

        >>> votes(["on"], {"a": lambda x: "P", "b": lambda x: {"P", "N"}}).majority()[0].y
        ['P']
        """
        return [Partial(p.x, majority_of(p), weight=p.weight, origin=p.origin) for p in self.pieces]

    def candidates(self) -> list[Candidates]:
        """All labels with a vote on each token, for learners of candidates; any label if there are no votes."""
        return [Candidates(p.x, candidates_of(p), weight=p.weight, origin=p.origin) for p in self.pieces]


def majority_of(piece: Voted) -> list[Any | None]:
    """The label with the most votes at each token, `None` where there is no such label."""
    labels: list[Any | None] = []
    for votes in _columns(piece):
        counts = Counter[Any]()
        for vote in votes:
            named = voted_labels(vote)
            counts.update(dict.fromkeys(named, 1.0 / max(len(named), 1)))
        top = counts.most_common(2)
        clear = top and (len(top) == 1 or top[0][1] > top[1][1] + 1e-9)
        labels.append(top[0][0] if clear else None)
    return labels


def candidates_of(piece: Voted) -> list[tuple[Any, ...] | None]:
    """All labels with a vote at each token, `None` where there is none."""
    return [
        tuple(dict.fromkeys(label for vote in votes for label in sorted(voted_labels(vote), key=str))) or None
        for votes in _columns(piece)
    ]


def votes(
    xs: Sequence[Any],
    functions: Iterable[Callable[[Any], Any]] | Mapping[str, Callable[[Any], Any]],
    *,
    gold: Iterable[Gold] | None = None,
    scheme: str | None = None,
    outside: Any = "O",
    single: bool = False,
) -> Votes:
    """Apply labelling functions to inputs. The result is evidence from which learners estimate their reliability.

    A function takes an input and returns, for every token, a label, a set of labels one of which is right, or `None`;
    or spans (first token, last token, label) with the last token included; or one label or set for all tokens
    (`sidelight.voting.functions` lists all forms, `labelling_function` declares one). With `scheme` "BIO" a span of X
    is read as B-X, I-X, …; and if no function ever votes for the label `outside`, a voter of that name does, on tokens
    without other votes (`outside=None` leaves them without votes). `single` is for inputs with one label each, as for
    `Classifier`; inputs that are dicts or strings always have one.

    With `gold`, the functions are also applied to its inputs: the table then has their accuracy, and a fit on the votes
    and the same Gold uses it to estimate their reliability. Raises `DataError` with the name of the function and the
    number of the input if a function fails, or returns something unreadable.

    >>> def articles(words): return ["DET" if word in ("a", "the") else None for word in words]
    >>> def endings(words): return {t: {"NOUN", "VERB"} for t, word in enumerate(words) if word.endswith("s")}
    >>> found = votes([["the", "lights"]], [articles, endings], gold=[Gold(["a", "light"], ["DET", "NOUN"])])
    >>> found[0].votes["articles"], len(found)
    (['DET', None], 2)
    >>> print(found)
    function  votes  coverage  overlap  conflict  right on gold
    articles      1     50.0%     0.0%      0.0%  100.0% of 1
    endings       1     50.0%     0.0%      0.0%
    together      2    100.0%     0.0%      0.0%  100.0% of 1
    """
    check_scheme(scheme)
    flag("single", single)
    check_outside(outside)
    named = named_functions(functions)
    if not is_listed(xs) or not hasattr(xs, "__len__"):
        raise DataError(f"the inputs are a {type(xs).__name__}", remedy="give a list of inputs")
    labelled = _gold(gold)
    pieces = tuple(_voted(x, i, "input", named, scheme, single) for i, x in enumerate(xs))
    tried = tuple(_voted(p.x, i, "gold input", named, scheme, single) for i, p in enumerate(labelled))
    names = [one.name for one in named]
    if scheme is not None and outside is not None and not any(_names(p, outside) for p in (*pieces, *tried)):
        pieces, tried = (tuple(_with_outside(p, outside) for p in some) for some in (pieces, tried))
        names.append(OUTSIDE)
    outputs = [
        list(p.y) if len(one) != 1 or _is_listed(p.y) else [p.y] for p, one in zip(labelled, map(_columns, tried))
    ]
    return Votes(pieces, tried, vote_table(names, pieces, tried, outputs))


def _gold(gold: Iterable[Gold] | None) -> list[Gold]:
    if gold is not None and not is_listed(gold):
        raise DataError(f"gold is {shown(gold)}", remedy="give a list of Gold, as sidelight.gold makes it")
    pieces = [] if gold is None else list(gold)
    for piece in pieces:
        if not isinstance(piece, Gold):
            raise DataError(f"a {type(piece).__name__} among the gold", remedy="give Gold, as sidelight.gold makes it")
    return pieces


def _voted(
    x: Any,
    i: int,
    what: str,
    functions: Sequence[LabellingFunction],
    scheme: str | None,
    single: bool,
) -> Voted:
    alone = single or isinstance(x, str | bytes | Mapping) or not hasattr(x, "__len__")
    length = 1 if alone else len(x)
    rows: dict[str, list[Any] | None] = {}
    for function in functions:
        where = f"the function {function.name!r}, {what} {i}"
        try:
            returned = function(x)
            rows[function.name] = read_votes(returned, length, function=function, scheme=scheme, single=alone)
        except BadReturn as error:
            raise DataError(f"{where}: {error.problem}", remedy=error.remedy) from None
        except Exception as error:
            columns = not alone and length > 0 and isinstance(x[0], tuple)
            said_of_tokens = ": tokens are tuples here, a text for each column of the file" if columns else ""
            remedy = f"fix the function{said_of_tokens}"
            raise DataError(f"{where}: {type(error).__name__}: {error}", remedy=remedy) from error
    return single_votes(x, rows) if alone else Voted(x, rows)


def single_votes(x: Any, rows: Mapping[str, list[Any] | None]) -> Voted:
    """The votes on an input with one label; a function without a vote has a list with `None`."""
    return Voted(x, rows if any(rows.values()) else {name: [None] for name in rows})


def _names(piece: Voted, label: Any) -> bool:
    """Whether any function votes for a label."""
    return any(label in voted_labels(vote) for votes in piece.votes.values() for vote in votes or ())


def _with_outside(piece: Voted, outside: Any) -> Voted:
    """The same votes, with an additional voter for tokens without votes."""
    silent = [all(vote is None for vote in votes) for votes in _columns(piece)]
    own = [outside if alone else None for alone in silent] if any(silent) else None
    return replace(piece, votes={**piece.votes, OUTSIDE: own})


def _columns(piece: Voted) -> list[tuple[Any, ...]]:
    """The votes of all functions on each token; empty if no function votes at all."""
    listed = [votes for votes in piece.votes.values() if votes is not None]
    if listed:
        return list(zip(*listed))
    alone = isinstance(piece.x, str | bytes | Mapping) or not hasattr(piece.x, "__len__")
    return [()] * (1 if alone else len(piece.x))


def _is_listed(y: Any) -> bool:
    return isinstance(y, list | tuple) or hasattr(y, "tolist")
