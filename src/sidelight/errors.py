"""Exceptions and warnings. Messages say where the problem is and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class SidelightError(Exception):
    """The base class of all errors that Sidelight raises on purpose."""


class DataError(SidelightError, ValueError):
    """Unusable input. The message is one line that names the place and a remedy.

    >>> print(DataError("2 columns where 3 were expected", file="a.txt", line=7, remedy="give every token 3 columns"))
    a.txt:7: 2 columns where 3 were expected; give every token 3 columns
    """

    def __init__(
        self, problem: str, *, file: str | Path | None = None, line: int | None = None, remedy: str | None = None
    ) -> None:
        self.problem = problem if "\n" not in problem else " ".join(problem.split())  # arrays have many lines
        self.file = None if file is None else " ".join(str(file).splitlines())
        self.line = line
        self.remedy = remedy
        place = "" if self.file is None else self.file if line is None else f"{self.file}:{line}"
        super().__init__((f"{place}: " if place else "") + self.problem + (f"; {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_data_error, (type(self), self.problem, self.file, self.line, self.remedy))


def _rebuild_data_error(
    kind: type[DataError], problem: str, file: str | None, line: int | None, remedy: str | None
) -> DataError:
    return kind(problem, file=file, line=line, remedy=remedy)


class ModelFileError(DataError):
    """A model or checkpoint file that cannot be loaded."""


class NotFitted(SidelightError, AttributeError):
    """A method that needs a fitted estimator was called before `fit`."""


class Infeasible(SidelightError):
    """No output satisfies all requirements.

    `example` is the number of the input, and `rules` are the numbers of the conflicting rules, if known.
    """

    def __init__(self, problem: str, *, example: int | None = None, rules: Sequence[int] = ()) -> None:
        super().__init__(problem)
        self.example = example
        self.rules = tuple(rules)


class NotProved(UserWarning):
    """Some outputs were not proved optimal, because inference was not exact on them."""


class LongTraining(UserWarning):
    """Training will take long; Ctrl-C stops it."""


class UnknownFeatures(UserWarning):
    """The model knows almost none of the features of its inputs."""


class Intractable(SidelightError):
    """The structure or space does not support this kind of inference."""


class LeftOut(UserWarning):
    """Part of an annotation file could not be read as labels of tokens, and was left out."""


class PlaceError(SidelightError):
    """The place where a fit runs cannot continue: the cluster is gone, or workers keep dying."""
