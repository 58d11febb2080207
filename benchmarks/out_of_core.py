"""Training and tagging from files larger than memory: peak memory at full size, time against that in memory.

Tokens are generated: tags are a Markov chain, each has words of its own with Zipf's frequencies, and some words belong
to two tags. Columns are the word, its lemma, its features and its tag, about 50 bytes a token; templates look at words.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Row, in_child

FULL, FITS = 20_000_000, 1_000_000  # tokens; the second also in memory
TAGS, WORDS, SENTENCE = 17, 4000, 25
ROUNDS = {"crf_sgd": 3, "perceptron": 5}
MOST_MB, MOST_TIME = 1000.0, 1.3
SYLLABLES = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "sha", "pre", "gro", "ent", "ist"]


def written(path: Path, tokens: int, *, seed: int = 0) -> Path:
    """A column file of so many tokens."""
    rng = np.random.default_rng(seed)
    lines = _lines(rng)
    moves = np.cumsum(rng.dirichlet(np.full(TAGS, 0.3), size=TAGS), axis=1)
    ranks = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    with open(path, "w", encoding="utf-8") as file:
        for count in _portions(tokens // SENTENCE, 10_000):
            tag = rng.integers(TAGS, size=count)
            words = np.empty((count, SENTENCE), dtype=np.int64)
            for t in range(SENTENCE):
                tag = np.minimum((rng.random(count)[:, None] > moves[tag]).sum(axis=1), TAGS - 1)
                words[:, t] = tag * WORDS + np.searchsorted(ranks, rng.random(count) * ranks[-1])
            for row in words.tolist():
                file.write("".join([lines[word] for word in row]) + "\n")
    return path


def _portions(count: int, size: int) -> Iterator[int]:
    for first in range(0, count, size):
        yield min(size, count - first)


def _lines(rng: np.random.Generator) -> list[str]:
    """The line of each word of each tag; a tenth of the words are those of the tag before."""
    found: list[str] = []
    texts: list[str] = []
    for tag in range(TAGS):
        ends = [SYLLABLES[int(k)] for k in rng.integers(len(SYLLABLES), size=3)]
        for number in range(WORDS):
            parts = [SYLLABLES[int(k)] for k in rng.integers(len(SYLLABLES), size=rng.integers(1, 5))]
            lemma = "".join(parts) + (str(number) if number % 50 == 49 else "")
            text = lemma + ends[number % 3]
            if tag and number % 10 == 9:
                text = texts[(tag - 1) * WORDS + number]
            texts.append(text)
            features = f"Case=C{number % 7}|Number={'Sing' if number % 2 else 'Plur'}|Class=K{tag}"
            found.append(f"{text}\t{lemma}\t{features}\tT{tag:02}\n")
    return found


def run(*, quick: bool = False) -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = written(folder / "fits.txt", FITS)
        large = small if quick else written(folder / "full.txt", FULL, seed=1)
        tokens = FITS if quick else FULL
        rows: list[Row] = []
        for learner, rounds in ROUNDS.items():
            own = {"learner": learner, "rounds": rounds}
            rows += _rows(f"{learner}, {rounds} epochs", folder, small, large, tokens, own, quick=quick)
        return rows


def _rows(
    called: str, folder: Path, small: Path, large: Path, tokens: int, own: dict[str, Any], *, quick: bool
) -> list[Row]:
    fit = {"step": "fit", **own, "model": str(folder / "model")}
    tag = {"step": "tag", "model": str(folder / "model")}

    def child(options: dict[str, Any], file: Path, kept: bool) -> dict[str, Any]:
        import json

        given = {**options, "file": str(file), "folder": str(folder / f"{own['learner']}-{file.stem}"), "stored": kept}
        return in_child("benchmarks.out_of_core_run", json.dumps(given))

    rows = []
    memory = {"train": child(fit, small, False), "tag": child(tag, small, False)}
    stored = {"train": child(fit, small, True), "tag": child(tag, small, True)}
    again = child(fit, small, True)
    full = stored if quick else {"train": child(fit, large, True), "tag": child(tag, large, True)}
    for step in ("train", "tag"):
        ours, peer = (1e6 * one[step]["cpu"] / FITS for one in (stored, memory))
        note = f"features found again: {1e6 * again['cpu'] / FITS:.2f}" if step == "train" else ""
        rows.append(_time(f"{called}: {step}, {FITS:,} tokens", ours, peer, note))
        if not quick:
            rows.append(_time(f"{called}: {step}, {tokens:,} tokens", 1e6 * full[step]["cpu"] / tokens, peer, ""))
        peak, mine = full[step]["peak_mb"], full[step]["own_mb"]
        rows.append(
            Row(
                "out_of_core",
                f"{called}: {step}, peak memory, {tokens:,} tokens",
                peak,
                "MB",
                target=f"at most {MOST_MB:,.0f} MB, pages of mapped files among it",
                met=peak <= MOST_MB,
                note=f"its own: {mine:,.0f} MB; in memory, {FITS:,} tokens: {memory[step]['peak_mb']:,.0f} MB",
            )
        )
    both = f"{100 * stored['tag']['accuracy']:.2f} and {100 * memory['tag']['accuracy']:.2f}"
    rows.append(
        Row(
            "out_of_core",
            f"{called}: accuracy on its own training data",
            100 * full["tag"]["accuracy"],
            "%",
            note=f"of {FITS:,} tokens, in files and in memory: {both}; {full['train']['attributes']:,.0f} attributes",
        )
    )
    return rows


def _time(what: str, ours: float, peer: float, note: str) -> Row:
    target = f"at most {MOST_TIME} times that in memory"
    about = {"unit": "µs of CPU a token", "peer_name": "in memory"}
    return Row("out_of_core", what, ours, peer=peer, ratio=ours / peer, target=target, met=ours <= MOST_TIME * peer,
               note=note, **about)  # fmt: skip
