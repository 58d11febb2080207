"""The lexicons are large, free of repeats where that matters, and grammatical."""

from __future__ import annotations

import pytest

from sidelight.corpus import names, venues, words
from sidelight.corpus.dice import Dice
from sidelight.corpus.titles import title


def test_word_lists_are_large() -> None:
    terms = {word for topic in words.TOPICS for term in topic.terms for word in term.split()}
    lists = (words.FORMS, words.ASPECTS, words.THINGS, words.MASS, words.ADJECTIVES, words.VERBS)
    assert len(terms.union(*lists)) >= 400
    assert len(names.COMMON_SURNAMES) >= 200
    assert len(names.surnames()) >= 1000


@pytest.mark.parametrize(
    "entries",
    [
        words.FORMS,
        words.ASPECTS,
        words.THINGS,
        words.MASS,
        words.ADJECTIVES,
        words.VERBS,
        names.GIVEN,
        names.CITIES,
        names.COMMON_SURNAMES,
    ],
)
def test_lists_have_no_repeats(entries: tuple[object, ...]) -> None:
    assert len(entries) == len(set(entries))


def test_some_surnames_are_cities_and_some_given_names_are_months() -> None:
    assert len({city for city, _ in names.CITIES} & set(names.surnames())) >= 10
    assert {"April", "May", "June"} <= set(names.GIVEN)


def test_titles_leave_no_slot_open_and_use_the_right_article() -> None:
    dice = Dice(0)
    for place in range(2000):
        text = title(place % len(words.TOPICS), dice, book=place % 5 == 0)
        assert "{" not in text and "  " not in text
        assert text[0].isupper()
        assert " a a" not in text and " a e" not in text and " an s" not in text


def test_venues_are_complete() -> None:
    every = [name for topic in venues.journals() for name in topic]
    every += [home.name for home in venues.publishers() + venues.institutions()]
    assert len(set(every)) > 150
    assert not any("{" in name for name in every)


def test_zipf_prefers_the_head_and_reaches_the_tail() -> None:
    dice = Dice(1)
    drawn = [dice.zipf(range(50)) for _ in range(5000)]
    counts = [drawn.count(option) for option in range(50)]
    assert counts[0] > 4 * counts[20] > 0
    assert min(counts) > 0


def test_between_includes_both_ends() -> None:
    dice = Dice(2)
    assert {dice.between(3, 5) for _ in range(200)} == {3, 4, 5}
