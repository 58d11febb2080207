"""What skweak's HMM makes of votes (Lison, Barnes and Hubin 2021): its labels for every token.

skweak is about spans: a token on which a function has no span counts as voted O by it, so votes for O are left to that.
Tags of single tokens are spans of one token; a token that comes out as O has no tag.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from sidelight.evidence import Voted

OUTSIDE = "O"


def aggregated(pieces: Sequence[Voted], labels: Sequence[str]) -> list[list[str | None]]:
    """One label, or None, for every token; with labels as B-X and I-X a token outside spans is O."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _aggregated(pieces, labels)


def _aggregated(pieces: Sequence[Voted], labels: Sequence[str]) -> list[list[str | None]]:
    import spacy
    from skweak.generative import HMM
    from spacy.tokens import Doc, Span

    bio = any(label.startswith("B-") for label in labels)
    types = sorted({label[2:] if bio else label for label in labels if label != OUTSIDE})
    vocabulary = spacy.blank("en").vocab
    docs = []
    for piece in pieces:
        doc = Doc(vocabulary, words=[token if isinstance(token, str) else token[0] for token in piece.x])
        for name, votes in piece.votes.items():
            doc.spans[name] = [Span(doc, a, b, label=kind) for a, b, kind in _spans(votes or [], bio=bio)]
        docs.append(doc)
    model = HMM("hmm", types, prefixes="BIO")
    model.fit(docs)
    out: list[list[str | None]] = []
    for doc in docs:
        doc = model(doc)
        found: list[str | None] = [OUTSIDE if bio else None] * len(doc)
        for span in doc.spans["hmm"]:
            for t in range(span.start, span.end):
                found[t] = (("B-" if t == span.start else "I-") if bio else "") + span.label_
        out.append(found)
    return out


def _spans(votes: Sequence[Any], *, bio: bool) -> list[tuple[int, int, str]]:
    """The spans of one function, (first, one past the last, type)."""
    found: list[tuple[int, int, str]] = []
    for t, vote in enumerate(votes):
        if vote is None or vote == OUTSIDE:
            continue
        if not bio:
            found.append((t, t + 1, vote))
        elif vote.startswith("I-") and found and found[-1][1] == t and found[-1][2] == vote[2:]:
            found[-1] = (found[-1][0], t + 1, vote[2:])
        else:
            found.append((t, t + 1, vote[2:]))
    return found
