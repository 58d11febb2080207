"""Human knowledge about universal parts of speech: rules, and twelve labelling functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sidelight.experiments.strangers.reading import Function, Votes, labelled, listed, matched, words_of
from sidelight.experiments.strangers.tasks.marks import does_not_follow, in_either_case
from sidelight.experiments.strangers.tasks.word_lists import (
    ADJECTIVES,
    ADVERBS,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    DO,
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

AUXILIARIES = MODALS | BE | HAVE | DO
TAKEN = DETERMINERS | PREPOSITIONS | CONJUNCTIONS | PERSONAL | POSSESSIVE | AUXILIARIES | ADVERBS | SUBORDINATORS


@rule
def bases_after_modals(x: Sentence, y: Any) -> Any:
    """After a modal comes a verb, an adverb, "not" or a person."""
    return every(
        one_of(y[t + 1], ("VERB", "AUX", "ADV", "PART", "PRON", "PUNCT", "PROPN"))
        for t in x.positions[:-1]
        if x.lower[t] in MODALS
    )


@rule
def names_in_capitals(x: Sentence, y: Any) -> Any:
    """A capitalised word that is not the first one is a name."""
    return every(
        one_of(y[t], ("PROPN", "ADJ", "NOUN"))
        for t in x.positions[1:]
        if x.words[t][:1].isupper() and x.words[t].isalpha() and x.lower[t] not in TAKEN
    )


SMALL_WORDS = {
    **dict.fromkeys(DETERMINERS, ("DET", "PRON", "ADV")),
    **dict.fromkeys(("the", "a", "an", "every"), ("DET",)),
    **dict.fromkeys(CONJUNCTIONS - {"yet"}, ("CCONJ",)),
    **dict.fromkeys(SUBORDINATORS, ("SCONJ", "ADV", "ADP")),
    **dict.fromkeys(("not", "n't"), ("PART",)),
    "to": ("PART", "ADP"),
}
COMMON_WORDS = {
    **dict.fromkeys(NOUNS, ("NOUN", "PROPN")),
    **dict.fromkeys(VERBS - {"like"}, ("VERB",)),
    **dict.fromkeys(ADVERBS - {"not", "n't", "there"}, ("ADV",)),
    **dict.fromkeys(ADJECTIVES, ("ADJ", "ADV")),
    **dict.fromkeys(NUMBERS - {"one"}, ("NUM",)),
}


def rules() -> tuple[Rule, ...]:
    """Fifteen rules, soft, with learned penalties."""
    written = (
        gallery.pattern_is(r"[.,:;!?()\"'`\[\]-]+", "PUNCT", name="Punctuation"),
        gallery.pattern_is(r"[0-9][0-9.,:]*", "NUM", name="Numbers"),
        gallery.lexicon(in_either_case(SMALL_WORDS), name="SmallWords"),
        gallery.words_are(PREPOSITIONS, "ADP", "SCONJ", "ADV", name="Prepositions"),
        gallery.words_are(PERSONAL | POSSESSIVE, "PRON", name="Pronouns"),
        gallery.words_are(AUXILIARIES - {"'s"}, "AUX", "VERB", name="Auxiliaries"),
        gallery.lexicon(in_either_case(COMMON_WORDS), name="CommonWords"),
        gallery.pattern_is("[a-z]{3,}ly", "ADV", "ADJ", name="Adverbs"),
        gallery.pattern_is("[a-z]{2,}(tion|ment|ness|ity|ance|ence|ship|ism|ist)s?", "NOUN", name="NounEndings"),
        gallery.pattern_is("[a-z]{2,}(ous|ful|able|ible|ive|less|ical|al|ic)", "ADJ", "NOUN", name="AdjectiveEndings"),
        gallery.pattern_is("[a-z]{3,}(ing|ed)", "VERB", "NOUN", "ADJ", name="VerbEndings"),
        gallery.pattern_is("[a-z]{3,}[a-rt-z]s", "NOUN", "VERB", name="EndingS"),
        does_not_follow("DET", ("VERB", "AUX", "PUNCT", "CCONJ", "SCONJ"), name="AfterDeterminers"),
        bases_after_modals,
        names_in_capitals,
    )
    return tuple(one.soft() for one in written)


def punctuation(x: Sequence[Any]) -> Votes:
    return matched(x, r"[^\w\s$%#]+", "PUNCT")


def numbers(x: Sequence[Any]) -> Votes:
    return labelled(x, lambda word: word[0].isdigit() or word.lower() in NUMBERS, "NUM")


def determiners(x: Sequence[Any]) -> Votes:
    return listed(x, DETERMINERS, "DET")


def prepositions(x: Sequence[Any]) -> Votes:
    return listed(x, PREPOSITIONS, "ADP")


def conjunctions(x: Sequence[Any]) -> Votes:
    return [a or b for a, b in zip(listed(x, CONJUNCTIONS, "CCONJ"), listed(x, SUBORDINATORS, "SCONJ"))]


def pronouns(x: Sequence[Any]) -> Votes:
    return listed(x, PERSONAL | POSSESSIVE | {"who", "what", "which", "that", "someone", "everyone"}, "PRON")


def auxiliaries(x: Sequence[Any]) -> Votes:
    return listed(x, AUXILIARIES, "AUX")


def adverbs(x: Sequence[Any]) -> Votes:
    return labelled(x, lambda word: word.lower() in ADVERBS - {"not", "n't"} or word.endswith("ly"), "ADV")


def adjectives(x: Sequence[Any]) -> Votes:
    endings = ("ous", "ful", "able", "ible", "ive", "less", "ical")
    return labelled(x, lambda word: word.lower() in ADJECTIVES or (word.islower() and word.endswith(endings)), "ADJ")


def proper_names(x: Sequence[Any]) -> Votes:
    """A capitalised word that is not the first one."""
    words = words_of(x)
    return ["PROPN" if t > 0 and w[:1].isupper() and w.lower() not in TAKEN else None for t, w in enumerate(words)]


def verbs(x: Sequence[Any]) -> Votes:
    """Known verbs, words after "to" or a modal, words in -ed and -ing."""
    words = [word.lower() for word in words_of(x)]
    votes: Votes = [None] * len(words)
    for t, word in enumerate(words):
        after = t > 0 and words[t - 1] in MODALS | {"to", "n't"} and word.isalpha() and word not in TAKEN
        if word in VERBS or after or (word.endswith(("ing", "ed")) and len(word) > 5):
            votes[t] = "VERB"
    return votes


def nouns(x: Sequence[Any]) -> Votes:
    """Known nouns, and words in small letters after a determiner, or with a noun's ending."""
    words = words_of(x)
    votes: Votes = [None] * len(words)
    endings = ("tion", "ment", "ness", "ity", "ers", "tions", "ments", "ship", "ance", "ence")
    for t, word in enumerate(words):
        after = t > 0 and words[t - 1].lower() in DETERMINERS | POSSESSIVE and word.islower() and word not in ADJECTIVES
        if word in NOUNS or after or (word.islower() and word.endswith(endings)):
            votes[t] = "NOUN"
    return votes


FUNCTIONS: tuple[Function, ...] = (
    punctuation,
    numbers,
    determiners,
    prepositions,
    conjunctions,
    pronouns,
    auxiliaries,
    adverbs,
    adjectives,
    proper_names,
    verbs,
    nouns,
)
