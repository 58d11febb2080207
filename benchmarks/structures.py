"""Inference over trees, alignments and graphs: sentences, strings and graphs at random, features and all."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from benchmarks.measure import Row, seconds
from sidelight.objective.batch import Batch
from sidelight.structures.alignments import SegmentAlignment
from sidelight.structures.graphs import Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment
from sidelight.structures.trees import DependencyTree

LENGTH = 25  # tokens of a sentence


def run(*, quick: bool = False) -> list[Row]:
    rng = np.random.default_rng(7)
    sentences = [[(f"w{rng.zipf(1.3) % 5000}", f"T{rng.integers(17)}") for _ in range(LENGTH)] for _ in range(40)]
    strings = [_strings(rng, 8, 8) for _ in range(200 if quick else 20_000)]
    names = [_strings(rng, 7, 6) for _ in range(200 if quick else 50_000)]
    return [
        _speed("projective trees", DependencyTree(n_jobs=1), sentences, LENGTH, "tokens/s, one thread", 20_000),
        _speed(
            "trees that cross", DependencyTree(projective=False, n_jobs=1), sentences, LENGTH, "tokens/s, one thread"
        ),
        _speed("segment alignment, 8 × 8", SegmentAlignment(n_jobs=2), strings, 1, "pairs/s, two threads", 100_000),
        _speed("letters one to one", CharacterAlignment(n_jobs=2), names, 1, "pairs/s, two threads", 400_000),
        _speed("letters that cross", CharacterAlignment(crossing=True, n_jobs=2), names, 1, "pairs/s, two threads"),
        _graphs(rng, 3 if quick else 40),
    ]


def _strings(rng: np.random.Generator, left: int, right: int) -> tuple[str, str]:
    return "".join(rng.choice(list("abcdefghij"), left)), "".join(rng.choice(list("qrstuvwxyz"), right))


def _speed(what: str, structure: Any, xs: list[Any], size: int, unit: str, least: int | None = None) -> Row:
    """The best outputs of a batch, from weights to choices."""
    batch: Batch = structure.batch(xs)
    weights = np.random.default_rng(1).normal(size=batch.scorer.size)
    batch.part(0, 1).best(weights)
    took = seconds(lambda: batch.best(weights), repeat=3)[0]
    reached = size * len(xs) / took
    target = "" if least is None else f"at least {least:,}"
    return Row("structures", what, reached, unit, target=target, met=None if least is None else reached >= least)


def _graphs(rng: np.random.Generator, count: int) -> Row:
    def graph() -> Graph:
        words = tuple((f"w{rng.integers(40)}", f"T{rng.integers(8)}") for _ in range(20))
        return Graph(words, tuple((int(rng.integers(0, k)), k, f"L{rng.integers(6)}") for k in range(1, 20)))

    batch = GraphAlignment().batch([(graph(), graph()) for _ in range(count)])
    weights = rng.normal(size=batch.scorer.size)

    times = []
    batch.part(0, 1).best(weights)
    for i in range(count):
        part = batch.part(i, i + 1)
        began = time.process_time()
        part.best(weights)
        times.append(1000.0 * (time.process_time() - began))
    note = f"CPU; the slowest of {count}: {max(times):.0f} ms"
    what = "graphs of 20 words and their edges, exact, median"
    return Row("structures", what, median(times), "ms", target="at most 60", met=median(times) <= 60.0, note=note)
