"""Labelling functions by name; those of a Python file are its list `FUNCTIONS`, or all functions that it defines.

The form of a return value follows from its type:

| returned | means |
|---|---|
| `None` | nothing |
| a label (a string, a number, a bool) | a vote on every token |
| a set of labels | a vote for one of them on every token |
| a dict from token to vote | votes on these tokens, counted from 0 |
| a list or a tuple of spans, `(first, last, label)` | the label, or set, of these tokens, the last one included |
| a list, tuple or array with one vote per token | a label, a set of labels or `None` for each |

If an input has a single label, the vote is a label or a set, alone or in a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal, get_args, overload

import numpy as np

from sidelight.core.checks import is_among, is_hashable, is_listed, shown
from sidelight.errors import DataError
from sidelight.rules.files import run_file

Returns = Literal["auto", "tokens", "spans", "sentence"]
OUTSIDE = "outside"  # the voter for tokens without other votes


@dataclass(frozen=True, slots=True)
class LabellingFunction:
    """A labelling function with a declaration of how to read its votes; made by `labelling_function`."""

    function: Callable[[Any], Any] = field(repr=False)
    name: str
    returns: Returns = "auto"
    scheme: str | None = None  # of its spans; None means the common scheme of all functions
    outside: Any = None  # its vote outside its spans

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise DataError(f"the function {self.name!r} is a {type(self.function).__name__}", remedy="give a function")
        if not isinstance(self.name, str) or not self.name or self.name == OUTSIDE:
            reason = f"; {OUTSIDE!r} is taken" if is_among(self.name, (OUTSIDE,)) else ""
            raise DataError(f"a function is called {self.name!r}", remedy=f"name it by another string{reason}")
        if not is_among(self.returns, get_args(Returns)):
            raise ValueError(f"returns is {shown(self.returns)}; there are {', '.join(get_args(Returns))}")
        check_scheme(self.scheme)
        check_outside(self.outside)

    def __call__(self, x: Any) -> Any:
        return self.function(x)


@overload
def labelling_function(function: Callable[[Any], Any], /) -> LabellingFunction: ...


@overload
def labelling_function(
    *, name: str | None = None, returns: Returns = "auto", scheme: str | None = None, outside: Any = None
) -> Callable[[Callable[[Any], Any]], LabellingFunction]: ...


def labelling_function(
    function: Callable[[Any], Any] | None = None,
    /,
    *,
    name: str | None = None,
    returns: Returns = "auto",
    scheme: str | None = None,
    outside: Any = None,
) -> Any:
    """Decorator that declares how to read the votes of a function whose return values are ambiguous.

    `returns` is "tokens" (a list with a label, a set of labels or None per token, or {token: the same}), "spans" (a
    list of (first token, last token, label), the last token included), "sentence" (a label or set for every token, or
    for the whole input if inputs have one label each), or "auto". `scheme` "BIO" reads a span of X as B-X, I-X, …;
    `outside` is the vote on tokens outside the spans, by default none.

    >>> @labelling_function(returns="spans", scheme="BIO", outside="O")
    ... def titles(words):
    ...     return [(t + 1, t + 1, "PER") for t, word in enumerate(words[:-1]) if word == "Mr."]
    >>> titles.name, titles(["Mr.", "Holt"])
    ('titles', [(1, 1, 'PER')])
    """

    def made(function: Callable[[Any], Any]) -> LabellingFunction:
        return LabellingFunction(function, _name_of(function) if name is None else name, returns, scheme, outside)

    return made if function is None else made(function)


def named_functions(functions: Any) -> tuple[LabellingFunction, ...]:
    """Functions with distinct names; raises `DataError` for values that are not a list of functions.

    >>> def suffix(words): return [None for _ in words]
    >>> [one.name for one in named_functions([suffix])], [one.name for one in named_functions({"last": suffix})]
    (['suffix'], ['last'])
    """
    if not is_listed(functions) and not isinstance(functions, Mapping):
        problem = f"a {type(functions).__name__} instead of labelling functions"
        raise DataError(problem, remedy="give a list of functions, or {name: function}")
    if isinstance(functions, Mapping):
        result = [_made(function, name) for name, function in functions.items()]
    else:
        result = [_made(function, None) for function in functions]
    if not result:
        raise DataError("no labelling functions", remedy="give at least one")
    names = [one.name for one in result]
    for name in names:
        if names.count(name) > 1:
            remedy = "name them apart: {name: function}, or @labelling_function(name=…)"
            raise DataError(f"two functions are called {name!r}", remedy=remedy)
    return tuple(result)


def check_scheme(scheme: str | None) -> None:
    """Raise `ValueError` for a scheme that does not exist."""
    if scheme is not None and not is_among(scheme, ("BIO",)):
        raise ValueError(f"scheme is {shown(scheme)}; give 'BIO' or None")


def check_outside(outside: Any) -> None:
    """Raise `ValueError` if it is not a label."""
    if not is_hashable(outside):
        raise ValueError(f"outside is {shown(outside)}; give a label, or None")


def _made(function: Any, name: str | None) -> LabellingFunction:
    if isinstance(function, LabellingFunction):
        return (
            function
            if name is None
            else LabellingFunction(function.function, name, function.returns, function.scheme, function.outside)
        )
    if not callable(function):
        raise DataError(f"{function!r} among the labelling functions", remedy="give functions of an input")
    return LabellingFunction(function, name or _name_of(function))


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise DataError(f"the function {function!r} has no name", remedy="give {name: function} for it")
    return name


def read_functions(path: str | Path) -> tuple[LabellingFunction, ...]:
    """Run a file and return its functions; raises `DataError` with the line if it fails, or if it has no functions."""
    return run_file(path, _functions_of, remedy="give a Python file with functions of a sentence")


def _functions_of(module: ModuleType, path: Path) -> tuple[LabellingFunction, ...]:
    listed = getattr(module, "FUNCTIONS", None)
    if listed is None:
        listed = [value for name, value in vars(module).items() if not name.startswith("_") and _own(value, module)]
    try:
        return named_functions(listed)
    except DataError as error:
        raise DataError(error.problem, file=path, remedy=error.remedy) from None


def _own(value: object, module: ModuleType) -> bool:
    """Whether this is a function that the file defines, and not one that it imports."""
    function = value.function if isinstance(value, LabellingFunction) else value
    return isinstance(function, FunctionType) and function.__module__ == module.__name__


FORMS = "return a label, a set of labels or None for each token, spans (first, last, label), or one of the first three"
_SPAN = "give spans as (first token, last token, label), tokens counted from 0, the last one included"


class BadReturn(Exception):
    """The return value of a function cannot be read; with a remedy."""

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
    """The form of a return value, checked against the declaration of the function."""
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
