"""Trials of rules about sequences before there is an input: on made-up words, and on words that a rule mentions.

`if x.words[t] == "lion": …` has no effect on an input without lions. A rule may look for the strings in its code, in
its closure and in the globals that it uses, so sentences are made of these.

Rules are also read on the first inputs. A rule that uses only the length of the input has the same expression for all
inputs of that length.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from itertools import islice
from types import CodeType
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from sidelight.errors import DataError
from sidelight.rules.expr import Expr, as_expr
from sidelight.rules.output import Domain, NoSuchLabel, NoSuchPlace, Sentence, symbolic_labels
from sidelight.rules.rule import Rule
from sidelight.rules.symbolic import of_symbols

MOST_WORDS = 48  # of one rule
MOST_OF_ONE = 16  # of one collection
TOO_MANY = 100_000  # elements of a collection that is searched for words

# by function: the labels with which it was read
_READ: WeakKeyDictionary[Any, set[tuple[Any, ...]]] = WeakKeyDictionary()


class _Word(str):
    """A made-up word; its parts are made up too."""

    __slots__ = ()

    def __getitem__(self, place: Any) -> _Word:
        return _Word(super().__getitem__(place))

    def __iter__(self) -> Iterator[_Word]:
        return (_Word(letter) for letter in super().__iter__())

    def lower(self) -> _Word:
        return _Word(super().lower())

    def upper(self) -> _Word:
        return _Word(super().upper())


def try_rules(rules: Iterable[Rule], domain: Domain) -> None:
    """Read rules on made-up sentences, once for each set of labels.

    Raises `DataError` if a rule mentions a label that does not exist, or uses something symbolic as if it were known.
    Other errors, and labels that come from the made-up words, are ignored.

    >>> from sidelight.rules import rule
    >>> @rule
    ... def lions(x, y):
    ...     return y[0] == "ANMIAL" if x.words[0] == "lion" else True
    >>> try_rules([lions], Domain(["ANIMAL", "OTHER"]))
    Traceback (most recent call last):
    sidelight.errors.DataError: ...the rule lions: there is no label 'ANMIAL'; did you mean 'ANIMAL'?
    """
    for rule in rules:
        rule.check(domain.labels)
        known = _labels_read(rule)
        if domain.labels in known:
            continue
        words = words_of(rule.says)
        for sentence in _sentences(words):
            try:
                rule.on_labels(Sentence(sentence), domain)
            except DataError as error:
                if _is_its_fault(error.__cause__, sentence, words):
                    raise
        known.add(domain.labels)


def words_of(function: Any) -> list[str]:
    """The strings that a function may look for, without its docstring.

    >>> words_of(lambda x, y: x.words[0] in {"lion", "bear"} or y[0] == "A")
    ['bear', 'lion', 'A']
    """
    words: list[str] = []
    while isinstance(function, partial):
        words += (word for value in (*function.args, *function.keywords.values()) for word in _strings(value))
        function = function.func
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        scope = getattr(function, "__globals__", {})
        for part in _codes(code):
            words += (word for value in part.co_consts for word in _strings(value))
            words += (word for name in part.co_names for word in _strings(scope.get(name)))
    for cell in getattr(function, "__closure__", None) or ():
        try:
            words += _strings(cell.cell_contents)
        except ValueError:  # not bound yet
            continue
    known = {getattr(function, "__doc__", None), ""}
    return [word for word in dict.fromkeys(words) if word not in known and not any(map(str.isspace, word))]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, (list, tuple, set, frozenset, Mapping)) or len(value) > TOO_MANY:
        return []
    strings = (word for word in value if isinstance(word, str))
    unordered = isinstance(value, (set, frozenset))
    return nsmallest(MOST_OF_ONE, strings) if unordered else list(islice(strings, MOST_OF_ONE))


def _sentences(words: Sequence[str]) -> Iterator[list[_Word]]:
    other = [_Word(f"word{t}") for t in range(4)]
    yield other[:1]
    yield other
    few = [_Word(word) for word in words[:MOST_WORDS]]
    if few:
        yield few
    for word in few:
        yield [word] * 3
        yield [other[0], word, other[2]]


def _is_its_fault(cause: BaseException | None, sentence: Collection[str], words: Collection[str]) -> bool:
    if isinstance(cause, NoSuchLabel):
        label = cause.label
        made_of = isinstance(label, str) and any(word in label and word != label for word in sentence)
        return not isinstance(label, _Word) and (label in words or not made_of)
    return not isinstance(cause, NoSuchPlace) and (isinstance(cause, DataError) or of_symbols(cause))


def _labels_read(rule: Rule) -> set[tuple[Any, ...]]:
    try:
        return _READ.setdefault(rule.says, set())
    except TypeError:  # no weak references to it, so it cannot be cached
        return set()


class _Looked(BaseException):
    """The rule used the input; not an `Exception`, which a rule may catch."""


class _OnlyLength(Sentence):
    """An input with only a length; `looked` is whether the rule used anything else."""

    def __init__(self, length: int) -> None:
        self._range = range(length)
        self.looked = False  # a rule may catch any exception (`except:`), so raising one is not enough

    @property
    def positions(self) -> range:
        return self._range

    def __len__(self) -> int:
        return len(self._range)

    def __getattribute__(self, name: str) -> Any:
        if name in ("positions", "looked", "_range", "__class__"):
            return object.__getattribute__(self, name)
        raise _look(self)

    def __getitem__(self, t: int) -> NoReturn:
        raise _look(self)

    def __iter__(self) -> NoReturn:
        raise _look(self)

    def __eq__(self, other: object) -> NoReturn:
        raise _look(self)

    def __hash__(self) -> NoReturn:
        raise _look(self)

    def __repr__(self) -> NoReturn:
        raise _look(self)


def _look(x: _OnlyLength) -> _Looked:
    x.looked = True
    return _Looked()


def said_of_length(rule: Rule, length: int, domain: Domain) -> Expr | None:
    """The expression of a rule for all inputs of a length, or None if it uses more of the input, or fails.

    >>> from sidelight.rules import gallery
    >>> domain = Domain(["A", "B"])
    >>> said_of_length(gallery.starts_with("A"), 3, domain)
    y[0] == 'A'
    >>> said_of_length(gallery.words_are(["a"], "A", name="a"), 3, domain) is None
    True
    """
    x = _OnlyLength(length)
    try:
        expression = as_expr(rule.says(x, symbolic_labels(length, domain)))
        return None if x.looked else expression
    except _Looked:
        return None
    except Exception:  # it will also fail on the real input, with its name and place
        return None


PROBED = 10  # number of inputs on which rules are read before training


def try_rules_on(rules: Sequence[Rule], domain: Domain, xs: Sequence[Any]) -> None:
    """Read rules on made-up inputs and on the first real ones, to find wrong labels and mistakes early.

    Raises `DataError` if a rule is wrong.
    """
    try_rules(rules, domain)
    for rule in rules:
        for i, x in enumerate(xs[:PROBED]):
            rule.on_labels(Sentence(x), domain, example=i)
