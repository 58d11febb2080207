"""Every learner through the command line: train, evaluate, predict."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from sidelight.commands.shared.settings import choose_learner
from sidelight.models.model_file import load_model
from sidelight.recipes import LEARNERS

SENTENCES = [
    ("the/D light/N is/V good/A", "a/D lamp/N shines/V"),
    ("the/D sun/N shines/V", "light/N is/V good/A", "the/D good/A lamp/N is/V good/A"),
]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    text = ""
    for sentences in SENTENCES * 3:
        for sentence in sentences:
            text += "".join(token.replace("/", "\t") + "\n" for token in sentence.split()) + "\n"
    path = tmp_path / "gold.txt"
    path.write_text(text)
    return path


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    text = ""
    for sentences in SENTENCES * 3:
        for sentence in sentences:
            for token in sentence.split():
                word, tag = token.split("/")
                text += f"{word}\t{tag}|{'V' if tag != 'V' else 'N'}\n"
            text += "\n"
    path = tmp_path / "candidates.txt"
    path.write_text(text)
    return path


SINGLE = {"one_against_rest", "contrastive"}  # for classes, and for inputs that have no full labels


@pytest.mark.parametrize("name", [name for name, one in LEARNERS.items() if name not in SINGLE and "gold" in one.takes])
def test_every_learner_trains_from_gold(run, gold, name):
    out = run("train", "--gold", gold, "--features", "words", "--learner", name, "--out", "m.sidelight", "--quiet")
    assert out.out == ""
    result = run("evaluate", "m.sidelight", gold)
    assert "100.0" in result.out or float(result.out.split("%")[0].split()[-1]) > 70


@pytest.mark.parametrize("name", ["cllp", "mms", "naive", "cl_svm", "partial_crf", "jlis", "latent_svm", "contrastive"])
def test_learners_of_candidates_take_a_file_of_them(run, candidates, gold, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run("train", "--candidates", candidates, "--features", "words", "--learner", name, "--out", "m.sidelight")
    run("evaluate", "m.sidelight", gold)


def test_options_of_a_learner_are_set_by_name(run, gold):
    typed = ("--learner", "cllp", "--set", "discount=3", "--set", "solver=dual_coordinate")
    run("train", "--gold", gold, *typed, "--out", "m.sidelight")
    recipe = choose_learner("cllp", ["discount=3", "solver=dual_coordinate", "precision=4", "threshold=0.5"])
    assert recipe.options.discount == 3.0 and recipe.options.solver == "dual_coordinate"


def test_options_of_a_solver_are_set_by_name(run, gold):
    typed = ("--learner", "structural_svm", "--loss", "hinge", "--set", "solver=frank_wolfe", "--set", "sampling=gap")
    run("train", "--gold", gold, *typed, "--out", "m.sidelight")
    assert choose_learner("structural_svm", ["solver=frank_wolfe", "sampling=gap"]).sampling == "gap"
    assert choose_learner("structural_svm", ["solver=subgradient", "project=true"]).project


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--learner", "clp"), "--learner is 'clp'; there are auto, jlis"),
        (("--learner", "cllp", "--set", "dicsount=3"), "cllp has no option 'dicsount'; its options are: precision,"),
        (("--learner", "cllp", "--set", "discount=much"), "--set is 'discount=much'; give a number"),
        (("--learner", "perceptron", "--set", "k=3"), "perceptron has no option 'k'; its options are: shards\n"),
        (("--learner", "cllp", "--set", "discount=0.5"), "discount is 0.5; give a number above 1"),
        (("--learner", "cllp", "--set", "inside=-1"), "inside is -1.0; give a number above 0"),
        (("--learner", "cl_svm", "--set", "at_most=-1"), "at_most is -1; give a whole number from 1 on"),
        (("--learner", "structural_svm", "--set", "solver=one_slack"), "(--loss hinge on the command line)"),
    ],
)
def test_bad_options_are_one_line(run, gold, typed, message):
    found = run("train", "--gold", gold, *typed, "--out", "m.sidelight", code=2)
    assert message in found.err and not Path("m.sidelight").exists()


def test_second_order_and_hidden_states_from_the_command_line(run, gold):
    run("train", "--gold", gold, "--features", "words", "--order", "2", "--out", "second.sidelight", "--quiet")
    hidden = ("--learner", "latent_svm", "--states", "2")
    run("train", "--gold", gold, "--features", "words", *hidden, "--out", "hidden.sidelight", "--quiet")
    for model, order, states in (("second.sidelight", 2, 4), ("hidden.sidelight", 1, 8)):
        loaded = load_model(Path(model))
        assert (loaded.layout.order, len(loaded.labels)) == (order, states)


@pytest.mark.parametrize("option", ["--partial", "--candidates", "--unlabeled"])
@pytest.mark.parametrize(
    ("name", "relatives"),
    [
        ("crf", {"--partial": "partial_crf", "--candidates": "partial_crf"}),
        ("hmm", dict.fromkeys(("--partial", "--candidates", "--unlabeled"), "em or hard_em")),
        ("structural_svm", {"--partial": "latent_svm or cllp", "--unlabeled": "transductive_svm"}),
        ("naive_bayes", {"--partial": "jlis"}),
    ],
)
def test_other_evidence_than_a_learner_takes_is_for_its_relatives(
    run, gold, candidates, tmp_path, name, relatives, option
):
    (tmp_path / "some.txt").write_text("the\tD\nlamp\t_\nshines\tV\n\n")
    (tmp_path / "pool.txt").write_text("the\nlamp\nshines\n\n")
    file = {"--partial": "some.txt", "--candidates": candidates, "--unlabeled": "pool.txt"}[option]
    given = "train", "--gold", gold, option, file, "--max-rounds", 3, "--quiet", "--out", "m.sidelight", "--learner"
    found = run(*given, name, code=2).err
    said = re.fullmatch(
        rf"error: .*the learner {name} learns from Gold only; use the learner (.*), or leave it out\n", found
    )
    assert said is not None, found
    assert said[1] == relatives.get(option, said[1])
    others, _, base = said[1].partition(" with the base ")
    for other in others.split(" or "):
        run(*given, other, *(("--set", f"base={base}") if base else ()))
