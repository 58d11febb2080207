"""Sub-problems with their own features and labels, connected by rules, for sequential learning.

    x   anything; `variables(x)` gives {kind: keys}, `features(x, kind, key)` the attributes of a variable
    y   {kind: {key: label}}

A kind of variable is a sub-problem. If the outputs of an input can be listed, the allowed ones are listed
(`spaces.sub_problems.listed_space`), and sums over them are exact. Otherwise `inference` finds the best output, one
input at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn, Self

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.checks import is_hashable, is_listed, shown
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.evidence import Candidates, Gold, Partial
from sidelight.features.rows import offsets_of
from sidelight.inference.factors import ClauseShape, clause_worth
from sidelight.inference.methods.choose import solve
from sidelight.inference.problem import Clause, VariableProblem, clauses_of
from sidelight.inference.ruled_variables import symbolic_groups
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.slot_scorer import FeatureNames
from sidelight.objective.scorers.variable_scorer import attribute_scorer
from sidelight.rules import Domain, Rule
from sidelight.rules.rule import checked_rules
from sidelight.rules.stand_in_input import try_rules
from sidelight.spaces.slots import BatchedSlotSpace
from sidelight.spaces.sub_problems.listed_space import LegalOutputs, ListedSpace
from sidelight.structures.variables import VariableReader, call_user, encode_variables

MOST_LISTED = 1 << 14  # outputs of an input


@dataclass(eq=False)
class SubProblems:
    """Sub-problems connected by rules.

    - labels: {kind: its labels}; rules: about `y.kind[key]`, hard or soft at a price.
    - variables(x): {kind: keys}; features(x, kind, key): names of attributes, {name: value}, or an array of numbers.
    """

    labels: Mapping[str, Sequence[Any]]
    rules: Sequence[Rule] = ()
    variables: Callable[[Any], Mapping[str, Iterable[Any]]] = field(kw_only=True)
    features: Callable[[Any, str, Any], Any] = field(kw_only=True)
    names: FeatureNames = field(default_factory=FeatureNames, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.labels, Mapping) or not all(map(_are_labels, self.labels.values())) or not self.labels:
            remedy = "give a list of labels for each kind: {'entity': [...]}"
            raise DataError(f"labels is {shown(self.labels)}", remedy=remedy)
        for name in ("variables", "features"):
            if not callable(getattr(self, name)):
                remedy = "give a function of the input"
                raise DataError(f"{name} is {shown(getattr(self, name))}", remedy=remedy)
        self.labels = {str(kind): tuple(names) for kind, names in self.labels.items()}
        self.rules = checked_rules(self.rules)
        for kind, known in self.labels.items():
            if not known or len(set(known)) < len(known):
                raise DataError(f"{kind} has no labels, or one of them twice", remedy="give every label once")
        for rule in self.rules:
            if rule.learned:
                remedy = "give it a price, rule.soft(2.0), or leave it hard"
                raise DataError(f"the penalty of the rule {rule.name} is to be learned", remedy=remedy)
        try_rules(self.rules, self._domains)

    @cached_property
    def choice_names(self) -> tuple[tuple[str, Any], ...]:
        """The kind and label of every choice."""
        return tuple((kind, label) for kind, names in self.labels.items() for label in names)

    @cached_property
    def sub_problems(self) -> dict[str, tuple[int, ...]]:
        """The choices of each kind."""
        return {kind: tuple(k for k, (of, _) in enumerate(self.choice_names) if of == kind) for kind in self.labels}

    def batch(self, xs: Sequence[Any]) -> Batch:
        """A batch of inputs with all outputs that the rules allow."""
        called = [self._reader.variables_of(x, i) for i, x in enumerate(xs)]
        starts = offsets_of([len(own) for own in called])
        numbers = {kind: k for k, kind in enumerate(self.labels)}
        kinds = np.array([numbers[kind] for own in called for kind, _ in own], dtype=np.int32)
        attributes = [
            call_user("features", self.features, x, kind, key, i=i)
            for i, (x, own) in enumerate(zip(xs, called))
            for kind, key in own
        ]
        sizes = [len(names) for names in self.labels.values()]
        scorer = attribute_scorer(self.names, starts, kinds, sizes, attributes)
        first = offsets_of(sizes)
        bounds = [int(first[kind]) for kind in kinds]
        read: dict[Any, tuple[Clause, ...]] = {}
        each = any(rule.reads_input for rule in self.rules)
        clauses = []
        for i, (x, own) in enumerate(zip(xs, called)):
            sort = i if each else tuple(own)
            if sort not in read:
                read[sort] = self._clauses(x, own, i)
            clauses.append(read[sort])
        widths = [tuple(len(self.labels[kind]) for kind, _ in own) for own in called]
        offsets = [tuple(bounds[a:b]) for a, b in pairwise(starts.tolist())]
        space = _space(starts, len(self.choice_names), widths, offsets, clauses)
        return Batch(scorer, space)

    def encode(self, x: Any, y: Mapping[str, Mapping[Any, Any]]) -> Ids:
        """The choice of every variable; raises `DataError` for a missing or unknown label."""
        return encode_variables(
            [Gold(x, y)], [self._reader.variables_of(x, 0)], self._reader.choices, alone=True
        ).targets

    def decode(self, x: Any, choices: Ids) -> dict[str, dict[Any, Any]]:
        """{kind: {key: label}}."""
        output: dict[str, dict[Any, Any]] = {}
        for (kind, key), choice in zip(self._reader.variables_of(x, 0), choices.tolist()):
            output.setdefault(kind, {})[key] = self.choice_names[choice][1]
        return output

    def admitted(self, x: Any, y: Mapping[str, Mapping[Any, Any]]) -> Bytes:
        """The choices admitted by Partial and Candidates: for some variables a label, or several. # [slots, K]"""
        several = any(isinstance(value, list | set | tuple) for members in y.values() for value in members.values())
        piece = Candidates(x, y) if several else Partial(x, y)
        called = self._reader.variables_of(x, 0)
        mask = encode_variables([piece], [called], self._reader.choices, alone=True).admitted
        return np.ones((len(called), len(self.choice_names)), dtype=np.uint8) if mask is None else mask

    @cached_property
    def _reader(self) -> VariableReader:
        return VariableReader(self.labels, self.features, self.variables)  # type: ignore[arg-type]

    @cached_property
    def _domains(self) -> dict[str, Domain]:
        return {kind: Domain(names) for kind, names in self.labels.items()}

    def _clauses(self, x: Any, called: Sequence[tuple[str, Any]], i: int) -> tuple[Clause, ...]:
        if not called:
            raise DataError(f"input {i} has no variables", remedy="leave it out")
        y = symbolic_groups(called, self._domains)
        says = [rule.on(x, y, example=i) for rule in self.rules]
        return clauses_of(says, [float(rule.penalty) for rule in self.rules])  # type: ignore[arg-type]


def _are_labels(names: Any) -> bool:
    return is_listed(names) and all(map(is_hashable, names))


def _space(
    starts: Ints,
    n_labels: int,
    widths: Sequence[tuple[int, ...]],  # of each input: the labels of its variables
    offsets: Sequence[tuple[int, ...]],  # and the first choice of each
    clauses: Sequence[tuple[Clause, ...]],
) -> BatchedSlotSpace:
    """A space of listed outputs for every kind of input, or, if there are too many outputs, a space with inference."""
    if any(math.prod(own) > MOST_LISTED for own in widths):
        return RuledSlots(starts, n_labels, None, tuple(widths), tuple(offsets), tuple(clauses))
    numbers: dict[Any, int] = {}
    lists: list[LegalOutputs] = []
    list_of = []
    shapes: dict[Any, Any] = {}
    for i, (own, first, bound) in enumerate(zip(widths, offsets, clauses)):
        if (id(bound), own) not in shapes:
            every = (ClauseShape(clause.says, clause.penalty, own) for clause in bound)
            shapes[id(bound), own] = tuple((shape.key, shape.scope) for shape in every)
        key = own, first, shapes[id(bound), own]
        if key not in numbers:
            numbers[key] = len(lists)
            lists.append(_listed(own, first, bound, i))
        list_of.append(numbers[key])
    return ListedSpace.of(starts, n_labels, np.array(list_of, dtype=np.int64), lists)


def _listed(widths: tuple[int, ...], first: tuple[int, ...], clauses: Sequence[Clause], i: int) -> LegalOutputs:
    worth = np.zeros(widths)
    for clause in clauses:
        shape = ClauseShape(clause.says, clause.penalty, widths)
        axes = [widths[v] if v in shape.scope else 1 for v in range(len(widths))]
        worth = worth + clause_worth(shape).reshape(axes)
    outputs = np.argwhere(worth > -np.inf)
    if not len(outputs):
        raise Infeasible(f"input {i}: the rules allow no output", example=i)
    return LegalOutputs((outputs + np.array(first)).astype(np.int32), -worth[tuple(outputs.T)])


@dataclass(frozen=True)
class RuledSlots(BatchedSlotSpace):
    """Outputs under rules, too many to be listed: the best one of an input is found by elimination or an integer
    program.
    """

    widths: tuple[tuple[int, ...], ...] = ()  # [N]
    offsets: tuple[tuple[int, ...], ...] = ()  # [N]
    clauses: tuple[tuple[Clause, ...], ...] = ()  # [N]

    @property
    def there(self) -> Bytes:
        """# [T, K]"""
        mask = np.zeros((int(self.starts[-1]), self.n_labels), dtype=np.uint8)
        slots = zip((o for own in self.offsets for o in own), (w for own in self.widths for w in own))
        for t, (first, width) in enumerate(slots):
            mask[t, first : first + width] = 1
        return mask if self.mask is None else np.asarray(mask & self.mask)

    def take(self, which: Ints) -> Self:
        """The space of some of the inputs."""
        some = which.tolist()
        return replace(
            super().take(which),
            widths=tuple(self.widths[i] for i in some),
            offsets=tuple(self.offsets[i] for i in some),
            clauses=tuple(self.clauses[i] for i in some),
        )

    def best_each(self, scores: Floats, *, n_jobs: int | None = None) -> tuple[Ids, Floats]:
        labels, values = np.zeros(len(scores), dtype=np.int32), np.full(len(self.starts) - 1, -np.inf)
        for i, first in enumerate(self.starts[:-1].tolist()):
            bounds = list(zip(self.offsets[i], self.widths[i]))
            own = tuple(scores[first + v, at : at + width] for v, (at, width) in enumerate(bounds))
            if any(np.all(one == -np.inf) for one in own):
                continue
            try:
                solution = solve(VariableProblem(own, clauses=self.clauses[i]))
            except Infeasible:
                continue
            labels[first : first + len(own)] = np.array(solution.labels) + np.array(self.offsets[i])
            values[i] = solution.value
        return labels, values

    def projected(self, learned: Bytes) -> NoReturn:
        """Not supported: sums need listed outputs."""
        raise Intractable(f"an input has more than {MOST_LISTED:,} outputs, too many to sum over")
