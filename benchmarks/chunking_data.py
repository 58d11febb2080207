"""CoNLL-2000 chunking in memory, and the feature strings that a python-crfsuite user builds for it."""

from __future__ import annotations

import os
from pathlib import Path

from sidelight.data import read_columns

Sentence = list[tuple[str, str]]


def load(part: str, sentences: int | None = None) -> tuple[list[Sentence], list[list[str]]]:
    """Sentences of (word, part of speech) and their chunk labels; all, or the first so many."""
    folder = Path(os.environ["SIDELIGHT_DATA"]) / "conll2000"
    corpus = read_columns(folder / f"{part}.txt.gz")
    assert corpus.ys is not None
    return corpus.xs[:sentences], corpus.ys[:sentences]


def feature_strings(sentence: Sentence) -> list[list[str]]:
    """The attributes of CRFsuite's chunking tutorial, as careful Python code would build them."""
    count = len(sentence)
    words = [word for word, _ in sentence]
    tags = [tag for _, tag in sentence]
    rows = []
    for t in range(count):
        word, tag = words[t], tags[t]
        row = [f"w[0]={word}", f"p[0]={tag}"]
        if t > 0:
            w1, p1 = words[t - 1], tags[t - 1]
            row += [f"w[-1]={w1}", f"w[-1]|w[0]={w1}|{word}", f"p[-1]={p1}", f"p[-1]|p[0]={p1}|{tag}"]
            if t > 1:
                p2 = tags[t - 2]
                row += [f"w[-2]={words[t - 2]}", f"p[-2]={p2}", f"p[-2]|p[-1]={p2}|{p1}"]
                row.append(f"p[-2]|p[-1]|p[0]={p2}|{p1}|{tag}")
        else:
            row.append("__BOS__")
        if t < count - 1:
            w_1, p_1 = words[t + 1], tags[t + 1]
            row += [f"w[1]={w_1}", f"w[0]|w[1]={word}|{w_1}", f"p[1]={p_1}", f"p[0]|p[1]={tag}|{p_1}"]
            if t > 0:
                row.append(f"p[-1]|p[0]|p[1]={tags[t - 1]}|{tag}|{p_1}")
            if t < count - 2:
                p_2 = tags[t + 2]
                row += [f"w[2]={words[t + 2]}", f"p[2]={p_2}", f"p[1]|p[2]={p_1}|{p_2}"]
                row.append(f"p[0]|p[1]|p[2]={tag}|{p_1}|{p_2}")
        else:
            row.append("__EOS__")
        rows.append(row)
    return rows
