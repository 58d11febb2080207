"""Dependency trees as a structure: files, evidence, learning, bad input."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data.conllu import read_treebank
from sidelight.errors import DataError
from sidelight.structures.trees import DependencyTree, attachment
from sidelight.testing import check_examples

X = [("the", "D"), ("light", "N"), ("falls", "V"), ("slowly", "R")]
Y = [2, 3, 0, 3]


def sentences(count: int, seed: int) -> tuple[list, list]:
    """Determiners stand before nouns, which stand by the verb, as adverbs do."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(count):
        before, after = int(rng.integers(1, 3)), int(rng.integers(0, 3))
        tags = ["D", "N"] * before + ["V"] + ["D", "N"] * after
        verb = 2 * before + 1
        xs.append([(f"{tag.lower()}{rng.integers(5)}", tag) for tag in tags])
        ys.append([t + 1 if tag == "D" else 0 if tag == "V" else verb for t, tag in enumerate(tags, 1)])
    return xs, ys


def test_examples_are_read_back():
    check_examples(DependencyTree(bits=5), [X], [Y])
    labelled = DependencyTree(bits=5, relations=("det", "subj", "root"))
    check_examples(labelled, [X[:3]], [[(2, "det"), (3, "subj"), (0, "root")]])


@pytest.mark.parametrize("projective", [True, False])
def test_trees_are_learned_from_evidence_of_every_kind(projective):
    structure = DependencyTree(projective=projective, bits=12)
    xs, ys = sentences(24, 0)
    evidence = [sl.Gold(x, y) for x, y in zip(xs[:8], ys[:8])]
    evidence += [sl.Partial(x, [y[0], *[None] * (len(y) - 1)]) for x, y in zip(xs[8:12], ys[8:12])]
    evidence += [sl.Candidates(x, [[head, 0] if head else [0] for head in y]) for x, y in zip(xs[12:16], ys[12:16])]
    evidence += [sl.Unlabeled(x) for x in xs[16:]] + [sl.Companion(xs[0], +1), sl.Companion([("v1", "V")] * 3, -1)]
    fitted = sl.Predictor(structure).fit(evidence)
    assert fitted.rounds_[-1].objective < np.inf
    new, right = sentences(20, 1)
    told = fitted.predict(new)
    assert attachment(told, right) > 0.9
    assert fitted.score(new, right) == pytest.approx(attachment(told, right))


def test_a_treebank_is_read(tmp_path):
    file = tmp_path / "small.conllu"
    rows = [["1-2", "ab"], ["1", "a", "a", "D", "DT", "_", "2", "det"], ["2", "b", "b", "N", "NN", "_", "0", "root"]]
    file.write_text(
        "# text\n" + "\n".join("\t".join((row + ["_"] * 10)[:10]) for row in rows) + "\n\n", encoding="utf-8"
    )
    assert read_treebank(file) == ([[("a", "D"), ("b", "N")]], [[(2, "det"), (0, "root")]])
    file.write_text("1\ta\ta\tD\tDT\t_\t7\tdet\t_\t_\n\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"conllu:1: token 1 of a sentence of 1 has the head 7"):
        read_treebank(file)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: DependencyTree().batch([X, []]), "sentence 1 has no tokens"),
        (lambda: DependencyTree().encode(X, [2, 3, 0]), "a sentence of 4 tokens has 3 heads"),
        (lambda: DependencyTree().encode(X, [2, 3, 0, 9]), "token 4 has the head 9"),
        (lambda: DependencyTree().encode(X, [1, 3, 0, 3]), "token 1 has the head 1"),
        (
            lambda: DependencyTree(relations=("a",)).encode(X[:1], [(0, "b")]),
            "token 1 has the relation 'b'; there are a",
        ),
        (lambda: DependencyTree().batch(["the light"]), "sentence 0 is 'the light'; give a list of tokens; split"),
        (lambda: DependencyTree().batch([None]), "sentence 0 is None; give a list of tokens"),
        (
            lambda: DependencyTree().batch([X, [("a", "D"), 3]]),
            r"sentence 1, token 2 is 3; give a form, or \(form, tag",
        ),
        (lambda: DependencyTree().batch([[("a", "b", "D")]]), r"token 1 is \('a', 'b', 'D'\); give a form"),
        (lambda: DependencyTree().encode(X, None), "the output is None; give a list with the head of every token"),
        (lambda: DependencyTree().encode(X, [2, "3", 0, 3]), "token 2 has the head '3'; give 0 for the root"),
        (lambda: DependencyTree().encode(X, [2.5, 3, 0, 3]), "token 1 has the head 2.5; give 0 for the root"),
        (lambda: DependencyTree(relations=("a",)).encode(X[:1], [0]), r"token 1 has 0 for its arc; give \(head, rel"),
        (lambda: DependencyTree().admitted(X, [None]), "a sentence of 4 tokens has 1 heads"),
        (lambda: DependencyTree().admitted(X, [None, None, 2.5, None]), "token 3 has the head 2.5"),
        (lambda: DependencyTree(bits=99), "bits is 99"),
        (lambda: DependencyTree(relations=("a", "a")), "relations has a name twice"),
        (lambda: DependencyTree(relations="det"), "relations is 'det'; give a list of names"),
        (lambda: DependencyTree(relations=[1]), "relations is .1.; give a list of names"),
        (lambda: DependencyTree(projective="yes"), "projective is 'yes'; give True or False"),
    ],
)
def test_bad_input(act, words):
    with pytest.raises(ValueError, match=words):
        act()


@pytest.mark.parametrize(
    ("heads", "remedy"),
    [
        ([2, 1, 0, 3], "without circles; exactly one token has head 0 .single_root=False allows several.; arcs do not"),
        ([3, 4, 0, 3], r"arcs do not cross \(projective=False lets them\)"),
    ],
)
def test_what_is_no_tree_is_named_with_what_trees_are(heads, remedy):
    evidence = [sl.Gold(X, [2, 3, 0, 3]), sl.Gold(X, heads)]
    with pytest.raises(DataError, match=rf"evidence 1 \(Gold\): .* is not an output of the space; .*{remedy}"):
        sl.Predictor(DependencyTree(bits=10), learner="perceptron").fit(evidence)


def test_an_output_that_cannot_be_read_is_named_by_its_evidence():
    for piece in (sl.Gold(X, [2, 3, 0]), sl.Partial(X, [2, 3, 0])):
        with pytest.raises(
            DataError, match=rf"evidence 1 \({type(piece).__name__}\): a sentence of 4 tokens has 3 heads"
        ):
            sl.Predictor(DependencyTree(bits=10)).fit([sl.Gold(X, [2, 3, 0, 3]), piece])
