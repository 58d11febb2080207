"""Why this segmentation: contributions add up to the margin over the next best one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from sidelight import DataError, Matrix, SegmentTagger
from sidelight.features.segments.segment_features import SegmentFeatures
from sidelight.models.explain import explain

XS = [["Ann", "Lee", "saw", "Bob"], ["Bob", "slept"], ["Eve", "saw", "Ann", "Lee"], ["Ann", "Lee", "Bob", "slept"]]
BIO = [
    ["B-PER", "I-PER", "O", "B-PER"],
    ["B-PER", "O"],
    ["B-PER", "O", "B-PER", "I-PER"],
    ["B-PER", "I-PER", "B-PER", "O"],
]
RUNS = [[label[-3:] for label in y] for y in BIO]  # O stays; neighbouring names are one run


@pytest.mark.parametrize("learner", ["semi_crf", "semi_svm"])
@pytest.mark.parametrize(("scheme", "ys"), [("BIO", BIO), (None, RUNS)])
@pytest.mark.parametrize("max_length", [2, 3])
def test_contributions_add_up_to_the_margin(learner: str, scheme: str | None, ys: list, max_length: int) -> None:
    tagger = SegmentTagger(learner=learner, scheme=scheme, max_length=max_length).fit(XS, ys)
    for x in [*XS, ["Bob", "Bob", "Bob", "Bob", "saw"], ["new"]]:
        why = explain(tagger.model_, x)
        (best, score), (other, next_score) = tagger.k_best([x], 2)[0]
        assert why.tokens == x
        assert (why.predicted, why.runner_up) == (best, other)
        assert why.score == pytest.approx(score)
        assert why.margin == pytest.approx(score - next_score)
        assert sum(item.amount for item in why.contributions) == pytest.approx(why.margin, abs=1e-9)
        sizes = [abs(item.amount) for item in why.contributions]
        assert sizes == sorted(sizes, reverse=True)
        assert all(sizes)


def test_values_and_dense_rows_take_part() -> None:
    numbers = np.random.default_rng(0).normal(size=(24, 3))
    xs = Matrix(csr_matrix(numbers), dense=numbers[:, :1] ** 2, lengths=[4] * 6)
    ys = [["a" if row[0] > 0 else "b" for row in numbers[i : i + 4]] for i in range(0, 24, 4)]
    tagger = SegmentTagger(segment_features=SegmentFeatures(families=("length",), min_count=1)).fit(xs, ys)
    for x in xs:
        why = explain(tagger.model_, x)
        assert sum(item.amount for item in why.contributions) == pytest.approx(why.margin, abs=1e-6)
        assert {"dense", "feature"} <= {item.part for item in why.contributions}


def test_segments_are_named_with_their_tokens() -> None:
    tagger = SegmentTagger(scheme="BIO").fit(XS, BIO)
    shown = str(explain(tagger.model_, XS[0]))
    assert "segment feature at" in shown
    assert "of 0–1" in shown


def test_one_segmentation_only() -> None:
    tagger = SegmentTagger(scheme="BIO", labels=["O"]).fit([["a", "b"]], [["O", "O"]])
    with pytest.raises(DataError, match="one segmentation only"):
        explain(tagger.model_, ["a"])
