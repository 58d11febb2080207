"""Scores of models of structures, and whether one model is better than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.commands.registry import entry_of
from sidelight.commands.registry.entry import StructureEntry
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.structured import answers_of, limited, note_unproven
from sidelight.data.items import Item
from sidelight.errors import ModelFileError
from sidelight.evaluate.paired import Comparison
from sidelight.evaluate.parts import compare_parts, score_parts
from sidelight.models.model import Model


@dataclass(frozen=True, slots=True)
class Scored:
    """Items with right outputs, and models that are asked for theirs."""

    entry: StructureEntry
    items: Sequence[Item]
    seconds: float | None
    jobs: int

    def told(self, name: str, model: Model, against: Path | None) -> tuple[str, dict[str, Any]]:
        """The scores as text, and as JSON has them; beside those of another model if one is given."""
        structure: Any = model.structure
        measures = self.entry.measures(structure.plain)
        gold = [self.entry.output(structure.plain, item, "gold") for item in self.items]
        outputs = self._outputs(model)
        first = score_parts(measures, gold, outputs)
        values: dict[str, Any] = {"model": name, **first.as_dict()}
        if against is None:
            return f"{first}\n", values
        other = load(against)
        if entry_of(other) is not self.entry:
            raise ModelFileError(
                f"no model of {self.entry.name}", file=against, remedy="compare models of one structure"
            )
        others = self._outputs(other)
        second, comparison = score_parts(measures, gold, others), compare_parts(measures[0], gold, outputs, others)
        values["against"] = {"model": str(against), **second.as_dict()}
        values["comparison"] = told_comparison(comparison)
        return f"{name}\n{first}\n\n{against}\n{second}\n\n{comparison}\n", values

    def _outputs(self, model: Model) -> list[Any]:
        answers = answers_of(limited(model, self.seconds), [item.x for item in self.items], jobs=self.jobs)
        note_unproven(answers)
        return answers.outputs


def told_comparison(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON has it."""
    names = ("metric", "difference", "p_value", "rounds")
    return {name: getattr(comparison, name) for name in names}
