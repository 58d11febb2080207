"""What is no error but may surprise, each in one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from sidelight.commands.outputs import note
from sidelight.errors import LongTraining, UnknownFeatures
from sidelight.evidence import Evidence
from sidelight.recipe_kinds import Driven, Recipe, learns_from_rules

RULED = ("codl", "codl_as_printed", "posterior_regularization")  # learners that are about rules
PLAIN = {  # what learners of more than labelled inputs are where there are no others, nor hidden states
    **dict.fromkeys(("em", "hard_em", "unified_em", *RULED), "hmm"),
    **dict.fromkeys(("latent_svm", "transductive_svm", "self_training"), "structural_svm"),
    "partial_crf": "crf",
    "codl": "crf",
}
PARTLY = ("latent_svm", "partial_crf")  # learners that have little use for inputs without any labels


def notes_on(
    model: Any, recipe: Recipe, evidence: Sequence[Evidence], *, ruled: bool, states: int | None, min_count: int
) -> Iterator[str]:
    """The notes on a model and on what it was trained from."""
    name, ruling = recipe.name, recipe.name in RULED
    if name in PLAIN and (states or 1) == 1 and all(piece.kind == "gold" for piece in evidence):
        plain = recipe.base.name if isinstance(recipe, Driven) else PLAIN[name]
        more = "--partial FILE or --candidates FILE" if name in PARTLY else "--unlabeled FILE"
        rules = " and --rules FILE.py" if ruling and not ruled else ""
        yield f"{name} with labelled inputs alone is plain {plain}; add {more}{rules}"
    elif ruling and not ruled:
        yield f"{name} without rules learns from its own guesses alone; --rules FILE.py says what outputs obey"
    if ruled and not learns_from_rules(recipe) and any(piece.kind == "unlabeled" for piece in evidence):
        yield f"with {name} rules bear on predictions alone; codl and posterior_regularization learn from them"
    if not _features_of(model):
        seen = f", as none was seen {min_count:,} times; lower --min-count" if min_count > 1 else ""
        yield f"the model has no features and looks at no input{seen}"


NOTED: dict[type[Warning], str] = {LongTraining: "; Ctrl-C stops it", UnknownFeatures: ""}  # and what is added


@contextmanager
def warnings_noted(*, quiet: bool = False) -> Iterator[None]:
    """Within it, some warnings are notes: the first one of each kind, and none with --quiet."""
    said: set[type[Warning]] = set(NOTED) if quiet else set()
    with warnings.catch_warnings():
        for kind in NOTED:
            warnings.simplefilter("always", kind)
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if category not in NOTED:
                usual(message, category, filename, lineno, file, line)
            elif category not in said:
                said.add(category)
                note(f"{message}{NOTED[category]}")

        warnings.showwarning = show
        yield


def _features_of(model: Any) -> int:
    found = [model.extractor.n_attributes, model.extractor.n_dense]
    if hasattr(model, "segments"):
        found.append(model.segments.n_attributes)
    return sum(found)
