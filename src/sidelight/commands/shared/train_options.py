"""Options of `sidelight train` other than its evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sidelight.commands.registry import LABELS, NAMES
from sidelight.commands.shared import settings
from sidelight.commands.shared.options import (
    EVIDENCE,
    LEARNING,
    OUTPUT,
    among,
    at_least,
    between,
    in_features,
    in_learning,
    in_output,
)
from sidelight.commands.shared.program import Brief
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
    "good": Brief(EVIDENCE, "FILE", "Unlabelled inputs that are well formed."),
    "shuffle_good": Brief(EVIDENCE, "K", "Add K shuffled copies of these as bad ones."),
    "unlabeled": Brief(EVIDENCE, "FILE", "Inputs without labels."),
    "rules": Brief(EVIDENCE, "FILE.py", "Rules that outputs obey (docs/rules.md)."),
    "features": Brief(LEARNING, "NAME", f"{', '.join(tuple(settings.READY)[:4])}, …"),
    "learner": Brief(LEARNING, "NAME", "See sidelight learners."),
    "learner_options": Brief(LEARNING, "OPTION=VALUE", "See sidelight learners NAME."),
    "scheme": Brief(LEARNING, "BIO", "Let I-X follow only B-X and I-X."),
    "valid": Brief(LEARNING, "FILE", "Labelled inputs to choose prices by."),
    "out": Brief(OUTPUT, "MODEL", "The model file to write."),
    "verbose": Brief(OUTPUT, "", "Report progress; -vv every round."),
    "quiet": Brief(OUTPUT, "", "Print errors only."),
    "help_all": Brief(None, "", "Show all options: prices, formats, limits, …"),
}
_DEFAULTS = ", ".join(f"{kind} {price:g}" for kind, price in DEFAULT_PRICES.items())

StructureName = Annotated[
    str,
    in_learning(
        "--structure",
        metavar="|".join(STRUCTURES),
        help="What to predict: labels of tokens or inputs (chain), whole segments (segments), or another structure; "
        "see sidelight structures.",
    ),
]
StartTable = Annotated[
    Path | None,
    in_learning(
        metavar="FILE",
        help="With letters: a table of initial weights, with two letters and the weight of their link per line.",
    ),
]
ReadyFeatures = Annotated[
    str | None,
    in_features(
        metavar="|".join(settings.READY),
        help="A predefined feature set; the default depends on the input and the learner.",
    ),
]
TemplateFile = Annotated[Path | None, in_features(metavar="FILE", help="A template file in CRF++ syntax.")]
MinCount = Annotated[int, in_features(callback=at_least("--min-count", 1), help="Drop features seen fewer times.")]
HashBits = Annotated[
    int | None,
    in_features(callback=between("--hash-bits", 4, 28), help="Hash features into 2^BITS attributes."),
]
LearnerName = Annotated[str, in_learning(metavar="NAME", help="The learner; sidelight learners lists them.")]
LearnerOptions = Annotated[
    list[str] | None,
    in_learning(
        "--set",
        metavar="OPTION=VALUE",
        help="An option of the learner (see sidelight learners NAME) or the structure (sidelight structures NAME).",
    ),
]
Loss = Annotated[
    str | None,
    in_learning(
        callback=among("--loss", *POWERS),
        metavar="|".join(POWERS),
        help="The loss of margin learners; squared_hinge by default.",
    ),
]
GoldPrice = Annotated[
    float | None, in_learning("--c1", help=f"The price of gold; {DEFAULT_PRICES['gold']:g} by default.")
]
CompanionPrice = Annotated[
    float | None,
    in_learning(
        "--c2",
        help=f"The price of good and bad; {DEFAULT_PRICES['companion']:g} by default, "
        f"{crf.usual_prices['companion']:g} in likelihoods.",
    ),
]
OtherPrices = Annotated[
    list[str] | None, in_learning(metavar="KIND=VALUE", help=f"The price of another kind; by default {_DEFAULTS}.")
]
ValidFile = Annotated[
    Path | None,
    in_learning(metavar="FILE", help="Labelled inputs on which to choose the prices of all evidence from --grid."),
]
Grid = Annotated[str | None, in_learning(metavar="PRICES", help=f"Prices to try with --valid; {GRID} by default.")]
Metric = Annotated[
    str | None,
    in_learning(
        callback=among("--metric", *METRICS),
        metavar="|".join(METRICS),
        help="The score to optimise (train: with --valid); by default span_f1 if labels follow a scheme, "
        "and accuracy otherwise.",
    ),
]
Scheme = Annotated[
    str | None,
    in_learning(
        callback=among("--scheme", *SCHEMES),
        metavar="|".join(SCHEMES),
        help="Forbid labels that the scheme does not allow: with BIO, I-X only after B-X or I-X.",
    ),
]
AllLabels = Annotated[
    str | None, in_learning(metavar="A,B,C", help="The complete list of labels; others in the files are errors.")
]
Order = Annotated[
    int,
    in_learning(
        callback=among("--order", 1, 2), metavar="1|2", help="The order of the chain: 1 scores label pairs, 2 triples."
    ),
]
RulesIn = Annotated[
    str,
    in_learning(
        "--rules-in",
        metavar="|".join(RULES_IN),
        help="Apply rules in prediction only, or in training too (margin learners).",
    ),
]
States = Annotated[
    int | None,
    in_learning(callback=at_least("--states", 1), help="Hidden states per label, for learners with latent outputs."),
]
ClassWeight = Annotated[
    list[str] | None,
    in_learning(
        metavar="balanced|LABEL=VALUE",
        help="Weights of errors by label: balanced (inverse frequency), or LABEL=WEIGHT.",
    ),
]
MaxRounds = Annotated[
    int | None, in_learning(callback=at_least("--max-rounds", 1), help="The maximum number of rounds.")
]
Tolerance = Annotated[
    float,
    in_learning(callback=at_least("--tolerance", 0), help="The relative gap at which to stop solving."),
]
OutOfCore = Annotated[
    Path | None,
    in_learning(
        "--out-of-core",
        metavar="FOLDER",
        help="For files larger than memory: store features in this folder and read them block by block.",
    ),
]
Out = Annotated[Path, in_output("--out", metavar="MODEL", help="The model file to write.")]
Checkpoint = Annotated[
    Path | None, in_output(metavar="FILE", help="Save progress here; the same command resumes from it.")
]
History = Annotated[Path | None, in_output(metavar="FILE.jsonl", help="Write the records of all rounds here.")]
