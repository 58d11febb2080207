"""What a training may surprise with is said in one line on the standard error, and not with --quiet."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sidelight.learners import all_labelings
from sidelight.models.model_file import load_model
from sidelight.recipes import LEARNERS

Run = Callable[..., Any]
PLAIN = {name: learner().plain_form for name, learner in LEARNERS.items() if learner().plain_form}

GOLD = "Light\tN\nshines\tV\n\nDogs\tN\nbark\tV\nloud\tA\n\n"
POOL = "Dogs\nbark\nshines\n\nLight\nbark\n\n"
CANDIDATES = GOLD.replace("shines\tV", "shines\tV|A")
RULES = "from sidelight.rules import gallery\nfew = gallery.at_most(1, 'V')\n"


@pytest.fixture(autouse=True)
def _files(_plain: None) -> None:
    for name, text in (("gold.txt", GOLD), ("pool.txt", POOL), ("some.txt", CANDIDATES), ("mine.py", RULES)):
        Path(name).write_text(text)


def trained(run: Run, learner: str, *more: object) -> tuple[str, np.ndarray]:
    """The notes on a training, and the weights."""
    found = run("train", "--gold", "gold.txt", "--learner", learner, "--out", "m", *more)
    return found.err, load_model("m").weights


@pytest.mark.parametrize(("learner", "plain"), PLAIN.items())
def test_labelled_inputs_alone_make_a_plain_model(run: Run, learner: str, plain: str) -> None:
    said, weights = trained(run, learner)
    assert said.startswith(f"note: {learner} with labelled inputs alone is plain {plain}; add --")
    assert said.count("\n") == 1
    assert np.allclose(weights, trained(run, plain)[1], rtol=1e-3, atol=1e-3)
    assert trained(run, learner, "--quiet")[0] == ""
    assert trained(run, plain)[0] == ""


@pytest.mark.parametrize("learner", PLAIN)
def test_other_evidence_makes_another_model(run: Run, learner: str) -> None:
    assert "labelled inputs alone" not in trained(run, learner, "--candidates", "some.txt")[0]
    assert "labelled inputs alone" not in trained(run, learner, "--unlabeled", "pool.txt")[0]


@pytest.mark.parametrize("learner", ["em", "latent_svm", "partial_crf"])
def test_hidden_states_make_another_model(run: Run, learner: str) -> None:
    assert trained(run, learner, "--states", 2)[0] == ""
    assert "is plain" in trained(run, learner, "--states", 1)[0]


@pytest.mark.parametrize("learner", ["codl", "posterior_regularization"])
def test_learners_of_rules_miss_them(run: Run, learner: str) -> None:
    pool = "--unlabeled", "pool.txt"
    said = f"note: {learner} without rules learns from its own guesses alone; --rules FILE.py says what outputs obey\n"
    assert trained(run, learner, *pool)[0] == said
    assert trained(run, learner, *pool, "--rules", "mine.py")[0] == ""
    assert trained(run, learner)[0].endswith("add --unlabeled FILE and --rules FILE.py\n")
    assert trained(run, learner, "--rules", "mine.py")[0].endswith("add --unlabeled FILE\n")


def test_rules_that_are_not_learned_from_are_noted(run: Run) -> None:
    rules = "--rules", "mine.py"
    said = "note: with hard_em rules bear on predictions alone; codl and posterior_regularization learn from them\n"
    assert trained(run, "hard_em", "--unlabeled", "pool.txt", *rules)[0] == said
    assert trained(run, "hard_em", "--unlabeled", "pool.txt")[0] == ""
    assert trained(run, "structural_svm", *rules)[0] == ""


def test_the_base_of_a_learner_of_rules_is_named(run: Run) -> None:
    for base in ("crf", "structural_svm"):
        said, weights = trained(run, "codl", "--set", f"base={base}")
        assert f"is plain {base}; add" in said
        assert np.allclose(weights, trained(run, base)[1], rtol=1e-3, atol=1e-3)


def test_a_model_without_features_is_noted(run: Run) -> None:
    said, _ = trained(run, "jlis", "--min-count", 1000)
    assert said == (
        "note: the model has no features and looks at no input, as none was seen 1,000 times; lower --min-count\n"
    )
    assert trained(run, "jlis", "--min-count", 2)[0] == ""


@pytest.mark.parametrize("learner", ["cllp", "mms"])
def test_learners_with_a_precision_of_their_own_have_no_gap(run: Run, learner: str) -> None:
    out = run("train", "--candidates", "some.txt", "--learner", learner, "--out", "m").out
    assert "gap" not in out and "\nstopped    at its precision: " in out
    out = run("train", "--candidates", "some.txt", "--learner", learner, "--max-rounds", 1, "--out", "m").out
    assert "gap" not in out and "\nstopped    by --max-rounds\n" in out
    assert "\ngap " in run("train", "--candidates", "some.txt", "--learner", "jlis", "--out", "m").out


@pytest.mark.parametrize(
    ("learner", "why"),
    [
        ("structural_svm", "the duality gap is small enough"),
        ("transductive_svm", "a completion changes nothing"),
        ("self_training", "nothing left to label"),
        ("crf", "the "),
        ("mira", "no example required a step"),
        ("semi_crf", "the gradient is small enough"),
    ],
)
def test_why_training_ended_is_always_said(run: Run, learner: str, why: str) -> None:
    pool = ("--unlabeled", "pool.txt") if learner in ("self_training", "transductive_svm") else ()
    given = "train", "--gold", "gold.txt", *pool, "--learner", learner, "--out", "m"
    assert f"\nstopped    {why}" in run(*given, "--max-rounds", 500).out
    assert "\nstopped    by --max-rounds\n" in run(*given, "--max-rounds", 1, "--tolerance", 0).out


def test_of_several_restarts_the_kept_one_is_reported(run: Run) -> None:
    gold = "".join(f"{w}\t{t}\n{v}\tV\n\n" for w, t, v in zip("abcdefgh", "NAANNANA", "klmnklmn"))
    Path("gold.txt").write_text(gold)
    states = "--learner", "latent_svm", "--states", 3, "--set", "restarts=6", "--features", "words"
    out = run("train", "--gold", "gold.txt", *states, "--max-rounds", 40, "--history", "h.jsonl", "--out", "m").out
    rounds = [json.loads(line) for line in Path("h.jsonl").read_text().splitlines()]
    finals = {record["restart"]: record["objective"] for record in rounds}
    assert len(set(finals.values())) > 1 and len(rounds) > 40
    kept = min(finals, key=lambda number: (finals[number], number))
    assert f"\nkept       restart {kept + 1} of 6\nobjective  {finals[kept]:.6g}\n" in out
    assert "by --max-rounds" not in out


def test_rules_are_no_part_of_the_model_file(run: Run) -> None:
    given = "train", "--gold", "gold.txt", "--out", "m"
    said = "\nrules      1, not in the model file: give --rules again to predict under them\n"
    assert said in run(*given, "--rules", "mine.py").out
    assert said in run(*given, "--rules", "mine.py", "--learner", "semi_crf").out
    assert "rules" not in run(*given).out


def test_a_long_training_is_foretold_in_a_note(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_labelings, "LONG", 0.0)
    Path("many.txt").write_text("a N|V\nb N|V\nc N|V\nd N|V\ne N|V\n\n" * 70)
    command = ("train", "--candidates", "many.txt", "--learner", "cl_svm", "--out", "m", "--max-rounds", 1)
    said = run(*command).err
    assert said.startswith("note: cl_svm trains on 2,240 labelings with 11,200 tokens; by a sample of them it takes")
    assert said.endswith("; cllp needs no copies; Ctrl-C stops it\n") and said.count("\n") == 1
    assert run(*command, "--quiet").err == ""
