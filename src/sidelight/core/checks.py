"""Checks of arguments from users. Each error names the argument and a valid value.

`arguments_checked` checks arguments against the signature of a public function; the other functions check one value.
"""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from sidelight.core.arrays import Floats

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")

LARGEST = 1e100  # larger numbers are mistakes, and their products overflow
LONGEST = 200  # characters of a value in a message
VALUES = "values"  # key of a field's metadata for the strings that it may have


def shown(value: Any) -> str:
    """A value as text for a message: on one line, and not too long.

    >>> shown(np.eye(2))
    'array([[1., 0.], [0., 1.]])'
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def whole(name: str, value: Any, *, least: int) -> int:
    """A whole number of at least `least`; raises ValueError otherwise.

    >>> whole("restarts", 3, least=1)
    3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {shown(value)}; give a whole number from {least} on")
    return int(value)


def amount(name: str, value: Any) -> float:
    """A finite number of at least 0; raises ValueError otherwise.

    >>> amount("tolerance", 0.1)
    0.1
    """
    if not is_number(value):
        raise ValueError(f"{name} is {shown(value)}; give a number")
    if not 0 <= _plain(value) < LARGEST:
        raise ValueError(f"{name} is {value}; give a number that is not negative, and not infinite")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """True or False, or 1 or 0; raises ValueError otherwise.

    >>> flag("bias", 1)
    True
    """
    if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
        raise ValueError(f"{name} is {shown(value)}; give True or False")
    return bool(value)


def is_among(value: Any, names: Iterable[str]) -> bool:
    """Whether this is one of some names; safe for arrays and similar values."""
    return isinstance(value, str) and value in names


def is_hashable(value: Any) -> bool:
    """Whether this can be a label: arrays, lists and dicts cannot."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def real_numbers(name: str, values: Any) -> Floats:
    """Real numbers as an array; raises ValueError for strings, complex numbers and other values.

    >>> real_numbers("weights", [1, 2]).tolist()
    [1.0, 2.0]
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biuf":
            return array.astype(np.float64)
        if array.dtype.kind == "O":
            return np.array([float(value) for value in array.ravel()]).reshape(array.shape)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name} is {shown(values)}; give numbers, and as many in each row")


def is_whole(value: Any) -> bool:
    """Whether this is a whole number, of Python or numpy, but not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether this is a number and not a bool; it may be NaN or infinite."""
    return not isinstance(value, bool) and isinstance(value, (int, float, np.integer, np.floating))


def _plain(value: Any) -> Any:
    """The value as a Python number: numpy's numbers cannot be compared with larger integers."""
    return value.item() if isinstance(value, np.generic) else value


def positive(name: str, value: Any) -> float:
    """A finite number above 0; raises ValueError otherwise.

    >>> positive("inside", 0.1)
    0.1
    """
    if not is_number(value) or not 0 < _plain(value) < LARGEST:
        raise ValueError(f"{name} is {shown(value)}; give a number above 0")
    return float(value)


def generator(seed: Any) -> np.random.Generator:
    """A random generator, from a seed or a generator; raises ValueError for other values.

    >>> int(generator(0).integers(100))
    85
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed is {shown(seed)}; give a whole number from 0 on, or a numpy.random.Generator")
    return np.random.default_rng(int(seed))


def file_name(path: Any, *, name: str = "path") -> str:
    """A file name that the system accepts; raises ValueError for other values.

    >>> file_name("model.sidelight")
    'model.sidelight'
    """
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str) or not text or "\0" in text or not is_text(text):
        raise ValueError(f"{name} is {shown(path)}; give the name of a file, or a Path")
    return text


def is_listed(value: Any) -> bool:
    """Whether this is a collection of elements: lists, arrays and similar, but neither strings nor dicts."""
    if isinstance(value, str | bytes | Mapping | type) or getattr(value, "shape", None) == ():
        return False
    return isinstance(value, Iterable)


def is_text(value: str) -> bool:
    """Whether this is a str that can be encoded: a single surrogate cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_table(value: Any) -> bool:
    """Whether it has named columns: a frame of pandas or polars, an Arrow table, a dataset of Hugging Face."""
    kind = type(value)  # asking a lazy frame of polars itself would warn
    return hasattr(kind, "column_names") or (hasattr(kind, "columns") and hasattr(kind, "__getitem__"))


def by_position(value: Any) -> Any:
    """The elements of a Series as a list, by position and not by index; other values are returned unchanged.

    An Arrow array, or an element of one, becomes a Python value.
    """
    if hasattr(value, "as_py"):
        return value.as_py()
    if hasattr(value, "to_pylist") and not is_table(value):
        return value.to_pylist()
    return list(value) if hasattr(value, "iloc") and len(getattr(value, "shape", (0,))) == 1 else value


# Signatures ------------------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """One of the types that an argument may have: `name[inside]`."""

    name: str
    inside: str = ""


def arguments_checked(make: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """Decorator that checks arguments against the types of the signature; ValueError names the argument.

    >>> @arguments_checked
    ... def repeated(word: str, times: int = 2) -> str:
    ...     return word * times
    >>> repeated("a", times="b")
    Traceback (most recent call last):
        ...
    ValueError: times is 'b'; give a whole number, below 2**31
    """
    parameters = inspect.signature(make).parameters.values()
    kinds = {one.name: _kinds(str(one.annotation)) for one in parameters if one.kind is not one.VAR_POSITIONAL}
    ordered = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]

    @wraps(make)
    def checked(*args: Arguments.args, **by_name: Arguments.kwargs) -> Made:
        positional: Any = [_typed(name, value, kinds[name]) for name, value in zip(ordered, args)]
        named: dict[str, Any] = {k: _typed(k, v, kinds[k]) if k in kinds else v for k, v in by_name.items()}
        rest: Any = args[len(positional) :]
        return make(*positional, *rest, **named)

    return checked


def check_fields(value: Any) -> None:
    """Check the fields of a dataclass: a ValueError names a field without its type, or with none of its `values`."""
    for one in fields(value):
        own = _typed(one.name, getattr(value, one.name), _kinds(str(one.type)))
        values = one.metadata.get(VALUES)
        if values is not None and not is_among(own, values):
            raise ValueError(f"{one.name} is {shown(own)}; give one of {', '.join(map(repr, values))}")


def _kinds(annotation: str) -> list[Kind]:
    """The alternatives of an annotation.

    >>> _kinds("str | Iterable[str | int] | None")
    [Kind(name='str', inside=''), Kind(name='Iterable', inside='str | int'), Kind(name='None', inside='')]
    """
    out, depth, start = [], 0, 0
    text = annotation + " | "
    for i, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == "|" and not depth:
            name, _, inside = text[start:i].strip().partition("[")
            out.append(Kind(name, inside.removesuffix("]")))
            start = i + 1
    return out


LISTS = ("Iterable", "Sequence", "Collection")
IN_WORDS = {
    "float": "a number",
    "int": "a whole number, below 2**31",
    "bool": "True or False",
    "str": "a text",
    "Path": "a Path",
    "Mapping": "a dict",
    "Callable": "a function",
    "None": "None",
    "np.random.Generator": "a numpy.random.Generator",
    **dict.fromkeys(LISTS, "a list"),
}


def _typed(name: str, value: Any, kinds: list[Kind]) -> Any:
    """An argument converted to its type: numbers of other libraries become Python's."""
    for kind in kinds:
        if _fits(value, kind):
            return float(value) if kind.name == "float" else value
    words = [_in_words(kind) for kind in kinds if kind.name != "None"]
    raise ValueError(f"{name} is {shown(value)}; give {' or '.join(words)}")


def _in_words(kind: Kind) -> str:
    if kind.name == "Literal":
        return " or ".join(map(repr, _literals(kind)))
    inside = {"str": " of texts", "int": " of whole numbers"}.get(kind.inside, "") if kind.name in LISTS else ""
    return IN_WORDS[kind.name] + inside


def _literals(kind: Kind) -> tuple[Any, ...]:
    return tuple(ast.literal_eval(f"[{kind.inside}]"))


def _fits(value: Any, kind: Kind) -> bool:
    """Whether a value is of a kind; the function itself decides about infinity and 2.0."""
    match kind.name:
        case "None":
            return value is None
        case "str":
            return isinstance(value, str) and is_text(value)
        case "float":
            return is_number(value) and (abs(_plain(value)) < LARGEST or abs(_plain(value)) == np.inf)
        case "int":
            return is_number(value) and abs(_plain(value)) < 2**31 and bool(value == int(value))
        case "bool":
            return isinstance(value, bool | np.bool_)
        case "Path":
            return isinstance(value, os.PathLike)
        case "Literal":
            return isinstance(value, str) and value in _literals(kind)
        case "Mapping":
            return isinstance(value, Mapping)
        case "Callable":
            return callable(value)
        case "np.random.Generator":
            return isinstance(value, np.random.Generator)
        case name if name in LISTS:
            within: Any = {"str": str, "int": (int, np.integer)}.get(kind.inside, object)
            elements = value if hasattr(value, "__len__") else ()  # others can be read only once
            no_truths = kind.inside != "int" or not any(isinstance(one, bool) for one in elements)
            return is_listed(value) and no_truths and all(isinstance(one, within) for one in elements)
    return True
