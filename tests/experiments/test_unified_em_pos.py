"""The experiment of unified EM: its rows, and a small run of it."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.jlis.unsupervised import CE, EM, Dictionary, UnsupervisedRun
from sidelight.experiments.jlis.unsupervised import fit as fit_unsupervised
from sidelight.experiments.uem.unified_em_pos import AT_START, START, TemperatureStudy, TemperatureTask, fit, rows_of

TAGS = {"the": ["D"], "dog": ["N"], "cat": ["N"], "runs": ["N", "V"], "sees": ["N", "V"], "a": ["D"], "red": ["A", "N"]}


def sentences(seed: int, count: int) -> LabelledExamples:
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(count):
        noun = ["dog", "cat"][rng.integers(2)]
        verb = ["runs", "sees"][rng.integers(2)]
        red = bool(rng.integers(2))
        xs.append([["the", "a"][rng.integers(2)], *(["red"] * red), noun, verb])
        ys.append(["D", *(["A"] * red), "N", "V"])
    return LabelledExamples(xs, ys)


@pytest.fixture
def study() -> TemperatureStudy:
    return TemperatureStudy(Dictionary(sentences(0, 60), TAGS, ["A", "D", "N", "V"]), sentences(1, 20))


def test_a_good_start_is_kept(study):
    assert fit(study, TemperatureTask(10, AT_START, 0)) > 90
    for gamma in (1.0, 0.5, 0.0):
        assert fit(study, TemperatureTask(10, gamma, 0)) > 90


def test_a_uniform_start_needs_no_labels(study):
    for gamma in (1.0, 0.0):
        found = fit(study, TemperatureTask(0, gamma, 0))
        assert found == fit(study, TemperatureTask(0, gamma, 0))
        assert 0 <= found <= 100


def test_rows_have_what_the_figure_shows():
    rows = rows_of(5, {AT_START: [70.0, 70.0], 1.0: [80.0, 60.0], 0.5: [88.0, 66.0]})
    found = {(row["method"], row["metric"]): row["value"] for row in rows}
    assert found[START, "accuracy"] == 70.0
    assert found["gamma 0.5", "relative"] == pytest.approx(10.0)
    assert found["best", "gamma"] == 0.5
    assert ("gamma 1", "relative") not in found


@pytest.mark.parametrize("method", [EM, CE])
def test_em_and_contrastive_estimation_stand_beside_jlis(study, method):
    found = fit_unsupervised(study.dictionary, UnsupervisedRun(0, method=method))
    assert 0 <= found.accuracy <= 100 and np.isfinite(found.objective)
