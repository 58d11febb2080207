"""Human knowledge about the tags of the Penn Treebank: rules, and twelve labelling functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sidelight.experiments.strangers.reading import Function, Votes, labelled, listed, words_of
from sidelight.experiments.strangers.tasks.marks import does_not_follow, in_either_case
from sidelight.experiments.strangers.tasks.word_lists import (
    ADJECTIVES,
    ADVERBS,
    BE,
    DETERMINERS,
    HAVE,
    MODALS,
    NOUNS,
    NUMBERS,
    PERSONAL,
    POSSESSIVE,
    PREPOSITIONS,
    SUBORDINATORS,
    VERBS,
)
from sidelight.rules import Rule, Sentence, every, gallery, one_of, rule

MARKS = {",": ",", ".": ".", "?": ".", "!": ".", "``": "``", "''": "''", "$": "$", "-LRB-": "-LRB-", "-RRB-": "-RRB-"}
MARKS |= {"--": ":", ":": ":", ";": ":", "...": ":"}
FORMS = {
    "is": "VBZ",
    "has": "VBZ",
    "does": "VBZ",
    "are": "VBP",
    "'re": "VBP",
    "was": "VBD",
    "were": "VBD",
    "had": "VBD",
    "did": "VBD",
    "said": "VBD",
    "be": "VB",
    "been": "VBN",
    "being": "VBG",
    "have": "VBP",
    "says": "VBZ",
}
TAKEN = DETERMINERS | PREPOSITIONS | PERSONAL | POSSESSIVE | MODALS | BE | HAVE | ADVERBS | SUBORDINATORS
IN_WORDS = (PREPOSITIONS | SUBORDINATORS | {"than", "as", "that"}) - {"about", "over", "through"}


@rule
def bases_after_modals(x: Sentence, y: Any) -> Any:
    """After a modal or "to" comes a base form, an adverb or something that is not a verb."""
    inflected = ("VBD", "VBZ", "VBP", "VBG", "MD")
    return every(y[t + 1] != label for t in x.positions[:-1] if x.lower[t] in MODALS | {"to"} for label in inflected)


@rule
def names_in_capitals(x: Sentence, y: Any) -> Any:
    """A capitalised word that is not the first one is a name."""
    return every(
        one_of(y[t], ("NNP", "NNPS", "JJ"))
        for t in x.positions[1:]
        if x.words[t][:1].isupper() and x.lower[t] not in TAKEN and x.words[t - 1] != "``"
    )


SMALL_WORDS = {
    **dict.fromkeys(DETERMINERS, ("DT", "RB")),
    **dict.fromkeys(("the", "a", "an"), ("DT",)),
    **dict.fromkeys(("and", "or", "but", "&"), ("CC",)),
    **dict.fromkeys(MODALS - {"'d", "may", "will"}, ("MD",)),
    **dict.fromkeys(PERSONAL, ("PRP",)),
    **dict.fromkeys(POSSESSIVE, ("PRP$",)),
    **dict.fromkeys(NUMBERS - {"one"}, ("CD",)),
    "to": ("TO",),
}
ADJECTIVE_TAGS = ("JJ", "JJR", "JJS", "RB", "RBR", "RBS")
COMMON_WORDS = {
    **dict.fromkeys(NOUNS, ("NN", "NNS", "NNP")),
    **dict.fromkeys(VERBS - {"like", "said", "says"}, ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ")),
    **dict.fromkeys(ADVERBS - {"there"}, ("RB",)),
    **dict.fromkeys(ADJECTIVES, ADJECTIVE_TAGS),
}


def rules() -> tuple[Rule, ...]:
    """Fifteen rules; the marks of punctuation are hard, the others soft, with learned penalties."""
    written = (
        gallery.pattern_is(r"[0-9][0-9.,:]*", "CD", name="Numbers"),
        gallery.lexicon(in_either_case(SMALL_WORDS), name="SmallWords"),
        gallery.words_are(IN_WORDS, "IN", "WDT", "DT", "RB", "RP", name="Prepositions"),
        gallery.lexicon({word: (tag,) for word, tag in FORMS.items() if word not in ("have", "had")}, name="Forms"),
        gallery.lexicon(COMMON_WORDS, name="CommonWords"),
        gallery.pattern_is("[a-z]{3,}ly", "RB", "JJ", name="Adverbs"),
        gallery.pattern_is("[a-z]{2,}(tion|ment|ness|ity|ance|ence|ship|ism|ist)", "NN", name="NounEndings"),
        gallery.pattern_is("[a-z]{3,}[a-rtv-z]s", "NNS", "VBZ", name="EndingS"),
        gallery.pattern_is("[a-z]{2,}(ous|ful|able|ible|ive|less|ical|al|ic)", "JJ", "NN", name="AdjectiveEndings"),
        gallery.pattern_is("[a-z]{3,}ed", "VBN", "VBD", "JJ", name="EndingEd"),
        gallery.pattern_is("[a-z]{3,}ing", "VBG", "NN", "JJ", name="EndingIng"),
        does_not_follow("DT", ("VB", "VBD", "VBP", "IN", "MD", ".", "CC"), name="AfterDeterminers"),
        bases_after_modals,
        names_in_capitals,
    )
    return (gallery.lexicon(MARKS, name="Marks"), *(one.soft() for one in written))


def marks(x: Sequence[Any]) -> Votes:
    return [MARKS.get(word) for word in words_of(x)]


def numbers(x: Sequence[Any]) -> Votes:
    return labelled(x, lambda word: word[0].isdigit() or word.lower() in NUMBERS, "CD")


def determiners(x: Sequence[Any]) -> Votes:
    return listed(x, DETERMINERS, "DT")


def prepositions(x: Sequence[Any]) -> Votes:
    return listed(x, IN_WORDS, "IN")


def pronouns(x: Sequence[Any]) -> Votes:
    return [a or b for a, b in zip(listed(x, PERSONAL, "PRP"), listed(x, POSSESSIVE, "PRP$"))]


def small_words(x: Sequence[Any]) -> Votes:
    """Conjunctions, "to", modals and question words."""
    tags = {**dict.fromkeys(MODALS, "MD"), "to": "TO", "and": "CC", "or": "CC", "but": "CC", "'s": "POS"}
    tags |= {"which": "WDT", "who": "WP", "what": "WP", "when": "WRB", "where": "WRB", "how": "WRB", "there": "EX"}
    return [tags.get(word.lower()) for word in words_of(x)]


def verb_forms(x: Sequence[Any]) -> Votes:
    return [FORMS.get(word.lower()) for word in words_of(x)]


def adverbs(x: Sequence[Any]) -> Votes:
    return labelled(x, lambda word: word.lower() in ADVERBS or (word.islower() and word.endswith("ly")), "RB")


def adjectives(x: Sequence[Any]) -> Votes:
    endings = ("ous", "ful", "able", "ible", "ive", "less", "ical", "ial")
    return labelled(x, lambda word: word.lower() in ADJECTIVES or (word.islower() and word.endswith(endings)), "JJ")


def proper_names(x: Sequence[Any]) -> Votes:
    """A capitalised word that is not the first one."""
    words = words_of(x)
    return ["NNP" if t > 0 and w[:1].isupper() and w.lower() not in TAKEN else None for t, w in enumerate(words)]


def verb_endings(x: Sequence[Any]) -> Votes:
    """-ing, -ed (a participle after be and have, else the past), and the base after "to" and modals."""
    words = [word.lower() for word in words_of(x)]
    votes: Votes = [None] * len(words)
    for t, word in enumerate(words):
        before = words[t - 1] if t else ""
        if before in MODALS | {"to"} and word.isalpha() and word not in TAKEN:
            votes[t] = "VB"
        elif word.endswith("ing") and len(word) > 5:
            votes[t] = "VBG"
        elif word.endswith("ed") and len(word) > 4:
            votes[t] = "VBN" if before in BE | HAVE else "VBD"
    return votes


def nouns(x: Sequence[Any]) -> Votes:
    """Words in small letters in -s are plural nouns; with a noun's ending or after an article, singular ones."""
    words = words_of(x)
    votes: Votes = [None] * len(words)
    endings = ("tion", "ment", "ness", "ity", "er", "ship", "ance", "ence", "cy")
    for t, word in enumerate(words):
        if not (word.islower() and word.isalpha()) or word in TAKEN | ADJECTIVES:
            continue
        if word.endswith("s") and not word.endswith("ss"):
            votes[t] = "NNS"
        elif word.endswith(endings) or (t and words[t - 1].lower() in ("the", "a", "an")):
            votes[t] = "NN"
    return votes


FUNCTIONS: tuple[Function, ...] = (
    marks,
    numbers,
    determiners,
    prepositions,
    pronouns,
    small_words,
    verb_forms,
    adverbs,
    adjectives,
    proper_names,
    verb_endings,
    nouns,
)
