"""Scores of entities and relations, as in Roth and Yih (2004).

A relation is right if its name and both arguments, in their order, are right. Boundaries of entities are given, so an
entity is right if its type is. Precision, recall and F1 are computed over all sentences, for every name and for all
names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sidelight.core.checks import shown
from sidelight.data.relations import Extraction
from sidelight.errors import DataError


@dataclass(frozen=True, slots=True)
class FoundCounts:
    """Numbers of gold, predicted and right relations or entities."""

    gold: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.gold + self.found) if self.gold + self.found else 0.0

    def __add__(self, other: FoundCounts) -> FoundCounts:
        return FoundCounts(self.gold + other.gold, self.found + other.found, self.right + other.right)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self) | {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, slots=True)
class RelationScores:
    """Scores of relations and of entities, all and by name; shares between 0 and 1."""

    relations: FoundCounts
    entities: FoundCounts
    by_relation: dict[str, FoundCounts]
    by_type: dict[str, FoundCounts]
    accuracy: float  # share of entities whose type is right

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        named = {"by_relation": self.by_relation, "by_type": self.by_type}
        tables = {name: {key: one.as_dict() for key, one in table.items()} for name, table in named.items()}
        both = {"relations": self.relations.as_dict(), "entities": self.entities.as_dict()}
        return {**both, "accuracy": self.accuracy, **tables}

    def __str__(self) -> str:
        return (
            f"relations: precision {self.relations.precision:.2%}, recall {self.relations.recall:.2%}, "
            f"F1 {self.relations.f1:.2%}; entities: F1 {self.entities.f1:.2%}, accuracy {self.accuracy:.2%}"
        )


def score_relations(
    gold: Sequence[Extraction], predicted: Sequence[Extraction], *, other: Collection[str] = ()
) -> RelationScores:
    """Scores over all sentences; types in `other`, such as "Other", mean "not an entity" and do not count in F1.

    Raises `DataError` if the numbers of sentences or entities differ.

    >>> right = [Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),))]
    >>> print(score_relations(right, [Extraction(("Peop", "Org"), ((0, 1, "Live_In"), (1, 0, "Work_For")))]))
    relations: precision 50.00%, recall 100.00%, F1 66.67%; entities: F1 50.00%, accuracy 50.00%
    """
    for what, extractions in (("gold", gold), ("found", predicted)):
        if not isinstance(extractions, list | tuple) or not all(isinstance(one, Extraction) for one in extractions):
            raise DataError(f"{what} is {shown(extractions)}", remedy="give a list of Extraction(types, relations)")
    if not isinstance(other, list | tuple | set | frozenset) or not all(isinstance(name, str) for name in other):
        raise DataError(f"other is {shown(other)}", remedy="give a list of types")
    if len(gold) != len(predicted):
        remedy = "give both for the same sentences"
        raise DataError(f"{len(predicted):,} extractions and {len(gold):,} right ones", remedy=remedy)
    for i, (right, guess) in enumerate(zip(gold, predicted)):
        if len(right.types) != len(guess.types):
            problem = f"sentence {i} has {len(right.types)} entities, and {len(guess.types)} were found"
            raise DataError(problem, remedy="give both for the same entities")
    relations = _table(
        ((i, *relation) for i, one in enumerate(gold) for relation in one.relations),
        ((i, *relation) for i, one in enumerate(predicted) for relation in one.relations),
    )
    types = _table(
        ((i, e, name) for i, one in enumerate(gold) for e, name in enumerate(one.types)),
        ((i, e, name) for i, one in enumerate(predicted) for e, name in enumerate(one.types)),
    )
    counted = [one for name, one in types.items() if name not in other]
    correct = sum(one.right for one in types.values())
    entities = sum(one.gold for one in types.values())
    none = FoundCounts(0, 0, 0)
    return RelationScores(
        sum(relations.values(), none), sum(counted, none), relations, types, correct / entities if entities else 0.0
    )


def _table(gold: Iterable[tuple[Any, ...]], predicted: Iterable[tuple[Any, ...]]) -> dict[str, FoundCounts]:
    """A table by name."""
    right, guessed = set(gold), set(predicted)
    sums = [Counter(one[-1] for one in some) for some in (right, guessed, right & guessed)]
    return {name: FoundCounts(*(count[name] for count in sums)) for name in sorted({*sums[0], *sums[1]})}
