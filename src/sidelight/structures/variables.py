"""Decisions that do not form a sequence: the variables of an input, their features, and their outputs.

Every variable has a kind and a key, and a label of its kind. A choice is (kind, label), numbered kind by kind. Pairs of
variables that are scored together have a type: its name says which table of weights they share.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Ids
from sidelight.data.checks import trouble
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Partial, Unlabeled
from sidelight.features.rows import offsets_of
from sidelight.features.structured.variable_features import Variables
from sidelight.structures.labels.encoding import Encoded
from sidelight.structures.labels.label_sets import LabelSet

Variable = tuple[str, Any]  # kind and key
Output = Mapping[str, Mapping[Any, Any]]  # by kind and key: a label
PairType = tuple[str, int, int]  # its name, and the kinds of both variables
KINDS = (Gold, Partial, Candidates, Companion, Unlabeled)


@dataclass(frozen=True, slots=True, eq=False)
class VariableReader:
    """The user's functions of inputs: variables, their attributes, and the pairs that are scored together."""

    labels: Mapping[str, tuple[Any, ...]]
    features: Callable[[Any, str, Any], Any]  # of the input, a kind and a key: attributes
    variables: Callable[[Any], Any]  # of the input: {kind: keys}
    pairs: Callable[[Any], Iterable[Sequence[Any]]] | None = None  # pairs of variables, optionally with a name first

    @property
    def choices(self) -> LabelSet:
        """All (kind, label)."""
        return LabelSet(tuple((kind, label) for kind, names in self.labels.items() for label in names))

    def variables_of(self, x: Any, i: int) -> list[Variable]:
        """The variables of input i, by kind; raises `DataError` for unknown kinds and duplicate keys."""
        variables = call_user("variables", self.variables, x, i=i)
        if not isinstance(variables, Mapping):
            problem = f"input {i}: variables(x) gave a {type(variables).__name__}"
            raise DataError(problem, remedy="give {kind: keys}")
        for kind in variables:
            if kind not in self.labels:
                remedy = f"there are {', '.join(self.labels)}"
                raise DataError(f"input {i}: there is no kind of variable {kind!r}", remedy=remedy)
        every = [(kind, key) for kind in self.labels for key in variables.get(kind, ())]
        if len({one for one in every if isinstance(one[1], Hashable)}) < len(every):
            problem = f"input {i}: a key is there twice, or is a list"
            raise DataError(problem, remedy="give every variable a key of its own")
        return every

    def attributes(self, x: Any, variables: Sequence[Variable]) -> list[Any]:
        """The attributes of each variable."""
        return [self.features(x, kind, key) for kind, key in variables]

    def pairs_of(self, x: Any, variables: Sequence[Variable], i: int) -> list[tuple[str, int, int]]:
        """The name and both variables of each pair of input i, by their numbers."""
        number = {variable: v for v, variable in enumerate(variables)}
        pairs = []
        for pair in () if self.pairs is None else self.pairs(x):
            one, other = pair[-2:]
            name = str(pair[0]) if len(pair) == 3 else f"{one[0]} {other[0]}"
            if one not in number or other not in number or one == other:
                problem = f"input {i}: the pair {one!r}, {other!r} is not of two of its variables"
                raise DataError(problem, remedy="give (kind, key) of each")
            pairs.append((name, number[one], number[other]))
        return pairs


def call_user(name: str, function: Callable[..., Any], *arguments: Any, i: int) -> Any:
    """The result of a user's function for input i; raises `DataError` with its name if it fails."""
    try:
        return function(*arguments)
    except Exception as error:
        problem = f"input {i}: {name} raised {type(error).__name__}: {error}"
        raise DataError(problem, remedy=f"fix the function {name}") from error


def pair_types(reader: VariableReader, xs: Sequence[Any]) -> tuple[PairType, ...]:
    """The types of pairs of inputs, in order of appearance; raises `DataError` if a name has two meanings."""
    kinds = {kind: k for k, kind in enumerate(reader.labels)}
    types: dict[str, PairType] = {}
    for i, x in enumerate(xs):
        variables = reader.variables_of(x, i)
        for name, one, other in reader.pairs_of(x, variables, i):
            meant = (name, kinds[variables[one][0]], kinds[variables[other][0]])
            if types.setdefault(name, meant) != meant:
                problem = f"input {i}: the pairs called {name!r} are of different kinds"
                raise DataError(problem, remedy="give them names of their own")
    return tuple(types.values())


def read_variables(
    reader: VariableReader, xs: Sequence[Any], types: Sequence[PairType]
) -> tuple[Variables, list[list[Variable]], list[list[Any]]]:
    """The variables of inputs, with names and attributes; raises `DataError` for unknown pairs."""
    kinds, number = {kind: k for k, kind in enumerate(reader.labels)}, {name: k for k, (name, *_) in enumerate(types)}
    called = [reader.variables_of(x, i) for i, x in enumerate(xs)]
    pairs: list[list[tuple[int, int, int]]] = []
    for i, (x, variables) in enumerate(zip(xs, called)):
        own = reader.pairs_of(x, variables, i)
        for name, *_ in own:
            if name not in number:
                problem = f"input {i}: no pair called {name!r} was learned from"
                raise DataError(problem, remedy="learn from inputs that have such pairs, or leave it out")
        pairs.append([(number[name], one, other) for name, one, other in own])
    flat = [pair for own in pairs for pair in own]
    decisions = Variables(
        offsets_of([len(variables) for variables in called]),
        np.array([kinds[kind] for variables in called for kind, _ in variables], dtype=np.int32),
        offsets_of([len(own) for own in pairs]),
        np.array(flat, dtype=np.int32).reshape(-1, 3),
    )
    return decisions, called, [reader.attributes(x, variables) for x, variables in zip(xs, called)]


def encode_variables(
    evidence: Sequence[Any], called: Sequence[Sequence[Variable]], choices: LabelSet, *, alone: bool = False
) -> Encoded:
    """The evidence about outputs, as arrays; raises `DataError` with the piece of evidence and the variable.

    With `alone`, there is only one piece, which the caller identifies.
    """
    starts = offsets_of([len(variables) for variables in called])
    targets = np.full(int(starts[-1]), -1, dtype=np.int32)
    admitted = np.ones((int(starts[-1]), len(choices)), dtype=np.uint8)
    for place, (piece, variables) in enumerate(zip(evidence, called)):
        i = None if alone else place
        if not isinstance(piece, KINDS):
            raise trouble(piece, i, problem=f"Joint does not learn from {piece.kind}", remedy="leave it out")
        if not variables:
            raise trouble(piece, i, problem="the input has no variables", remedy="leave it out")
        known = piece.candidates if isinstance(piece, Companion) else getattr(piece, "y", None)
        labels = _labels_of(piece, i, variables, known)
        for v, ((kind, key), label) in enumerate(zip(variables, labels)):
            if label is None:
                if isinstance(piece, Gold):
                    remedy = "label every variable, or give Partial"
                    raise trouble(piece, i, problem=f"{kind}[{key!r}] has no label", remedy=remedy)
                continue
            several = isinstance(piece, Candidates | Companion)
            numbers = [_number(piece, i, kind, key, one, choices) for one in (label if several else [label])]
            if not numbers:
                raise trouble(piece, i, problem=f"{kind}[{key!r}] has no candidates", remedy="give some, or None")
            if not several:
                targets[starts[place] + v] = numbers[0]
            admitted[starts[place] + v] = 0
            admitted[starts[place] + v, numbers] = 1
    return Encoded.of(evidence, starts, targets, None if np.all(admitted) else admitted)


def decode_variables(called: Sequence[Sequence[Variable]], numbers: Ids, choices: LabelSet) -> list[dict[str, Any]]:
    """Outputs {kind: {key: label}} from choices."""
    outputs: list[dict[str, Any]] = []
    names = iter(choices.decode(numbers))
    for variables in called:
        output: dict[str, Any] = {}
        for (kind, key), (_, label) in zip(variables, names):
            output.setdefault(kind, {})[key] = label
        outputs.append(output)
    return outputs


def _labels_of(piece: Evidence, i: int | None, variables: Sequence[Variable], y: Any) -> list[Any]:
    """The evidence about each variable; None if there is none."""
    if y is None:
        return [None] * len(variables)
    if not isinstance(y, Mapping) or not all(isinstance(members, Mapping) for members in y.values()):
        raise trouble(piece, i, problem=f"the output is {y!r}", remedy="give {kind: {key: label}}")
    known = {(kind, key) for kind, members in y.items() for key in members}
    for kind, key in known.difference(variables):
        raise trouble(piece, i, problem=f"the input has no variable {kind}[{key!r}]", remedy="see variables(x)")
    return [y.get(kind, {}).get(key) for kind, key in variables]


def _number(piece: Evidence, i: int | None, kind: str, key: Any, label: Any, choices: LabelSet) -> int:
    if (kind, label) not in choices:
        known = ", ".join(str(name) for of, name in choices.names if of == kind)
        raise trouble(piece, i, problem=f"{kind}[{key!r}]: unknown label {label!r}", remedy=f"use one of {known}")
    return choices.number[kind, label]


__all__ = ["VariableReader", "decode_variables", "encode_variables", "pair_types", "read_variables"]
