"""Rules through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

GOLD = "Light\tN\nshines\tV\n\nDogs\tN\nbark\tV\nloud\tA\n\n"
POOL = "Dogs\nbark\nshines\n\nLight\nbark\n\n"
RULES = """from sidelight.rules import count, gallery, rule

@rule
def one_verb(x, y):
    return count(y[t] == "V" for t in x.positions) == 1

start = gallery.starts_with("N").soft()
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("gold.txt", GOLD), ("pool.txt", POOL), ("mine.py", RULES)):
        (tmp_path / name).write_text(text)
    return tmp_path


def _train(run, *more: str) -> None:
    run("train", "--gold", "gold.txt", "--features", "words", "--out", "m.sidelight", "--quiet", *more)


def test_rules_bear_on_predictions_of_a_model_that_never_saw_them(run, files):
    _train(run)
    (files / "hard.py").write_text("from sidelight.rules import gallery\nfew = gallery.at_most(1, 'V')\n")
    verbs = [
        run("predict", "m.sidelight", "pool.txt", *rules).out.count("\tV") for rules in ((), ("--rules", "hard.py"))
    ]
    assert verbs == [3, 2]


@pytest.mark.parametrize("learner", ["codl", "posterior_regularization", "structural_svm", "semi_crf"])
def test_training_with_rules_keeps_learned_penalties_for_prediction(run, files, learner):
    more = () if learner in ("structural_svm", "semi_crf") else ("--unlabeled", "pool.txt")
    _train(run, "--rules", "mine.py", "--learner", learner, *more)
    out = run("predict", "m.sidelight", "pool.txt", "--rules", "mine.py", "--inference", "ilp").out
    assert [sentence.count("\tV") for sentence in out.strip().split("\n\n")] == [1, 1]


def test_evaluate_with_and_without_rules_and_explain_them(run, files):
    _train(run, "--rules", "mine.py")
    found = run("evaluate", "m.sidelight", "gold.txt", "--rules", "mine.py", "--against", "m.sidelight").out
    assert found.count("accuracy: 100.00%") == 2
    shown = run("explain", "m.sidelight", "--text", "Dogs bark shines", "--rules", "mine.py").out
    assert "one_verb" in shown and "start" in shown


def test_rules_over_a_model_of_segments(run, files):
    _train(run, "--rules", "mine.py", "--learner", "semi_crf")
    found = run("evaluate", "m.sidelight", "gold.txt", "--rules", "mine.py", "--against", "m.sidelight").out
    assert "accuracy:" in found
    asked = "explain", "m.sidelight", "--text", "Dogs bark shines"
    shown = run(*asked, "--rules", "mine.py", "--inference", "dynamic").out
    assert "one_verb" in shown and "start" in shown and "dynamic programming" in shown
    assert "the weights of a segmenter are not explained; give --rules" in run(*asked, code=2).err
    (files / "mine.py").write_text("from sidelight.rules import gallery\nmany = gallery.at_least(4, 'V')\n")
    assert (
        "no output obeys the rule at_least_4_V"
        in run("predict", "m.sidelight", "pool.txt", "--rules", "mine.py", code=2).err
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = (", "mine.py:1: '(' was never closed; correct the syntax"),
        ("x = 1\n", "mine.py: the file has no rules; put @rule above a function of x and y"),
        (
            RULES.replace('"V"', '"VERB"'),
            "mine.py:5: the rule one_verb: there is no label 'VERB'; the labels are A, N, V",
        ),
        (RULES.replace("x.positions", "x.places"), "mine.py:5: the rule one_verb on example 0: AttributeError"),
        (RULES.replace('count(y[t] == "V" for t in x.positions) == 1', 'y[0] == "V" and y[1] == "N"'), "use every("),
    ],
)
def test_bad_rules_end_with_one_line(run, files, text, line):
    _train(run)
    (files / "mine.py").write_text(text.split("start =")[0])
    found = run("predict", "m.sidelight", "pool.txt", "--rules", "mine.py", code=2)
    assert line in found.err and found.err.count("\n") == 1
    if "no label" not in line:
        return
    before = (files / "m.sidelight").read_bytes()
    found = run("train", "--gold", "gold.txt", "--rules", "mine.py", "--out", "m.sidelight", code=2)
    assert "there is no label 'VERB'" in found.err and (files / "m.sidelight").read_bytes() == before


def test_no_legal_output_names_the_rules(run, files):
    _train(run)
    none = "none = gallery.at_most(0, 'V', name='none')\n"
    both = f"from sidelight.rules import gallery\n{none}one = gallery.at_least(1, 'V', name='one')\n"
    (files / "mine.py").write_text(both)
    found = run("predict", "m.sidelight", "pool.txt", "--rules", "mine.py", code=2)
    assert "no output obeys the rules none and one together" in found.err
