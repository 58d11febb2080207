"""A stranger's data: does indirect evidence help by default, and can it harm?

Seven corpora with 20, 50 and 200 labelled sentences; beside them a dictionary from elsewhere, companions, rules,
unlabelled text, the votes of twelve labelling functions, all of these, and spoiled ones. `Tagger` learns by default.
Finished cells are kept in a file beside the results (`FILE.cells.jsonl`), and a run that was stopped continues from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sidelight.errors import DataError
from sidelight.experiments.pool import Report, pool
from sidelight.experiments.strangers import peers
from sidelight.experiments.strangers import report as reports
from sidelight.experiments.strangers.cells import Cell, CellOutcome, StrangersStudy, carry_out, corpus_of, of_record
from sidelight.experiments.strangers.corpora import CORPORA
from sidelight.experiments.strangers.kinds import GOLD, INDIRECT, KINDS, SPOILED

TITLE = "Seven corpora with few labels and indirect evidence, everything by default: span F1, or token accuracy"
SIZES, DRAWS = (20, 50, 200), 3
QUICK_CORPORA, QUICK_SIZES, QUICK_DRAWS = ("tags of the web",), (20, 50), 1
QUICK_INDIRECT = 60  # raw sentences of each kind
SPOILED_SIZES = (20, 50)  # spoiled evidence harms where labels are few
BATCH = 24  # cells after which the table is written again

NOTES = (
    "dictionaries, and the sentences that rules and functions were written with in view, are from parts of the corpora "
    "that no other evidence and no test sentence comes from; hotel posts have a list of hotels, references those of "
    "another collection",
    f"each kind of evidence has {INDIRECT} raw sentences of its own, or a quarter of those that a corpus has: 250 "
    "references, 125 hotel posts; chunks have words with the given tags, the others words alone",
    "hindsight: every alternative that the automatic choice looked at, fitted on all evidence and scored on the same "
    "test sentences; nothing was chosen by them",
)

CHOICES = ("corpora", "sizes", "draws", "methods", "part", "indirect", "hindsight")


@dataclass(frozen=True)
class Grid:
    """Which cells there are."""

    corpora: Sequence[str]
    sizes: Sequence[int]
    draws: int
    methods: Sequence[str]

    def cells(self) -> list[Cell]:
        """Draw by draw, so that a run that is stopped has seen all corpora."""
        return [
            Cell(corpus, size, draw, method)
            for draw in range(self.draws)
            for size in self.sizes
            for corpus in self.corpora
            for method in self.methods
            if method not in SPOILED or size in SPOILED_SIZES
        ]


def rows(
    data: Path,
    *,
    quick: bool,
    n_jobs: int,
    report: Report,
    save: Callable[[list[dict[str, Any]]], None],
    cells: Path | None = None,
    choose: Mapping[str, str] | None = None,
) -> tuple[list[dict[str, Any]], Sequence[str]]:
    """The rows of the table and of the promises, and its notes.

    `cells` is the file from which a run resumes; `choose` selects from the `CHOICES`, as text: corpora, sizes and
    methods with semicolons between, draws, the part that is scored ("test" or "development"), how many raw sentences
    each kind has, whether the alternatives are fitted in hindsight ("yes" or "no").
    """
    report(TITLE)
    grid, study = grid_of(quick, choose or {}), replace(study_of(data, quick, choose or {}), kept=cells)
    known = finished(cells, study)
    requested = grid.cells()
    outcomes = [known[cell] for cell in requested if cell in known]
    open_cells = [cell for cell in requested if cell not in known]
    report(f"  {len(outcomes)} cells are there, {len(open_cells)} to do")
    metrics = {name: corpus_of(name, study.data).metric for name in grid.corpora}
    with pool(carry_out, study, n_jobs=n_jobs, report=report) as run:
        for first in range(0, len(open_cells), BATCH):
            done = run(open_cells[first : first + BATCH])
            outcomes += done
            save([*reports.rows_of(outcomes, metrics=metrics), *reports.promise_rows(outcomes)])
            report(f"  {len(outcomes)} of {len(requested)} cells, the last: {done[-1].cell}")
    for line in reports.lines_of(outcomes):
        report(line)
    return [*reports.rows_of(outcomes, metrics=metrics), *reports.promise_rows(outcomes)], NOTES


def grid_of(quick: bool, choose: Mapping[str, str]) -> Grid:
    """The cells that are wanted.

    >>> grid_of(True, {"sizes": "20"}).sizes
    (20,)
    """
    unknown = sorted(set(choose) - set(CHOICES))
    if unknown:
        raise DataError(f"there is no choice {unknown[0]!r}", remedy=f"choose {', '.join(CHOICES)}")
    everything = (GOLD, *KINDS, *SPOILED, *peers.installed())
    corpora = _several(choose.get("corpora"), QUICK_CORPORA if quick else tuple(CORPORA), allowed=CORPORA)
    methods = _several(choose.get("methods"), everything, allowed=everything)
    sizes = _several(choose.get("sizes"), tuple(map(str, QUICK_SIZES if quick else SIZES)))
    draws = _whole("draws", choose.get("draws", str(QUICK_DRAWS if quick else DRAWS)))
    return Grid(corpora, tuple(_whole("sizes", size) for size in sizes), draws, methods)


def study_of(data: Path, quick: bool, choose: Mapping[str, str]) -> StrangersStudy:
    """The data of all cells; a quick run has less raw text, and no hindsight."""
    part = choose.get("part", "test")
    if part not in ("test", "development"):
        raise DataError(f"part is {part!r}", remedy="choose test or development")
    hindsight = choose.get("hindsight", "no" if quick else "yes")
    if hindsight not in ("yes", "no"):
        raise DataError(f"hindsight is {hindsight!r}", remedy="choose yes or no")
    indirect = _whole("indirect", choose.get("indirect", str(QUICK_INDIRECT if quick else INDIRECT)))
    return StrangersStudy(data, "test" if part == "test" else "development", indirect, hindsight == "yes")


def finished(path: Path | None, study: StrangersStudy) -> dict[Cell, CellOutcome]:
    """The outcomes that a file has."""
    if path is None or not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:  # the run was killed while it wrote a line
        path.write_text(whole, encoding="utf-8")
    records = (json.loads(line) for line in whole.splitlines() if line)
    return {outcome.cell: outcome for record in records if (outcome := of_record(record, study)) is not None}


def _several(text: str | None, default: tuple[str, ...], *, allowed: Iterable[str] = ()) -> tuple[str, ...]:
    if text is None:
        return default
    parts = tuple(part.strip() for part in text.split(";"))
    known = list(allowed)
    for name in parts:
        if known and name not in known:
            raise DataError(f"there is no {name!r} here", remedy=f"choose from {'; '.join(known)}")
    return parts


def _whole(name: str, text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise DataError(f"{name} is {text!r}", remedy="give whole numbers from 1 on")
    return int(text)
