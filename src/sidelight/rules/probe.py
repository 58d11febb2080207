"""Rules before they are used: read on the first inputs, and told apart by whether they look at these.

Rules that look at nothing of the input but its length say the same of all inputs of that length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from sidelight.rules.expr import Expr, as_expr
from sidelight.rules.inputs import Sentence
from sidelight.rules.output import Domain, symbolic_labels
from sidelight.rules.rule import Rule
from sidelight.rules.unseen import read_unseen


class _Looked(BaseException):
    """The rule looked at the input; not an `Exception`, which a rule may handle itself."""


class _OnlyLength(Sentence):
    """An input of which nothing is known but its length; `looked` is whether more was asked for."""

    def __init__(self, length: int) -> None:
        self._range = range(length)
        self.looked = False  # a rule may handle any exception (`except:`), so raising one is not enough

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
    """What a rule says of all inputs of some length, or None where it looks at more of them, or fails.

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
    except Exception:  # it will fail on the input itself too, with its name and place
        return None


PROBED = 10  # inputs that rules are read on before training begins


def read_first(rules: Sequence[Rule], domain: Domain, xs: Sequence[Any]) -> None:
    """Read rules on made-up inputs and on the first ones: a wrong label, or a mistake in a rule, shows at once.

    Raises `DataError` where one does.
    """
    read_unseen(rules, domain)
    for rule in rules:
        for i, x in enumerate(xs[:PROBED]):
            rule.on_labels(Sentence(x), domain, example=i)
