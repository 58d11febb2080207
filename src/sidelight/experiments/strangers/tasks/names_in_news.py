"""Human knowledge about names in news: rules, and twelve labelling functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sidelight.experiments.strangers.reading import (
    Function,
    Votes,
    labelled,
    listed,
    matched,
    runs,
    span_votes,
    words_of,
)
from sidelight.experiments.strangers.tasks.marks import (
    marked,
    marks_agree,
    neighbours_go_on,
    spans_do_not_end,
    words_inside,
    words_outside,
)
from sidelight.experiments.strangers.tasks.word_lists import (
    CITIES,
    COMPANY_ENDINGS,
    COUNTRIES,
    DAYS,
    EVENTS,
    FIRST_NAMES,
    MONTHS,
    NATIONALITIES,
    TITLES,
)
from sidelight.rules import Rule, Sentence, every, gallery, one_of, rule

TYPES = ("LOC", "MISC", "ORG", "PER")
CAPITALISED = re.compile("[A-Z][a-z]+")
PERSON_LABELS = marked("PER")


@rule
def people_after_titles(x: Sentence, y: Any) -> Any:
    """A capitalised word after a title is a person."""
    return every(
        one_of(y[t], PERSON_LABELS)
        for t in x.positions[1:]
        if x.words[t - 1] in TITLES and CAPITALISED.fullmatch(x.words[t]) and x.words[t] not in TITLES
    )


def rules() -> tuple[Rule, ...]:
    """Twelve rules; all but the first are soft, with learned penalties."""
    return (
        marks_agree(TYPES),
        words_outside("[a-z]+", name="SmallLetters").soft(),
        words_outside(r"\W+", name="Punctuation").soft(),
        words_outside(r"[0-9][0-9.,:/-]*", name="Numbers").soft(),
        gallery.words_are(DAYS | (MONTHS - {"may", "march"}), "O", name="Dates").soft(),
        words_inside("[A-Z][a-z]+", TYPES, name="Capitals").soft(),
        neighbours_go_on("[A-Z][a-z]+", TYPES, name="OneName").soft(),
        gallery.words_are(COUNTRIES | CITIES, *marked("LOC", "ORG"), name="Places", case=True).soft(),
        gallery.words_are(NATIONALITIES, *marked("MISC"), name="Nationalities", case=True).soft(),
        gallery.words_are(FIRST_NAMES, *PERSON_LABELS, name="FirstNames", case=True).soft(),
        spans_do_not_end(frozenset({"of", "and", "the", "for"}), TYPES, name="SpanEnds").soft(),
        people_after_titles.soft(),
    )


def small_letters(x: Sequence[Any]) -> Votes:
    return matched(x, "[a-z][a-z'-]*", "O")


def numbers_and_marks(x: Sequence[Any]) -> Votes:
    return matched(x, r"[\W0-9]+", "O")


def dates(x: Sequence[Any]) -> Votes:
    return listed(x, DAYS | MONTHS, "O")


def countries(x: Sequence[Any]) -> Votes:
    return labelled(x, lambda word: word in COUNTRIES, "B-LOC")


def cities(x: Sequence[Any]) -> Votes:
    return labelled(x, lambda word: word in CITIES, "B-LOC")


def nationalities(x: Sequence[Any]) -> Votes:
    return labelled(x, lambda word: word in NATIONALITIES, "B-MISC")


def first_names(x: Sequence[Any]) -> Votes:
    """A first name and the capitalised words after it are a person."""
    words = words_of(x)
    return span_votes(x, [(a, b, "PER") for a, b in runs(x, str.istitle) if words[a] in FIRST_NAMES and b - a <= 3])


def titles(x: Sequence[Any]) -> Votes:
    """Capitalised words after a title are a person."""
    words = words_of(x)
    follow = [(a, b) for a, b in runs(x, lambda word: word.istitle() and word not in TITLES) if a > 0]
    return span_votes(x, [(a, b, "PER") for a, b in follow if words[a - 1] in TITLES])


def companies(x: Sequence[Any]) -> Votes:
    """Capitalised words that end like a company are one."""
    words = words_of(x)
    results = runs(x, lambda word: word[:1].isupper())
    return span_votes(x, [(a, b, "ORG") for a, b in results if b - a > 1 and words[b - 1] in COMPANY_ENDINGS])


def abbreviations(x: Sequence[Any]) -> Votes:
    """Three to five capitals among other words are an organisation."""
    words = words_of(x)
    shouted = sum(word.isupper() for word in words) > 0.5 * len(words)
    return [None] * len(words) if shouted else matched(x, "[A-Z]{3,5}", "B-ORG")


def events(x: Sequence[Any]) -> Votes:
    """Capitalised words that end like a contest are one."""
    words = words_of(x)
    return span_votes(x, [(a, b, "MISC") for a, b in runs(x, str.istitle) if words[b - 1] in EVENTS])


def places_after_in(x: Sequence[Any]) -> Votes:
    """Capitalised words after "in" are a place."""
    words = words_of(x)
    known = DAYS | MONTHS
    results = [
        (a, b) for a, b in runs(x, str.istitle) if a > 0 and words[a - 1] == "in" and words[a].lower() not in known
    ]
    return span_votes(x, [(a, b, "LOC") for a, b in results])


FUNCTIONS: tuple[Function, ...] = (
    small_letters,
    numbers_and_marks,
    dates,
    countries,
    cities,
    nationalities,
    first_names,
    titles,
    companies,
    abbreviations,
    events,
    places_after_in,
)
