"""Human knowledge about references: rules, and twelve labelling functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sidelight.experiments.ccm.citation_rules import citation_rules
from sidelight.experiments.strangers.reading import Function, Votes, listed, matched, words_of
from sidelight.experiments.strangers.tasks.marks import in_either_case
from sidelight.experiments.strangers.tasks.word_lists import MONTHS, word_set
from sidelight.rules import Rule, Sentence, every, gallery, rule

YEAR = re.compile("(19|20)[0-9]{2}[a-z]?")
PUBLISHERS = word_set(
    "press publishers publishing springer springer-verlag wiley kaufmann morgan-kaufmann addison-wesley elsevier "
    "north-holland prentice kluwer plenum mcgraw-hill"
)
PLACES = word_set(
    "york ma ca cambridge washington boston japan tokyo seattle massachusetts ny england nj wa berlin orlando florida "
    "london angeles california amsterdam sydney australia dc osaka france germany canada paris"
)
MEETINGS = word_set("proceedings proc conference symposium workshop conf")
JOURNALS = word_set("journal transactions trans letters bulletin magazine annals review")


EDITORS = word_set("ed eds editor editors edited")
FIELD_WORDS = {
    **dict.fromkeys(PLACES - {"ny", "ca", "australia"}, ("location", "booktitle", "institution", "publisher")),
    **dict.fromkeys(MONTHS - {"may", "mar"}, ("date",)),
    **dict.fromkeys(PUBLISHERS, ("publisher",)),
    **dict.fromkeys(("university", "department", "dept", "institute", "laboratory"), ("institution", "publisher")),
    **dict.fromkeys(("thesis", "dissertation", "report"), ("tech",)),
    **dict.fromkeys(("vol", "volume", "no"), ("volume",)),
    **dict.fromkeys(MEETINGS - {"proc", "proceedings"}, ("booktitle",)),
    **dict.fromkeys(("transactions", "trans", "letters", "bulletin", "annals"), ("journal", "booktitle")),
}


@rule
def editors_are_named(x: Sentence, y: Any) -> Any:
    """Without a word that says so there is no editor."""
    return every(y[t] != "editor" for t in x.positions if not EDITORS & set(x.lower))


def rules() -> tuple[Rule, ...]:
    """The twelve rules of thesis Table 3.1 and three more, soft, with learned penalties."""
    more = (
        gallery.pattern_is("[0-9]+-+[0-9]+", "pages", name="PageNumbers"),
        gallery.lexicon(in_either_case(FIELD_WORDS), name="FieldWords"),
        editors_are_named,
    )
    return tuple(one.soft() for one in (*citation_rules(), *more))


def years(x: Sequence[Any]) -> Votes:
    return matched(x, YEAR.pattern, "date")


def months(x: Sequence[Any]) -> Votes:
    return listed(x, MONTHS, "date")


def page_numbers(x: Sequence[Any]) -> Votes:
    return matched(x, "[0-9]+-+[0-9]+", "pages")


def page_words(x: Sequence[Any]) -> Votes:
    return listed(x, {"pp", "pages", "page"}, "pages")


def volume_words(x: Sequence[Any]) -> Votes:
    """Vol., No. and the numbers after them; a number in brackets after a number."""
    words = [word.lower() for word in words_of(x)]
    votes = listed(x, {"vol", "volume", "no"}, "volume")
    for t in range(2, len(words)):
        if words[t].isdigit() and {words[t - 1], words[t - 2]} & {"vol", "volume", "no"}:
            votes[t] = "volume"
    return votes


def first_tokens(x: Sequence[Any]) -> Votes:
    """Authors come first: initials and names up to the first date, quotation mark or word in small letters."""
    votes: Votes = [None] * len(x)
    for t, word in enumerate(words_of(x)):
        small = word.isalpha() and word.islower() and word not in ("and", "et", "al", "van", "de", "der", "von")
        if YEAR.fullmatch(word) or word in ('"', "``", "(") or small:
            break
        if t < 12:
            votes[t] = "author"
    return votes


def meetings(x: Sequence[Any]) -> Votes:
    """From "In Proceedings" or the like up to the next comma."""
    return _up_to_comma(x, MEETINGS, "booktitle", before={"in"})


def journals(x: Sequence[Any]) -> Votes:
    """From "Journal" or "Transactions" up to the next comma."""
    return _up_to_comma(x, JOURNALS, "journal", before={"ieee", "acm"})


def publishers(x: Sequence[Any]) -> Votes:
    """A word that publishers have in their names, and the capitalised word before it."""
    votes = listed(x, PUBLISHERS, "publisher")
    words = words_of(x)
    for t in range(1, len(words)):
        if votes[t] and words[t - 1].istitle():
            votes[t - 1] = "publisher"
    return votes


def places(x: Sequence[Any]) -> Votes:
    return listed(x, PLACES, "location")


def reports(x: Sequence[Any]) -> Votes:
    """Technical reports and theses, and the institutions that have them."""
    votes = listed(x, {"technical", "tech", "thesis", "report", "phd"}, "tech")
    institutions = listed(x, {"university", "department", "dept", "institute", "laboratory"}, "institution")
    return [a or b for a, b in zip(votes, institutions)]


def middle_words(x: Sequence[Any]) -> Votes:
    """Words in small letters in the first two thirds are of the title."""
    words = words_of(x)
    last = 2 * len(words) // 3
    taken = MEETINGS | JOURNALS | {"and", "in", "et", "al", "pages", "pp", "editor", "editors", "eds", "ed"}
    return [
        "title" if t < last and word.isalpha() and word.islower() and len(word) > 1 and word not in taken else None
        for t, word in enumerate(words)
    ]


def _up_to_comma(x: Sequence[Any], heads: frozenset[str], label: str, *, before: set[str]) -> Votes:
    """The label from a head (and what may stand before it) up to the next comma or number."""
    words = [word.lower() for word in words_of(x)]
    votes: Votes = [None] * len(words)
    inside = False
    for t, word in enumerate(words):
        if word in heads:
            inside = True
            if t > 0 and words[t - 1] in before:
                votes[t - 1] = label
        if inside:
            votes[t] = label
        if word == "," or YEAR.fullmatch(word):
            inside = False
    return votes


FUNCTIONS: tuple[Function, ...] = (
    years,
    months,
    page_numbers,
    page_words,
    volume_words,
    first_tokens,
    meetings,
    journals,
    publishers,
    places,
    reports,
    middle_words,
)
