"""Scores of answers and of rankings, beside those of another model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.commands.registry.asking import ANSWERS, AskedModel, known_answers, ranked, score_groups
from sidelight.commands.shared.structure_scores import told_comparison
from sidelight.evaluate.parts import compare_parts, score_parts
from sidelight.evaluate.ranking import RankingScores


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
