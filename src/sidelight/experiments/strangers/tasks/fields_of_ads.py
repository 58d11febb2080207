"""Human knowledge about hotel posts: rules, and twelve labelling functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sidelight.experiments.strangers.reading import Function, Votes, listed, matched, runs, span_votes, words_of
from sidelight.experiments.strangers.tasks.marks import marked, marks_agree
from sidelight.experiments.strangers.tasks.word_lists import DAYS, MONTHS, word_set
from sidelight.rules import Rule, gallery

NAME, AREA, STARS = "hotelname", "localarea", "starrating"
TYPES = (NAME, AREA, STARS)
STAR = r"[1-5](\.5)?\*|\*[1-5]"
CHAINS = word_set(
    "hyatt hilton marriott sheraton westin omni radisson doubletree wyndham ramada amerisuites loews courtyard "
    "fairfield hampton embassy residence holiday manchester"
)
NAME_PARTS = CHAINS | word_set("inn regency suites grand quinta penn william points lion plaza hotel resort")
AREAS = word_set(
    "downtown dt airport coastal arden coronado cordova natomas carlsbad sorrento miramar greentree cranberry "
    "monroeville escondido"
)
AREA_PHRASES = (
    ("mission", "valley"),
    ("del", "mar"),
    ("rancho", "cordova"),
    ("old", "town"),
    ("sorrento", "mesa"),
    ("south", "natomas"),
    ("shelter", "island"),
    ("mission", "bay"),
)
DATE_WORDS = (DAYS | MONTHS | word_set("mon tue tues wed thu thur thurs fri sat sun")) - {"mar"}
SMALL = word_set("for in to at and the of on with bid bidding help bonus night nights room rooms list got won no")


def rules() -> tuple[Rule, ...]:
    """Eleven rules; all but the first are soft, with learned penalties."""
    return (
        marks_agree(TYPES),
        gallery.pattern_is(STAR, f"B-{STARS}", name="Stars").soft(),
        gallery.pattern_is(r"\$[0-9.]+", "O", name="Money").soft(),
        gallery.pattern_is(r"[0-9]+|[0-9]+/[0-9/]+", "O", name="Dates").soft(),
        gallery.words_are(DATE_WORDS, "O", name="DateWords").soft(),
        gallery.words_are(CHAINS, *marked(NAME), name="Chains").soft(),
        gallery.words_are(AREAS, *marked(AREA), name="Areas").soft(),
        gallery.words_are(SMALL, "O", name="SmallWords").soft(),
        gallery.at_most(1, f"B-{STARS}", name="OneRating").soft(),
        gallery.at_most(1, f"B-{AREA}", name="OneArea").soft(),
        gallery.at_least(1, f"B-{NAME}", name="HasHotel").soft(),
    )


def stars(x: Sequence[Any]) -> Votes:
    return matched(x, STAR, f"B-{STARS}")


def money(x: Sequence[Any]) -> Votes:
    return matched(x, r"\$[0-9.]+", "O")


def numeric_dates(x: Sequence[Any]) -> Votes:
    return matched(x, r"[0-9]+/[0-9/]+|[0-9]+", "O")


def date_words(x: Sequence[Any]) -> Votes:
    return listed(x, DATE_WORDS, "O")


def small_words(x: Sequence[Any]) -> Votes:
    return listed(x, SMALL, "O")


def marks(x: Sequence[Any]) -> Votes:
    return matched(x, r"[-,.()+?:/]+", "O")


def chains(x: Sequence[Any]) -> Votes:
    """A chain and the parts of names after it."""
    words = words_of(x)
    results = runs(x, lambda word: word.lower() in NAME_PARTS)
    return span_votes(x, [(a, b, NAME) for a, b in results if words[a].lower() in CHAINS])


def inns(x: Sequence[Any]) -> Votes:
    """Whatever stands before "inn", "suites" or "hotel", and it."""
    words = [word.lower() for word in words_of(x)]
    ends = [t for t in range(1, len(words)) if words[t] in ("inn", "suites", "hotel", "resort")]
    return span_votes(x, [(t - 1, t + 1, NAME) for t in ends if words[t - 1].isalpha() and words[t - 1] not in SMALL])


def areas(x: Sequence[Any]) -> Votes:
    return listed(x, AREAS, f"B-{AREA}")


def area_phrases(x: Sequence[Any]) -> Votes:
    """Two words that are an area."""
    words = [word.lower() for word in words_of(x)]
    return span_votes(x, [(t, t + 2, AREA) for t in range(len(words) - 1) if (words[t], words[t + 1]) in AREA_PHRASES])


def after_stars(x: Sequence[Any]) -> Votes:
    """A plain word right after the rating begins the name, unless it is an area."""
    votes: Votes = [None] * len(x)
    rated = stars(x)
    words = [word.lower() for word in words_of(x)]
    for t in range(1, len(words)):
        if rated[t - 1] and words[t].isalpha() and words[t] not in AREAS | SMALL:
            votes[t] = f"B-{NAME}"
    return votes


def before_money(x: Sequence[Any]) -> Votes:
    """Nothing is told after the first price."""
    words = words_of(x)
    priced = [t for t, word in enumerate(words) if word.startswith("$")]
    return ["O" if priced and t >= priced[0] else None for t in range(len(words))]


FUNCTIONS: tuple[Function, ...] = (
    stars,
    money,
    numeric_dates,
    date_words,
    small_words,
    marks,
    chains,
    inns,
    areas,
    area_phrases,
    after_stars,
    before_money,
)
