"""LCLR on textual entailment: does a text say what a hypothesis says (thesis Figure 5.2(b))?

The thesis trains on 600 pairs of RTE-5 and tests on 600 others, whose answers are not available. Instead there are five
draws of 600 pairs from the development parts of RTE-1 to RTE-3, tested on their test parts (2,400 pairs); and 300 pairs
of the RTE-5 development part, by its long texts, tested on its other pairs. Edges may be mapped, but have no deletions
("+ null word"); the size of a pair is that of its hypothesis, since texts have irrelevant words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from sidelight.data.files import read_lines
from sidelight.errors import DataError
from sidelight.experiments.choices import chosen
from sidelight.experiments.draws import folder_of
from sidelight.experiments.lclr.sentence_graphs import Reader, reader
from sidelight.experiments.lclr.sentence_pairs import (
    APPROXIMATE,
    LCLR,
    STAGES,
    LabelledPairs,
    PairOutcome,
    PairStudy,
    PairTask,
    difference_rows,
    fit,
)
from sidelight.experiments.lclr.word_vectors import WordSimilarity, english, word_vectors
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row, row

METHODS = (STAGES, APPROXIMATE, LCLR)
SETS = ("RTE-1 to RTE-3", "RTE-5")
PAPER = {STAGES: 65.0, LCLR: 66.8}
SIZE, DRAWS = 600, 5
HALF = 300  # pairs of RTE-5 to train on
QUICK_SIZE, QUICK_DRAWS, QUICK_TEST, QUICK_SENTENCES = 150, 2, 300, 1000
LONG = 60  # words of a text of RTE-5, by which its pairs are known in the pool that GLUE has made
NULLS = "words"
NOTES = (
    "no WordNet, semantic roles or coreference: letters, word vectors from the texts of all corpora here, and tags and "
    "trees of our own models, which learn from the English Web Treebank",
    "RTE-5 has no test answers here; its training pairs are known by their long texts, 597 of 600",
    "C from 1 and 3, in each draw by pairs that were not drawn (400; of RTE-5 about 100)",
)


def rows(
    data: Path,
    *,
    quick: bool,
    n_jobs: int,
    report: Callable[[str], None],
    save: Callable[[Sequence[Row]], None],
    choose: Mapping[str, str],
) -> tuple[list[Row], tuple[str, ...]]:
    """Test accuracies of every method, and what LCLR gains."""
    folder = folder_of(data, "rte")
    choices = chosen(choose, sets=SETS[: 1 if quick else None], draws=range(QUICK_DRAWS if quick else DRAWS))
    report("vectors of words, then a tagger and a parser")
    similarity = WordSimilarity(word_vectors(english(data)))
    read = reader(data, sentences=QUICK_SENTENCES if quick else None)
    results: list[Row] = []
    if SETS[0] in choices["sets"]:
        sets = read_sets(folder / "rte123.tsv.gz", read)
        train, test = (joined([sets[f"rte{n}_{part}"] for n in (1, 2, 3)]) for part in ("dev", "test"))
        if quick:
            test = test.take(np.arange(min(QUICK_TEST, len(test.xs))))
        study = PairStudy(train, test, similarity, "first")
        tasks = [PairTask(NULLS, draw, QUICK_SIZE if quick else SIZE, METHODS) for draw in choices["draws"]]
        with pool(fit, study, n_jobs=n_jobs, report=report) as run:
            results += _rows_of(f"{SETS[0]}, {tasks[0].size} pairs", run(tasks))
        report(", ".join(f"{one['method']} {one['value']:.1f}" for one in results[: len(METHODS)]))
        save(results)
    if SETS[1] in choices["sets"]:
        glue = [folder / f"glue_rte_{part}.tsv.gz" for part in ("train", "dev")]
        fifth = read_long(glue, read)
        with pool(_fit_half, (fifth, similarity), n_jobs=n_jobs, report=report) as run:
            results += _rows_of(f"{SETS[1]}, {HALF} pairs", run(choices["draws"]))
        save(results)
    return results, NOTES


def _fit_half(study: tuple[LabelledPairs, WordSimilarity], draw: int) -> list[PairOutcome]:
    """One draw of RTE-5: half of the pairs are tested, and the others trained on, some of them held out for C."""
    pairs, similarity = study
    order = np.random.default_rng([draw, 5]).permutation(len(pairs.xs))
    half = len(order) // 2
    test, train = pairs.take(order[: half - HALF // 3]), pairs.take(order[half - HALF // 3 :])
    return fit(PairStudy(train, test, similarity, "first"), PairTask(NULLS, draw, HALF, METHODS))


def _rows_of(setting: str, outcomes: list[list[PairOutcome]]) -> list[Row]:
    by = {method: [one[m] for one in outcomes] for m, method in enumerate(METHODS)}
    results = [
        row(setting, method, "accuracy", [one.accuracy for one in own], paper=PAPER.get(method))
        for method, own in by.items()
    ]
    results += difference_rows(setting, f"{LCLR} - {STAGES}", by[STAGES], by[LCLR], paper=PAPER[LCLR] - PAPER[STAGES])
    return results + difference_rows(setting, f"{LCLR} - {APPROXIMATE}", by[APPROXIMATE], by[LCLR])


def joined(parts: Sequence[LabelledPairs]) -> LabelledPairs:
    """Several sets as one."""
    return LabelledPairs([x for part in parts for x in part.xs], [z for part in parts for z in part.zs])


def read_sets(path: Path, read: Reader) -> dict[str, LabelledPairs]:
    """Pairs (hypothesis, text) by the set that they are in."""
    cells = [line.split("\t") for line in read_lines(path)]
    for number, one in enumerate(cells, start=1):
        if len(one) != 6:
            raise DataError("not a pair in 6 columns", file=path, line=number, remedy="check the file")
    graphs = read.graphs([text for one in cells[1:] for text in (one[5], one[4])])
    results: dict[str, LabelledPairs] = {}
    for number, (name, _, _, label, *_) in enumerate(cells[1:]):
        own = results.setdefault(name, LabelledPairs([], []))
        own.xs.append((graphs[2 * number], graphs[2 * number + 1]))
        own.zs.append(1 if label == "1" else -1)
    return results


def read_long(paths: Sequence[Path], read: Reader) -> LabelledPairs:
    """Pairs of GLUE that are in none of RTE-1 to RTE-3 and have a long text."""
    cells = [line.split("\t") for path in paths for line in list(read_lines(path))[1:]]
    rest = [one for one in cells if one[4] == "-" and len(one[1].split()) >= LONG]
    graphs = read.graphs([text for one in rest for text in (one[2], one[1])])
    return LabelledPairs(list(zip(graphs[::2], graphs[1::2])), [1 if one[3] == "entailment" else -1 for one in rest])
