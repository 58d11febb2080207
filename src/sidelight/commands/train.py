"""`sidelight train`: from files of evidence to a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from sidelight.commands import options, settings
from sidelight.commands.inputs import EvidenceFiles, check_alike, read_labelled
from sidelight.commands.options import DEFAULTS, FEATURES, LEARNING, OUTPUT
from sidelight.commands.outputs import check_writable, write
from sidelight.commands.ruling import Inference, RulesFile, rules_in
from sidelight.commands.trials import Trials, summary
from sidelight.data import write_text_atomically
from sidelight.progress import Progress
from sidelight.recipe_kinds import UNPRICED
from sidelight.recipes import LEARNERS
from sidelight.settings import DEFAULT_PRICES

GRID = "0.1,1,10"
_LEARNERS = "\n\n".join(f"{name}: {entry.line}." for name, entry in LEARNERS.items())
_OPTIONS = "\n\n".join(f"{name}: {text}." for name, text in settings.learner_options().items())
_DEFAULTS = ", ".join(f"{kind} {price:g}" for kind, price in DEFAULT_PRICES.items())


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
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(settings.READY),
            help="A ready set of features; by default window for columns (for an HMM emissions), and attributes where "
            "tokens bring their own.",
            rich_help_panel=FEATURES,
        ),
    ] = None,
    template: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Templates in the syntax of CRF++.", rich_help_panel=FEATURES)
    ] = None,
    min_count: Annotated[
        int, typer.Option(help="Features seen less often are left out.", rich_help_panel=FEATURES)
    ] = 1,
    hash_bits: Annotated[
        int | None, typer.Option(help="Hash features into 2 to the power of so many.", rich_help_panel=FEATURES)
    ] = None,
    learner: Annotated[str, typer.Option(metavar="NAME", help=_LEARNERS, rich_help_panel=LEARNING)] = DEFAULTS[
        "learner"
    ],
    learner_options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="OPTION=VALUE",
            help=f"An option of the learner. {_OPTIONS}",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    loss: Annotated[
        str, typer.Option(metavar="squared_hinge|hinge", help="The loss of an example.", rich_help_panel=LEARNING)
    ] = DEFAULTS["loss"],
    c1: Annotated[
        float | None,
        typer.Option(
            "--c1", help=f"The price of gold; {DEFAULT_PRICES['gold']:g} by default.", rich_help_panel=LEARNING
        ),
    ] = None,
    c2: Annotated[
        float | None,
        typer.Option(
            "--c2",
            help=f"The price of good and bad; {DEFAULT_PRICES['companion']:g} by default.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=VALUE", help=f"The price of another kind; by default {_DEFAULTS}.", rich_help_panel=LEARNING
        ),
    ] = None,
    valid: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Labelled inputs by which C1 and C2 are chosen from --grid.", rich_help_panel=LEARNING
        ),
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(
            metavar="PRICES", help=f"Prices to try with --valid; {GRID} by default.", rich_help_panel=LEARNING
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(metavar="BIO", help="Let I-X follow only B-X and I-X.", rich_help_panel=LEARNING),
    ] = DEFAULTS["scheme"],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C", help="All labels; any other label in the files is an error.", rich_help_panel=LEARNING
        ),
    ] = None,
    order: Annotated[
        int, typer.Option(metavar="1|2", help="How many labels before a label count.", rich_help_panel=LEARNING)
    ] = DEFAULTS["order"],
    states: Annotated[
        int | None,
        typer.Option(help="Hidden states of every label, for learners with latent outputs.", rich_help_panel=LEARNING),
    ] = DEFAULTS["states"],
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="balanced|LABEL=VALUE",
            help="What an error on a label weighs: against its frequency, or as given.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    rules: RulesFile = None,
    inference: Inference = DEFAULTS["inference"],
    max_rounds: Annotated[
        int | None, typer.Option(help="Stop after so many rounds at the latest.", rich_help_panel=LEARNING)
    ] = DEFAULTS["max_rounds"],
    tolerance: Annotated[
        float, typer.Option(help="The relative gap at which a problem counts as solved.", rich_help_panel=LEARNING)
    ] = DEFAULTS["tolerance"],
    seed: options.Seed = DEFAULTS["seed"],
    jobs: options.Jobs = DEFAULTS["n_jobs"],
    out: Annotated[
        Path, typer.Option("--out", metavar="MODEL", help="The file for the model.", rich_help_panel=OUTPUT)
    ],
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Kept up to date; the same command goes on from there.", rich_help_panel=OUTPUT
        ),
    ] = None,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Write all rounds there.", rich_help_panel=OUTPUT)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.", rich_help_panel=OUTPUT)] = False,
) -> None:
    """Learn a model from labelled inputs and whatever else is known.

    A column file has one token a line with its label last, and a blank line after each sentence.
    """
    check_writable(out, checkpoint, history)
    if valid is None and grid is not None:
        raise ValueError("--grid is given without --valid; name a labelled file to choose by")
    if valid is not None and checkpoint is not None:
        raise ValueError("--checkpoint is for one training, and --valid makes many; leave one of them out")
    chosen = settings.choose_learner(learner, learner_options or [])
    if valid is not None and isinstance(chosen, UNPRICED):
        raise ValueError(f"--valid chooses prices, and {learner} has none; leave one of them out")
    kinds = {
        "gold": gold,
        "partial": partial,
        "candidates": candidates,
        "good": good,
        "bad": bad,
        "companion": companion,
        "unlabeled": unlabeled,
    }
    prices = settings.choose_prices(c1=c1, c2=c2, others=price or [])
    parameters: dict[str, Any] = {
        "learner": chosen,
        "loss": loss,
        "scheme": scheme,
        "labels": settings.choose_labels(labels),
        "order": order,
        "states": states,
        "rules": rules_in(rules),
        "inference": inference,
        "class_weight": settings.choose_class_weight(class_weight or []),
        "max_rounds": max_rounds,
        "tolerance": tolerance,
        "seed": seed,
        "n_jobs": jobs,
        "checkpoint": checkpoint,
    }
    try:
        with Progress(quiet=quiet) as progress:
            evidence = EvidenceFiles(kinds, shuffle_good, format, label_column, seed).read(progress.say)
            parameters["features"] = settings.choose_features(
                evidence,
                name=features,
                template=template,
                min_count=min_count,
                hash_bits=hash_bits,
                learner=parameters["learner"],
            )
            trials = Trials(evidence, parameters, progress)
            progress.say("finding features")
            if valid is None:
                best, table = trials.fit(prices), ""
            else:
                judges = read_labelled(valid, format=format, label_column=label_column)
                check_alike([(piece.x, piece.origin) for piece in (*evidence[:1], *judges)])
                best, table = trials.choose(settings.grid_of(grid or GRID, prices, evidence), judges)
            best.save(out)
    except KeyboardInterrupt:
        hint = "" if checkpoint is None else f"; the same command goes on from {checkpoint}"
        raise KeyboardInterrupt(f"{out} is as it was{hint}") from None
    if history is not None:
        write_text_atomically(history, "".join(json.dumps(record) + "\n" for record in trials.history))
    if not quiet:
        write(table + summary(best, out), None)
