"""`sidelight describe`: what there is to learn from."""

from __future__ import annotations

from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import EvidenceFiles
from sidelight.commands.shared.outputs import write


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
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    seed: options.Seed = options.DEFAULTS["seed"],
) -> None:
    """Show how much evidence there is of each kind, how ambiguous it is, its labels, and where it contradicts."""
    from sidelight.describe import describe

    kinds = {
        "gold": gold,
        "partial": partial,
        "candidates": candidates,
        "good": good,
        "bad": bad,
        "companion": companion,
        "unlabeled": unlabeled,
        "votes": votes,
    }
    evidence = EvidenceFiles(kinds, shuffle_good, format, label_column, seed).read()
    write(f"{describe(evidence)}\n", None)
