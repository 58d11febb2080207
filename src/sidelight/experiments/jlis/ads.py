"""J-LIS on advertisements: Table 2 (left) of Chang et al. 2010; thesis Figure 6.3(b).

The Craigslist apartment advertisements of the paper are not available. Hotel posts with three fields (hotel name, area,
stars) are used instead: the experiment has the same design, but its numbers are not comparable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.files import read_lines
from sidelight.errors import DataError
from sidelight.estimators.taggers import Tagger
from sidelight.experiments.draws import ShuffledCorpus, folder_of, labels_of, tokens_of
from sidelight.experiments.grid import JLIS, SSVM, LabelledExamples, Setting, TablePlan
from sidelight.features import words

TITLE = (
    "Hotel posts in place of advertisements: token accuracy by labelled tokens (shape of Chang et al. 2010, Table 2)"
)
TEST, DEV, GOOD = 200, 100, 500  # posts; the rest is the labelled pool
QUICK_DRAWS = 3

NOTES = (
    "the data are hotel posts with 3 fields, not the Craigslist advertisements with 12: the paper's figures are there "
    "for orientation only, and to agree with them would be chance",
    f"1,125 posts in a fixed random order: {TEST} for testing, {DEV} for development, {GOOD} good examples, each "
    "shuffled once for a bad one (the paper has 1,000 and 1,000), the other 325 labelled",
    "labels are plain fields without begin and inside marks, as in the paper's corpora",
)


@dataclass(frozen=True)
class Ads(ShuffledCorpus):
    """The corpus, and what learns from it."""

    def estimator(self, prices: dict[str, float], draw: int) -> Tagger:
        options: dict[str, Any] = {"prices": prices, "tolerance": 0.003, "n_jobs": 1, "seed": draw}
        return Tagger(learner="jlis", features=words(before=1), labels=self.labels, **options)


def read_posts(path: Path, *, marked: bool = False) -> LabelledExamples:
    """Posts of three lines (name, words, tags) with a blank line between; tags lose their B- and I- unless `marked`."""
    lines = read_lines(path)
    xs, ys = [], []
    for number in range(0, len(lines), 4):
        post = lines[number : number + 3]
        cells = [line.split("\t") for line in post[1:]]
        if len(cells) != 2 or len(cells[0]) != len(cells[1]):
            raise DataError("a post without one tag for each word", file=path, line=number + 1, remedy="check the file")
        xs.append(cells[0])
        ys.append(cells[1] if marked else [tag.removeprefix("B-").removeprefix("I-") for tag in cells[1]])
    return LabelledExamples(xs, ys)


def load(data: Path, *, marked: bool = False) -> Ads:
    """Read and split the posts of `data`/ads; `marked`: with B- and I-."""
    posts = read_posts(folder_of(data, "ads") / "bft_posts.bio.txt", marked=marked)
    order = np.random.default_rng(2010).permutation(len(posts.xs))
    parts = [
        LabelledExamples([posts.xs[i] for i in which], [posts.ys[i] for i in which])
        for which in np.split(order, np.cumsum([TEST, DEV, GOOD]))
    ]
    test, dev, good, train = parts
    return Ads(train, dev, test, good.xs, labels_of(posts))


def plans(data: Path) -> list[TablePlan]:
    """One table."""
    study = load(data)
    everything = tokens_of(study.train.xs)
    paper = {500: (57.18, 66.60), 1000: (64.93, 70.09), 2000: (69.57, 72.75)}
    sizes = [Setting(f"{n} tokens", n, 10, {SSVM: a, JLIS: b}) for n, (a, b) in paper.items()]
    quick = [replace(size, draws=QUICK_DRAWS) for size in sizes]
    whole = Setting(f"{everything} tokens (all)", everything, 5, {SSVM: 78.07, JLIS: 79.00})
    note = f"the paper's largest setting has 19k labelled tokens, the pool here {everything:,}"
    return [TablePlan(TITLE, study, (*sizes, whole), quick, (*NOTES, note), per_draw=True)]
