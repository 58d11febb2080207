"""LCLR on paraphrases, by what an alignment of two sentences is (thesis Tables 5.3 to 5.5).

The three definitions of Table 5.4, each with Alignment+Learning, Algorithm 12 and LCLR: on five draws of 500 training
pairs, and on all of them. Tested on the published test part throughout. C is that of the first draw for all.
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

DEFINITIONS = {"none": "one-to-one", "words": "+ null word", "words and relations": "+ null word + null relation"}
METHODS = (STAGES, APPROXIMATE, LCLR)
PAPER = {
    "none": {STAGES: 73.8, APPROXIMATE: 69.3, LCLR: 73.4},
    "words": {STAGES: 75.6, APPROXIMATE: 72.9, LCLR: 76.2},
    "words and relations": {STAGES: 76.23, APPROXIMATE: 75.4, LCLR: 76.41},
}
SIZE, DRAWS = 500, 5
EVERY = "all"
QUICK_SIZE, QUICK_DRAWS, QUICK_TEST, QUICK_SENTENCES = 200, 2, 300, 1000
FILES = {"train": "msr_paraphrase_train.txt.gz", "test": "msr_paraphrase_test.txt"}
NOTES = (
    "no WordNet, Stanford parser or recogniser of names: letters, word vectors from the texts of all corpora here, and "
    "tags and trees of our own models, which learn from the English Web Treebank",
    "C from 1 and 3, by 400 training pairs that the first draw leaves; p-values of one fit exchange answers",
    "the paper's figures are those of all training pairs; one-to-one means that as many words as can be are mapped",
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
    """Test accuracies by definition and method, and what each gains."""
    size, draws = (QUICK_SIZE, QUICK_DRAWS) if quick else (SIZE, DRAWS)
    choices = chosen(
        choose,
        definitions=list(DEFINITIONS)[2 if quick else 0 :],
        sizes=(size,) if quick else (size, EVERY),
        draws=range(draws),
    )
    study = read_study(data, quick=quick, report=report)
    results: list[Row] = []
    drawn: dict[str, list[list[PairOutcome]]] = {}
    every: dict[str, list[list[PairOutcome]]] = {}
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        for nulls in choices["definitions"]:
            drawn[nulls] = run([PairTask(nulls, 0, size, METHODS)])  # chooses C for the others
            if size not in choices["sizes"]:
                continue
            prices = tuple(one.price for one in drawn[nulls][0])
            drawn[nulls] += run([PairTask(nulls, draw, size, METHODS, prices) for draw in choices["draws"][1:]])
            results += _rows_of(f"{size:,} pairs, {DEFINITIONS[nulls]}", nulls, drawn[nulls], published=False)
            _tell(results, nulls, report, save)
        for nulls in choices["definitions"] if EVERY in choices["sizes"] else ():
            prices = tuple(one.price for one in drawn[nulls][0])
            every[nulls] = run([PairTask(nulls, -1, len(study.train.xs), METHODS, prices)])
            results += _rows_of(f"all pairs, {DEFINITIONS[nulls]}", nulls, every[nulls], published=True)
            _tell(results, nulls, report, save)
    for setting, outcomes in ((f"{size:,} pairs", drawn if size in choices["sizes"] else {}), ("all pairs", every)):
        results += _between(setting, outcomes)
    save(results)
    return results, NOTES


def _tell(rows: list[Row], nulls: str, report: Callable[[str], None], save: Callable[[Sequence[Row]], None]) -> None:
    last = [one for one in rows if one["metric"] == "accuracy"][-len(METHODS) :]
    report(f"{last[0]['setting']}: " + ", ".join(f"{one['method']} {one['value']:.1f}" for one in last))
    save(rows)


def _rows_of(setting: str, nulls: str, outcomes: list[list[PairOutcome]], *, published: bool) -> list[Row]:
    paper = PAPER[nulls] if published else {}
    by = {method: [one[m] for one in outcomes] for m, method in enumerate(METHODS)}
    results = [
        row(setting, method, "accuracy", [one.accuracy for one in own], paper=paper.get(method))
        for method, own in by.items()
    ]
    for other in (STAGES, APPROXIMATE):
        gain = paper[LCLR] - paper[other] if paper else None
        results += difference_rows(setting, f"{LCLR} - {other}", by[other], by[LCLR], paper=gain)
    return results


def _between(setting: str, outcomes: dict[str, list[list[PairOutcome]]]) -> list[Row]:
    """What words, and relations, that may be deleted add to LCLR."""
    results: list[Row] = []
    at = METHODS.index(LCLR)
    for one, other in (("none", "words"), ("words", "words and relations")):
        if one in outcomes and other in outcomes:
            name = f"{LCLR}: {DEFINITIONS[other]}, over {DEFINITIONS[one]}"
            first, second = ([draw[at] for draw in outcomes[nulls]] for nulls in (one, other))
            paper = PAPER[other][LCLR] - PAPER[one][LCLR] if setting.startswith("all") else None
            results += difference_rows(setting, name, first, second, paper=paper)
    return results


def read_study(data: Path, *, quick: bool, report: Callable[[str], None]) -> PairStudy:
    """The corpus as graphs, with the similarity of words."""
    folder = folder_of(data, "msrp")
    report("vectors of words, then a tagger and a parser")
    vectors = word_vectors(english(data))
    read = reader(data, sentences=QUICK_SENTENCES if quick else None)
    parts = {part: read_pairs(folder / name, read) for part, name in FILES.items()}
    test = parts["test"]
    if quick:
        test = test.take(np.arange(min(QUICK_TEST, len(test.xs))))
    return PairStudy(parts["train"], test, WordSimilarity(vectors))


def read_pairs(path: Path, read: Reader) -> LabelledPairs:
    """The pairs of a file, after its head line."""
    cells = []
    for number, line in enumerate(read_lines(path), start=1):
        cells.append(line.split("\t"))
        if len(cells[-1]) != 5 or (number > 1 and cells[-1][0] not in ("0", "1")):
            raise DataError("not a pair in 5 columns", file=path, line=number, remedy="check the file")
    graphs = read.graphs([text for one in cells[1:] for text in one[3:]])
    return LabelledPairs(list(zip(graphs[::2], graphs[1::2])), [1 if one[0] == "1" else -1 for one in cells[1:]])
