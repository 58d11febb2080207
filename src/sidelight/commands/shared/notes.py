"""One-line notes about surprising results that are not errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

from sidelight.commands.shared.outputs import note
from sidelight.errors import LeftOut, LongTraining, UnknownFeatures
from sidelight.evidence import Evidence
from sidelight.recipes import Recipe


def notes_on(
    model: Any, recipe: Recipe, evidence: Sequence[Evidence], *, ruled: bool, states: int | None, min_count: int
) -> Iterator[str]:
    """Notes on a model and on its training data."""
    name = recipe.name
    if recipe.plain_form and (states or 1) == 1 and all(piece.kind == "gold" for piece in evidence):
        more = " or ".join(f"--{kind} FILE" for kind in recipe.beside)
        rules = " and --rules FILE.py" if recipe.about_rules and not ruled else ""
        yield f"{name} with labelled inputs alone is plain {recipe.plain_form}; add {more}{rules}"
    elif recipe.about_rules and not ruled:
        yield f"{name} without rules learns from its own guesses alone; --rules FILE.py says what outputs obey"
    if ruled and "rules" not in recipe.heeded() and any(piece.kind == "unlabeled" for piece in evidence):
        yield f"with {name} rules bear on predictions alone; codl and posterior_regularization learn from them"
    if not _features_of(model):
        seen = f", as none was seen {min_count:,} times; lower --min-count" if min_count > 1 else ""
        yield f"the model has no features and looks at no input{seen}"


NOTED: dict[type[Warning], str] = {LongTraining: "; Ctrl-C stops it", UnknownFeatures: "", LeftOut: ""}  # what is added
_WITHIN: ContextVar[bool] = ContextVar("_WITHIN", default=False)


@contextmanager
def warnings_noted(*, quiet: bool = False) -> Iterator[None]:
    """Context manager: some warnings become notes: the first one of each kind (all of `LeftOut`), none with --quiet.

    If nested, the outer one decides.
    """
    if _WITHIN.get():
        yield
        return
    before = _WITHIN.set(True)
    try:
        yield from _noted(quiet)
    finally:
        _WITHIN.reset(before)


def _noted(quiet: bool) -> Iterator[None]:
    known: set[type[Warning]] = set(NOTED) if quiet else set()
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
            elif category not in known:
                if category is not LeftOut:
                    known.add(category)
                for one in f"{message}{NOTED[category]}".splitlines():
                    note(one)

        warnings.showwarning = show
        yield


def _features_of(model: Any) -> int:
    if not hasattr(model.structure, "extractor"):
        return int(model.structure.size)
    counts = [model.extractor.n_attributes, model.extractor.n_dense]
    if hasattr(model, "segments"):
        counts.append(model.segments.n_attributes)
    return sum(counts)
