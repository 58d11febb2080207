"""Scores of a stream of gold and predicted outputs, which are not stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from sidelight.core.file_contents import flag_of, mapping_of, text_of, whole_of
from sidelight.errors import DataError
from sidelight.evaluate.scores import Counts, Evaluation, evaluate
from sidelight.evaluate.spans import Scheme, resolved

NUMBERS = ("tokens", "correct_tokens", "sentences", "correct_sentences")


@dataclass(frozen=True)
class Tally:
    """Sums over the outputs so far, for every scheme in which spans may still be read.

    >>> Tally().plus([["B-NP"]], [["B-NP"]]).plus([["O"]], [["B-VP"]]).evaluation().spans
    Counts(gold=1, predicted=2, correct=1)
    """

    scheme: Scheme = "auto"
    single: bool = False  # one label per example
    # None: not all labels can be read in this scheme
    sums: Mapping[Scheme, Evaluation | None] = field(default_factory=dict)

    def plus(self, gold: list[Any], predicted: list[Any]) -> Tally:
        """The tally with these outputs added; raises `DataError` like `evaluate`."""
        readings: tuple[Scheme, ...] = ("bio", "runs") if self.scheme == "auto" else (self.scheme,)
        sums: dict[Scheme, Evaluation | None] = {}
        for reading in [one for one in readings if self.sums.get(one, one) is not None]:
            try:
                sums[reading] = evaluate(gold, predicted, scheme=reading)
            except DataError:
                if self.scheme != "auto" or reading == "runs":
                    raise
                sums[reading] = None
        return self.together(Tally(self.scheme, not isinstance(gold[0], list), sums))

    def together(self, other: Tally) -> Tally:
        """The sum with another tally."""
        sums = dict(self.sums)
        for reading, one in other.sums.items():
            before = sums.get(reading, one)
            if before is None or one is None:
                sums[reading] = None
            else:
                sums[reading] = _together(before, one) if reading in self.sums else one
        return Tally(self.scheme, self.single or other.single, sums)

    def evaluation(self) -> Evaluation:
        """The scores of all of them."""
        reading = self.scheme
        if reading == "auto":
            known = self.sums.get("runs")
            reading = resolved("auto", () if known is None else tuple(sorted(known.labels)), single=self.single)
        total = self.sums.get(reading)
        return evaluate([], [], scheme=self.scheme) if total is None else total

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        sums = {reading: None if one is None else one.as_dict() for reading, one in self.sums.items()}
        return {"scheme": self.scheme, "single": self.single, "sums": sums}

    @classmethod
    def of_dict(cls, values: Any) -> Tally:
        """The tally from a result of `as_dict`; raises `ModelFileError` for invalid values."""
        sums = mapping_of(values, "sums")
        return cls(
            cast(Scheme, text_of(values, "scheme")),
            flag_of(values, "single"),
            {cast(Scheme, name): None if one is None else _evaluation(one) for name, one in sums.items()},
        )


def _evaluation(values: Any) -> Evaluation:
    scheme = cast(Literal["bio", "runs"], text_of(values, "scheme", among=("bio", "runs")))
    types, labels = (_counts(mapping_of(values, name)) for name in ("types", "labels"))
    numbers = {name: whole_of(values, name) for name in NUMBERS}
    return Evaluation(scheme=scheme, types=types, labels=labels, **numbers)


def _counts(rows: Mapping[str, Any]) -> dict[str, Counts]:
    return {
        name: Counts(whole_of(row, "gold"), whole_of(row, "predicted"), whole_of(row, "correct"))
        for name, row in rows.items()
    }


def _together(one: Evaluation, other: Evaluation) -> Evaluation:
    numbers = {name: getattr(one, name) + getattr(other, name) for name in NUMBERS}
    types, labels = _added(one.types, other.types), _added(one.labels, other.labels)
    return Evaluation(scheme=one.scheme, types=types, labels=labels, **numbers)


def _added(one: Mapping[str, Counts], other: Mapping[str, Counts]) -> dict[str, Counts]:
    none = Counts(0, 0, 0)
    pairs = {name: (one.get(name, none), other.get(name, none)) for name in sorted({*one, *other})}
    return {
        name: Counts(a.gold + b.gold, a.predicted + b.predicted, a.correct + b.correct)
        for name, (a, b) in pairs.items()
    }
