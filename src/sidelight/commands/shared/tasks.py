"""The parts of `sidelight train` that depend on the kind of outputs: labels here, structures in `structured`.

Evidence for labels may stay in files (`--out-of-core FOLDER`) that are larger than memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sidelight.commands.shared import settings
from sidelight.commands.shared.inputs import EvidenceFiles, check_alike, piece_in_columns, read_labelled
from sidelight.commands.shared.settings import sequences_in
from sidelight.data.stored import KINDS, stored
from sidelight.estimators.base_estimator import measured, metric_of
from sidelight.estimators.segment_tagger import SegmentTagger
from sidelight.estimators.taggers import Classifier, Tagger
from sidelight.evidence import Evidence, Gold
from sidelight.recipes import AUTO, Recipe
from sidelight.specs import Need
from sidelight.specs.learner import IN_BLOCKS

Files = Mapping[str, Sequence[Path] | None]
Say = Callable[[str], None]


class TrainTask(Protocol):
    """One kind of outputs: how its evidence is read, used for training, and scored."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes about the evidence that was read."""
        ...

    def read(self, files: Files, say: Say) -> list[Evidence]:
        """All evidence, from files by kind; raises `DataError` if a file cannot be used."""
        ...

    def parameters(self, evidence: Sequence[Evidence], options: Mapping[str, Any]) -> dict[str, Any]:
        """The estimator's parameters from the options; raises ValueError for options that it does not have."""
        ...

    def judges(self, path: Path, evidence: Sequence[Evidence], learner: Recipe | None) -> list[Any]:
        """Inputs for choosing prices."""
        ...

    def estimator(self, parameters: Mapping[str, Any], evidence: Sequence[Evidence]) -> Any:
        """An unfitted estimator."""
        ...

    def measured(self, fitted: Any, judges: Sequence[Any]) -> tuple[str, float]:
        """The name of the metric, and the score between 0 and 1."""
        ...


@dataclass(frozen=True, slots=True)
class LabelTask:
    """Labels of tokens, of segments, or of whole inputs."""

    shuffle_good: int
    format: str | None
    label_column: int
    seed: int
    segments: bool  # whether --structure segments was given; not needed for learners of segments alone
    features: Mapping[str, Any]  # of `settings.choose_features`
    metric: str | None
    notes: tuple[str, ...] = ()

    def read(self, files: Files, say: Say) -> list[Evidence]:
        return EvidenceFiles(files, self.shuffle_good, self.format, self.label_column, self.seed).read(say)

    def parameters(self, evidence: Sequence[Evidence], options: Mapping[str, Any]) -> dict[str, Any]:
        settings.check_labels_are_named(evidence, options["labels"])
        learner = None if options["learner"] == AUTO else options["learner"]
        features = settings.choose_features(evidence, **self.features, learner=learner)
        return {**options, "metric": self.metric, "features": features}

    def judges(self, path: Path, evidence: Sequence[Evidence], learner: Recipe | None) -> list[Any]:
        pieces = read_labelled(path, format=self.format, label_column=self.label_column)
        check_alike([(piece.x, piece.origin) for piece in (*evidence[:1], *pieces)])
        return pieces

    def estimator(self, parameters: Mapping[str, Any], evidence: Sequence[Evidence]) -> Any:
        recipe = parameters["learner"]
        if recipe != AUTO and (self.segments or Need.SEGMENTS in recipe.needed()):
            return _segmenter(parameters, recipe, evidence)
        return (Tagger if sequences_in(evidence) else Classifier)(**parameters)

    def measured(self, fitted: Any, judges: Sequence[Gold]) -> tuple[str, float]:
        sequences = sequences_in(judges)
        metric = metric_of(self.metric, fitted.classes_, sequences=sequences)
        outputs = fitted.predict([piece.x for piece in judges])
        return metric, measured(metric, outputs, [piece.y for piece in judges], sequences=sequences)


def _segmenter(parameters: Mapping[str, Any], recipe: Recipe, evidence: Sequence[Evidence]) -> SegmentTagger:
    """The estimator of segments; raises ValueError for options that it does not have."""
    called = recipe.called
    if not sequences_in(evidence):
        raise ValueError(f"{called} labels segments of sequences, and these inputs are single; choose another learner")
    for name, usual in (("order", 1), ("states", None)):
        if parameters[name] != usual:
            raise ValueError(f"--{name.replace('_', '-')} does not go with {called}; leave it out")
    if not any(piece.kind == "gold" for piece in evidence):
        raise ValueError(f"{called} takes the features of segments from labelled inputs; add --gold FILE")
    own = {name: value for name, value in parameters.items() if name not in ("learner", "order", "states")}
    return SegmentTagger(learner=recipe, **own)


def check_out_of_core(files: Files, learner: str, options: Mapping[str, bool]) -> None:
    """Raise ValueError, by name, for options that need all evidence in memory; `options` says which were given."""
    there = {f"--{kind}": bool(paths) for kind, paths in files.items() if kind not in KINDS}
    for flag, is_given in {**there, **options}.items():
        if is_given:
            raise ValueError(f"{flag} needs all evidence in memory; leave it out, or leave --out-of-core out")
    if learner == AUTO:
        raise ValueError(f"--out-of-core does not choose a learner; name one with --learner: {IN_BLOCKS}")


@dataclass(slots=True)
class StoredTask:
    """Labels of tokens or of inputs, whose evidence stays in files; the first pieces of each kind are a sample."""

    labels: LabelTask
    folder: Path
    sample: list[Evidence]

    @property
    def notes(self) -> Sequence[str]:
        return self.labels.notes

    def read(self, files: Files, say: Say) -> Any:
        own = self.labels
        files_by_kind: dict[str, Any] = {kind: list(files[kind] or ()) or None for kind in KINDS}
        corpus = stored(**files_by_kind, folder=self.folder, format=own.format, label_column=own.label_column)
        for kind, paths in corpus.files.items():
            say(f"reading {paths[0]}")
            self.sample.append(piece_in_columns(next(corpus.pieces(kind, paths[0]))[1][0]))
        return corpus

    def parameters(self, evidence: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        return self.labels.parameters(self.sample, options)

    def judges(self, path: Path, evidence: Any, learner: Recipe | None) -> list[Any]:
        return self.labels.judges(path, self.sample, learner)

    def estimator(self, parameters: Mapping[str, Any], evidence: Any) -> Any:
        return self.labels.estimator(parameters, self.sample)

    def measured(self, fitted: Any, judges: Sequence[Any]) -> tuple[str, float]:
        return self.labels.measured(fitted, judges)


def sample_of(task: TrainTask, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """The evidence, or a sample of stored evidence."""
    return task.sample if isinstance(task, StoredTask) else evidence
