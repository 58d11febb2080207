"""Functions that vote, by name; those of a file of Python are its list `FUNCTIONS`, or all that it defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal, get_args, overload

from sidelight.core.checks import is_among, is_hashable, is_listed, shown
from sidelight.errors import DataError
from sidelight.rules.files import run_file

Returns = Literal["auto", "tokens", "spans", "sentence"]
OUTSIDE = "outside"  # the voter that speaks where nobody does


@dataclass(frozen=True, slots=True)
class LabellingFunction:
    """A function of an input, with how its votes are to be read; made by `labelling_function`."""

    function: Callable[[Any], Any] = field(repr=False)
    name: str
    returns: Returns = "auto"
    scheme: str | None = None  # of its spans; None is the one of all functions
    outside: Any = None  # what it votes outside its spans

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
    """Above a function: how its votes are to be read, where that is not plain from what it returns.

    `returns` is "tokens" (a list with a label, a set of labels or None for each token, or {token: the same}), "spans"
    (a list of (first token, last token, label), the last token included), "sentence" (a label or a set that holds for
    every token, or of the whole input where inputs have one label each), or "auto". `scheme` "BIO" reads a span of X
    as B-X, I-X, …; `outside` is what it votes on tokens outside its spans: nothing unless given.

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
    """Functions with their names, which must differ; raises `DataError` for what is no list of functions.

    >>> def suffix(words): return [None for _ in words]
    >>> [one.name for one in named_functions([suffix])], [one.name for one in named_functions({"last": suffix})]
    (['suffix'], ['last'])
    """
    if not is_listed(functions) and not isinstance(functions, Mapping):
        problem = f"a {type(functions).__name__} in the place of labelling functions"
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
    """Raise `ValueError` for what is no label."""
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
    """Run a file and take its functions; raises `DataError` with the line where it fails, or where it has none."""
    return run_file(path, _functions_of, remedy="give a file of Python with functions of a sentence")


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
