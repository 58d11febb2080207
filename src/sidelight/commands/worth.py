"""`sidelight worth`: what each kind of evidence is worth, on the labels there are."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import EvidenceFiles
from sidelight.commands.shared.outputs import write
from sidelight.commands.shared.rule_options import RulesFiles, rules_in
from sidelight.commands.shared.settings import sequences_in
from sidelight.commands.shared.train_options import Metric
from sidelight.data import write_text_atomically

JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write the figures here too.", rich_help_panel=options.OUTPUT),
]


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
    rules: RulesFiles = None,
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    metric: Metric = None,
    seed: options.Seed = options.DEFAULTS["seed"],
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
    json: JsonFile = None,
) -> None:
    """Show what each kind of evidence adds to the labels, by cross-validation over these."""
    from sidelight.estimators.evidence_worth import worth
    from sidelight.estimators.taggers import Classifier, Tagger

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
    estimator = Tagger if sequences_in(evidence) else Classifier
    found = worth(evidence, estimator=estimator(rules=rules_in(rules), metric=metric, seed=seed, n_jobs=jobs))
    if json is not None:
        write_text_atomically(json, json_format.dumps(found.as_dict(), indent=2) + "\n")
    write(f"{found}\n", None)
