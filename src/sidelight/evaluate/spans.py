"""Labelled spans, read off sequences of labels.

Scheme "bio" reads chunk labels by the rules of the CoNLL script `conlleval`, so files in IOB1, IOB2, IOE1 and IOE2 give
that script's counts. A chunk starts at a label other than `O` when the sentence starts there, the label before it is
`O` or has another type, its prefix is B or S, or the prefix before it is E or S. L and U read as E and S.

The script itself does not know S, and joins an `E-X` with a `B-X` right after it. These do not occur in the four
formats. In formats that mark both ends of a chunk (IOBES, BILOU) the two labels belong to two chunks, and here they do.

Schemes "BIO", "IOB1", "BIOES" and "BILOU", as used by estimators, are read in the same way. Labels that the scheme does
not have are refused; labels in an order that it does not allow are accepted, since predictions may have them.

Scheme "runs" makes a span of every maximal run of one label other than `O`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from sidelight.core.checks import is_among
from sidelight.errors import DataError
from sidelight.evaluate.schemes import SCHEMES, SchemeName, prefix_and_type, scheme_of, written

Ints = NDArray[np.int64]
Scheme = Literal["auto", "bio", "runs", "BIO", "IOB1", "BIOES", "BILOU"]

_PREFIXED = re.compile(r"[BIESLU]-.+", re.DOTALL)
_CHUNK = re.compile(r"([BIESLUO])(?:-(.*))?", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Spans:
    """The spans of a batch of sentences, in flat arrays, ordered by sentence and start.

    >>> found = spans([["B-NP", "I-NP", "B-VP"]])
    >>> len(found), found.types, found.end.tolist()
    (2, ('NP', 'VP'), [2, 3])
    """

    sentence: Ints  # [S] index of the sentence
    start: Ints  # [S] first token, counted within the sentence
    end: Ints  # [S] one past the last token
    type: Ints  # [S] index into types
    types: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.sentence)

    def __iter__(self) -> Iterator[tuple[int, int, int, str]]:
        """Each span as (sentence, start, end, type name)."""
        rows = zip(self.sentence.tolist(), self.start.tolist(), self.end.tolist(), self.type.tolist())
        return ((sentence, start, end, self.types[number]) for sentence, start, end, number in rows)

    def also_in(self, other: Spans) -> NDArray[np.bool_]:
        """Which of these spans, [S], are spans of `other` too: same sentence, tokens and type.

        >>> spans([["B-NP", "B-VP"]]).also_in(spans([["B-PP", "B-VP"]])).tolist()
        [False, True]
        """
        # At most one span starts at a token, so (sentence, start) is a key.
        width = 1 + max(int(self.start.max(initial=0)), int(other.start.max(initial=0)))
        _, here, there = np.intersect1d(
            self.sentence * width + self.start,
            other.sentence * width + other.start,
            assume_unique=True,
            return_indices=True,
        )
        number = {name: i for i, name in enumerate(self.types)}
        type_here = np.array([number.get(name, -1) for name in other.types], dtype=np.int64)
        shared = np.zeros(len(self), dtype=np.bool_)
        shared[here] = (self.end[here] == other.end[there]) & (self.type[here] == type_here[other.type[there]])
        return shared


def spans(labels: Iterable[object], *, scheme: Scheme = "auto") -> Spans:
    """The spans of a batch: one sequence of labels per sentence, or one label per example.

    Scheme "auto" is "bio" when sequences hold only `O` and labels such as `B-X`, with at least one of these, or all of
    `B`, `I` and `O`, and "runs" otherwise. Raises DataError for a label that the scheme cannot read.

    >>> list(spans([["I-NP", "I-NP", "O"], ["I-NP", "B-NP"]]))
    [(0, 0, 2, 'NP'), (1, 0, 1, 'NP'), (1, 1, 2, 'NP')]
    >>> list(spans([["title", "title", "date"]]))
    [(0, 0, 2, 'title'), (0, 2, 3, 'date')]
    """
    return code({"labels": labels}, scheme=scheme).spans(0)


def span_counts(predicted: Iterable[object], right: Iterable[object], scheme: Scheme = "auto") -> Ints:
    """For every sentence, the numbers of right, predicted and gold spans. # [N, 3]

    F1 over sentences is 2 Σ right / (Σ predicted + Σ gold). Since each sentence is a row, two systems on the same
    sentences can be compared in pairs. Raises DataError if the shapes differ.

    >>> span_counts([["B-NP", "O"], ["O", "O"]], [["B-NP", "B-NP"], ["O", "O"]]).tolist()
    [[1, 1, 2], [0, 0, 0]]
    """
    coded = code({"right": right, "predicted": predicted}, scheme=scheme)
    return counts_of(coded, 1)


def span_f1(counts: Ints) -> float:
    """F1 between 0 and 1, from the result of `span_counts`; 0 if there are no spans at all.

    >>> span_f1(np.array([[1, 1, 2], [0, 0, 0]]))
    0.6666666666666666
    """
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[1] != 3 or table.dtype.kind not in "iuf":
        raise DataError(f"counts of shape {table.shape}", remedy="give what span_counts makes: three columns")
    right, predicted, there = table.sum(axis=0).tolist()
    return 2 * right / (predicted + there) if predicted + there else 0.0


def convert(labels: Iterable[object], *, to: SchemeName, scheme: Scheme = "auto") -> list[list[str]]:
    """The labels of the same spans in another scheme; `scheme` is that of the given labels, as in `spans`.

    >>> convert([["B-NP", "I-NP", "O", "B-NP"]], to="BILOU")
    [['B-NP', 'L-NP', 'O', 'U-NP']]
    """
    if not is_among(to, SCHEMES):
        raise DataError(f"unknown scheme {to!r}", remedy=f"use one of {', '.join(SCHEMES)}")
    coded = code({"labels": labels}, scheme=scheme)
    chunks: list[list[tuple[int, int, str]]] = [[] for _ in coded.offsets[1:]]
    for sentence, start, stop, kind in coded.spans(0):
        chunks[sentence].append((start, stop, kind))
    return [written(own, size, to) for own, size in zip(chunks, np.diff(coded.offsets).tolist())]


@dataclass(frozen=True, eq=False)
class Coded:
    """One or more labellings of the same batch, as numbers."""

    sides: tuple[Ints, ...]  # each [T] label of every token, an index into names
    offsets: Ints  # [N+1] sentence n holds tokens offsets[n]:offsets[n+1]
    names: tuple[str, ...]  # [L] sorted
    scheme: Literal["bio", "runs"]

    def spans(self, side: int) -> Spans:
        """The spans of one labelling. All labellings share their types."""
        type_of, types, begins, ends = _label_table(self.names, self.scheme)
        labels, offsets = self.sides[side], self.offsets
        first = np.zeros(len(labels) + 1, dtype=np.bool_)  # [T+1] a sentence starts, or the batch is over
        first[offsets] = True
        type_at = type_of[labels]  # [T] -1 outside
        inside = type_at >= 0
        new = first[:-1] | begins[labels]  # [T] nothing before t reaches t
        new[1:] |= ends[labels[:-1]] | (type_at[1:] != type_at[:-1])
        starts = np.flatnonzero(inside & new)
        stops = np.flatnonzero(inside & np.append(new[1:], True)) + 1
        sentence = np.searchsorted(offsets, starts, side="right") - 1
        origin = offsets[sentence]
        arrays = (sentence, starts - origin, stops - origin, type_at[starts])
        for array in arrays:
            array.setflags(write=False)
        return Spans(*arrays, types)


def counts_of(coded: Coded, side: int) -> Ints:
    """`span_counts` of one labelling against the first."""
    right, guesses, sentences = coded.spans(0), coded.spans(side), len(coded.offsets) - 1
    columns = (guesses.sentence[guesses.also_in(right)], guesses.sentence, right.sentence)
    return np.stack([np.bincount(column, minlength=sentences) for column in columns], axis=1).astype(np.int64)


def code(sides: Mapping[str, Iterable[object]], *, scheme: Scheme = "auto") -> Coded:
    """Number the labels of labellings that must agree in shape. Labels are compared as text.

    The keys name the labellings in messages. Raises DataError when the shapes differ.

    >>> code({"gold": [["a", "b"], ["a"]], "predicted": [["a", "c"], ["a"]]}).offsets.tolist()
    [0, 2, 3]
    """
    if not is_among(scheme, get_args(Scheme)):
        raise DataError(f"unknown scheme {scheme!r}", remedy=f"use one of {', '.join(get_args(Scheme))}")
    batches = {side: _sequences(labels, side) for side, labels in sides.items()}
    (reference, (sequences, single)), *others = batches.items()
    for side, (compared, compared_single) in others:
        if single != compared_single and sequences and compared:
            raise DataError(
                f"{reference} and {side} labels differ in kind",
                remedy="give both as sequences of labels, or both as one label each",
            )
        _same_shape(sequences, compared, (reference, side))
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    flat = {side: list(chain.from_iterable(batch)) for side, (batch, _) in batches.items()}
    text = {label: str(label) for side in flat for label in _distinct(flat[side], side, offsets)}
    names = tuple(sorted(set(text.values())))
    number = {name: i for i, name in enumerate(names)}
    id_of = {label: number[name] for label, name in text.items()}
    coded = (np.fromiter(map(id_of.__getitem__, tokens), dtype=np.int64, count=len(tokens)) for tokens in flat.values())
    return Coded(tuple(coded), offsets, names, resolved(scheme, names, single=single))


def _sequences(labels: Iterable[object], side: str) -> tuple[list[Sequence[Any]], bool]:
    """The batch as sequences, and whether its outputs were single labels."""
    if isinstance(labels, str):
        raise DataError(f"{side}: one text where a batch was expected", remedy="give a list of labels or of sequences")
    nameless = isinstance(labels, bytes | Set | Mapping)  # numbers, or unordered collections
    if nameless or not isinstance(labels, Iterable) or getattr(labels, "shape", None) == ():
        problem = f"{side}: {type(labels).__name__} where a batch was expected"
        raise DataError(problem, remedy="give a list of labels or of sequences")
    batch = list(labels)
    single = [isinstance(output, str) or not hasattr(output, "__iter__") for output in batch]
    if batch and all(single):
        return [(output,) for output in batch], True
    for index, (output, alone) in enumerate(zip(batch, single)):
        if alone or not hasattr(output, "__len__") or isinstance(output, bytes | Set | Mapping):
            raise DataError(
                f"{side}, sentence {index} (from 0): {output!r} is not a sequence of labels",
                remedy="give every sentence as a list of labels",
            )
    return cast("list[Sequence[Any]]", batch), False


def _same_shape(reference: list[Sequence[Any]], other: list[Sequence[Any]], sides: tuple[str, str]) -> None:
    if len(reference) != len(other):
        raise DataError(
            f"{len(other)} {sides[1]} sentences where {sides[0]} has {len(reference)}",
            remedy="give one output per input, in the same order",
        )
    for index, (expected, labels) in enumerate(zip(reference, other)):
        if len(expected) != len(labels):
            raise DataError(
                f"sentence {index} (from 0): {len(labels)} {sides[1]} labels where {sides[0]} has {len(expected)}",
                remedy="give every token one label",
            )


def _distinct(tokens: list[Any], side: str, offsets: Ints) -> dict[Any, None]:
    try:
        distinct = dict.fromkeys(tokens)
    except TypeError:
        distinct = {None: None}
    if None in distinct:
        for position, label in enumerate(tokens):
            if label is None or getattr(label, "__hash__", None) is None:
                sentence = int(np.searchsorted(offsets, position, side="right")) - 1
                raise DataError(
                    f"{side}, sentence {sentence} (from 0): {label!r} is not a label", remedy="give labels as text"
                )
    return distinct


def resolved(scheme: Scheme, names: tuple[str, ...], *, single: bool) -> Literal["bio", "runs"]:
    """The scheme for reading spans off these labels; raises `DataError` for a label that the scheme does not have."""
    if scheme in SCHEMES:
        for name in names:
            prefix_and_type(name, scheme)
    if scheme != "auto":
        return "runs" if scheme == "runs" else "bio"
    named = [name for name in names if name != "O"]
    chunks = scheme_of(names) is not None or (named and all(map(_PREFIXED.fullmatch, named)))
    return "bio" if chunks and not single else "runs"


def _label_table(
    names: tuple[str, ...], scheme: Literal["bio", "runs"]
) -> tuple[Ints, tuple[str, ...], NDArray[np.bool_], NDArray[np.bool_]]:
    """For each label: its type (-1 for none), and whether it always begins or always ends a span."""
    parsed = [_parse(name) if scheme == "bio" else ("O" if name == "O" else "", name) for name in names]
    types = tuple(sorted({kind for prefix, kind in parsed if prefix != "O"}))
    number = {kind: i for i, kind in enumerate(types)}
    type_of = np.array([-1 if prefix == "O" else number[kind] for prefix, kind in parsed], dtype=np.int64)
    begins = np.array([prefix in ("B", "S", "U") for prefix, _ in parsed], dtype=np.bool_)
    ends = np.array([prefix in ("E", "L", "S", "U") for prefix, _ in parsed], dtype=np.bool_)
    return type_of, types, begins, ends


def _parse(name: str) -> tuple[str, str]:
    match = _CHUNK.fullmatch(name)
    if match is None:
        raise DataError(f"{name!r} is not a chunk label", remedy='write O, B-X, I-X, E-X or S-X, or use scheme="runs"')
    return match[1], match[2] or ""
