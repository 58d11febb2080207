"""What an automatic choice says of itself, and its alternatives as estimators of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sidelight.estimators import Tagger
from sidelight.evidence import Evidence


def chosen(tagger: Tagger) -> str:
    """What was chosen, in a few words; nothing where there was no choice."""
    choice = getattr(tagger, "choice_", None)
    return "" if choice is None else str(choice.chosen)


def left_out(tagger: Tagger) -> tuple[str, ...]:
    """The kinds of evidence that were named as of no help, or harmful, and left out."""
    choice: Any = getattr(tagger, "choice_", None)
    return () if choice is None else tuple(choice.left_out)


def alternatives(tagger: Tagger, evidence: Sequence[Evidence]) -> Iterator[tuple[str, Tagger, list[Evidence]]]:
    """Every candidate of the choice: its name, an estimator that is not fitted, and the evidence that it takes."""
    choice: Any = getattr(tagger, "choice_", None)
    if choice is not None:
        yield from choice.alternatives(evidence)
