"""`sidelight train --out-of-core FOLDER`: evidence that stays in its files, for those that are larger than memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.commands.shared.inputs import piece_in_columns
from sidelight.commands.shared.tasks import Files, LabelTask, Say, TrainTask
from sidelight.data.stored import KINDS, stored
from sidelight.evidence import Evidence
from sidelight.recipes import AUTO, Recipe
from sidelight.specs.learner import IN_BLOCKS


def check_out_of_core(files: Files, learner: str, told: Mapping[str, bool]) -> None:
    """Raise ValueError for what needs all evidence in memory, by its name; `told` are options that were given."""
    there = {f"--{kind}": bool(paths) for kind, paths in files.items() if kind not in KINDS}
    for flag, given in {**there, **told}.items():
        if given:
            raise ValueError(f"{flag} needs all evidence in memory; leave it out, or leave --out-of-core out")
    if learner == AUTO:
        raise ValueError(f"--out-of-core does not choose a learner; name one with --learner: {IN_BLOCKS}")


@dataclass(slots=True)
class StoredTask:
    """Labels of tokens or of inputs, whose evidence stays in its files; the first of each kind stand for the others."""

    labels: LabelTask
    folder: Path
    sample: list[Evidence]

    @property
    def notes(self) -> Sequence[str]:
        return self.labels.notes

    def read(self, files: Files, say: Say) -> Any:
        own = self.labels
        given: dict[str, Any] = {kind: list(files[kind] or ()) or None for kind in KINDS}
        corpus = stored(**given, folder=self.folder, format=own.format, label_column=own.label_column)
        for kind, paths in corpus.files.items():
            say(f"reading {paths[0]}")
            self.sample.append(piece_in_columns(next(corpus.pieces(kind, paths[0]))[1][0]))
        return corpus

    def parameters(self, evidence: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        return self.labels.parameters(self.sample, given)

    def judges(self, path: Path, evidence: Any, learner: Recipe | None) -> list[Any]:
        return self.labels.judges(path, self.sample, learner)

    def estimator(self, parameters: Mapping[str, Any], evidence: Any) -> Any:
        return self.labels.estimator(parameters, self.sample)

    def measured(self, fitted: Any, judges: Sequence[Any]) -> tuple[str, float]:
        return self.labels.measured(fitted, judges)


def sample_of(task: TrainTask, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """The evidence, or what stands for it."""
    return task.sample if isinstance(task, StoredTask) else evidence
