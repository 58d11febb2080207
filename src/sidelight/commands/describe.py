"""`sidelight describe`: what there is to learn from."""

from __future__ import annotations

from sidelight.commands.registry import CHAIN
from sidelight.commands.registry.describing import as_slots
from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import EvidenceFiles
from sidelight.commands.shared.outputs import note, write
from sidelight.commands.shared.structured import StructureTask, chosen_entry, refuse
from sidelight.commands.shared.train_options import StructureName


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
