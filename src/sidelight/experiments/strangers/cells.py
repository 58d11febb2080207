"""One cell of the table: a corpus, a size, a draw and a method, learned by default and scored.

Nothing is set: `Tagger()` gets the evidence, the rules and the names of the labels, and one thread, because the cells
themselves use all cores. Its choice, the evidence left out, and the score that every alternative would have reached (in
hindsight: fitted on all evidence, scored on the same sentences) are stored with the score.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sidelight.errors import DataError, NotProved
from sidelight.estimators.taggers import Tagger
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.strangers import peers
from sidelight.experiments.strangers.choices import alternatives, chosen, verdicts
from sidelight.experiments.strangers.corpora import CORPORA, StrangersCorpus
from sidelight.experiments.strangers.kinds import INDIRECT, KINDS, EvidenceOfKind, given

Part = Literal["test", "development"]


class Cell(NamedTuple):
    """A method in a setting, with one draw."""

    corpus: str
    size: int
    draw: int
    method: str

    @property
    def setting(self) -> str:
        return f"{self.corpus}, {self.size}"

    def __str__(self) -> str:
        return f"{self.setting}, draw {self.draw}: {self.method}"


@dataclass(frozen=True)
class StrangersStudy:
    """The data of all cells; it is sent to other processes."""

    data: Path
    part: Part = "test"
    indirect: int = INDIRECT
    hindsight: bool = True
    kept: Path | None = None  # the file that finished cells are added to


@dataclass(frozen=True)
class CellOutcome:
    """The result of a cell."""

    cell: Cell
    score: float  # per cent
    seconds: float  # of the fit, wall clock
    chosen: str = ""
    verdicts: dict[str, str] = field(default_factory=dict)  # the report's verdict on each kind of evidence
    hindsight: dict[str, float] = field(default_factory=dict)  # score by alternative, the chosen one among them


@lru_cache(maxsize=2)
def corpus_of(name: str, data: Path) -> StrangersCorpus:
    """A corpus of `CORPORA`, read once in each process."""
    if name not in CORPORA:
        raise DataError(f"there is no corpus {name!r}", remedy=f"choose from {', '.join(CORPORA)}")
    return CORPORA[name](data)


def carry_out(study: StrangersStudy, cell: Cell) -> CellOutcome:
    """Learn and score, and keep the outcome at once, so that a run that is stopped loses nothing."""
    outcome = scored(study, cell)
    if study.kept is not None:
        with study.kept.open("a", encoding="utf-8") as stream:  # one write for each line: processes do not mix theirs
            stream.write(json.dumps(as_record(outcome, study)) + "\n")
    return outcome


def scored(study: StrangersStudy, cell: Cell) -> CellOutcome:
    """Learn and score."""
    corpus = corpus_of(cell.corpus, study.data)
    examples: LabelledExamples = getattr(corpus, study.part)
    if cell.method in peers.MODULES:
        return _peer(cell, corpus, examples, indirect=study.indirect)
    has = given(corpus, cell.method, size=cell.size, draw=cell.draw, indirect=study.indirect)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotProved)
        began = time.perf_counter()
        tagger = default_tagger(corpus, has, seed=cell.draw).fit(has.evidence)
        seconds = time.perf_counter() - began
        score = corpus.score(examples.ys, tagger.predict(examples.xs))
        others = _hindsight(tagger, corpus, has, examples) if study.hindsight else {}
    if others:
        others[chosen(tagger)] = score
    return CellOutcome(cell, score, seconds, chosen(tagger), verdicts(tagger), others)


def default_tagger(corpus: StrangersCorpus, has: EvidenceOfKind, *, seed: int) -> Tagger:
    """The tagger with default settings, as a new user would write it."""
    return Tagger(labels=corpus.labels, rules=has.rules, n_jobs=1, seed=seed)


def _hindsight(
    tagger: Tagger, corpus: StrangersCorpus, has: EvidenceOfKind, examples: LabelledExamples
) -> dict[str, float]:
    results = {}
    for name, other, evidence in alternatives(tagger, has.evidence):
        results[name] = corpus.score(examples.ys, other.fit(evidence).predict(examples.xs))
    return results


def _peer(cell: Cell, corpus: StrangersCorpus, examples: LabelledExamples, *, indirect: int) -> CellOutcome:
    began = time.perf_counter()
    results = peers.labels_by(cell.method, corpus, size=cell.size, draw=cell.draw, indirect=indirect, xs=examples.xs)
    return CellOutcome(cell, corpus.score(examples.ys, results), time.perf_counter() - began)


def as_record(outcome: CellOutcome, study: StrangersStudy) -> dict[str, Any]:
    """A line of the file from which a run resumes."""
    return {
        **outcome.cell._asdict(),
        "part": study.part,
        "indirect": study.indirect,
        "score": outcome.score,
        "seconds": outcome.seconds,
        "chosen": outcome.chosen,
        "verdicts": outcome.verdicts,
        "hindsight": outcome.hindsight,
        "looked_back": study.hindsight,
    }


def of_record(record: dict[str, Any], study: StrangersStudy) -> CellOutcome | None:
    """The outcome in a line; None if it belongs to another study, or lacks the requested hindsight."""
    if (record["part"], record["indirect"]) != (study.part, study.indirect):
        return None
    cell = Cell(record["corpus"], record["size"], record["draw"], record["method"])
    looked_back = record.get("looked_back", bool(record["hindsight"]))  # lines of earlier runs have no such entry
    if study.hindsight and cell.method in KINDS and not looked_back:
        return None
    figures = (record["score"], record["seconds"], record["chosen"], record["verdicts"], record["hindsight"])
    return CellOutcome(cell, *figures)
