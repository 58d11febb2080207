"""Binary decisions and rankings with models of any structure: the companion decision of every input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.commands.registry import entry_of
from sidelight.commands.registry.entry import StructureEntry
from sidelight.commands.registry.labels import read_label_items, write_label_items
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.outputs import note
from sidelight.commands.shared.structured import answers_of, filled, limited, note_unproven, refuse, under_rules
from sidelight.core.arrays import Floats
from sidelight.data.items import Item
from sidelight.errors import DataError
from sidelight.estimators.placed_prediction import judge_in, predict_in
from sidelight.evaluate.parts import Measure
from sidelight.evaluate.ranking import RankingScores, score_rankings
from sidelight.models.model import Model
from sidelight.parallel import place_of

ANSWERS = (Measure("answers", lambda good: [good], share=True), Measure("yes", lambda good: ["yes"] * good))


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model with the registry entry of its structure; None for labels."""

    model: Model
    entry: StructureEntry | None
    jobs: int
    place: str | None

    @classmethod
    def loaded(
        cls, path: Path, *, seconds: float | None, rules: Sequence[Path] | None = None, jobs: int, place: str | None
    ) -> AskedModel:
        """The model of a file, under rules if its structure has any."""
        model = limited(load(path), seconds)
        entry = entry_of(model)
        if entry is None:
            refuse("decisions of labels", {"--rules": bool(rules)})
        return cls(model if entry is None else under_rules(model, entry, rules), entry, jobs, place)

    def read(self, path: Path, format: str | None) -> list[Item]:
        """The inputs of a file, with their answers and groups in the file."""
        if self.entry is None:
            return read_label_items(self.model, path, format)
        return self.entry.format_of(path, format).read(path, "inputs")

    def write(self, items: Sequence[Item], path: Path, format: str | None) -> str:
        """Items in the format of their file."""
        if self.entry is None:
            return write_label_items(items)
        return self.entry.format_of(path, format).write(items)

    def scored(self, items: Sequence[Item]) -> list[Item]:
        """Items with the score of their best structure, and the structure."""
        xs = [item.x for item in items]
        if self.entry is None:
            scores, outputs = self._labels(xs)
            answered = [replace(item, output=output) for item, output in zip(items, outputs)]
        else:
            answers = answers_of(self.model, xs, jobs=self.jobs, place=self.place)
            note_unproven(answers)
            answered, scores = filled(self.entry, items, answers), answers.scores
        return [replace(item, score=float(score)) for item, score in zip(answered, scores)]

    def _labels(self, xs: Sequence[Any]) -> tuple[Floats, list[Any]]:
        """The decisions about inputs, and their labels."""
        where = place_of(self.place, self.jobs)
        if where.remote:
            return judge_in(where, self.model, xs, None), predict_in(where, self.model, xs)
        rows = self.model.prepare(xs, n_jobs=self.jobs)
        return self.model.judge(rows, n_jobs=self.jobs), self.model.predict(rows, n_jobs=self.jobs)

    def judged(self, items: Sequence[Item]) -> list[Item]:
        """The scored items with the model's own answer: yes if the score is at least 0."""
        if self.model.threshold == 0.0:
            evidence = self.model.about.get("evidence") or {}
            why = "training ended before it used good and bad inputs"
            why = why if evidence.get("companion") else "the model has not learned from good and bad inputs"
            note(f"{why}, so its answers mean little; its ranking may not")
        return [replace(item, good=bool(item.score >= 0.0)) for item in self.scored(items) if item.score is not None]

    def groups(self, items: Sequence[Item], *, every: bool) -> list[list[Item]]:
        """Candidates by query: those with the same first side, or the same group; with `every`, each first side with
        all second sides.
        """
        query = None if self.entry is None else self.entry.query
        if every:
            if query is None:
                raise ValueError("--all pairs the two sides of inputs, and these have none; give them groups instead")
            return [[_crossed(one, other, query(one.x)) for other in items] for one in items]
        members: dict[str, list[Item]] = {}
        for item in items:
            name = item.group if item.group is not None else "" if query is None else query(item.x)
            members.setdefault(name, []).append(item)
        return list(members.values())


def ranked(model: AskedModel, groups: Sequence[Sequence[Item]]) -> list[list[Item]]:
    """The candidates of every query, best first; ties keep their order."""
    flat = iter(model.scored([item for group in groups for item in group]))
    return [sorted((next(flat) for _ in group), key=lambda item: -(item.score or 0.0)) for group in groups]


def score_groups(groups: Sequence[Sequence[Item]], file: Path) -> tuple[RankingScores, int]:
    """Top-1 accuracy, mean reciprocal rank, and the number of queries."""
    judged = [group for group in groups if any(item.good for item in group)]
    if not judged:
        raise DataError(
            "no candidate is marked as right", file=file, remedy="mark right ones (yes, or good), or add --all"
        )
    if len(judged) < len(groups):
        note(f"{len(groups) - len(judged):,} of {len(groups):,} queries have no right candidate, and do not count")
    scores = [np.array([item.score for item in group], dtype=np.float64) for group in judged]
    # the best one, since they are sorted
    right = [next(k for k, item in enumerate(group) if item.good) for group in judged]
    return score_rankings(scores, right), len(judged)


def known_answers(items: Sequence[Item], file: Path) -> list[bool]:
    """Whether each item is good; raises `DataError` for the first item without an answer."""
    answers = []
    for item in items:
        if item.good is None:
            remedy = "say yes or no (good) of every input"
            raise DataError("an input without an answer", file=file, line=item.origin.line(0), remedy=remedy)
        answers.append(item.good)
    return answers


def _crossed(one: Item, other: Item, group: str) -> Item:
    return Item((one.x[0], other.x[1]), good=one.x[1] == other.x[1], group=group, origin=one.origin)
