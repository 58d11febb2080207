"""Alignment of letters and sounds, learned from three aligned words and yes/no answers about other pairs."""

import random
from itertools import pairwise

import sidelight as sl
from sidelight.structures.alignments import SegmentAlignment, links_of

dice = random.Random(2)
SPELLED = {
    "sh": "S",
    "th": "T",
    "ee": "i",
    "oo": "u",
    "ck": "k",
    "a": "a",
    "e": "e",
    "b": "b",
    "d": "d",
    "m": "m",
    "p": "p",
}


def word():
    """A word, how it sounds, and which letters make which sound."""
    pieces = dice.choices(list(SPELLED), k=5)
    pairs, at = [], 0
    for number, piece in enumerate(pieces):
        pairs.append(((at, at + len(piece)), (number, number + 1)))
        at += len(piece)
    return ("".join(pieces), "".join(SPELLED[piece] for piece in pieces)), pairs


labelled = [word() for _ in range(3)]
same = [word()[0] for _ in range(40)]
other = [(one[0], another[1]) for one, another in pairwise(same) if one[1] != another[1]]
test = [word() for _ in range(100)]


def right(aligner):
    """The share of links that are found, and that are right (F1)."""
    found = [set(links_of(pairs)) for pairs in aligner.predict([x for x, _ in test])]
    gold = [set(links_of(pairs)) for _, pairs in test]
    both = sum(len(a & b) for a, b in zip(found, gold))
    return 200 * both / (sum(map(len, found)) + sum(map(len, gold)))


gold = [sl.Gold(x, y) for x, y in labelled]
answers = [*sl.companion(same, +1), *sl.companion(other, -1)]
for name, evidence in (("three alignments", gold), ("and yes/no answers", [*gold, *answers])):
    aligner = sl.Predictor(SegmentAlignment(bits=14, longest=(2, 1))).fit(evidence)
    print(f"{name}: F1 of links {right(aligner):.1f}")
print(aligner.predict([("sheepmath", "SipmaT")]))
