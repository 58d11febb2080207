"""Token labels as labelled segments, and back.

Scheme "BIO": B-X begins a segment of label X and I-X continues it; every O is a segment of one token. A segment longer
than the maximum length cannot be represented and is refused: cut in two, it would be read as two segments.

No scheme: a segment is a maximal run of one label. A run longer than the maximum length M is cut from the left into
pieces of M tokens and a rest of 1 to M tokens; converting back joins the pieces of a run. A space with `runs` admits
only these segmentations: a label may follow itself only after a piece of M tokens. So token labelings and segmentations
correspond one to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Ids, Ints
from sidelight.errors import DataError
from sidelight.spaces.segments.token_reading import TokenReading
from sidelight.structures.labels.label_sets import LabelSet

OUTSIDE = "O"
Span = tuple[int, int, Any]  # first token, last token, label; the last token is part of the segment


class Fault(NamedTuple):
    """Why a token labeling is not a segmentation."""

    sequence: int
    token: int  # within the sequence
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class SegmentScheme:
    """The token labels and the segment labels of a task, and their correspondence; made by `segment_scheme`."""

    bio: bool
    tokens: LabelSet  # K token labels
    segments: LabelSet  # L segment labels
    segment_of: Ids  # [K] the segment label of a token label
    first: Ids  # [L] the token label of a segment's first token
    inside: Ids  # [L] of the others

    def longest(self, max_length: int) -> Ints:
        """The maximum tokens of a segment, for each label. # [L]"""
        out = np.full(len(self.segments), max_length, dtype=np.int64)
        if self.bio and OUTSIDE in self.segments:
            out[self.segments.number[OUTSIDE]] = 1
        return out

    def reading(self, max_length: int) -> TokenReading:
        """How segments of at most `max_length` tokens are read as token labels."""
        return TokenReading(self.first, self.inside, self.segment_of, self.longest(max_length))

    def fault(self, starts: Ints, labels: Ids, *, max_length: int | None = None) -> Fault | None:
        """The first reason why a token labeling is not a segmentation, or `None`; this occurs only with BIO."""
        if not self.bio or len(labels) == 0:
            return None
        segments = self.segment_of[labels]
        inside = labels != self.first[segments]
        before = np.append(-1, segments[:-1])
        before[starts[:-1]] = -1
        loose = np.flatnonzero(inside & (before != segments))
        if len(loose):
            name = self.tokens.names[labels[loose[0]]]
            remedy = f"begin the segment with {self.tokens.names[self.first[segments[loose[0]]]]}"
            return _fault(starts, int(loose[0]), f"{name} goes on with a segment that has not begun", remedy)
        if max_length is not None:
            long = np.flatnonzero(self._lengths(starts, labels) > max_length)
            if len(long):
                problem = f"a segment of more than {max_length} tokens"
                return _fault(starts, int(long[0]), problem, "raise max_length")
        return None

    def longest_in(self, starts: Ints, labels: Ids) -> int:
        """The number of tokens of the longest segment, 0 without tokens."""
        return int(self._lengths(starts, labels).max(initial=0))

    def spans(self, starts: Ints, labels: Ids) -> list[list[Span]]:
        """The segments of every sequence, with names, from its token labels; the pieces of a run are one segment."""
        segments = self._whole(starts).cut(starts, labels)[0]
        names = self.segments.names
        out = []
        for a, b in pairwise(starts.tolist()):
            firsts = [*(np.flatnonzero(segments.begins[a:b])).tolist(), b - a]
            out.append([(i, j - 1, names[segments.labels[a + i]]) for i, j in pairwise(firsts)])
        return out

    def spans_of(self, outputs: Sequence[Sequence[Any]]) -> list[list[Span]]:
        """The segments of named token labels; raises `DataError` if they are not a segmentation (see `fault`)."""
        starts = np.append(0, np.cumsum([len(y) for y in outputs])).astype(np.int64)
        labels = self.tokens.encode([label for y in outputs for label in y])
        fault = self.fault(starts, labels)
        if fault is not None:
            raise DataError(f"sequence {fault.sequence}, token {fault.token}: {fault.problem}", remedy=fault.remedy)
        return self.spans(starts, labels)

    def _whole(self, starts: Ints) -> TokenReading:
        """A correspondence in which no segment is too long."""
        return self.reading(max(1, int(np.diff(starts).max(initial=1))))

    def _lengths(self, starts: Ints, labels: Ids) -> Ints:
        """For each token, its position within its segment, from 1. # [T]"""
        begins = self._whole(starts).cut(starts, labels)[0].begins
        where = np.arange(len(begins), dtype=np.int64)
        return 1 + where - np.maximum.accumulate(np.where(begins != 0, where, 0))


def segment_scheme(labels: Iterable[Any], scheme: str | None) -> SegmentScheme:
    """How these token labels form segments: scheme "BIO", or None for runs of one label.

    With BIO, if one of B-X and I-X is a label, both are. Raises `DataError` for a label that is not BIO.

    >>> segment_scheme(["B-NP", "O"], "BIO").tokens.names
    ('B-NP', 'I-NP', 'O')
    """
    names = list(dict.fromkeys(labels))
    if scheme is None:
        label_set = LabelSet.of(names)
        same = np.arange(len(label_set), dtype=np.int32)
        return SegmentScheme(False, label_set, label_set, same, same, same)
    if scheme != "BIO":
        raise ValueError(f"scheme is {scheme!r}; give 'BIO' or None")
    for name in names:
        if name != OUTSIDE and not (isinstance(name, str) and name[:2] in ("B-", "I-") and name[2:] != OUTSIDE):
            raise DataError(f"label {name!r} is not a BIO label", remedy="use O, B-type and I-type, or no scheme")
    types = {name[2:] for name in names if name != OUTSIDE}
    outside = [OUTSIDE] if OUTSIDE in names else []
    segments = LabelSet.of([*types, *outside])
    tokens = LabelSet.of([*outside, *(prefix + name for name in types for prefix in ("B-", "I-"))])
    first = [name if name in outside else "B-" + name for name in segments.names]
    inside = [name if name in outside else "I-" + name for name in segments.names]
    types_of = [name if name in outside else name[2:] for name in tokens.names]
    return SegmentScheme(True, tokens, segments, segments.encode(types_of), tokens.encode(first), tokens.encode(inside))


def segments_of(labels: Sequence[Any], *, scheme: str | None = None) -> list[Span]:
    """The segments of one labeling, as (first token, last token, label); every O of BIO is a separate segment.

    >>> segments_of(["B-NP", "I-NP", "O"], scheme="BIO")
    [(0, 1, 'NP'), (2, 2, 'O')]
    >>> segments_of(["title", "title", "date"])
    [(0, 1, 'title'), (2, 2, 'date')]
    """
    if not len(labels):
        return []
    how = segment_scheme(labels, scheme)
    return how.spans_of([labels])[0]


def labels_of(segments: Sequence[Span], *, scheme: str | None = None) -> list[Any]:
    """The token labels of segments that tile a sequence; raises `DataError` if they leave a gap or overlap.

    >>> labels_of([(0, 1, "NP"), (2, 2, "O")], scheme="BIO")
    ['B-NP', 'I-NP', 'O']
    """
    out: list[Any] = []
    for first, last, label in segments:
        if first != len(out) or last < first:
            raise DataError(
                f"the segment {(first, last, label)} where token {len(out)} is next",
                remedy="give segments in order, without gaps",
            )
        if scheme is None:
            out += [label] * (last - first + 1)
        elif label == OUTSIDE:
            out += [OUTSIDE] * (last - first + 1)
        else:
            out += [f"B-{label}", *[f"I-{label}"] * (last - first)]
    return out


def _fault(starts: Ints, token: int, problem: str, remedy: str) -> Fault:
    sequence = int(np.searchsorted(starts, token, side="right")) - 1
    return Fault(sequence, token - int(starts[sequence]), problem, remedy)
