"""`sidelight reproduce sl-artificial` and `sl-relations`, on small data."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.data.relations import EntitySentence, Extraction, write_relations
from sidelight.errors import DataError
from sidelight.experiments import reproduce
from sidelight.experiments.sl import artificial, relations


def test_examples_have_the_best_legal_output():
    rng = np.random.default_rng(0)
    problem = artificial.drawn_problem(rng, 20)
    xs, ys = artificial.drawn_examples(problem, 30, rng)
    illegal = {tuple(one) for one in problem.illegal.tolist()}
    assert len(illegal) == 20
    for x, y in zip(xs, ys):
        label = tuple(y[kind][0] for kind in artificial.KINDS)
        local = (problem.weights * x).sum(axis=1)
        every = [tuple(int(b) for b in f"{k:05b}") for k in range(32)]
        best = max((o for o in every if o not in illegal), key=lambda o: sum((2 * b - 1) * s for b, s in zip(o, local)))
        assert label == best
    assert np.abs(problem.weights).max(axis=1) == pytest.approx([16, 8, 4, 2, 1], rel=0.1)


def test_rows_of_generated_data(tmp_path, monkeypatch):
    monkeypatch.setattr(artificial, "SIZES", (20, 40))
    monkeypatch.setattr(artificial, "ILLEGAL", (28,))
    monkeypatch.setattr(artificial, "FIXED", 40)
    monkeypatch.setattr(artificial, "PASSES", (2,))
    monkeypatch.setattr(artificial, "TEST", 50)
    monkeypatch.setattr(artificial, "DRAWS", 2)
    rows = reproduce("sl-artificial", data=tmp_path, n_jobs=1, report=lambda line: None)
    assert {row["setting"] for row in rows} == {"20 examples", "40 examples", "40 examples, 28 illegal outputs"}
    accuracy = {
        row["method"]: row["value"] for row in rows if row["metric"] == "accuracy" and "illegal" in row["setting"]
    }
    assert set(accuracy) == set(artificial.METHODS) and all(50.0 < value <= 100.0 for value in accuracy.values())
    assert [row["draws"] for row in rows if row["metric"] == "difference"] == [2] * 6


def test_rows_of_a_small_corpus(tmp_path, monkeypatch):
    folder = tmp_path / "conll04"
    folder.mkdir()
    xs, ys = [], []
    for k in range(20):
        people, place = f"P{k % 5}", f"L{k % 3}"
        spans = ((0, 1), (3, 4), (4, 5))
        xs.append(EntitySentence((people, "lives" if k % 2 else "slept", "in", place, "1994"), spans))
        ys.append(Extraction(("Peop", "Loc", "Other"), ((0, 1, "Live_In"), (1, 0, "Located_In"))[: k % 2]))
    for part in relations.PARTS:
        write_relations(folder / f"{part}.jsonl", xs, ys)
    monkeypatch.setattr(relations, "TRAIN", 30)
    monkeypatch.setattr(relations, "DEV", 15)
    monkeypatch.setattr(relations, "DRAWS", 2)
    monkeypatch.setattr(relations, "MARGINS", ((5.0, 1.0),))
    monkeypatch.setattr(relations, "PASSES", (5,))
    told: list[str] = []
    rows = reproduce("sl-relations", data=tmp_path, n_jobs=1, report=told.append, choose={"features": "paper"})
    f1 = {row["method"]: row["value"] for row in rows if row["metric"] == "relation F1"}
    assert {
        "LO",
        "L+I",
        "IBT",
        "SL",
        "SL, bias",
        "SL, 14 classifiers",
        relations.HELD_OUT,
        *relations.SHUFFLES,
    } <= set(f1)
    assert all(f1[name] == 100.0 for name in ("L+I", "IBT", "SL"))
    assert any("order entity" in line or "order relation" in line for line in told)
    orders = [line.partition(", order ")[2].split(", ") for line in told if ", order " in line]
    assert len(orders[:4]) == 4 and len({tuple(sorted(own)) for own in orders[:4]}) == 1  # by updates, and by errors
    orders = orders[4:]
    assert len(orders) == 2 * len(relations.SHUFFLES)
    for split in (0, 1):
        shuffled = orders[split::2]
        types = [[place for place, name in enumerate(own) if name.startswith("entity")] for own in shuffled]
        assert len({tuple(own) for own in shuffled}) > 1 and types == [types[0]] * len(types)
        assert len({tuple(sorted(own)) for own in shuffled}) == 1
    tried: list[tuple[int, float]] = []
    plain = relations.SequentialLearner

    def noted(*given, passes, margin, **options):
        tried.append((passes, margin["relation"]))
        return plain(*given, passes=passes, margin=margin, **options)

    monkeypatch.setattr(relations, "PASSES", (2, 3))
    monkeypatch.setattr(relations, "MARGINS", ((5.0, 1.0), (5.0, 2.0)))
    monkeypatch.setattr(relations, "SequentialLearner", noted)
    some = {"features": "paper", "draws": "1", "fits": "IBT, 14 classifiers"}
    every = [(2, 1.0), (2, 2.0), (3, 1.0), (3, 2.0)]
    for more, expected in (({}, every), ({"passes": "3"}, every[2:]), ({"margins": "(5.0, 2.0)"}, every[1::2])):
        reproduce("sl-relations", data=tmp_path, n_jobs=1, report=told.append, choose=some | more)
        assert tried == expected
        tried.clear()
    with pytest.raises(DataError, match="choose features=paper;rich, or some of it"):
        reproduce("sl-relations", data=tmp_path, n_jobs=1, report=told.append, choose={"features": "poor"})


def test_of_two_relations_of_a_pair_the_first_is_kept(tmp_path):
    x = EntitySentence(("Ann", "Oslo"), ((0, 1), (1, 2)))
    for part in relations.PARTS:
        y = Extraction(("Peop", "Loc"), ((0, 1, "Kill"), (0, 1, "Live_In")))
        write_relations(tmp_path / f"{part}.jsonl", [x], [y])
    assert relations.read_examples(tmp_path) == [(x, Extraction(("Peop", "Loc"), ((0, 1, "Kill"),)))] * 3
