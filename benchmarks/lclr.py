"""LCLR on paraphrases: one pass over all 4,076 training pairs, and single alignments of pairs of about 20 words.

A pass completes the good pairs and finds the most violated alignment of every bad one, with its cut: exact inference,
weights that two stages have learned from 300 pairs. Times are those of a clock, and CPU time of all threads beside it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.measure import Row
from sidelight.experiments.lclr.paraphrase import FILES, read_pairs
from sidelight.experiments.lclr.sentence_graphs import reader
from sidelight.experiments.lclr.sentence_pairs import FIRST, LabelledPairs
from sidelight.learners.lclr import HeldLearner, lclr_learner
from sidelight.learners.margin import MarginOptions
from sidelight.objective.decisions import decisions
from sidelight.structures.graphs import GraphAlignment

THREADS, LEARNED, SENTENCES, SMALL = 2, 300, 3000, 60
ABOUT = range(18, 23)  # words of either sentence


def run(*, quick: bool = False) -> list[Row]:
    data = Path(os.environ["SIDELIGHT_DATA"])
    pairs = read_pairs(data / "msrp" / FILES["train"], reader(data, sentences=500 if quick else SENTENCES))
    if quick:
        pairs = pairs.take(np.arange(SMALL))
    structure = GraphAlignment(n_jobs=THREADS)
    weights = _learned(structure, pairs.take(np.arange(min(LEARNED, len(pairs.xs)))))
    return [_pass(structure, pairs, weights), _single(structure, pairs, weights)]


def _learned(structure: GraphAlignment, pairs: LabelledPairs) -> np.ndarray:
    data = decisions(structure, pairs.xs, pairs.zs)
    start = structure.weights(similarity=(), **FIRST)
    learner = HeldLearner.fresh(data, start, MarginOptions(max_rounds=1), name="two_stage")
    learner.round()
    return np.array(learner.weights)


def _pass(structure: GraphAlignment, pairs: LabelledPairs, weights: np.ndarray) -> Row:
    data = decisions(structure, pairs.xs, pairs.zs)
    lclr_learner(decisions(structure, pairs.xs[:20], pairs.zs[:20]), weights).round()  # kernels from the disk cache
    began, cpu = time.perf_counter(), time.process_time()
    learner = lclr_learner(data, weights)
    learner.round()
    took, used = time.perf_counter() - began, time.process_time() - cpu
    what = f"one pass over {len(pairs.xs):,} pairs of sentences, two threads"
    note = f"{used:.1f} s of CPU on all threads"
    return Row("lclr", what, took, "s", target="at most 60", met=took <= 60.0, note=note)


def _single(structure: GraphAlignment, pairs: LabelledPairs, weights: np.ndarray) -> Row:
    which = [i for i, (one, two) in enumerate(pairs.xs) if len(one.words) in ABOUT and len(two.words) in ABOUT]
    times = []
    for i in which[:200]:
        batch = structure.batch([pairs.xs[i]])
        began = time.process_time()
        batch.best(weights)
        times.append(1000.0 * (time.process_time() - began))
    note = f"CPU; the slowest of {len(times)}: {max(times):.1f} ms"
    what = "pairs of sentences of 18 to 22 words, exact, median"
    return Row("lclr", what, median(times), "ms", target="at most 20", met=median(times) <= 20.0, note=note)
