"""`sidelight train`: trains a model from files of evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sidelight.commands.registry import CHAIN, SEGMENTS
from sidelight.commands.shared import options, settings
from sidelight.commands.shared import train_options as given
from sidelight.commands.shared.notes import notes_on, warnings_noted
from sidelight.commands.shared.options import DEFAULTS
from sidelight.commands.shared.outputs import check_writable, interruptible, keep, note, write
from sidelight.commands.shared.program import HelpAll, with_short_help
from sidelight.commands.shared.progress_display import shown
from sidelight.commands.shared.rule_options import Inference, RulesFiles, check_inference, rules_in
from sidelight.commands.shared.structured import StructureTask, chosen_entry, companions_alone, refuse, split_options
from sidelight.commands.shared.tasks import LabelTask, StoredTask, TrainTask, check_out_of_core, sample_of
from sidelight.commands.shared.trials import PriceTrials, price_search, summary
from sidelight.data import write_text_atomically
from sidelight.estimators.taggers import Classifier, Tagger
from sidelight.recipes import AUTO, Recipe

KIND = with_short_help(given.COMMON)


def command(
    *,
    gold: options.GoldFiles = None,
    partial: options.PartialFiles = None,
    candidates: options.CandidateFiles = None,
    good: options.GoodFiles = None,
    bad: options.BadFiles = None,
    companion: options.CompanionFiles = None,
    shuffle_good: options.ShuffleGood = 0,
    unlabeled: options.UnlabeledFiles = None,
    votes: options.VoteFiles = None,
    structure: given.StructureName = CHAIN,
    start: given.StartTable = None,
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    features: given.ReadyFeatures = None,
    template: given.TemplateFile = None,
    min_count: given.MinCount = 1,
    hash_bits: given.HashBits = None,
    learner: given.LearnerName = DEFAULTS["learner"],
    learner_options: given.LearnerOptions = None,
    loss: given.Loss = None,
    c1: given.GoldPrice = None,
    c2: given.CompanionPrice = None,
    price: given.OtherPrices = None,
    valid: given.ValidFile = None,
    grid: given.Grid = None,
    metric: given.Metric = DEFAULTS["metric"],
    scheme: given.Scheme = DEFAULTS["scheme"],
    labels: given.AllLabels = None,
    order: given.Order = DEFAULTS["order"],
    states: given.States = DEFAULTS["states"],
    class_weight: given.ClassWeight = None,
    rules: RulesFiles = None,
    ruled: given.RulesIn = DEFAULTS["rules_in"],
    inference: Inference = DEFAULTS["inference"],
    max_rounds: given.MaxRounds = DEFAULTS["max_rounds"],
    tolerance: given.Tolerance = DEFAULTS["tolerance"],
    seed: options.Seed = DEFAULTS["seed"],
    jobs: options.Jobs = DEFAULTS["n_jobs"],
    place: options.PlaceName = None,
    out_of_core: given.OutOfCore = None,
    out: given.Out,
    checkpoint: given.Checkpoint = None,
    history: given.History = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
    help_all: HelpAll = False,
) -> None:
    """Train a model from labelled inputs and other evidence.

    Files have one token per line with its label last, and a blank line after each sentence; --structure reads other
    files. Options for evidence can be repeated.
    """
    kinds = options.evidence_in(locals())
    read = [path for own in (*kinds.values(), rules) for path in own or ()]
    check_writable(out, checkpoint, history, reads=[*read, valid, template, start])
    check_inference(inference, rules)
    entry, own, of_learner = chosen_entry(structure), dict[str, Any](), learner_options or []
    if learner == AUTO and structure != CHAIN:
        usual = "lclr" if companions_alone(kinds) else "jlis"
        learner = "semi_crf" if structure == SEGMENTS else usual
    if entry is not None:
        own, of_learner = split_options(entry, learner, of_learner)
    recipe = settings.choose_learner(learner, of_learner)
    _check_choice(learner, recipe, valid=valid, grid=grid, metric=metric, checkpoint=checkpoint)
    prices = settings.choose_prices(c1=c1, c2=c2, others=price or [])
    parameters: dict[str, Any] = {
        "learner": AUTO if recipe is None else recipe,
        "loss": settings.choose_loss(loss, recipe),
        "scheme": scheme,
        "labels": settings.choose_labels(labels),
        "order": order,
        "states": states,
        "rules": rules_in(rules),
        "rules_in": ruled,
        "inference": inference,
        "class_weight": settings.choose_class_weight(class_weight or []),
        "max_rounds": max_rounds,
        "tolerance": tolerance,
        "seed": seed,
        "n_jobs": jobs,
        "place": place,
        "checkpoint": checkpoint,
    }
    feature_options = {"name": features, "template": template, "min_count": min_count, "hash_bits": hash_bits}
    task: TrainTask = LabelTask(
        shuffle_good, format, label_column, seed, structure == SEGMENTS, feature_options, metric
    )
    if out_of_core is not None:
        others = {"--structure": structure != CHAIN, "--shuffle-good": shuffle_good > 0, "--valid": valid is not None}
        check_out_of_core(kinds, learner, {**others, "--states": states is not None, "--order 2": order == 2})
        assert isinstance(task, LabelTask)
        task = StoredTask(task, out_of_core, [])
    if entry is not None:
        about_labels = {**feature_options, **parameters, "metric": metric, "label_column": label_column}
        if entry.ruled:
            own, about_labels["rules"] = {**own, "rules": parameters["rules"]}, []
        _check_about_structures(structure, about_labels)
        task = StructureTask(entry, own, shuffle_good, format, seed, start)
    elif start is not None:
        raise ValueError("--start is a table of letters; leave it out, or give --structure letters")
    table, edges = "", list[str]()
    with (
        interruptible(out, checkpoint),
        shown(quiet=quiet, verbose=verbose) as progress,
        warnings_noted(quiet=quiet),
    ):
        evidence = task.read(kinds, progress.say)
        trials = PriceTrials(task, evidence, task.parameters(evidence, parameters), progress)
        if valid is None:
            best = trials.fit(prices)
        else:
            judges = task.judges(valid, evidence, recipe)
            if recipe is None:
                best = trials.fit(prices, validation=judges)
            else:
                search = price_search(grid or given.GRID, prices, evidence, learner=recipe)
                best, table, edges = trials.choose(search, judges)
        keep(best.save, out, checkpoint=checkpoint)
    if history is not None:
        write_text_atomically(history, "".join(json.dumps(record) + "\n" for record in trials.history))
    if not quiet:
        used = recipe
        if isinstance(best, Tagger | Classifier) and recipe is None:
            table, used = f"{best.choice_}\n\n", best.choice_.chosen.learner
        write(table + summary(best, out), None)
        assert used is not None
        notes = notes_on(
            best.model_, used, sample_of(task, evidence), ruled=bool(rules), states=states, min_count=min_count
        )
        for text in (*task.notes, *edges, *notes):
            note(text)


def _check_choice(
    learner: str,
    recipe: Recipe | None,
    *,
    valid: Path | None,
    grid: str | None,
    metric: str | None,
    checkpoint: Path | None,
) -> None:
    """Raise ValueError for options of the automatic choice and of --valid that cannot be combined."""
    for flag, value in (("--grid", grid), ("--metric", metric)):
        if valid is None and value is not None:
            raise ValueError(f"{flag} is given without --valid; name a labelled file to choose by")
    if valid is not None and checkpoint is not None:
        raise ValueError("--checkpoint is for one training, and --valid makes many; leave one of them out")
    if recipe is None and grid is not None:
        raise ValueError("--grid is for a learner of your choice; name it with --learner, or leave --grid out")
    if valid is not None and recipe is not None and "prices" not in recipe.heeded():
        raise ValueError(f"--valid chooses prices, and {learner} has none; leave one of them out")


def _check_about_structures(structure: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError for options that apply only to labels of tokens."""
    usual: dict[str, Any] = {
        "name": None,
        "template": None,
        "min_count": 1,
        "hash_bits": None,
        "label_column": -1,
        "rules": [],
    }
    flags = {"name": "features"}
    for name in ("scheme", "metric", "labels", "order", "states", "class_weight", "rules_in", "inference"):
        usual[name] = DEFAULTS[name]
    refuse(structure, {f"--{flags.get(name, name).replace('_', '-')}": options[name] != usual[name] for name in usual})
