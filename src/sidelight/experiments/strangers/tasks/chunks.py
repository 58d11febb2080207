"""Human knowledge about chunks of words with tags: rules, and twelve labelling functions.

Tokens are (word, tag) with the tags of the corpus, so most rules and functions use tags.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from sidelight.experiments.strangers.reading import Function, Votes, words_of
from sidelight.experiments.strangers.tasks.marks import marks_agree
from sidelight.experiments.strangers.tasks.word_lists import BE
from sidelight.rules import Rule, Sentence, every, one_of, rule
from sidelight.rules.expr import Expr
from sidelight.rules.output import Labels

TYPES = ("ADJP", "ADVP", "NP", "PP", "SBAR", "VP", "PRT", "CONJP", "INTJ", "UCP")
VERBS = ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD")
NOUNS = ("NN", "NNS", "NNP", "NNPS")
BEFORE_NOUNS = ("DT", "PRP$", "JJ", "JJR", "JJS", "CD", "$", "POS", *NOUNS)
OUTSIDE = (",", ".", "``", "''", ":", "(", ")")
SUBORDINATORS = frozenset(("if", "because", "although", "while", "whether", "unless", "though"))
LIKE_SUBORDINATORS = frozenset(("that", "as", "after", "before", "since", "until", "so", "than", "like", "up", "down"))


def tags_are(known: Mapping[tuple[str, ...], tuple[str, ...]], *, name: str) -> Rule:
    """Tokens with these tags have one of the labels beside them."""
    by_tag = {tag: labels for tags, labels in known.items() for tag in tags}
    named = tuple(dict.fromkeys(label for labels in known.values() for label in labels))
    return Rule(partial(_tags_are, known=by_tag), name, sentence="Tags that are in few kinds of phrases", labels=named)


def _tags_are(x: Sentence, y: Labels, *, known: Mapping[str, tuple[str, ...]]) -> Expr:
    return every(one_of(y[t], known[_tag(x, t)]) for t in x.positions if _tag(x, t) in known)


def tag_goes_on(before: Collection[str], tags: Collection[str], label: str, *, name: str) -> Rule:
    """A token with one of these tags, after one of those, has this label."""
    says = partial(_tag_goes_on, before=frozenset(before), tags=frozenset(tags), label=label)
    return Rule(says, name, sentence=f"{', '.join(tags)} after {', '.join(before)} is {label}", labels=(label,))


def _tag_goes_on(x: Sentence, y: Labels, *, before: frozenset[str], tags: frozenset[str], label: str) -> Expr:
    return every(y[t] == label for t in x.positions[1:] if _tag(x, t) in tags and _tag(x, t - 1) in before)


def _tag(x: Any, t: int) -> str:
    """The tag of a token; rules are read on words without tags too, before there is an input."""
    if t >= len(x):
        return ""
    token = x[t]
    return str(token[1]) if not isinstance(token, str) and len(token) > 1 else ""


def _word(x: Sentence, t: int) -> str:
    return x.lower[t] if t < len(x) else ""


@rule
def to_before_verbs(x: Sentence, y: Any) -> Any:
    """To before a verb goes on with a verb before it, or begins a verb phrase; before others it is a preposition."""
    votes = []
    for t in x.positions[:-1]:
        if _tag(x, t) == "TO":
            verb = _tag(x, t + 1) == "VB"
            after = t > 0 and _tag(x, t - 1) in VERBS
            votes.append(one_of(y[t], (("I-VP",) if after else ("B-VP",)) if verb else ("B-PP", "I-NP", "I-PP")))
    return every(votes)


@rule
def clauses_begin(x: Sentence, y: Any) -> Any:
    """Words such as "if", "although" and "because" begin a clause; "because of" is a preposition."""
    return every(
        y[t] == "B-SBAR"
        for t in x.positions
        if x.lower[t] in SUBORDINATORS and _tag(x, t) == "IN" and _word(x, t + 1) != "of"
    )


@rule
def prepositions_before_nouns(x: Sentence, y: Any) -> Any:
    """What is no such word and stands before a noun phrase is a preposition, or part of a number."""
    return every(
        one_of(y[t], ("B-PP", "I-PP", "I-NP", "B-NP"))
        for t in x.positions[:-1]
        if _tag(x, t) == "IN"
        and x.lower[t] not in SUBORDINATORS | LIKE_SUBORDINATORS
        and _tag(x, t + 1) in (*BEFORE_NOUNS, "PRP")
    )


@rule
def adjectives_after_be(x: Sentence, y: Any) -> Any:
    """An adjective after a form of "be", with no noun after it, is a phrase of its own."""
    return every(
        y[t] == "B-ADJP"
        for t in x.positions[1:]
        if _tag(x, t) == "JJ" and x.lower[t - 1] in BE and _tag(x, t + 1) not in (*NOUNS, "JJ", "VBG", "CD")
    )


@rule
def adverbs_alone(x: Sentence, y: Any) -> Any:
    """An adverb before a comma or a stop, or that begins a sentence, is a phrase of its own or ends one."""
    return every(
        one_of(y[t], ("B-ADVP", "I-ADVP"))
        for t in x.positions
        if _tag(x, t) == "RB" and (_tag(x, t + 1) in (",", ".") or (t == 0 and _tag(x, 1) in ("DT", "PRP", "NNP")))
    )


def rules() -> tuple[Rule, ...]:
    """Fifteen rules; all but the first are soft, with learned penalties."""
    alone = {
        OUTSIDE: ("O",),
        NOUNS: ("B-NP", "I-NP"),
        ("PRP", "EX", "WP"): ("B-NP",),
        ("DT", "PRP$"): ("B-NP", "I-NP"),
        VERBS: ("B-VP", "I-VP", "I-NP", "B-PP"),
        ("IN",): ("B-PP", "B-SBAR", "I-NP", "I-PP"),
        ("RP",): ("B-PRT", "B-ADVP"),
    }
    written = (
        tags_are(alone, name="Tags"),
        tags_are({("CC",): ("O", "I-NP")}, name="Conjunctions"),
        tag_goes_on(BEFORE_NOUNS, NOUNS, "I-NP", name="NounPhrases"),
        tag_goes_on((*VERBS, "IN", "TO", ",", "CC"), ("DT", "PRP$", "PRP"), "B-NP", name="NounPhrasesBegin"),
        tag_goes_on((*VERBS, "TO"), ("JJ", *NOUNS), "B-NP", name="ObjectsBegin"),
        tag_goes_on((*NOUNS, "PRP", ","), ("VBD", "VBZ", "VBP", "MD"), "B-VP", name="VerbPhrasesBegin"),
        tag_goes_on(VERBS, ("VB", "VBN"), "I-VP", name="Participles"),
        tag_goes_on(("MD", "TO"), ("VB",), "I-VP", name="VerbPhrases"),
        tag_goes_on(("DT", "PRP$"), ("JJ", "CD", "JJS", "JJR"), "I-NP", name="Adjectives"),
        to_before_verbs,
        clauses_begin,
        prepositions_before_nouns,
        adjectives_after_be,
        adverbs_alone,
    )
    return (marks_agree(TYPES), *(one.soft() for one in written))


def _tagged(x: Sequence[Any], tags: Collection[str], label: str) -> Votes:
    return [label if token[1] in tags else None for token in x]


def _phrase(x: Sequence[Any], tags: Collection[str], kind: str) -> Votes:
    """Runs of tokens with these tags, as spans."""
    votes: Votes = []
    for before, token in zip([("", ""), *x], x):
        inside = token[1] in tags
        votes.append((f"I-{kind}" if before[1] in tags else f"B-{kind}") if inside else None)
    return votes


def punctuation(x: Sequence[Any]) -> Votes:
    return _tagged(x, OUTSIDE, "O")


def conjunctions(x: Sequence[Any]) -> Votes:
    return _tagged(x, ("CC",), "O")


def pronouns(x: Sequence[Any]) -> Votes:
    return _tagged(x, ("PRP", "EX", "WP", "WDT"), "B-NP")


def determiners(x: Sequence[Any]) -> Votes:
    return _tagged(x, ("DT", "PRP$", "PDT"), "B-NP")


def noun_phrases(x: Sequence[Any]) -> Votes:
    return _phrase(x, BEFORE_NOUNS, "NP")


def possessives(x: Sequence[Any]) -> Votes:
    return _tagged(x, ("POS",), "B-NP")


def verb_phrases(x: Sequence[Any]) -> Votes:
    return _phrase(x, (*VERBS, "TO"), "VP")


def prepositions(x: Sequence[Any]) -> Votes:
    return _tagged(x, ("IN",), "B-PP")


def to(x: Sequence[Any]) -> Votes:
    """To before a verb begins a verb phrase, and is a preposition otherwise."""
    votes: Votes = [None] * len(x)
    for t, token in enumerate(x):
        if token[1] == "TO":
            votes[t] = "B-VP" if t + 1 < len(x) and x[t + 1][1] == "VB" else "B-PP"
    return votes


def clauses(x: Sequence[Any]) -> Votes:
    words = words_of(x)
    subordinators = ("that", "because", "if", "while", "although", "whether")
    return ["B-SBAR" if word.lower() in subordinators and x[t][1] == "IN" else None for t, word in enumerate(words)]


def adverb_phrases(x: Sequence[Any]) -> Votes:
    """An adverb between other things, not before a verb or an adjective."""
    votes: Votes = [None] * len(x)
    for t, token in enumerate(x):
        after = x[t + 1][1] if t + 1 < len(x) else "."
        if token[1] == "RB" and after not in (*VERBS, "JJ", "RB", "CD"):
            votes[t] = "B-ADVP"
    return votes


def adjective_phrases(x: Sequence[Any]) -> Votes:
    """An adjective after a verb, with no noun after it."""
    votes: Votes = [None] * len(x)
    for t in range(1, len(x)):
        after = x[t + 1][1] if t + 1 < len(x) else "."
        if x[t][1] == "JJ" and x[t - 1][1] in VERBS and after not in (*NOUNS, "JJ"):
            votes[t] = "B-ADJP"
    return votes


FUNCTIONS: tuple[Function, ...] = (
    punctuation,
    conjunctions,
    pronouns,
    determiners,
    noun_phrases,
    possessives,
    verb_phrases,
    prepositions,
    to,
    clauses,
    adverb_phrases,
    adjective_phrases,
)
