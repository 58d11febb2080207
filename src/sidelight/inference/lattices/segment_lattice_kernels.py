"""Dynamic programs over segmentations whose segments and transitions have different scores at every position.

After token t, a prefix is in one of these states:

    e < E           a segment has ended: its label, and whether that was its first token or (of runs) whether it is as
                    long as can be; both decide what may follow and what the last token reads as
    E + d L + l     a segment of label l goes on, whose (d + 1)-th token is t; with d = 0 it has just begun

    best after e        = max over l of links[t + 1, e, l] + best from (l, 0) at t + 1
    best from (l, d)    = max of totals[t, d, l] + best after the end that this is, and best from (l, d + 1) at t + 1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel


class SegmentParts(NamedTuple):
    """The scores of segments, and how segments read as token labels."""

    totals: Floats  # [T, M, L] by last token, length − 1 and label; −inf if there is no such segment
    links: Floats  # [T, E, L] of a segment of label l that begins at token t after an end; at token 0 all rows alike
    ends: Ids  # [L, M] the end that a segment makes, by label and length − 1
    reads: Ids  # [E] the label of the last token before an end
    first: Ids  # [L] the label of the first token of a segment
    inside: Ids  # [L] of the others
    longest: Ints  # [L]


@kernel
def folded(parts: SegmentParts, tokens: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """Totals and links with [T, K] and [T, K, K] added, the scores of token labels and pairs of neighbouring ones.

    What concerns the first token of a segment goes to its link, so that it counts once the segment has begun.
    """
    length, most, size = parts.totals.shape
    totals, links = np.full(parts.totals.shape, -np.inf), parts.links.copy()
    for t in range(length):
        for label in range(size):
            first, inside = parts.first[label], parts.inside[label]
            rest = 0.0  # of the tokens after s, and of pairs of these
            for d in range(min(most, parts.longest[label], t + 1)):
                s = t - d
                more = 0.0
                if d > 0:
                    more = rest + edges[s + 1, first, inside]
                    rest += edges[s + 1, inside, inside]
                totals[t, d, label] = parts.totals[t, d, label] + more
                rest += tokens[s, inside]
        for end in range(links.shape[1]):
            row = edges[t, parts.reads[end]]
            for label in range(size):
                links[t, end, label] += tokens[t, parts.first[label]]
                if t > 0:
                    links[t, end, label] += row[parts.first[label]]
    return totals, links


@kernel
def completions(parts: SegmentParts) -> Floats:
    """The best completion of each state after token t. # [T, 1, E + M L]

    Places E + d L + l are segments of label l whose (d + 1)-th token is t; what they come to, themselves and all.
    """
    length, most, size = parts.totals.shape
    kinds = parts.links.shape[1]
    best = np.zeros((length, 1, kinds + most * size))
    for t in range(length - 1, -1, -1):
        now = best[t, 0]
        if t < length - 1:
            begun = best[t + 1, 0, kinds:]
            for end in range(kinds):
                row = parts.links[t + 1, end]
                top = -np.inf
                for label in range(size):
                    top = max(top, row[label] + begun[label])
                now[end] = top
        for d in range(most):
            row = parts.totals[t, d]
            own = now[kinds + d * size : kinds + (d + 1) * size]
            for label in range(size):
                own[label] = row[label] + now[parts.ends[label, d]]
            if t < length - 1 and d < most - 1:
                longer = best[t + 1, 0, kinds + (d + 1) * size : kinds + (d + 2) * size]
                for label in range(size):
                    own[label] = max(own[label], longer[label])
    return best


@kernel
def unread(parts: SegmentParts, tokens: Floats, edges: Floats, future: Floats) -> None:
    """Take what [T, K] and [T, K, K] added for the tokens up to t out of the completions of segments that go on.

    Totals have it for all tokens of a segment; who stands inside one has already counted what was read.
    """
    length, most, size = parts.totals.shape
    kinds = parts.links.shape[1]
    for label in range(size):
        inside = parts.inside[label]
        for s in range(length):
            read = 0.0
            before = parts.first[label]
            for d in range(1, min(most, length - s)):
                read += tokens[s + d, inside] + edges[s + d, before, inside]
                before = inside
                future[s + d, 0, kinds + d * size + label] -= read


@kernel
def write(parts: SegmentParts, first: int, last: int, label: int, labels: Ids) -> None:
    """The token labels of a segment."""
    for t in range(first, last + 1):
        labels[t] = parts.inside[label]
    labels[first] = parts.first[label]


@kernel
def best_path(parts: SegmentParts, future: Floats, labels: Ids) -> float:
    """Follow the completions from the front: the best output, ties to the lowest label and the shortest segment."""
    length, most, size = parts.totals.shape
    kinds = parts.links.shape[1]
    value = -np.inf
    end = 0
    t = 0
    while t < length:
        top = -np.inf
        label = 0
        for option in range(size):
            worth = parts.links[t, end, option] + future[t, 0, kinds + option]
            if worth > top:
                top = worth
                label = option
        if t == 0:
            value = top
        top = -np.inf
        chosen = 0
        for d in range(min(most, length - t)):
            worth = parts.totals[t + d, d, label] + future[t + d, 0, parts.ends[label, d]]
            if worth > top:
                top = worth
                chosen = d
        write(parts, t, t + chosen, label, labels)
        end = parts.ends[label, chosen]
        t += chosen + 1
    return value


@kernel
def path_value(parts: SegmentParts, segment_of: Ids, labels: Ids) -> float:
    """The value of given token labels, −inf where they are not the reading of a segmentation."""
    value = 0.0
    end, begun, segment = 0, -1, -1
    for t in range(labels.shape[0]):
        now = segment_of[labels[t]]
        if now == segment and labels[t] == parts.inside[now] and t - begun < parts.longest[now]:
            continue
        if labels[t] != parts.first[now]:
            return -np.inf
        if begun >= 0:
            value += parts.totals[t - 1, t - 1 - begun, segment]
            end = parts.ends[segment, t - 1 - begun]
        value += parts.links[t, end, now]
        begun, segment = t, now
    last = labels.shape[0] - 1
    return float(value + parts.totals[last, last - begun, segment])
