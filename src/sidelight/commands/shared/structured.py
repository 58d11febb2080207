"""Structures on the command line: their files as evidence, their models, and predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sidelight.commands.registry import LABELS, NAMES, entry_named
from sidelight.commands.registry.entry import StructureEntry, at_line
from sidelight.commands.shared.outputs import note
from sidelight.commands.shared.rule_options import note_missing_rules, rules_in
from sidelight.commands.shared.settings import typed
from sidelight.commands.shared.tasks import Files, Say
from sidelight.data.files import read_lines
from sidelight.data.items import DIRECT, INPUTS, Item
from sidelight.data.load import INDIRECT
from sidelight.errors import DataError
from sidelight.estimators.predictor import Predictor
from sidelight.evaluate.parts import score_parts
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Partial
from sidelight.models.model import Model
from sidelight.parallel import place_of
from sidelight.parallel.place import one_each
from sidelight.recipes import LEARNERS, Recipe
from sidelight.rules import Rule

_MADE = {"gold": Gold, "partial": Partial, "candidates": Candidates}
ESTIMATOR = (
    "learner",
    "loss",
    "max_rounds",
    "tolerance",
    "seed",
    "n_jobs",
    "place",
    "checkpoint",
    "prices",
    "callbacks",
)


def chosen_entry(name: str) -> StructureEntry | None:
    """The structure named by `--structure`, None for labels; raises ValueError for an unknown one."""
    if name not in (*LABELS, *NAMES):
        raise ValueError(f"--structure is {name!r}; there are {', '.join((*LABELS, *NAMES))}")
    return None if name in LABELS else entry_named(name)


def options_of(entry: StructureEntry) -> dict[str, Any]:
    """The options of a structure with their types and defaults, by name."""
    return {one.name: one for one in fields(entry.structure) if one.name not in entry.hidden}


def split_options(entry: StructureEntry, learner: str, assignments: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Split the values of `--set` into those for the structure and those for the learner."""
    known, of_learner = (
        options_of(entry),
        {one.name for one in fields(LEARNERS[learner])} if learner in LEARNERS else {},
    )
    own: dict[str, Any] = {}
    rest = []
    for text in assignments:
        name, equals, value = text.partition("=")
        if name in of_learner or name not in known:
            rest.append(text)
        elif not equals:
            raise ValueError(f"--set is {text!r}, without a value; write --set {name}=VALUE")
        else:
            own[name] = typed(text, value, known[name].type)
    strange = [text for text in rest if text.partition("=")[0] not in of_learner]
    if strange:
        raise ValueError(f"--set is {strange[0]!r}; {entry.name} has the options {', '.join(known)}, and {learner} has "
                         f"{', '.join(of_learner) or 'none'}")  # fmt: skip
    return own, rest


def companions_alone(files: Files) -> bool:
    """Whether only good and bad inputs are given."""
    kinds = {kind for kind, paths in files.items() if paths}
    return bool(kinds) and kinds <= {"good", "bad", "companion"}


def refuse(what: str, options: Mapping[str, bool]) -> None:
    """Raise ValueError for an option that does not apply."""
    for flag, there in options.items():
        if there:
            raise ValueError(f"{flag} is about labels of tokens, and there are none in {what}; leave it out")


@dataclass(slots=True)
class StructureTask:
    """Outputs of one structure."""

    entry: StructureEntry
    options: Mapping[str, Any]  # of the structure
    shuffle_good: int
    format: str | None
    seed: int
    table: Path | None = None  # prior knowledge about symbols
    structure: Any = field(default=None, init=False)  # made when evidence is read
    notes: list[str] = field(default_factory=list, init=False)  # on what was read

    def read(self, files: Files, say: Say) -> list[Evidence]:
        items = [(kind, item) for kind, paths in files.items() for item in self._items(kind, paths or (), say)]
        if not items:
            raise DataError("no evidence", remedy="name at least one file, e.g. --gold FILE")
        usual = self.entry.from_data([item for _, item in items])
        self.structure = self.entry.structure(**{**usual, **self.options})
        evidence, refused = list[Evidence](), list[DataError]()
        for kind, item in items:
            try:
                evidence.append(self._checked(item, kind))
            except DataError as error:
                if kind != "gold" or not self.entry.lenient:
                    raise
                refused.append(error)
        if refused and not evidence:
            raise refused[0]
        if refused:
            self.notes.append(f"{len(refused):,} in --gold are left out, the first one at {refused[0]}")
        return self._fitting(evidence) + self._spoiled(evidence)

    def parameters(self, evidence: Sequence[Evidence], options: Mapping[str, Any]) -> dict[str, Any]:
        return {name: options[name] for name in ESTIMATOR if name in options}

    def judges(self, path: Path, evidence: Sequence[Evidence], learner: Recipe | None) -> list[Any]:
        kind = "companion" if learner is not None and learner.takes == ("companion",) else "gold"
        items = self.entry.format_of(path, self.format).read(path, kind)
        return [evidence_of(self.entry, self.structure, item, kind) for item in items]

    def estimator(self, parameters: Mapping[str, Any], evidence: Sequence[Evidence]) -> Any:
        predictor = Predictor(self.structure, **parameters)
        if self.table is not None:
            start = start_weights(self.structure, self.table, self.entry.name)
            predictor.begin_with(start)
        return predictor

    def measured(self, fitted: Any, judges: Sequence[Any]) -> tuple[str, float]:
        xs = [piece.x for piece in judges]
        if isinstance(judges[0], Companion):
            answers = np.where(fitted.judge(xs) >= 0.0, 1, -1)
            return "answers", float(np.mean(answers == [piece.z for piece in judges]))
        measures = self.entry.measures(self.structure)
        scores = score_parts(measures, [piece.y for piece in judges], fitted.predict(xs))
        return measures[0].name, scores.main / 100.0

    def _checked(self, item: Item, kind: str) -> Evidence:
        """An item as evidence, after checking its output; raises `DataError` with the line."""
        piece: Any = evidence_of(self.entry, self.structure, item, kind)
        if kind in DIRECT:
            read = self.structure.encode if kind == "gold" else self.structure.admitted
            at_line(item, lambda: read(piece.x, piece.y))
        return piece  # type: ignore[no-any-return]

    def _items(self, kind: str, paths: Sequence[Path], say: Say) -> list[Item]:
        if paths and kind not in (*DIRECT, *INDIRECT):
            raise ValueError(f"--{kind} is about labels of tokens, and {self.entry.name} has none; leave it out")
        items: list[Item] = []
        for path in paths:
            say(f"reading {path}")
            items += self.entry.format_of(path, self.format).read(path, kind)
        return items

    def _fitting(self, evidence: list[Evidence]) -> list[Evidence]:
        """The evidence without Gold that is not an output of the structure, if this is allowed; a note counts it."""
        golds = [piece for piece in evidence if isinstance(piece, Gold)]
        if not self.entry.left_out or not golds:
            return evidence
        batch = self.structure.batch([piece.x for piece in golds])
        targets = np.concatenate([self.structure.encode(piece.x, piece.y) for piece in golds])
        outside = {id(golds[i]) for i in np.flatnonzero(batch.space.admits(targets) == 0).tolist()}
        if outside:
            self.notes.append(f"{len(outside):,} of {len(golds):,} in --gold are left out: {self.entry.left_out}")
        fitting = [piece for piece in evidence if id(piece) not in outside]
        if not fitting:
            raise DataError("no evidence is left", remedy=self.entry.left_out)
        return fitting

    def _spoiled(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        if self.shuffle_good < 0:
            raise ValueError(f"--shuffle-good is {self.shuffle_good}; give 0 or more")
        good = [piece.x for piece in evidence if isinstance(piece, Companion) and piece.z == 1]
        if self.shuffle_good and not good:
            raise ValueError("--shuffle-good has nothing to shuffle; name a file with --good")
        copies = range(self.seed, self.seed + self.shuffle_good)
        return [Companion(x, -1) for seed in copies for x in self.entry.spoil(good, seed)]


def start_weights(structure: Any, path: Path, name: str) -> Any:
    """Initial weights from a table of symbols: each line has two symbols and the weight of linking them."""
    if not hasattr(structure, "weights"):
        raise ValueError(f"--start is a table of letters, and {name} has no use for one; leave it out")
    table: dict[tuple[str, str], float] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        left, *rest = line.split("\t")
        try:
            right, worth = rest[0], float(rest[1]) if len(rest) > 1 else 1.0
        except (IndexError, ValueError):
            right, worth = "", math.nan
        if not (left and right and math.isfinite(worth)) or len(rest) > 2:
            remedy = "write two symbols, and what linking them is worth, with tabs between"
            raise DataError(f"not an entry of a table: {line!r}", file=path, line=number, remedy=remedy)
        table[left, right] = worth
    if not table:
        raise DataError("an empty table", file=path, remedy="write two symbols on each line, with a tab between")
    return structure.weights(table)


def evidence_of(entry: StructureEntry, structure: Any, item: Item, kind: str) -> Evidence:
    """An item as evidence of a kind."""
    if kind in INDIRECT:
        piece: Evidence = INDIRECT[kind](item, item.weight)  # type: ignore[arg-type]
        return piece
    return _MADE[kind](item.x, entry.output(structure, item, kind), weight=item.weight, origin=item.origin)


class StructureAnswers(NamedTuple):
    """The predictions of a model."""

    outputs: list[Any]
    scores: Any  # [N] how good the best structure is; from 0 on it is good
    proven: list[bool | None]  # whether outputs are proved optimal; None if they always are


def answers_of(model: Model, xs: Sequence[Any], *, jobs: int, place: str | None = None) -> StructureAnswers:
    """The best structures of inputs, with their scores as answers."""
    where = place_of(place, jobs)
    answers = one_each(where, _answers, xs, model, few=1) if where.remote else _answers(xs, model, jobs)
    return StructureAnswers(
        [one[0] for one in answers], np.array([one[1] for one in answers]), [one[2] for one in answers]
    )


def _answers(xs: Sequence[Any], model: Model, jobs: int | None) -> list[tuple[Any, float, bool | None]]:
    rows = model.prepare(xs, n_jobs=jobs)
    choices, values, proved = model.found(rows, n_jobs=jobs)
    proven: list[bool | None] = [None] * len(rows) if proved is None else proved.tolist()
    plain = model.temperature == 0 and model.size_by == "tokens" and model.decision is None
    scores = values / rows.sizes + model.threshold if plain else model.judge(rows, n_jobs=jobs)
    return list(zip(model.structure.outputs(rows, choices), scores.tolist(), proven))


def read_items(entry: StructureEntry, path: Path, format: str | None, kind: str = INPUTS) -> list[Item]:
    """The items of a file; raises `DataError` if it cannot be used."""
    return entry.format_of(path, format).read(path, kind)


def filled(entry: StructureEntry, items: Sequence[Item], answers: StructureAnswers) -> list[Item]:
    """Items with the predicted structures, marked if they are not proved optimal."""
    triples = zip(items, answers.outputs, answers.proven)
    return [replace(item, output=entry.item_output(output), proven=proven) for item, output, proven in triples]


def note_unproven(answers: StructureAnswers) -> None:
    """Print a note with the number of outputs that are not proved optimal."""
    if count := sum(one is False for one in answers.proven):
        why = "time ran out, or a relaxation was rounded"
        note(f"{count:,} of {len(answers.proven):,} outputs are not proved to be the best: {why}; more --seconds help")


def under_rules(model: Model, entry: StructureEntry, paths: Sequence[Path] | None) -> Model:
    """The model under the rules of files; raises ValueError if its structure has no rules, and prints a note if rules
    are missing.
    """
    if not entry.ruled:
        refuse(entry.name, {"--rules": bool(paths)})
        return model
    if not paths:
        note_missing_rules(model)
        return model
    return with_rules(model, rules_in(paths))


def with_rules(model: Model, rules: Sequence[Rule]) -> Model:
    """The model with other rules about its outputs."""
    own: Any = model.structure
    return replace(model, structure=replace(own, plain=replace(own.plain, rules=rules)))


def limited(model: Model, seconds: float | None) -> Model:
    """The model with a time limit per input; raises ValueError if its inference has no time limit."""
    if seconds is None:
        return model
    own: Any = model.structure
    if not hasattr(getattr(own, "plain", None), "seconds"):
        raise ValueError("--seconds is for structures that a program finds, and this one needs none; leave it out")
    return replace(model, structure=replace(own, plain=replace(own.plain, seconds=seconds)))
