"""What workers answer is what this process answers: outputs of all structures, decisions, warnings and errors."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import placed_fits
import sidelight as sl
from sidelight.cli import app
from sidelight.data import write_columns
from sidelight.errors import DataError, Infeasible, NotProved, UnknownFeatures
from sidelight.estimators.placed_prediction import predict_in
from sidelight.parallel.place import ThreadPlace
from sidelight.rules import every, implies, rule

KINDS = {"who": ["person", "place"], "link": ["none", "lives_in"]}
PAIRS = [[*pair, other] for pair in product(("Ann", "Bob", "Rome"), ("in", "saw")) for other in ("Oslo", "Kim")]
RULES = """
from sidelight.rules import every, rule

WRONG = "A"


def others(x, y):
    return every(y[t] != WRONG for t in x.positions)


@rule
def none(x, y):
    return others(x, y)
"""


def run(*arguments: object, code: int = 0) -> str:
    found = CliRunner().invoke(app, [str(one) for one in arguments], prog_name="sidelight")
    assert found.exit_code == code, found.output
    return str(found.output)


def made_rules():
    """Rules that are sent as they are: workers cannot import this file."""

    @rule
    def typed(x, y):
        """Who lives in what is a person, and what a place."""
        return every(
            implies(r == "lives_in", every(y.who[a] == "person", y.who[b] == "place")) for (a, b), r in y.link.items()
        )

    @rule
    def no_kim(x, y):
        """Nobody is called Kim: a rule that is written wrong, but harms no other input."""
        return every(x[key] != "Kim" or label.nickname for key, label in y.who.items())

    @rule
    def short(x, y):
        """Long inputs have no output at all."""
        return every(y[t] == "A" for t in x.positions) if len(x.words) < 8 else every(y[0] == "A", y[0] == "B")

    return typed, no_kim, short


TYPED, NO_KIM, SHORT = made_rules()


def joint(rules=(), **options) -> sl.Joint:
    return sl.Joint(
        KINDS,
        rules,
        variables=lambda x: {"who": [0, 2], "link": [(0, 2)]},
        features=lambda x, kind, key: {"word": x[key]} if kind == "who" else {"between": x[1]},
        n_jobs=1,
        **options,
    )


def test_programs_of_joint_decisions_are_solved_by_workers(workers):
    places = ("Rome", "Oslo")
    ys = [
        {
            "who": {key: "place" if x[key] in places else "person" for key in (0, 2)},
            "link": {(0, 2): "lives_in" if x[0] not in places and x[1] == "in" and x[2] in places else "none"},
        }
        for x in PAIRS
    ]
    here = joint([TYPED], inference="ilp").fit(PAIRS, ys)
    there = joint([TYPED], inference="ilp", place=workers).fit(PAIRS, ys)
    workers.figures()
    assert there.solutions(PAIRS) == here.solutions(PAIRS)
    assert workers.figures().shards > 4
    told = []
    for one in (here, there):
        one.rules, one.penalties = (NO_KIM,), [None]
        with pytest.raises(DataError) as found:
            one.predict(PAIRS)
        told.append(str(found.value))
    assert told[0] == told[1]


@pytest.mark.parametrize("name", ["tree", "graph"])
def test_structures_on_the_command_line(name, workers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("generate", name, "--out", name, "--count", 8, "--seed", 1)
    (ending,) = {path.suffix for path in Path(name).iterdir()}
    files = {part: f"{name}/{part}{ending}" for part in ("gold", "good", "bad", "test", "answers")}
    given = ("--gold", files["gold"], "--good", files["good"], "--bad", files["bad"], "--set", "bits=10")
    run("train", "--structure", name, *given, "--max-rounds", 3, "--jobs", 1, "--out", "m")
    for command in (
        ("predict", "m", files["test"]),
        ("evaluate", "m", files["test"]),
        ("evaluate", "m", files["answers"], "--by", "answers"),
        ("judge", "m", files["answers"]),
        ("rank", "m", files["answers"]),
    ):
        workers.figures()
        assert run(*command, "--place", "ray") == run(*command)
        assert workers.figures().shards > 2


def test_decisions_are_made_by_workers(workers):
    tagger = sl.Tagger(learner="lclr", labels=["A", "B"], n_jobs=1, max_rounds=2).fit(placed_fits.ANSWERS)
    here = tagger.judge(placed_fits.XS)
    assert np.array_equal(tagger.set_params(place=workers).judge(placed_fits.XS), here)
    sized = sl.Tagger(learner="lclr", labels=["A", "B"], n_jobs=1, max_rounds=2, size=len).fit(placed_fits.ANSWERS)
    here = sized.judge(placed_fits.XS)
    assert np.array_equal(sized.set_params(place=workers).judge(placed_fits.XS), here)


def test_errors_are_those_of_the_first_input_by_its_own_number(workers, monkeypatch):
    monkeypatch.setattr("sidelight.parallel.place.LOT", 8)
    tagger = sl.Tagger(learner="perceptron", n_jobs=1).fit(placed_fits.GOLD)
    xs = [x[:7] for x in placed_fits.XS[:60]]
    xs[37] = xs[53] = placed_fits.WORDS[:9]
    told = []
    for place in (None, workers):
        with pytest.raises(Infeasible) as found:
            tagger.set_params(place=place).predict(xs, rules=[SHORT])
        told.append((str(found.value), found.value.example))
    assert told[0] == told[1] and told[0][1] == 37
    xs[41] = []
    said = []
    for place in (None, workers):
        with pytest.raises(DataError) as wrong:
            tagger.set_params(place=place).predict(xs)
        said.append(str(wrong.value))
    assert said[0] == said[1] and "41" in said[0]


@dataclass(frozen=True)
class Elsewhere(ThreadPlace):
    """This process, as if it were others."""

    remote = True


class Unsure:
    """A model that proves every other output to be the best."""

    structure = None

    def answers(self, xs, *, n_jobs):
        return xs, np.array([x % 2 == 0 for x in xs])


def test_outputs_that_are_not_proved_are_told_of_once():
    with pytest.warns(NotProved, match="20 of 40 outputs are not proved best") as given:
        assert predict_in(Elsewhere(), Unsure(), list(range(40))) == list(range(40))
    assert len(given) == 1


def test_rules_of_a_file_go_to_workers(workers, tmp_path):
    gold, rules = tmp_path / "gold.txt", tmp_path / "rules.py"
    gold.write_text(write_columns(placed_fits.XS, placed_fits.YS), encoding="utf-8")
    rules.write_text(RULES)
    run("train", "--gold", gold, "--learner", "perceptron", "--jobs", 1, "--out", tmp_path / "m")
    told = ("predict", tmp_path / "m", gold, "--labelled", "--rules", rules)
    here = run(*told)
    assert run(*told, "--place", "ray") == here != run(*told[:4])
    assert {line.split("\t")[-1] for line in here.splitlines() if line} <= set("BCO")


def test_warnings_of_workers_are_given_here(workers):
    words = sl.features.words()
    tagger = sl.Tagger(learner="perceptron", features=words, bias=False, n_jobs=1).fit(placed_fits.GOLD)
    strange = [["strange", "words"] * 5] * 40
    for place in (None, workers):
        with pytest.warns(UnknownFeatures) as given:
            tagger.set_params(place=place).predict(strange)
        assert len(given) == 1
    ruled = placed_fits.HARD
    texts = []
    for place in (None, workers):
        tagger.set_params(place=place, inference="beam")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tagger.predict(placed_fits.XS, rules=ruled)
        texts.append([str(one.message) for one in told if issubclass(one.category, NotProved)])
    assert texts[0] == texts[1]
    assert all(re.match(r"[\d,]+ of 120 outputs", text) for text in texts[0])
