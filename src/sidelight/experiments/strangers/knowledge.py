"""Human knowledge about each corpus: rules and labelling functions, by its name."""

from __future__ import annotations

from types import ModuleType

from sidelight.experiments.strangers.reading import Function
from sidelight.experiments.strangers.tasks import (
    chunks,
    fields_of_ads,
    fields_of_citations,
    names_in_biology,
    names_in_news,
    tags_of_newspapers,
    tags_of_the_web,
)
from sidelight.rules import Rule

FILES: dict[str, ModuleType] = {
    "names in news": names_in_news,
    "names in biology": names_in_biology,
    "tags of the web": tags_of_the_web,
    "tags of newspapers": tags_of_newspapers,
    "chunks": chunks,
    "fields of citations": fields_of_citations,
    "fields of ads": fields_of_ads,
}


def rules_of(corpus: str) -> tuple[Rule, ...]:
    """The rules of a corpus, as they were written for it."""
    results: tuple[Rule, ...] = FILES[corpus].rules()
    return results


def functions_of(corpus: str) -> tuple[Function, ...]:
    """The twelve labelling functions of a corpus."""
    results: tuple[Function, ...] = FILES[corpus].FUNCTIONS
    return results
