"""`sidelight describe`: a summary of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.commands.registry import CHAIN
from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import EvidenceFiles
from sidelight.commands.shared.outputs import note, write
from sidelight.commands.shared.structured import StructureTask, chosen_entry, refuse
from sidelight.commands.shared.train_options import StructureName
from sidelight.evidence import Candidates, Evidence, Gold, Partial


def command(
    gold: options.GoldFiles = None,
    partial: options.PartialFiles = None,
    candidates: options.CandidateFiles = None,
    good: options.GoodFiles = None,
    bad: options.BadFiles = None,
    companion: options.CompanionFiles = None,
    shuffle_good: options.ShuffleGood = 0,
    unlabeled: options.UnlabeledFiles = None,
    votes: options.VoteFiles = None,
    structure: StructureName = CHAIN,
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    seed: options.Seed = options.DEFAULTS["seed"],
) -> None:
    """Summarise evidence: amount, ambiguity, labels and contradictions."""
    kinds = options.evidence_in(locals())
    from sidelight.describe import describe

    if (entry := chosen_entry(structure)) is None:
        evidence = EvidenceFiles(kinds, shuffle_good, format, label_column, seed).read()
    else:
        refuse(entry.name, {"--label-column": label_column != -1})
        task = StructureTask(entry, {}, shuffle_good, format, seed)
        read = task.read(kinds, lambda text: None)
        evidence = as_slots(task.structure, read)
        for text in task.notes:
            note(text)
    write(f"{describe(evidence)}\n", None)


@dataclass(frozen=True, slots=True)
class CountedInput:
    """A stand-in for an input, with its number of slots as length."""

    x: Any
    slots: int

    def __len__(self) -> int:
        return self.slots


def as_slots(structure: Any, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence with numbers of choices instead of outputs."""
    lengths = structure.batch([piece.x for piece in evidence]).lengths.tolist()
    return [_piece(structure, piece, CountedInput(piece.x, length)) for piece, length in zip(evidence, lengths)]


def _piece(structure: Any, piece: Evidence, x: CountedInput) -> Evidence:
    if isinstance(piece, Gold):
        choices = structure.encode(piece.x, piece.y).tolist()
        return Gold(x, [(choice,) for choice in choices], weight=piece.weight, origin=piece.origin)
    if isinstance(piece, Partial | Candidates):
        mask = structure.admitted(piece.x, piece.y)
        sets = [[(choice,) for choice in np.flatnonzero(row).tolist()] for row in mask]
        if isinstance(piece, Partial):
            known = [one[0] if len(one) == 1 else None for one in sets]
            return Partial(x, known, weight=piece.weight, origin=piece.origin)
        return Candidates(x, sets, weight=piece.weight, origin=piece.origin)
    return replace(piece, x=x)
