"""What `sidelight train` can be told besides its evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.registry import LABELS, NAMES
from sidelight.commands.shared import settings
from sidelight.commands.shared.checks import among, at_least, between
from sidelight.commands.shared.options import EVIDENCE, FEATURES, LEARNING, OUTPUT
from sidelight.commands.shared.short_help import Brief
from sidelight.evaluate.schemes import SCHEMES
from sidelight.objective.cuts import POWERS
from sidelight.recipes import crf
from sidelight.specs.settings import DEFAULT_PRICES, METRICS, RULES_IN

GRID = "0.1,1,10"
STRUCTURES = (*LABELS, *NAMES)
COMMON = {  # what --help shows
    "structure": Brief(LEARNING, "NAME", f"{', '.join(STRUCTURES)}."),
    "gold": Brief(EVIDENCE, "FILE", "Inputs with all their labels."),
    "partial": Brief(EVIDENCE, "FILE", "Inputs with some labels, _ for the others."),
    "candidates": Brief(EVIDENCE, "FILE", "Inputs with labels that may be right: A|B."),
    "good": Brief(EVIDENCE, "FILE", "Inputs that have a good structure, no labels."),
    "shuffle_good": Brief(EVIDENCE, "K", "Add K shuffled copies of these as bad ones."),
    "unlabeled": Brief(EVIDENCE, "FILE", "Inputs of which nothing else is known."),
    "rules": Brief(EVIDENCE, "FILE.py", "Rules that outputs obey (docs/rules.md)."),
    "features": Brief(LEARNING, "NAME", f"{', '.join(tuple(settings.READY)[:4])}, …"),
    "learner": Brief(LEARNING, "NAME", "One that sidelight learners lists."),
    "learner_options": Brief(LEARNING, "OPTION=VALUE", "As learners NAME or structures NAME lists them."),
    "scheme": Brief(LEARNING, "BIO", "Let I-X follow only B-X and I-X."),
    "valid": Brief(LEARNING, "FILE", "Labelled inputs to choose prices by."),
    "out": Brief(OUTPUT, "MODEL", "The file for the model."),
    "verbose": Brief(OUTPUT, "", "Tell how training goes; -vv every round."),
    "quiet": Brief(OUTPUT, "", "Say nothing but errors."),
    "help_all": Brief(None, "", "Show all options: prices, formats, limits, …"),
}
_DEFAULTS = ", ".join(f"{kind} {price:g}" for kind, price in DEFAULT_PRICES.items())

StructureName = Annotated[
    str,
    typer.Option(
        "--structure",
        metavar="|".join(STRUCTURES),
        help="What is learned: labels of tokens or of inputs (chain), whole segments of them (segments), or a "
        "structure that sidelight structures tells of.",
        rich_help_panel=LEARNING,
    ),
]
StartTable = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With letters: a table of what is known beforehand, two letters and what linking them is worth on each "
        "line; learning begins there.",
        rich_help_panel=LEARNING,
    ),
]
ReadyFeatures = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(settings.READY),
        help="A ready set of features; by default what suits the input and the learner.",
        rich_help_panel=FEATURES,
    ),
]
TemplateFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Templates in the syntax of CRF++.", rich_help_panel=FEATURES)
]
MinCount = Annotated[
    int,
    typer.Option(
        callback=at_least("--min-count", 1), help="Features seen less often are left out.", rich_help_panel=FEATURES
    ),
]
HashBits = Annotated[
    int | None,
    typer.Option(
        callback=between("--hash-bits", 4, 28),
        help="Hash features into 2 to the power of so many.",
        rich_help_panel=FEATURES,
    ),
]
LearnerName = Annotated[
    str,
    typer.Option(metavar="NAME", help="What to learn with; sidelight learners lists them.", rich_help_panel=LEARNING),
]
LearnerOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="OPTION=VALUE",
        help="An option of the learner (sidelight learners NAME) or of the structure (sidelight structures NAME).",
        rich_help_panel=LEARNING,
    ),
]
Loss = Annotated[
    str | None,
    typer.Option(
        callback=among("--loss", *POWERS),
        metavar="|".join(POWERS),
        help="The loss of an example, for learners with margins; squared_hinge unless given.",
        rich_help_panel=LEARNING,
    ),
]
GoldPrice = Annotated[
    float | None,
    typer.Option("--c1", help=f"The price of gold; {DEFAULT_PRICES['gold']:g} by default.", rich_help_panel=LEARNING),
]
CompanionPrice = Annotated[
    float | None,
    typer.Option(
        "--c2",
        help=f"The price of good and bad; {DEFAULT_PRICES['companion']:g} by default, "
        f"{crf.usual_prices['companion']:g} in likelihoods.",
        rich_help_panel=LEARNING,
    ),
]
OtherPrices = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND=VALUE", help=f"The price of another kind; by default {_DEFAULTS}.", rich_help_panel=LEARNING
    ),
]
ValidFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Labelled inputs by which the prices of the evidence that is there are chosen from --grid.",
        rich_help_panel=LEARNING,
    ),
]
Grid = Annotated[
    str | None,
    typer.Option(metavar="PRICES", help=f"Prices to try with --valid; {GRID} by default.", rich_help_panel=LEARNING),
]
Metric = Annotated[
    str | None,
    typer.Option(
        callback=among("--metric", *METRICS),
        metavar="|".join(METRICS),
        help="What --valid goes by; by default span_f1 where labels are written in a scheme, and accuracy otherwise.",
        rich_help_panel=LEARNING,
    ),
]
Scheme = Annotated[
    str | None,
    typer.Option(
        callback=among("--scheme", *SCHEMES),
        metavar="|".join(SCHEMES),
        help="Allow only what the scheme has: with BIO, I-X after B-X and I-X alone.",
        rich_help_panel=LEARNING,
    ),
]
AllLabels = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C", help="All labels; any other label in the files is an error.", rich_help_panel=LEARNING
    ),
]
Order = Annotated[
    int,
    typer.Option(
        callback=among("--order", 1, 2),
        metavar="1|2",
        help="How many labels before a label count.",
        rich_help_panel=LEARNING,
    ),
]
RulesIn = Annotated[
    str,
    typer.Option(
        "--rules-in",
        metavar="|".join(RULES_IN),
        help="Whether rules limit outputs in prediction alone, or in training too (margin learners).",
        rich_help_panel=LEARNING,
    ),
]
States = Annotated[
    int | None,
    typer.Option(
        callback=at_least("--states", 1),
        help="Hidden states of every label, for learners with latent outputs.",
        rich_help_panel=LEARNING,
    ),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="balanced|LABEL=VALUE",
        help="What an error on a label weighs: against its frequency, or as given.",
        rich_help_panel=LEARNING,
    ),
]
MaxRounds = Annotated[
    int | None,
    typer.Option(
        callback=at_least("--max-rounds", 1),
        help="Stop after so many rounds at the latest.",
        rich_help_panel=LEARNING,
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        callback=at_least("--tolerance", 0),
        help="The relative gap at which a problem counts as solved.",
        rich_help_panel=LEARNING,
    ),
]
OutOfCore = Annotated[
    Path | None,
    typer.Option(
        "--out-of-core",
        metavar="FOLDER",
        help="For files larger than memory: features are written there, once, and learned from block by block.",
        rich_help_panel=LEARNING,
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="MODEL", help="The file for the model.", rich_help_panel=OUTPUT)]
Checkpoint = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Kept up to date; the same command goes on from there.", rich_help_panel=OUTPUT),
]
History = Annotated[
    Path | None, typer.Option(metavar="FILE.jsonl", help="Write all rounds there.", rich_help_panel=OUTPUT)
]
