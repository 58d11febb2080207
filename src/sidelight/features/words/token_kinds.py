"""What sort of thing tokens are: strings, lists of strings, dicts; a model is asked of what it was trained on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from sidelight.errors import DataError
from sidelight.features.inputs import Matrix, MatrixSequence

KINDS: dict[str, tuple[type, ...]] = {
    "strings": (str,),
    "dicts": (Mapping,),
    "lists": (list, tuple, set, frozenset),
}
NAMED_LISTS = "lists of name=value"
NAMED = 0.9  # lists in which so many strings read name=value are attributes
UNNAMED = 0.5  # where columns have something like UD's Case=Nom, it is no more than half of them


def kind_of(kind: type) -> str:
    """The name of a token's type; its own where it is none of the usual ones.

    >>> kind_of(tuple), kind_of(float)
    ('lists', 'float')
    """
    return next((name for name, types in KINDS.items() if issubclass(kind, types)), kind.__name__)


def kinds_in(xs: Sequence[Any]) -> set[str]:
    """What the tokens of a batch are; raises `DataError` for rows of a matrix, which have no tokens."""
    refuse_matrices(xs)
    return {kind_of(kind) for kind in set(map(type, chain.from_iterable(xs)))}


def refuse_matrices(xs: Sequence[Any]) -> None:
    """Raise `DataError` where inputs are rows of a matrix."""
    if isinstance(xs, Matrix) or MatrixSequence in set(map(type, xs)):
        raise DataError(
            "rows of a matrix where the features are of words or attributes",
            remedy="give inputs as in training, or train on matrices",
        )


def kinds_trained_on(xs: Sequence[Any]) -> set[str]:
    """As `kinds_in`, and whether lists are of name=value, for most of their strings."""
    kinds = kinds_in(xs)
    if "lists" in kinds and _share_named(chain.from_iterable(xs)) >= UNNAMED:
        kinds = kinds - {"lists"} | {NAMED_LISTS}
    return kinds


def check_kinds(xs: Sequence[Any], trained: Collection[str]) -> None:
    """Refuse tokens of another kind than a model was trained on."""
    kinds, known = kinds_in(xs), set(trained)
    if NAMED_LISTS in known and any(map(_has_named, chain.from_iterable(xs))):
        known.add("lists")
    if kinds <= known:
        return
    i, t, kind = next(
        (i, t, kind_of(type(token)))
        for i, x in enumerate(xs)
        for t, token in enumerate(x)
        if kind_of(type(token)) not in known
    )
    wanted = " and ".join(sorted(trained))
    raise DataError(
        f"input {i}, token {t}: {kind} where the model was trained on {wanted}",
        remedy=f"give tokens as {wanted}, with the names that training had, or train on {kind}",
    )


def lists_are_attributes(xs: Sequence[Sequence[Any]]) -> bool:
    """Whether tokens that are lists of strings are attributes (CRFsuite's name=value), and not columns.

    Raises `DataError` where it cannot be told.

    >>> lists_are_attributes([[["w=light", "pos=NN"], ["w=on"]]]), lists_are_attributes([[["light", "NN"]]])
    (True, False)
    """
    tokens = list(chain.from_iterable(xs))
    if any(isinstance(token, (set, frozenset)) for token in tokens):
        return True
    widths = set(map(len, tokens))
    share = _share_named(tokens)
    if share >= (NAMED if len(widths) == 1 else UNNAMED):
        return True
    firsts = {token[0] for token in tokens if len(token)}  # a column of words has more than one value, "bias" has one
    first = sum(map(_is_named, firsts)) / max(1, len(firsts))
    wordless = share > 0.0 and len(firsts) == 1 and len(tokens) > 1
    if len(widths) == 1 and share <= UNNAMED and first <= UNNAMED and not wordless:
        return False
    seen = "of different lengths" if len(widths) > 1 else f"in which {share:.0%} of the strings read name=value"
    raise DataError(
        f"tokens are lists {seen}: columns, or names of attributes?",
        remedy="say features=sl.features.attributes() (--features attributes) for names, or "
        "features=sl.features.standard(columns=…) for columns, the same number for every token",
    )


def refuse_attributes(token: Sequence[Any], *, trained: int) -> None:
    """Raise `DataError` where a token with more columns than in training is a list of attributes (0: not known)."""
    if 0 < trained < len(token) and all(map(_is_named, token)):
        wanted = "words" if trained == 1 else f"{trained} columns"
        raise DataError(
            f"tokens are lists of attributes ({token[0]!r}, …) where the model was trained on {wanted}",
            remedy=f"give {wanted}, or train on attributes: features=sl.features.attributes()",
        )


def _share_named(tokens: Iterable[Any]) -> float:
    """The share of name=value among the strings of tokens that are lists."""
    strings = [text for token in tokens if kind_of(type(token)) == "lists" for text in token]
    return sum(map(_is_named, strings)) / max(1, len(strings))


def _has_named(token: Any) -> bool:
    return kind_of(type(token)) == "lists" and any(map(_is_named, token))


def _is_named(text: Any) -> bool:
    return isinstance(text, str) and text.find("=") > 0
