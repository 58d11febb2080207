"""The rules about references: the corpus mostly obeys them, and exact methods agree under them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sidelight.experiments.ccm.citation_rules import FIELDS, citation_rules
from sidelight.experiments.draws import labels_of, read_words
from sidelight.inference.rule_set import RuleSet, TransitionScores
from sidelight.rules import Sentence

DATA = os.environ.get("SIDELIGHT_DATA")


def test_there_are_the_twelve_of_the_table():
    rules = citation_rules()
    assert len(rules) == 12 and all(rule.hard for rule in rules)
    x = Sentence(["C", ".", "Jones", "editors", ".", "Tech", "report", ",", "pages", "3", ",", "1994", "."])
    wrong = ["title"] * len(x)
    broken = {rule.name: rule.violations(x, wrong) for rule in rules}
    assert broken == dict.fromkeys(broken, 0) | {"Start": 1, "Editors": 1, "TechReport": 1, "Pages": 1, "Date": 1}


@pytest.mark.skipif(DATA is None, reason="SIDELIGHT_DATA is not set")
def test_the_corpus_mostly_obeys_them():
    train = read_words(Path(str(DATA)) / "citations" / "codl_train.tsv")
    assert tuple(labels_of(train)) == FIELDS
    for rule in citation_rules():
        broken = sum(rule.violations(Sentence(x), y) > 0 for x, y in zip(train.xs, train.ys))
        assert broken < 0.2 * len(train.xs), rule.name


@pytest.mark.skipif(DATA is None, reason="SIDELIGHT_DATA is not set")
def test_exact_methods_agree_on_references():
    train = read_words(Path(str(DATA)) / "citations" / "codl_train.tsv")
    rng = np.random.default_rng(0)
    size = len(FIELDS)
    scores = TransitionScores(2 * np.eye(size) + rng.normal(size=(size, size)), rng.normal(size=size), np.zeros(size))
    rules = RuleSet([rule.soft(2.0) for rule in citation_rules()], FIELDS)
    xs = [Sentence(x) for x in train.xs[:6]]
    tokens = [1.5 * rng.normal(size=(len(x), size)) for x in xs]
    found = rules.decode(xs, tokens, scores)
    assert all(one.exact for one in found) and "dynamic programming" in {one.method for one in found}
    for method in ("dynamic", "a_star"):
        other = rules.decode(xs[:3], tokens[:3], scores, method=method)
        for one, two in zip(found, other):
            assert one.value == pytest.approx(two.value) and two.exact
