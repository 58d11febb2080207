"""CLLP for types of entities: Table 2 of Li, Zhang and Chen 2014.

A knowledge base lists the types of an entity; which of them is meant in a sentence is not known. Classes, so CLLP with
inputs of one part. "Other" is the class of all other types, and a candidate of every entity with some probability.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.files import read_lines
from sidelight.errors import DataError
from sidelight.estimators.taggers import Classifier
from sidelight.evidence import Candidates, Evidence
from sidelight.experiments.cllp.candidate_grid import CLLP, MMS, NAIVE, CandidateSetting, Results, fit
from sidelight.experiments.cllp.candidate_sets import initial_labels
from sidelight.experiments.draws import folder_of
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row
from sidelight.recipes import Recipe

TITLE = "Types of entities: F1 by how often Other is a candidate (CLLP, Table 2)"
TYPES = 20
OTHER = "Other"
SHARES = (0.1, 0.25, 0.5, 1.0)
DRAWS, QUICK_DRAWS = 20, 5
DEV = 150  # mentions of the hand-labelled set
PAPER = {NAIVE: 64.83, MMS: 54.02, CLLP: 69.69}

NOTES = (
    "the paper learns from 9,991 entities of Wikipedia with 20 types of Freebase, and tests on 500; here 787 mentions "
    f"of such a set, with the {TYPES} most frequent top-level types of FIGER, and the 563 hand-labelled mentions of "
    f"FIGER, {DEV} of them (at random, once) for development and the others for testing",
    "a mention is taken to be a run of capitalised words, which agrees with 90 % of the hand-labelled ones: a tenth of "
    "the ends in the file of the 787 run on to the next mention or the end of the sentence",
    "a prediction is right if it is among the mention's types; precision and recall leave Other out, as types; the "
    "published figures are those at 0.1",
    "features: the mention's words, the affixes of its last word, its length, two words before and after; the paper "
    "does not say",
    "draws differ in who may be Other, and in the labels to begin with; eight trials of each method, with the first "
    "five draws, choose prices, ratios and thresholds",
)

LINKS = {"of", "the", "and", "de", "for", "&", "'s"}


@dataclass(frozen=True)
class Mentions:
    """Mentions as features; those to learn from with the types that they may have."""

    train: LabelledExamples
    dev: LabelledExamples  # every output is the set of right types
    test: LabelledExamples
    labels: list[str]
    thresholds: tuple[float, float] = (0.02, 0.12)
    unit: float = 10.0  # an input of one part has less to lose than a sentence

    def gold(self, setting: CandidateSetting, draw: int) -> Sequence[Evidence]:
        raise NotImplementedError("the types of the mentions to learn from are not known")

    def candidates(self, setting: CandidateSetting, draw: int) -> list[Candidates]:
        rng = np.random.default_rng([draw, 4])
        out = []
        for x, types in zip(self.train.xs, self.train.ys):
            allowed = sorted({*types, OTHER} if rng.random() < setting.level else types)
            out.append(Candidates(x, [allowed], initial=initial_labels([allowed], rng)))
        return out

    def estimator(self, learner: Recipe, price: float, draw: int) -> Classifier:
        return Classifier(
            labels=self.labels,
            learner=learner,
            loss="hinge",
            prices={"candidates": price},
            n_jobs=1,
            seed=draw,
        )

    def scores(self, right: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        return type_scores(right, predicted)


def type_scores(right: Sequence[Sequence[str]], predicted: Sequence[str]) -> dict[str, float]:
    """F1, precision and recall of the types, in per cent.

    >>> type_scores([["a"], ["b"], ["Other"], ["a", "b"]], ["a", "Other", "b", "b"])["precision"]
    66.66666666666667
    """
    correct = sum(guess != OTHER and guess in types for types, guess in zip(right, predicted))
    guessed = sum(guess != OTHER for guess in predicted)
    entities = sum(OTHER not in types for types in right)
    precision, recall = 100.0 * correct / max(guessed, 1), 100.0 * correct / max(entities, 1)
    f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
    return {"F1": f1, "precision": precision, "recall": recall}


def features_of(tokens: Sequence[str], start: int) -> dict[str, float]:
    """What is seen of a mention that begins at a token."""
    end = start + 1
    while end < len(tokens) and (
        tokens[end][:1].isupper()
        or (tokens[end] in LINKS and tokens[end + 1 : end + 2] and tokens[end + 1][:1].isupper())
    ):
        end += 1
    mention = tokens[start:end]
    last = mention[-1].lower()
    names = [f"word={word.lower()}" for word in mention]
    names += [f"first={mention[0].lower()}", f"last={last}", f"length={min(len(mention), 4)}"]
    names += [f"suffix{n}={last[-n:]}" for n in (2, 3)] + [f"prefix{n}={last[:n]}" for n in (2, 3)]
    for offset in (-2, -1):
        names.append(f"before{offset}={tokens[start + offset].lower() if start + offset >= 0 else '<'}")
    for offset in (0, 1):
        names.append(f"after{offset}={tokens[end + offset].lower() if end + offset < len(tokens) else '>'}")
    return dict.fromkeys(names, 1.0)


def top_levels(types: Sequence[str]) -> list[str]:
    """The first level of types such as /person/actor.

    >>> top_levels(["/person", "/person/actor", "/art"])
    ['art', 'person']
    """
    return sorted({name.split("/")[1] for name in types})


def read_distant(path: Path) -> LabelledExamples:
    """Mentions with all types that the knowledge base lists."""
    xs, ys = [], []
    for line in read_lines(path):
        if line.strip():
            sentence = json.loads(line)
            for mention in sentence["mentions"]:
                xs.append(features_of(sentence["tokens"], mention["start"]))
                ys.append(top_levels(mention["labels"]))
    return LabelledExamples(xs, ys)


def read_labelled(path: Path) -> LabelledExamples:
    """Mentions with the types they have in their sentences."""
    xs, ys = [], []
    tokens: list[str] = []
    mentions: list[tuple[int, list[str]]] = []
    for number, line in enumerate([*read_lines(path), ""]):
        cells = line.split("\t")
        if not line.strip():
            for start, types in mentions:
                xs.append(features_of(tokens, start))
                ys.append(types)
            tokens, mentions = [], []
            continue
        if len(cells) < 2:
            raise DataError("not a word with a tag", file=path, line=number + 1, remedy="check the file")
        if cells[1].startswith("B-"):
            mentions.append((len(tokens), top_levels(cells[1][2:].split(","))))
        tokens.append(cells[0])
    return LabelledExamples(xs, ys)


def load(data: Path) -> Mentions:
    """Read and split `data`/entity_typing."""
    folder = folder_of(data, "entity_typing")
    train = read_distant(folder / "figer_wiki_distant_sample.jsonl")
    labelled = read_labelled(folder / "figer_gold.tsv")
    counts = Counter(name for types in train.ys for name in types)
    names = {name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:TYPES]}

    def known(examples: LabelledExamples) -> LabelledExamples:
        return LabelledExamples(examples.xs, [sorted(names.intersection(types)) or [OTHER] for types in examples.ys])

    train, labelled = known(train), known(labelled)
    order = np.random.default_rng(2014).permutation(len(labelled.xs))
    dev, test = (
        LabelledExamples([labelled.xs[i] for i in which], [labelled.ys[i] for i in which])
        for which in np.split(order, [DEV])
    )
    return Mentions(train, dev, test, [*sorted(names), OTHER])


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of the table, and its notes."""
    report(TITLE)
    study = load(data)
    draws = QUICK_DRAWS if quick else DRAWS
    table: list[Row] = []
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        results = Results(study, run)
        for share in SHARES[:1] if quick else SHARES:
            paper = PAPER if share == SHARES[0] else {}
            setting = CandidateSetting(
                f"{share:g} with Other", share, draws, (NAIVE, MMS, CLLP), paper, pilots=tuple(range(5))
            )
            table += results.rows_of(setting, report)
            save(table)
    return table, NOTES
