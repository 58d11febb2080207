"""Scores of models: of their structures, answers and rankings, and whether one model is better than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.commands.registry import entry_of
from sidelight.commands.registry.asking import ANSWERS, AskedModel, known_answers, ranked, score_groups
from sidelight.commands.registry.entry import StructureEntry
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.structured import answers_of, limited, note_unproven
from sidelight.data.items import Item
from sidelight.errors import ModelFileError
from sidelight.evaluate.paired import Comparison
from sidelight.evaluate.parts import compare_parts, score_parts
from sidelight.evaluate.ranking import RankingScores
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


@dataclass(frozen=True, slots=True)
class DecisionScores:
    """A model, perhaps another one, and a file with right answers or with candidates."""

    asked: AskedModel
    other: AskedModel | None
    names: tuple[str, str]
    file: Path
    format: str | None

    def answers(self) -> tuple[str, dict[str, Any]]:
        """How many answers are right, and precision, recall and F1 of yes, as text and as JSON has them."""
        items = self.asked.read(self.file, self.format)
        gold = known_answers(items, self.file)
        judgements = [[item.good for item in model.judged(items)] for model in self._models()]
        scores = [score_parts(ANSWERS, gold, answers, whole=False) for answers in judgements]
        text, record = self._beside([str(one) for one in scores], [one.as_dict() for one in scores])
        if len(judgements) == 2:
            comparison = compare_parts(ANSWERS[0], gold, *judgements)
            text, record = f"{text}\n{comparison}\n", {**record, "comparison": told_comparison(comparison)}
        return text, record

    def ranking(self, *, every: bool) -> tuple[str, dict[str, Any]]:
        """Top-1 and mean reciprocal rank."""
        groups = self.asked.groups(self.asked.read(self.file, self.format), every=every)
        rankings = [score_groups(ranked(model, groups), self.file) for model in self._models()]
        lines = [_ranking_text(one, count) for one, count in rankings]
        values = [{**{name: 100 * value for name, value in one._asdict().items()}, "queries": n} for one, n in rankings]
        return self._beside(lines, values)

    def _models(self) -> list[AskedModel]:
        return [self.asked] if self.other is None else [self.asked, self.other]

    def _beside(self, texts: list[str], values: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        record: dict[str, Any] = {"model": self.names[0], **values[0]}
        if self.other is None:
            return f"{texts[0]}\n", record
        text = "\n\n".join(f"{name}\n{words}" for name, words in zip(self.names, texts))
        return f"{text}\n", {**record, "against": {"model": self.names[1], **values[1]}}


def _ranking_text(scores: RankingScores, count: int) -> str:
    rank = f"mean reciprocal rank: {100 * scores.mean_reciprocal_rank:.2f}%"
    return f"top-1: {100 * scores.top_1:.2f}%\n{rank}\nqueries: {count:,}"
