"""Documents with annotations of characters: conversion between characters and tokens, and annotations that do not fit.

A document is tokenised like plain text (`sidelight.data.text`), and each of its lines is one input. Annotation tools
count characters; `fitted` converts annotations to labels of tokens, and `marked` converts labels back. An annotation
that does not fit is a `Misfit`, and the tokens that it touches have no label (None), unless a longer annotation covers
them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from sidelight.core.checks import is_listed, shown
from sidelight.data.text import token_places
from sidelight.errors import DataError
from sidelight.evaluate.schemes import SchemeName, written
from sidelight.evaluate.spans import Scheme, spans
from sidelight.evidence import Origin

Place = tuple[int, int]  # the first character, and one past the last
Labels = list[str | None]


class Annotation(NamedTuple):
    """A labelled span of text; `problem` says why it cannot be used, if this is known beforehand."""

    start: int
    end: int
    label: str
    key: str = ""  # its key in relations
    problem: str = ""


class Relation(NamedTuple):
    """A relation between two annotations, by their keys."""

    name: str
    head: str
    tail: str


@dataclass(frozen=True, slots=True)
class Misfit:
    """Part of a file that cannot be read as labels of tokens, and is left out."""

    file: str
    item: str  # the task, line or document
    problem: str
    label: str = ""
    start: int | None = None  # character positions; None if it has none
    end: int | None = None
    text: str = ""

    def __str__(self) -> str:
        place = "" if self.start is None else f", characters {self.start} to {self.end}"
        shown = self.text if len(self.text) <= 40 else f"{self.text[:40]}…"
        what = ", ".join([*([repr(shown)] if shown else []), *([self.label] if self.label else [])])
        return f"{self.file}, {self.item}{place}{f' ({what})' if what else ''}: {self.problem}"


@dataclass(frozen=True, slots=True)
class AnnotatorAnswer:
    """The annotations of a document by one annotator."""

    annotations: tuple[Annotation, ...] = ()
    relations: tuple[Relation, ...] = ()
    misfits: tuple[Misfit, ...] = ()  # parts of the file that `annotations` cannot hold


@dataclass(frozen=True, slots=True)
class Document:
    """A text, the positions of its tokens line by line, and the answers of its annotators, if any."""

    name: str
    text: str
    lines: tuple[tuple[Place, ...], ...]  # those with tokens; each is an input
    answers: tuple[AnnotatorAnswer, ...] = ()
    file: str = ""
    numbers: tuple[int, ...] = ()  # the line of the file for each of `lines`, or one for all
    source: Any = field(default=None, compare=False, repr=False)  # the object it was read from

    @property
    def inputs(self) -> list[list[str]]:
        """The tokens of every line that has tokens."""
        return [[self.text[a:b] for a, b in line] for line in self.lines]

    def origin(self, line: int) -> Origin:
        """The place of a line in its file."""
        return Origin(self.file, (self.numbers[min(line, len(self.numbers) - 1)] if self.numbers else 1,))

    def misfit(self, problem: str, one: Annotation | None = None) -> Misfit:
        """The report about an annotation."""
        if one is None:
            return Misfit(self.file, self.name, problem)
        text = self.text[max(one.start, 0) : max(one.end, 0)]
        return Misfit(self.file, self.name, problem, one.label, one.start, one.end, text)


def lines_of(text: str, *, spaces: bool = False) -> tuple[tuple[Place, ...], ...]:
    """The positions of the tokens of each line that has tokens.

    >>> lines_of("Ann left.\\n\\nSo?")
    (((0, 3), (4, 8), (8, 9)), ((11, 13), (13, 14)))
    """
    lines = []
    for line in re.finditer(r"[^\r\n]+", text):
        if places := token_places(line.group(), spaces=spaces):
            lines.append(tuple((line.start() + a, line.start() + b) for a, b in places))
    return tuple(lines)


def document(text: str, name: str = "text", *, spaces: bool = False) -> Document:
    """A document of plain text; with `spaces`, tokens are separated by white space only."""
    return Document(name, text, lines_of(text, spaces=spaces))


def of_tokens(tokens: Sequence[str], name: str = "input") -> Document:
    """A document of one line with known tokens, joined by spaces."""
    ends = list(accumulate(len(token) + 1 for token in tokens))
    return Document(name, " ".join(tokens), (tuple((b - 1 - len(t), b - 1) for b, t in zip(ends, tokens)),))


def fitted(
    doc: Document, answer: AnnotatorAnswer, *, scheme: SchemeName = "BIO", labels: Collection[str] | None = None
) -> tuple[list[Labels], list[Misfit]]:
    """The labels of the tokens of each line, and annotations that did not fit.

    Of two overlapping annotations the longer one is kept, and of equal ones the first. If `labels` are given, other
    labels do not fit.

    >>> doc = document("Ann Lee-Smith left Oslo")
    >>> rows, misfits = fitted(doc, AnnotatorAnswer((Annotation(0, 7, "PER"), Annotation(19, 23, "LOC"))))
    >>> rows
    [[None, None, 'O', 'B-LOC']]
    >>> print(misfits[0].problem)
    ends inside the token 'Lee-Smith'
    """
    places = [place for line in doc.lines for place in line]
    starts, ends = [a for a, _ in places], [b for _, b in places]
    line_of = [number for number, line in enumerate(doc.lines) for _ in line]
    taken: list[Annotation | None] = [None] * len(places)
    unknown: set[int] = set()
    chunks: list[tuple[int, int, str]] = []
    misfits = list(answer.misfits)
    for one in sorted(answer.annotations, key=lambda one: (one.start - one.end, one.start)):
        first, stop = bisect_left(ends, one.start + 1), bisect_left(starts, one.end)
        problem = one.problem or _problem(doc, one, first, stop, places, labels)
        if not problem and line_of[first] != line_of[stop - 1]:
            problem = "runs over the end of a line"
        if not problem and (other := next((earlier for earlier in taken[first:stop] if earlier is not None), None)):
            same = (first, stop, one.label) in chunks
            problem = "is there twice" if same else f"overlaps {doc.text[other.start : other.end]!r} ({other.label})"
        if problem:
            misfits.append(doc.misfit(problem, one))
            unknown.update(range(first, stop))
            continue
        chunks.append((first, stop, one.label))
        taken[first:stop] = [one] * (stop - first)
    full: Labels = list(written(sorted(chunks), len(places), scheme))
    for t in unknown:
        if taken[t] is None:
            full[t] = None
    cuts = list(accumulate((len(line) for line in doc.lines), initial=0))
    misfits.sort(key=lambda one: -1 if one.start is None else one.start)
    return [full[a:b] for a, b in pairwise(cuts)], misfits


def _problem(
    doc: Document, one: Annotation, first: int, stop: int, places: Sequence[Place], labels: Collection[str] | None
) -> str:
    """The problem with an annotation of the tokens from `first` to before `stop`."""
    if not 0 <= one.start < one.end <= len(doc.text):
        return f"is not a span of the text, which has {len(doc.text)} characters"
    if first >= stop:
        return "covers white space alone"
    for verb, place, (a, b) in (("begins", one.start, places[first]), ("ends", one.end, places[stop - 1])):
        if a < place < b:
            return f"{verb} inside the token {doc.text[a:b]!r}"
    if not one.label:
        return "has no label"
    if labels is not None and one.label not in labels:
        return f"has the label {one.label!r}, which is not known"
    return ""


def marked(
    docs: Sequence[Document], outputs: Sequence[Sequence[str]], *, scheme: Scheme = "auto"
) -> list[list[Annotation]]:
    """The spans of predicted labels, as labelled spans of characters, for each document.

    `outputs` has the labels of every line of every document, in their order.

    >>> marked([document("Ann left Oslo")], [["B-PER", "O", "B-LOC"]])
    [[Annotation(start=0, end=3, label='PER', key='', problem=''), Annotation(start=9, end=13, label='LOC', key='', \
problem='')]]
    """
    check_documents(docs)
    if not is_list(outputs) or not all(map(is_list, outputs)):
        raise DataError(f"the outputs are {shown(outputs)}", remedy="give a list of the labels of every line")
    owners = [(d, line) for d, doc in enumerate(docs) for line in doc.lines]
    if len(owners) != len(outputs):
        problem = f"{len(outputs)} outputs for {len(owners)} lines of {len(docs)} documents"
        raise DataError(problem, remedy="give one for every line with tokens, as .inputs has them")
    for number, ((_, line), output) in enumerate(zip(owners, outputs)):
        if len(line) != len(output):
            raise DataError(f"output {number} has {len(output)} labels for {len(line)} tokens", remedy="give one each")
    marks: list[list[Any]] = [[] for _ in docs]
    for s, first, stop, label in spans(outputs, scheme=scheme) if len(outputs) else ():
        owner, line = owners[s]
        marks[owner].append(Annotation(line[first][0], line[stop - 1][1], label))
    return marks


def check_documents(docs: Any) -> None:
    """Raises `DataError` for values that are not a list of documents."""
    if not is_list(docs) or not all(isinstance(doc, Document) for doc in docs):
        raise DataError(f"the documents are {shown(docs)}", remedy="give the .documents of what a file was read into")


def is_list(value: Any) -> bool:
    """Whether this is an ordered collection with a length."""
    return is_listed(value) and hasattr(value, "__len__") and not isinstance(value, Set)


def utf16_places(text: str) -> list[int]:
    """For every character, and the end, the number of UTF-16 units before it, as counted by JavaScript.

    >>> utf16_places("a🙂b")
    [0, 1, 3, 4]
    """
    return list(accumulate((2 if char > "\uffff" else 1 for char in text), initial=0))


def from_utf16(places: Sequence[int], offset: int) -> int | None:
    """The character at an offset in UTF-16 units, by `utf16_places`; None inside a character, or beyond the end."""
    at = bisect_left(places, offset)
    return at if at < len(places) and places[at] == offset else None
