"""`sidelight worth`: the worth of each kind of evidence, measured on gold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sidelight.commands.registry import CHAIN, SEGMENTS
from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import EvidenceFiles
from sidelight.commands.shared.outputs import check_writable, note, write, write_json
from sidelight.commands.shared.rule_options import RulesFiles, rules_in
from sidelight.commands.shared.settings import choose_learner, sequences_in
from sidelight.commands.shared.structured import StructureTask, chosen_entry, refuse, split_options
from sidelight.commands.shared.train_options import LearnerOptions, Metric, StructureName

LEARNER = "jlis"  # for structures: it learns from all kinds of evidence
JsonFile = Annotated[
    Path | None, options.in_output("--json", metavar="FILE", help="Also write the figures to this file.")
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
    structure: StructureName = CHAIN,
    structure_options: LearnerOptions = None,
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    metric: Metric = None,
    seed: options.Seed = options.DEFAULTS["seed"],
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
    json: JsonFile = None,
) -> None:
    """Measure what each kind of evidence adds to gold, by cross-validation over gold.

    Structures are judged by their first score: F1 of links or relations, the attachment score of trees.
    """
    kinds = options.evidence_in(locals())
    check_writable(json, reads=[path for own in (*kinds.values(), rules) for path in own or ()])
    from sidelight.estimators.evidence_worth import worth
    from sidelight.estimators.predictor import Predictor
    from sidelight.estimators.segment_tagger import SegmentTagger
    from sidelight.estimators.taggers import Classifier, Tagger

    entry = chosen_entry(structure)
    if entry is not None:
        given_options = {"--metric": metric is not None, "--label-column": label_column != -1}
        refuse(entry.name, {**given_options, "--rules": bool(rules) and not entry.ruled})
        own, rest = split_options(entry, LEARNER, structure_options or [])
        own |= {"rules": rules_in(rules)} if entry.ruled else {}
        task = StructureTask(entry, own, shuffle_good, format, seed)
        evidence = task.read(kinds, lambda line: None)
        predictor = Predictor(task.structure, learner=choose_learner(LEARNER, rest) or LEARNER, seed=seed, n_jobs=jobs)
        value = worth(evidence, estimator=predictor, measure=entry.measures(task.structure)[0])
        for line in task.notes:
            note(line)
    else:
        if structure_options:
            raise ValueError("--set is about structures here; name one with --structure, or leave it out")
        evidence = EvidenceFiles(kinds, shuffle_good, format, label_column, seed).read()
        single = SegmentTagger if structure == SEGMENTS else Tagger if sequences_in(evidence) else Classifier
        value = worth(evidence, estimator=single(rules=rules_in(rules), metric=metric, seed=seed, n_jobs=jobs))
    write_json(value.as_dict(), json)
    write(f"{value}\n", None)
