"""Rules shared by several corpora: B- and I- marks, types with any mark, listed words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from sidelight.rules import Rule, Sentence, every, gallery, implies, not_, one_of
from sidelight.rules.expr import Expr
from sidelight.rules.output import Labels


def marked(*types: str) -> tuple[str, ...]:
    """Both labels of every type.

    >>> marked("LOC", "PER")
    ('B-LOC', 'I-LOC', 'B-PER', 'I-PER')
    """
    return tuple(f"{mark}-{name}" for name in types for mark in "BI")


def marks_agree(types: Iterable[str]) -> Rule:
    """I- stands only after B- or I- of the same type."""
    mine = tuple(types)
    return Rule(partial(_marks_agree, types=mine), "Marks", sentence="I- goes on with what is before it")


def _marks_agree(x: Sentence, y: Labels, *, types: tuple[str, ...]) -> Expr:
    first = [y[0] != f"I-{name}" for name in types] if len(x) else []
    inner = [implies(y[t] == f"I-{name}", one_of(y[t - 1], marked(name))) for t in x.positions[1:] for name in types]
    return every([*first, *inner])


def words_outside(pattern: str, *, name: str) -> Rule:
    """Words like these are in no span."""
    return gallery.pattern_is(pattern, "O", name=name)


def words_inside(pattern: str, types: Iterable[str], *, name: str) -> Rule:
    """Words like these, from the second one on, are in some span."""
    labels = marked(*types)
    says = partial(_words_inside, pattern=re.compile(pattern), labels=labels)
    return Rule(says, name, sentence=f"Words like {pattern} are in a span", labels=labels)


def _words_inside(x: Sentence, y: Labels, *, pattern: re.Pattern[str], labels: tuple[str, ...]) -> Expr:
    return every(one_of(y[t], labels) for t in x.positions[1:] if pattern.fullmatch(x.words[t]))


def neighbours_go_on(pattern: str, types: Iterable[str], *, name: str) -> Rule:
    """Where two neighbours look like this and the first is in a span, the second goes on with it."""
    mine = tuple(types)
    says = partial(_neighbours_go_on, pattern=re.compile(pattern), types=mine)
    return Rule(says, name, sentence=f"Neighbours like {pattern} are in one span", labels=marked(*mine))


def _neighbours_go_on(x: Sentence, y: Labels, *, pattern: re.Pattern[str], types: tuple[str, ...]) -> Expr:
    alike = [pattern.fullmatch(word) is not None for word in x.words]
    return every(
        implies(one_of(y[t - 1], marked(name)), y[t] == f"I-{name}")
        for t in x.positions[1:]
        if alike[t] and alike[t - 1]
        for name in types
    )


def spans_do_not_end(words: frozenset[str], types: Iterable[str], *, name: str) -> Rule:
    """No span ends with one of these words: what follows goes on with it."""
    mine = tuple(types)
    says = partial(_spans_do_not_end, words=words, types=mine)
    return Rule(says, name, sentence="Spans do not end with small words", labels=marked(*mine))


def _spans_do_not_end(x: Sentence, y: Labels, *, words: frozenset[str], types: tuple[str, ...]) -> Expr:
    pieces = []
    for t in x.positions:
        if x.lower[t] in words:
            for name in types:
                ends = y[t + 1] == f"I-{name}" if t + 1 < len(x) else False
                pieces.append(implies(one_of(y[t], marked(name)), ends))
    return every(pieces)


def does_not_follow(label: str, others: Iterable[str], *, name: str) -> Rule:
    """None of the other labels comes right after this one."""
    mine = tuple(others)
    says = partial(_does_not_follow, label=label, others=mine)
    return Rule(says, name, sentence=f"After {label} comes none of {', '.join(mine)}", labels=(label, *mine))


def _does_not_follow(x: Sentence, y: Labels, *, label: str, others: tuple[str, ...]) -> Expr:
    return every(implies(y[t - 1] == label, not_(one_of(y[t], others))) for t in x.positions[1:])


def in_either_case(entries: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The entries of a lexicon, and the same as words that begin a sentence.

    >>> in_either_case({"to": ("PART", "ADP")})
    {'to': ('PART', 'ADP'), 'To': ('PART', 'ADP')}
    """
    return {form: labels for word, labels in entries.items() for form in (word, word.capitalize())}
