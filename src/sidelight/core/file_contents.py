"""Checked access by name to the contents of our files: missing, misshapen and out-of-range values are refused.

A checksum shows that a file is unchanged, not that its contents make sense. Kernels trust every number that they get,
so models and checkpoints are checked before any kernel sees them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Ints
from sidelight.errors import DataError, ModelFileError

REMEDY = "write it again, or take a copy"
_MISHAPS = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)


@contextmanager
def reading(path: str | Path | None, *, remedy: str = REMEDY) -> Iterator[None]:
    """Context manager: every error inside becomes a `ModelFileError` that names the file."""
    try:
        yield
    except DataError as error:
        if isinstance(error, ModelFileError) and error.file is not None:
            raise
        raise ModelFileError(error.problem, file=path, remedy=error.remedy or remedy) from None
    except MemoryError:
        raise ModelFileError("it needs more memory than available", file=path, remedy=remedy) from None
    except _MISHAPS as error:
        problem = f"{error!r} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ModelFileError(f"its contents are invalid: {problem}".splitlines()[0], file=path, remedy=remedy) from None


def array_of(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    kind: Any,
    shape: Sequence[int | None],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    finite: bool = True,
) -> NDArray[Any]:
    """A copy of an array of this element type and shape (None: any), its numbers from low to high.

    Floats must be finite; with finite=False they may be infinite, but never NaN.
    """
    array = arrays.get(name)
    if array is None:
        raise ModelFileError(f"the array {name!r} is missing")
    if array.dtype != np.dtype(kind):
        raise ModelFileError(f"the array {name!r} holds {array.dtype}, not {np.dtype(kind)}")
    if array.ndim != len(shape) or any(want is not None and have != want for have, want in zip(array.shape, shape)):
        expected = ", ".join("any" if size is None else str(size) for size in shape)
        raise ModelFileError(f"the array {name!r} has the shape {list(array.shape)}, not [{expected}]")
    if array.size:
        if array.dtype.kind == "f" and not (np.isfinite(array).all() if finite else not np.isnan(array).any()):
            raise ModelFileError(f"the array {name!r} holds NaN{' or infinity' if finite else ''}")
        if array.dtype.kind != "b" and not (array.min() >= low and array.max() <= high):
            raise ModelFileError(f"the array {name!r} holds a number that is not from {low} to {high}")
    return np.array(array, order="C")


def array_like(
    arrays: Mapping[str, NDArray[Any]], name: str, present: NDArray[Any], *, finite: bool = True
) -> NDArray[Any]:
    """A copy of an array, with the element type and shape of the array that it replaces."""
    return array_of(arrays, name, present.dtype, present.shape, finite=finite)


def offsets_of(arrays: Mapping[str, NDArray[Any]], name: str, *, count: int | None, total: int) -> Ints:
    """Offsets of consecutive pieces: from 0 to `total`, never decreasing. # [count + 1]"""
    offsets: Ints = array_of(arrays, name, np.int64, [None if count is None else count + 1], low=0, high=total)
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != total or np.any(np.diff(offsets) < 0):
        raise ModelFileError(f"the array {name!r} does not cut {total} entries into pieces")
    return offsets


def lengths_of(arrays: Mapping[str, NDArray[Any]], name: str, *, count: int, total: int) -> Ints:
    """Lengths of pieces that together have `total` entries. # [count]"""
    lengths: Ints = array_of(arrays, name, np.int64, [count], low=0, high=total)
    if sum(lengths.tolist()) != total:
        raise ModelFileError(f"the lengths in {name!r} do not add up to {total}")
    return lengths


def part_of(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with the prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def mapping_of(values: Any, name: str) -> dict[str, Any]:
    """A mapping among the values."""
    return _value(values, name, dict, "a set of values")  # type: ignore[no-any-return]


def list_of(values: Any, name: str, *, count: int | None = None) -> list[Any]:
    """A list, with `count` items if that is given."""
    items = _value(values, name, list, "a list")
    if count is not None and len(items) != count:
        raise ModelFileError(f"{name!r} has {len(items)} items, not {count}")
    return items  # type: ignore[no-any-return]


def text_of(values: Any, name: str, *, among: Sequence[str] | None = None) -> str:
    """A string, one of `among` if that is given."""
    text = _value(values, name, str, "a text")
    if among is not None and text not in among:
        raise ModelFileError(f"{name!r} is {text[:40]!r}, not one of {', '.join(among)}")
    return text  # type: ignore[no-any-return]


def flag_of(values: Any, name: str) -> bool:
    """True or false."""
    return _value(values, name, bool, "true or false")  # type: ignore[no-any-return]


def whole_of(values: Any, name: str, *, low: int = 0, high: int = 2**53) -> int:
    """A whole number from low to high."""
    number = _value(values, name, int, "a whole number")
    if isinstance(number, bool) or not low <= number <= high:
        raise ModelFileError(f"{name!r} is {number}, not a whole number from {low} to {high}")
    return number  # type: ignore[no-any-return]


def number_of(
    values: Any, name: str, *, low: float = -math.inf, high: float = math.inf, finite: bool = True, nan: bool = False
) -> float:
    """A number from low to high; by default it must be finite."""
    number = _value(values, name, (int, float), "a number")
    if isinstance(number, bool) or (isinstance(number, int) and abs(number) > 2**1000):
        raise ModelFileError(f"{name!r} is not a number")
    if nan and math.isnan(number):
        return math.nan
    if not low <= number <= high or (finite and not math.isfinite(number)):
        raise ModelFileError(f"{name!r} is {number}, not a number from {low} to {high}")
    return float(number)


def numbers_of(values: Any, name: str, *, finite: bool = True) -> list[float]:
    """A list of numbers."""
    items = list_of(values, name)
    return [number_of({name: one}, name, finite=finite) for one in items]


def random_of(values: Any, name: str, rng: np.random.Generator) -> None:
    """Set a generator to the stored state."""
    stored = mapping_of(values, name)
    try:
        rng.bit_generator.state = stored
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ModelFileError(f"{name!r} is not a random state") from None


def _value(values: Any, name: str, kind: Any, expected: str) -> Any:
    if not isinstance(values, Mapping):
        raise ModelFileError(f"there are no values where {name!r} should be")
    if name not in values:
        raise ModelFileError(f"the value {name!r} is missing")
    if not isinstance(values[name], kind):
        raise ModelFileError(f"{name!r} is not {expected}")
    return values[name]
