"""Rules through the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sidelight.models.model_file import load_model, save_model

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
    chosen = () if "--learner" in more else ("--learner", "jlis")
    run("train", "--gold", "gold.txt", "--features", "words", "--out", "m.sidelight", "--quiet", *chosen, *more)


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


def test_outputs_that_are_not_proved_best_are_counted(run, files):
    _train(run)
    (files / "odd.py").write_text(
        "from sidelight.rules import count, rule, some\n\n@rule(penalty=0.1)\ndef odd(x, y):\n"
        "    verbs = count(y[t] == 'V' for t in x.positions)\n    return some(verbs == 1, verbs == 3)\n"
    )
    (files / "all.txt").write_text("Dogs\tN\nbark\tV\nshines\tV\n\nLight\tN\nbark\tV\n\n")
    for command, file in (("predict", "pool.txt"), ("evaluate", "all.txt")):
        found = run(command, "m.sidelight", file, "--rules", "odd.py", "--inference", "lp")
        said = "note: 1 of 2 outputs is not proved best (linear relaxation); --inference auto is exact"
        assert found.err.strip() == said
        assert run(command, "m.sidelight", file, "--rules", "odd.py").err == ""


@pytest.mark.parametrize("learner", ["structural_svm", "semi_crf"])
def test_explain_shows_what_predict_gives_under_rules(run, files, learner):
    _train(run, "--learner", learner)
    (files / "mine.py").write_text("from sidelight.rules import gallery\nnone = gallery.at_most(0, 'V')\n")
    (files / "one.txt").write_text("Dogs\nbark\nshines\n")
    labels = {}
    for rules in ((), ("--rules", "mine.py")):
        out = run("predict", "m.sidelight", "one.txt", *rules).out
        labels[bool(rules)] = [line.split("\t")[1] for line in out.strip().split("\n")]
    assert labels[True] != labels[False]
    shown = run("explain", "m.sidelight", "one.txt", "--rules", "mine.py").out.splitlines()
    assert shown[0].startswith("token   under rules  without rules")
    rows = [line.split()[1:3] for line in shown[1:4]]
    assert [list(column) for column in zip(*rows)] == [labels[True], labels[False]]


def test_explanations_in_json_have_the_labels_under_rules(run, files):
    _train(run)
    (files / "hard.py").write_text("from sidelight.rules import gallery\nfew = gallery.at_most(0, 'V')\n")
    asked = "explain", "m.sidelight", "--text", "Light shines", "--json", "e.json"
    assert run(*asked).out.startswith("token   predicted  runner-up\n")
    assert "under_rules" not in json.loads((files / "e.json").read_text())
    run(*asked, "--rules", "hard.py")
    found = json.loads((files / "e.json").read_text())
    assert "V" in found["predicted"] and "V" not in found["under_rules"]


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_inference_is_checked_with_and_without_rules(run, files, command):
    _train(run)
    for rules in ((), ("--rules", "mine.py")):
        found = run(command, "m.sidelight", "gold.txt", "--inference", "nonsense", *rules, code=2)
        assert found.err.startswith("error: --inference is 'nonsense'; there are auto, dynamic")
        assert found.err.count("\n") == 1 and found.out == ""
    found = run(command, "m.sidelight", "gold.txt", "--inference", "ilp", code=2)
    assert found.err == ("error: --inference needs rules; give --rules, or leave it out\n")


def test_inference_is_checked_before_training(run, files):
    train = "train", "--gold", "gold.txt", "--out", "m.sidelight"
    assert "--inference is 'nonsense'; there are auto" in run(*train, "--inference", "nonsense", code=2).err
    assert "give --rules, or leave it out" in run(*train, "--inference", "ilp", code=2).err


def _keep_names(path: Path, names: list[str] | None) -> None:
    """Writes the model again with the names of the rules that it was trained under, or without any."""
    model = load_model(path)
    about = {key: value for key, value in model.about.items() if key != "rules"}
    save_model(replace(model, about=about if names is None else {**about, "rules": names}), path)


def test_a_model_of_rules_says_so_where_there_are_none(run, files):
    _train(run)
    _keep_names(files / "m.sidelight", ["a", "b"])
    said = " was trained under the rules a, b; --rules FILE.py predicts under them\n"
    (files / "mine.py").write_text("from sidelight.rules import gallery\nfew = gallery.at_most(2, 'V')\n")
    for command in ("predict", "evaluate", "explain"):
        assert run(command, "m.sidelight", "gold.txt").err == f"note: the model{said}"
        assert run(command, "m.sidelight", "gold.txt", "--rules", "mine.py").err == ""
        assert run(command, "m.sidelight", "nowhere.txt", code=2).err.count("\n") == 1
    twice = "evaluate", "m.sidelight", "gold.txt", "--against"
    assert run(*twice, "m.sidelight", "--rules", "mine.py").err == ""
    assert run(*twice, "m.sidelight").err == f"note: the model{said}"
    (files / "other").write_bytes((files / "m.sidelight").read_bytes())
    assert run(*twice, "other").err == f"note: the model{said}note: the other model{said}"
    _keep_names(files / "m.sidelight", None)
    assert run("predict", "m.sidelight", "gold.txt").err == ""


def test_rules_over_a_model_of_segments(run, files):
    _train(run, "--rules", "mine.py", "--learner", "semi_crf")
    found = run("evaluate", "m.sidelight", "gold.txt", "--rules", "mine.py", "--against", "m.sidelight").out
    assert "accuracy:" in found
    asked = "explain", "m.sidelight", "--text", "Dogs bark shines"
    shown = run(*asked, "--rules", "mine.py", "--inference", "dynamic").out
    assert "one_verb" in shown and "start" in shown and "dynamic programming" in shown
    assert "without rules" in shown and "segment feature at" in shown
    run(*asked, "--json", "why.json")
    why = json.loads(Path("why.json").read_text())
    assert sum(item["amount"] for item in why["contributions"]) == pytest.approx(why["margin"])
    (files / "mine.py").write_text("from sidelight.rules import gallery\nmany = gallery.at_least(4, 'V')\n")
    assert (
        "no output obeys the rule at_least_4_V"
        in run("predict", "m.sidelight", "pool.txt", "--rules", "mine.py", code=2).err
    )


@pytest.mark.parametrize("base", ["semi_crf", "semi_svm"])
@pytest.mark.parametrize("beta", ["0.5", "none"])
def test_segments_are_learned_from_rules_and_unlabelled_inputs(run, files, base, beta):
    chosen = "--learner", "codl", "--set", f"base={base}", "--set", f"beta={beta}", "--set", "cycles=2"
    _train(run, "--rules", "mine.py", "--unlabeled", "pool.txt", "--history", "rounds.jsonl", *chosen)
    model = load_model(files / "m.sidelight")
    assert model.about["base"] == base and list(model.about["penalties"]) == ["start"]
    assert '"completion": 1, "changed": 2' in (files / "rounds.jsonl").read_text()
    out = run("predict", "m.sidelight", "pool.txt", "--rules", "mine.py").out
    assert [sentence.count("\tV") for sentence in out.strip().split("\n\n")] == [1, 1]
    assert "accuracy" in run("evaluate", "m.sidelight", "gold.txt", "--rules", "mine.py").out


def test_prices_of_codl_over_segments_are_chosen_on_a_file(run, files):
    more = "--learner", "codl", "--set", "base=semi_crf", "--unlabeled", "pool.txt", "--valid", "gold.txt"
    shown = run("train", "--gold", "gold.txt", *more, "--grid", "0.1,1", "--out", "m.sidelight").out
    assert "C1  accuracy" in shown and "*" in shown


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        (
            ("--class-weight", "balanced"),
            "codl over semi_crf knows no cost and no class_weight; give weights to the evidence",
        ),
        (("--order", "2"), "--order does not go with codl over semi_crf; leave it out"),
        (("--states", "2"), "--states does not go with codl over semi_crf; leave it out"),
        (
            ("--good", "pool.txt"),
            "evidence 2 (Companion): the learner codl learns from Gold, Partial, Candidates and Unlabeled",
        ),
        (("--set", "beta=2"), "beta is 2.0; give a number from 0 to 1"),
        (("--set", "max_length=3"), "codl has no option 'max_length'; its options are: base="),
    ],
)
def test_what_codl_over_segments_refuses(run, files, typed, line):
    chosen = "--learner", "codl", "--set", "base=semi_crf", "--unlabeled", "pool.txt"
    found = run("train", "--gold", "gold.txt", "--out", "m.sidelight", *chosen, *typed, code=2)
    assert line in found.err and found.err.count("\n") == 1 and not (files / "m.sidelight").exists()


def test_all_kinds_are_learned_from_and_single_inputs_are_refused_where_segments_are_learned(run, files):
    given = "train", "--gold", "gold.txt", "--unlabeled", "pool.txt", "--out", "m.sidelight", "--learner"
    assert "2 unlabeled" in run(*given, "semi_svm", "--checkpoint", "c", "--class-weight", "balanced").out
    assert "2 companion" in run(*given, "semi_crf", "--good", "pool.txt").out
    (files / "classes.jsonl").write_text('{"features": {"a": 1}, "label": "x"}\n{"features": {"b": 1}, "label": "y"}\n')
    found = run("train", "--gold", "classes.jsonl", "--learner", "semi_crf", "--out", "m.sidelight", code=2)
    assert "semi_crf labels segments of sequences, and these inputs are single; choose another learner" in found.err


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


FALSE = """

@rule
def all_verbs(x, y):
    return count(y[t] != "V" for t in x.positions) == 0
"""


def test_a_false_rule_is_left_out_by_the_commands_too(run, files):
    """`train` leaves a rule out that labels contradict; the same file in `predict` does not bring it back."""
    (files / "false.py").write_text(RULES + FALSE)
    (files / "both.txt").write_text(GOLD * 3)
    train = ("train", "--gold", "both.txt", "--features", "words", "--out", "m.sidelight", "--max-rounds", "10")
    told = run(*train, "--rules", "false.py").out
    assert "the rule all_verbs is broken by 6 of 6 labelled inputs: left out" in told
    assert "3 (left out: all_verbs), not in the model file: give --rules again to predict under them" in told
    under = ("m.sidelight", "pool.txt", "--rules")
    found = run("predict", *under, "false.py")
    assert "left out here as in training, since labelled inputs contradict them: the rules all_verbs" in found.err
    assert found.out == run("predict", *under, "mine.py").out
    assert "\tN" in found.out
    shown = run("explain", *under, "false.py")
    assert "all_verbs" not in shown.out and "all_verbs" in shown.err


def test_a_model_whose_rules_were_all_left_out_predicts_without_them(run, files):
    (files / "false.py").write_text("from sidelight.rules import count, rule\n" + FALSE)
    told = run("train", "--gold", "gold.txt", "--out", "m.sidelight", "--rules", "false.py", "--max-rounds", "10").out
    assert "\nrules      1 (left out: all_verbs)\n" in told
    plain = run("predict", "m.sidelight", "gold.txt")
    assert "was trained under the rules" not in plain.err
    assert run("predict", "m.sidelight", "gold.txt", "--rules", "false.py").out == plain.out
