"""Ready-made rules for sequences: those of the thesis's Tables 3.1 and 3.2, and other common ones.

Each function makes a `Rule`; labels and words are arguments, so the rules work with any label set. A rule uses a
function of this module with bound arguments, not a closure, so estimators with these rules can be pickled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from sidelight.core.checks import arguments_checked, is_hashable, is_listed, shown, whole
from sidelight.errors import DataError
from sidelight.rules.expr import TRUE, Expr
from sidelight.rules.output import Labels, Sentence
from sidelight.rules.rule import Rule
from sidelight.rules.words import begins, changes, count, every, implies, one_of, some

PUNCTUATION = frozenset(".,;:!?()[]{}\"'`-–—/") | {"''", "``", "--", "..."}
SHOWN = 6  # maximum labels and words in a description


@arguments_checked
def starts_with(*labels: Any, name: str = "start") -> Rule:
    """The first token has one of these labels.

    >>> starts_with("author", "editor").violations(Sentence(["A", "."]), ["title", "title"])
    1
    """
    _check_labels("starts_with", labels)
    says = partial(_has_label, place=0, labels=labels)
    return Rule(says, name, sentence=f"The first token is {_listed(labels)}", labels=labels)


@arguments_checked
def ends_with(*labels: Any, name: str = "end") -> Rule:
    """The last token has one of these labels."""
    _check_labels("ends_with", labels)
    says = partial(_has_label, place=-1, labels=labels)
    return Rule(says, name, sentence=f"The last token is {_listed(labels)}", labels=labels)


def _has_label(x: Sentence, y: Labels, *, place: int, labels: tuple[Any, ...]) -> Expr:
    return one_of(y[place], labels) if len(y) else TRUE


@arguments_checked
def appears_once(labels: str | Iterable[Any], *, name: str = "appears_once") -> Rule:
    """Each of these labels has at most one run of tokens.

    >>> appears_once(["A", "B"]).violations(Sentence("abcd"), ["A", "B", "A", "B"])
    2
    """
    mine = tuple(labels)
    _check_labels("appears_once", mine)
    each = _listed(mine) if len(mine) == 1 else f"Each of {_listed(mine, 'and')}"
    sentence = f"{each} is one run of tokens, and appears at most once"
    return Rule(partial(_appears_once, labels=mine), name, sentence=sentence, labels=mine)


def _appears_once(x: Sentence, y: Labels, *, labels: tuple[Any, ...]) -> Expr:
    return every(count(begins(y, t, label) for t in x.positions) <= 1 for label in labels)


@arguments_checked
def changes_after_punctuation(
    marks: str | Collection[str] = PUNCTUATION, *, name: str = "punctuation", also: Callable[[str], bool] | None = None
) -> Rule:
    """The label changes only after a punctuation mark; the mark belongs to the run that it ends.

    >>> changes_after_punctuation().violations(Sentence(["Smith", "1994", "."]), ["author", "date", "date"])
    1
    """
    says = partial(_changes_after, marks=marks, also=also)
    return Rule(says, name, sentence="The label changes only after a punctuation mark")


def _changes_after(
    x: Sentence, y: Labels, *, marks: Collection[str], also: Callable[[str], bool] | None = None
) -> Expr:
    may = [word in marks or (also is not None and also(word)) for word in x.words]
    return every(y[t] == y[t - 1] for t in x.positions[1:] if not may[t - 1])


@arguments_checked
def words_are(words: str | Iterable[str], *labels: Any, name: str, case: bool = False) -> Rule:
    """These words, or this word, have one of these labels.

    >>> words_are(["pp", "pages"], "pages", name="pages").violations(Sentence(["Pages"]), ["title"])
    1
    """
    _check_labels("words_are", labels)
    several = (words,) if isinstance(words, str) else words
    mine = frozenset(several) if case else frozenset(word.lower() for word in several)
    shown = ", ".join(sorted(mine)[:SHOWN]) + (", …" if len(mine) > SHOWN else "")
    sentence = f"The {'word' if len(mine) == 1 else 'words'} {shown} {_are(len(mine))} {_listed(labels)}"
    return Rule(partial(_words_are, words=mine, labels=labels, case=case), name, sentence=sentence, labels=labels)


def _words_are(x: Sentence, y: Labels, *, words: frozenset[str], labels: tuple[Any, ...], case: bool) -> Expr:
    tokens = x.words if case else x.lower
    return every(one_of(y[t], labels) for t in x.positions if tokens[t] in words)


@arguments_checked
def pattern_is(pattern: str, *labels: Any, name: str) -> Rule:
    """Words that match a regular expression in full have one of these labels.

    >>> pattern_is("(19|20)[0-9]{2}", "date", name="date").violations(Sentence(["1994"]), ["title"])
    1
    """
    _check_labels("pattern_is", labels)
    says = partial(_pattern_is, pattern=re.compile(pattern), labels=labels)
    return Rule(says, name, sentence=f"Words like {pattern} are {_listed(labels)}", labels=labels)


def _pattern_is(x: Sentence, y: Labels, *, pattern: re.Pattern[str], labels: tuple[Any, ...]) -> Expr:
    return every(one_of(y[t], labels) for t in x.positions if pattern.fullmatch(x.words[t]))


@arguments_checked
def lexicon(entries: Mapping[str, Any], *, name: str = "lexicon") -> Rule:
    """A word of the lexicon has one of its listed labels.

    >>> lexicon({"light": {"NOUN", "ADJ"}, "on": "ADP"}).violations(Sentence(["light", "on"]), ["NOUN", "NOUN"])
    1
    """
    for word, listed in entries.items():
        several = tuple(listed) if is_listed(listed) else (listed,)
        if not isinstance(word, str) or not all(label is not None and is_hashable(label) for label in several):
            problem = f"the lexicon has {shown(word)}: {shown(listed)}"
            raise DataError(problem, remedy="give words with a label, or labels, for each")
    mine = {word: tuple(listed) if is_listed(listed) else (listed,) for word, listed in entries.items()}
    labels = tuple(sorted({label for listed in mine.values() for label in listed}, key=str))
    sentence = "A word has one of the labels that the lexicon lists for it"
    sentence += f", of {_listed(labels, 'and')}" if labels else ""
    return Rule(partial(_lexicon, entries=mine), name, sentence=sentence, labels=labels)


def _lexicon(x: Sentence, y: Labels, *, entries: Mapping[str, tuple[Any, ...]]) -> Expr:
    return every(one_of(y[t], entries[word]) for t, word in enumerate(x.words) if word in entries)


@arguments_checked
def minimum_length(tokens: int, labels: str | Iterable[Any], *, name: str = "field_length") -> Rule:
    """A run of one of these labels has at least `tokens` tokens.

    >>> minimum_length(2, ["A", "B"]).violations(Sentence("abc"), ["A", "B", "B"])
    1
    """
    whole("tokens", tokens, least=1)
    mine = tuple(labels)
    _check_labels("minimum_length", mine)
    sentence = f"A run of {_listed(mine)} has at least {_many(tokens, 'token')}"
    return Rule(partial(_minimum_length, tokens=tokens, labels=mine), name, sentence=sentence, labels=mine)


def _minimum_length(x: Sentence, y: Labels, *, tokens: int, labels: tuple[Any, ...]) -> Expr:
    # a run that begins at t continues to t + tokens − 1, which must exist
    return every(
        implies(
            begins(y, t, label),
            every(y[t + k] == label for k in range(1, tokens)) if t + tokens <= len(x) else False,
        )
        for t in x.positions
        for label in labels
    )


@arguments_checked
def at_most(most: int, label: Any, *, name: str | None = None) -> Rule:
    """At most `most` tokens have a label."""
    sentence = f"At most {_many(most, 'token')} {_are(most)} {label}"
    says = partial(_at_most, most=most, label=label)
    return Rule(says, name or f"at_most_{most}_{label}", sentence=sentence, labels=(label,))


def _at_most(x: Sentence, y: Labels, *, most: int, label: Any) -> Expr:
    return count(y[t] == label for t in x.positions) <= most


@arguments_checked
def at_least(least: int, label: Any, *, name: str | None = None) -> Rule:
    """At least `least` tokens have a label."""
    sentence = f"At least {_many(least, 'token')} {_are(least)} {label}"
    says = partial(_at_least, least=least, label=label)
    return Rule(says, name or f"at_least_{least}_{label}", sentence=sentence, labels=(label,))


def _at_least(x: Sentence, y: Labels, *, least: int, label: Any) -> Expr:
    return count(y[t] == label for t in x.positions) >= least


@arguments_checked
def requires(label: Any, other: Any, *, name: str | None = None) -> Rule:
    """If a label occurs, another one occurs too."""
    sentence = f"Where there is {label} there is {other}"
    says = partial(_requires, label=label, other=other)
    return Rule(says, name or f"{label}_requires_{other}", sentence=sentence, labels=(label, other))


def _requires(x: Sentence, y: Labels, *, label: Any, other: Any) -> Expr:
    return implies(some(y[t] == label for t in x.positions), some(y[t] == other for t in x.positions))


@arguments_checked
def excludes(label: Any, other: Any, *, name: str | None = None) -> Rule:
    """Two labels do not occur in one output."""
    sentence = f"{label} and {other} do not occur together"
    says = partial(_excludes, label=label, other=other)
    return Rule(says, name or f"{label}_excludes_{other}", sentence=sentence, labels=(label, other))


def _excludes(x: Sentence, y: Labels, *, label: Any, other: Any) -> Expr:
    absent = count(y[t] == other for t in x.positions) == 0
    return implies(some(y[t] == label for t in x.positions), absent)


@arguments_checked
def few_changes(most: int, *, name: str = "few_changes") -> Rule:
    """The label changes at most `most` times."""
    sentence = f"The label changes at most {_many(most, 'time')}"
    return Rule(partial(_few_changes, most=most), name, sentence=sentence)


def _few_changes(x: Sentence, y: Labels, *, most: int) -> Expr:
    return count(changes(y, t) for t in x.positions) <= most


@arguments_checked
def argument_types(arguments: Mapping[str, Any], *, name: str = "argument_types") -> Rule:
    """Each relation has arguments of these types: {relation: (types of the head, types of the tail)}.

    Types are one name or several. The rule uses `y.entity[i]` and `y.relation[head, tail]`, so it works with
    `EntityRelation`, and with `Joint` with variables of these kinds.

    >>> from sidelight.inference.ruled_variables import groups_of
    >>> rule = argument_types({"Live_In": ("Peop", ["Loc"])})
    >>> rule.violations(None, groups_of({"entity": {0: "Org", 1: "Loc"}, "relation": {(0, 1): "Live_In"}}))
    1
    """
    if not arguments:
        raise DataError("argument_types has no relations", remedy="give {relation: (types of head, types of tail)}")
    needed = {relation: tuple(map(_types, _ends(relation, ends))) for relation, ends in arguments.items()}
    parts = [f"{relation} ({', '.join('/'.join(side) for side in ends)})" for relation, ends in needed.items()]
    sentence = f"Types of arguments: {_listed(tuple(parts))}"
    return Rule(partial(_argument_types, needed=needed), name, sentence=sentence, reads_input=False)


def _ends(relation: str, ends: Any) -> Any:
    if not is_listed(ends) or len(ends) != 2:
        raise DataError(f"the arguments of {relation} are {shown(ends)}", remedy="give (types of head, types of tail)")
    return ends


def _types(types: Any) -> tuple[Any, ...]:
    return (types,) if isinstance(types, str) else tuple(types)


def _argument_types(x: Any, y: Any, *, needed: Mapping[str, tuple[tuple[Any, ...], ...]]) -> Expr:
    return every(
        implies(related == relation, every(one_of(y.entity[head], heads), one_of(y.entity[tail], tails)))
        for (head, tail), related in y.relation.items()
        for relation, (heads, tails) in needed.items()
    )


def _check_labels(function: str, labels: tuple[Any, ...]) -> None:
    if not labels:
        raise DataError(f"{function} has no labels", remedy="name at least one")


def _listed(labels: tuple[Any, ...], last: str = "or") -> str:
    names = [str(label) for label in labels]
    if len(names) > SHOWN:
        return ", ".join([*names[:SHOWN], "…"])
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
