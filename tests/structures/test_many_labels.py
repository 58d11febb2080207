"""Labels that are too many are refused before they take any memory."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sidelight import Classifier, DataError, SegmentTagger, Tagger, candidates, gold, partial
from sidelight.cli import app
from sidelight.features.layout import Layout
from sidelight.features.segments.segment_rows import SegmentLayout
from sidelight.structures.labels.label_sets import check_memory

WORDS = [[f"word{20 * s + t}" for t in range(20)] for s in range(5000)]  # 100,000 of them


def check_layout(layout: Layout, *, memory: int) -> None:
    check_memory(layout.size, layout.n_labels, layout.n_attributes, memory=memory)


def peak() -> int:
    """The most memory so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("estimator", [Tagger(), Tagger(learner="crf"), SegmentTagger(max_length=2), Tagger(order=2)])
def test_a_column_of_words_is_no_column_of_labels(estimator) -> None:
    before = peak()
    with pytest.raises(DataError, match="100,000 different labels on 100,000 tokens; is the label the last column"):
        estimator.fit(WORDS, WORDS)
    assert peak() - before < 500e6


def test_classes_that_are_numbers_measured() -> None:
    rows = np.arange(6000.0).reshape(-1, 1)
    with pytest.raises(DataError, match="6,000 different labels on 6,000 inputs"):
        Classifier().fit(rows, list(range(6000)))


def test_candidates_count_too() -> None:
    sets = [[{word, word + "x"} for word in x] for x in WORDS[:400]]
    with pytest.raises(DataError, match="16,000 different labels on 16,000 tokens"):
        Tagger(learner="cllp").fit(candidates(WORDS[:400], sets))


@pytest.mark.parametrize("estimator", [Tagger(), SegmentTagger(max_length=2)])
def test_labels_beside_gold_count_before_anything_is_tried(estimator) -> None:
    few = gold(WORDS[:12], [["A", "B"] * 10] * 12)
    before = peak()
    with pytest.raises(DataError, match="4,002 different labels on 4,240 tokens; is the label the last column"):
        estimator.fit([*few, *partial(WORDS[:200], WORDS[:200])])
    assert peak() - before < 500e6


def test_the_command_line_says_so(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("".join("".join(f"N {word}\n" for word in x) + "\n" for x in WORDS[:200]))
    found = CliRunner().invoke(app, ["train", "--gold", str(path), "--out", str(tmp_path / "model")])
    assert found.exit_code == 2
    assert found.stderr.splitlines()[-1].startswith("error: 4,000 different labels on 4,000 tokens; is the label the ")
    assert not (tmp_path / "model").exists()


def test_labels_that_are_given_are_taken() -> None:
    names = [f"class {k}" for k in range(1200)]
    fitted = Classifier(labels=names, learner="perceptron", max_rounds=1).fit(
        [{f"w{k}": 1} for k in range(1200)], names
    )
    assert len(fitted.classes_) == 1200


def test_labels_that_are_given_and_too_many_are_refused_before_they_take_memory() -> None:
    before = peak()
    with pytest.raises(DataError, match="are more than 2,147,483,647 weights"):
        Tagger(labels=[f"label {k}" for k in range(100_000)]).fit([["a", "b"]], [["label 1", "label 2"]])
    assert peak() - before < 500e6


def test_labels_that_are_met_often_are_taken() -> None:
    names = [f"class {k % 1100}" for k in range(2200)]
    fitted = Classifier(learner="perceptron", max_rounds=1).fit([{f"w{k % 1100}": 1} for k in range(2200)], names)
    assert len(fitted.classes_) == 1100


def test_memory_grows_with_the_square_of_labels_and_with_features() -> None:
    check_layout(Layout(1000, 0), memory=25_000_000)
    with pytest.raises(DataError, match=r"1,100 labels and 0 features need about 0\.0 GB"):
        check_layout(Layout(1100, 0), memory=25_000_000)
    with pytest.raises(DataError, match=r"10 labels and 1,000,000 features need about 0\.2 GB, and there are 0\.1"):
        check_layout(Layout(10, 1_000_000), memory=100_000_000)
    with pytest.raises(DataError, match="10 labels and 1,000,000 features"):
        check_memory(SegmentLayout(Layout(10, 400_000), 600_000).size, 10, 1_000_000, memory=100_000_000)
