"""The experiment on ways of inference with rules: exact methods agree, and rows say what happened."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.experiments.ccm.citation_rules import FIELDS, citation_rules
from sidelight.experiments.ccm.constrained_inference import Trial, methods, problems_of, rows_of, trials
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.jlis.citations import Citations
from sidelight.inference.problem import Solution


def references(seed: int, count: int) -> LabelledExamples:
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(count):
        x = [["smith", "jones"][rng.integers(2)], ".", ["light", "motion"][rng.integers(2)], "waves", ".", "1994", "."]
        xs.append(x)
        ys.append(["author", "author", "title", "title", "title", "date", "date"])
    return LabelledExamples(xs, ys)


@pytest.fixture(scope="module")
def corpus() -> Citations:
    return Citations(references(0, 6), references(1, 2), references(2, 4), [], list(FIELDS))


@pytest.mark.parametrize("hard", [False, True])
def test_exact_methods_agree(corpus, hard):
    rules = list(citation_rules()) if hard else [rule.soft() for rule in citation_rules()]
    problems, test = problems_of(corpus, size=6, rules=rules, references=3)
    done = {name: trials(problems, method) for name, method in methods().items()}
    rows = rows_of("here", done, test, corpus.labels)
    figures = {(row["method"], row["metric"]): row["value"] for row in rows}
    for name in ("automatic", "dynamic programming", "A*", "the integer program"):
        assert figures[name, "exact"] == figures[name, "best"] == figures[name, "legal"] == 100.0
        assert figures[name, "behind"] == pytest.approx(0.0, abs=1e-6)
    assert figures["automatic", "accuracy"] > 60.0


def test_rows_count_only_what_some_method_can_solve():
    def found(value: float, exact: bool) -> Trial:
        return Trial(Solution((0, 1), value, value, exact, "some"), 0.002)

    none = Trial(None, 0.004)
    done = {"good": [found(3.0, True), found(1.0, True), none], "bad": [found(2.0, False), none, none]}
    test = LabelledExamples([["a", "b"]] * 3, [["X", "Y"]] * 3)
    figures = {(row["method"], row["metric"]): row["value"] for row in rows_of("s", done, test, ["X", "Y"])}
    assert figures["good", "accuracy"] == 100.0 and figures["good", "legal"] == 100.0
    assert figures["bad", "accuracy"] == 50.0
    assert figures["bad", "legal"] == 50.0 and figures["bad", "best"] == 0.0 and figures["bad", "behind"] == 1.0
    assert figures["bad", "ms"] == pytest.approx(3.0)
