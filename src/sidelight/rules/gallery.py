"""Ready rules for sequences: those of the thesis's Tables 3.1 and 3.2, and what else people ask for first.

Each function makes a `Rule`; labels and words are given, so they serve any label set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from sidelight.rules.expr import Expr
from sidelight.rules.inputs import Sentence
from sidelight.rules.output import Labels
from sidelight.rules.rule import Rule
from sidelight.rules.words import begins, changes, count, every, implies, one_of, some

PUNCTUATION = frozenset(".,;:!?()[]{}\"'`-–—/") | {"''", "``", "--", "..."}


def _names(labels: Iterable[Any]) -> str:
    names = [str(label) for label in labels]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def starts_with(*labels: Any, name: str = "start") -> Rule:
    """The first token has one of these labels.

    >>> starts_with("author", "editor").violations(Sentence(["A", "."]), ["title", "title"])
    1
    """

    def says(x: Sentence, y: Labels) -> Expr:
        return one_of(y[0], labels)

    return Rule(says, name, sentence=f"The first token is {_names(labels)}", labels=labels)


def ends_with(*labels: Any, name: str = "end") -> Rule:
    """The last token has one of these labels."""

    def says(x: Sentence, y: Labels) -> Expr:
        return one_of(y[len(y) - 1], labels)

    return Rule(says, name, sentence=f"The last token is {_names(labels)}", labels=labels)


def appears_once(labels: Iterable[Any], *, name: str = "appears_once") -> Rule:
    """Each of these labels has at most one run of tokens.

    >>> appears_once(["A", "B"]).violations(Sentence("abcd"), ["A", "B", "A", "B"])
    2
    """
    mine = tuple(labels)

    def says(x: Sentence, y: Labels) -> Expr:
        return every(count(begins(y, t, label) for t in x.positions) <= 1 for label in mine)

    return Rule(says, name, sentence="Each field is one run of tokens, and appears at most once", labels=mine)


def changes_after_punctuation(
    marks: Collection[str] = PUNCTUATION, *, name: str = "punctuation", also: Callable[[str], bool] | None = None
) -> Rule:
    """The label changes only after a punctuation mark, which belongs to what it ends.

    >>> changes_after_punctuation().violations(Sentence(["Smith", "1994", "."]), ["author", "date", "date"])
    1
    """

    def says(x: Sentence, y: Labels) -> Expr:
        may = [word in marks or (also is not None and also(word)) for word in x.words]
        return every(y[t] == y[t - 1] for t in x.positions[1:] if not may[t - 1])

    return Rule(says, name, sentence="The label changes only after a punctuation mark")


def words_are(words: Iterable[str], *labels: Any, name: str, case: bool = False) -> Rule:
    """These words have one of these labels.

    >>> words_are(["pp", "pages"], "pages", name="pages").violations(Sentence(["Pages"]), ["title"])
    1
    """
    mine = frozenset(words) if case else frozenset(word.lower() for word in words)

    def says(x: Sentence, y: Labels) -> Expr:
        found = x.words if case else x.lower
        return every(one_of(y[t], labels) for t in x.positions if found[t] in mine)

    shown = ", ".join(sorted(mine)[:6]) + (", …" if len(mine) > 6 else "")
    return Rule(says, name, sentence=f"The words {shown} are {_names(labels)}", labels=labels)


def pattern_is(pattern: str, *labels: Any, name: str) -> Rule:
    """Words that match a regular expression in full have one of these labels.

    >>> pattern_is("(19|20)[0-9]{2}", "date", name="date").violations(Sentence(["1994"]), ["title"])
    1
    """
    match = re.compile(pattern).fullmatch

    def says(x: Sentence, y: Labels) -> Expr:
        return every(one_of(y[t], labels) for t in x.positions if match(x.words[t]))

    return Rule(says, name, sentence=f"Words like {pattern} are {_names(labels)}", labels=labels)


def lexicon(entries: Mapping[str, Collection[Any]], *, name: str = "lexicon") -> Rule:
    """A word of the lexicon has one of the labels that it is listed with."""
    labels = tuple(dict.fromkeys(label for listed in entries.values() for label in listed))

    def says(x: Sentence, y: Labels) -> Expr:
        return every(one_of(y[t], entries[word]) for t, word in enumerate(x.words) if word in entries)

    return Rule(says, name, sentence="A word has one of the labels that the lexicon lists", labels=labels)


def minimum_length(tokens: int, labels: Iterable[Any], *, name: str = "field_length") -> Rule:
    """A run of one of these labels has at least so many tokens.

    >>> minimum_length(2, ["A", "B"]).violations(Sentence("abc"), ["A", "B", "B"])
    1
    """
    mine = tuple(labels)

    def says(x: Sentence, y: Labels) -> Expr:
        # a run that begins at t goes on to t + tokens − 1, which must exist
        return every(
            implies(
                begins(y, t, label),
                every(y[t + k] == label for k in range(1, tokens)) if t + tokens <= len(x) else False,
            )
            for t in x.positions
            for label in mine
        )

    return Rule(says, name, sentence=f"A field has at least {tokens} tokens", labels=mine)


def at_most(most: int, label: Any, *, name: str | None = None) -> Rule:
    """At most so many tokens have a label."""

    def says(x: Sentence, y: Labels) -> Expr:
        return count(y[t] == label for t in x.positions) <= most

    return Rule(says, name or f"at_most_{most}_{label}", sentence=f"At most {most} tokens are {label}", labels=(label,))


def at_least(least: int, label: Any, *, name: str | None = None) -> Rule:
    """At least so many tokens have a label."""

    def says(x: Sentence, y: Labels) -> Expr:
        return count(y[t] == label for t in x.positions) >= least

    sentence = f"At least {least} tokens are {label}"
    return Rule(says, name or f"at_least_{least}_{label}", sentence=sentence, labels=(label,))


def requires(label: Any, other: Any, *, name: str | None = None) -> Rule:
    """Where a label occurs, another one does too."""

    def says(x: Sentence, y: Labels) -> Expr:
        return implies(some(y[t] == label for t in x.positions), some(y[t] == other for t in x.positions))

    sentence = f"Where there is {label} there is {other}"
    return Rule(says, name or f"{label}_requires_{other}", sentence=sentence, labels=(label, other))


def excludes(label: Any, other: Any, *, name: str | None = None) -> Rule:
    """Two labels do not occur in one output."""

    def says(x: Sentence, y: Labels) -> Expr:
        absent = count(y[t] == other for t in x.positions) == 0
        return implies(some(y[t] == label for t in x.positions), absent)

    sentence = f"{label} and {other} do not occur together"
    return Rule(says, name or f"{label}_excludes_{other}", sentence=sentence, labels=(label, other))


def few_changes(most: int, *, name: str = "few_changes") -> Rule:
    """The label changes at most so many times."""

    def says(x: Sentence, y: Labels) -> Expr:
        return count(changes(y, t) for t in x.positions) <= most

    return Rule(says, name, sentence=f"The label changes at most {most} times")
