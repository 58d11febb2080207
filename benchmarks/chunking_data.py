"""CoNLL-2000 chunking in memory, and the feature strings that a python-crfsuite user builds for it."""

from __future__ import annotations

import os
from pathlib import Path

from sidelight.data import read_columns

Sentence = list[tuple[str, str]]


def load(part: str) -> tuple[list[Sentence], list[list[str]]]:
    """Sentences of (word, part of speech) and their chunk labels."""
    folder = Path(os.environ["SIDELIGHT_DATA"]) / "conll2000"
    corpus = read_columns(folder / f"{part}.txt.gz")
    assert corpus.ys is not None
    return corpus.xs, corpus.ys


WORDS = [(-2,), (-1,), (0,), (1,), (2,), (-1, 0), (0, 1)]
TAGS = [(-2,), (-1,), (0,), (1,), (2,), (-2, -1), (-1, 0), (0, 1), (1, 2), (-2, -1, 0), (-1, 0, 1), (0, 1, 2)]
PATTERNS = [(0, offsets) for offsets in WORDS] + [(1, offsets) for offsets in TAGS]
NAMED = [("|".join(f"{'wp'[column]}[{o}]" for o in offsets), column, offsets) for column, offsets in PATTERNS]


def feature_strings(sentence: Sentence) -> list[list[str]]:
    """The attributes of CRFsuite's chunking tutorial, as Python code would build them."""
    count = len(sentence)
    rows = []
    for t in range(count):
        row = []
        for name, column, offsets in NAMED:
            if t + offsets[0] >= 0 and t + offsets[-1] < count:
                row.append(name + "=" + "|".join([sentence[t + o][column] for o in offsets]))
        if t == 0:
            row.append("__BOS__")
        if t == count - 1:
            row.append("__EOS__")
        rows.append(row)
    return rows
