"""Letters and graphs as structures: evidence, learning, bad input."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import NotProved
from sidelight.structures.graphs import Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment
from sidelight.testing import check_examples

ONE = Graph((("the", "D"), ("light", "N"), ("falls", "V")), ((1, 0, "det"), (2, 1, "subj")))
TWO = Graph((("light", "N"), ("falls", "V"), ("here", "R")), ((1, 0, "subj"), (1, 2, "adv")))


@pytest.mark.parametrize("crossing", [False, True])
def test_letters_are_learned(crossing):
    structure = CharacterAlignment(crossing=crossing, bits=10)
    check_examples(CharacterAlignment(crossing=crossing, bits=6), [("abc", "xyz")], [[0, None, 2]])
    letters = dict(zip("abcd", "stuv"))
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), 4)) for _ in range(30)]
    pairs = [(word, "".join(letters[letter] for letter in word)) for word in words]
    evidence = [sl.Gold(x, [0, 1, 2, 3]) for x in pairs[:6]]
    evidence += [sl.Candidates(pairs[6], [[0, None], None, [2], None]), sl.Unlabeled(pairs[7])]
    evidence += [sl.Companion(x, +1) for x in pairs[8:16]]
    evidence += [sl.Companion((x[0], other[1]), -1) for x, other in zip(pairs[8:16], pairs[16:24]) if x != other]
    found = sl.Predictor(structure).fit(evidence).predict(pairs[24:])
    assert (np.array(found, dtype=object) == [0, 1, 2, 3]).mean() > 0.9


def test_a_table_of_letters_makes_first_weights():
    structure = CharacterAlignment(bits=12)
    weights = structure.weights({("a", "s"): 1.0, ("b", "t"): 1.0}, distance=0.1)
    x = ("bax", "ts")
    assert structure.decode(x, structure.batch([x]).best(weights).labels)[:2] == [0, 1]


def test_graphs_are_learned():
    structure = GraphAlignment(bits=10)
    check_examples(GraphAlignment(bits=6), [(ONE, TWO)], [{1: 0, 2: 1}])
    other = Graph((("sun", "N"), ("rises", "V")), ((1, 0, "subj"),))
    evidence = [
        sl.Gold((ONE, TWO), {1: 0, 2: 1}),
        sl.Candidates((TWO, ONE), {0: [1, None], 2: [None]}),
        sl.Unlabeled((ONE, other)),
        sl.Companion((ONE, TWO), +1),
        sl.Companion((ONE, other), -1),
    ]
    new = (Graph((("old", "A"), ("rain", "N"), ("stops", "V")), ((1, 0, "amod"), (2, 1, "subj"))), TWO)
    same = (new[0], Graph((("rain", "N"), ("stops", "V")), ((1, 0, "subj"),)))
    assert sl.Predictor(structure).fit(evidence).predict([same]) == [{1: 0, 2: 1}]


def few_words(rng: np.random.Generator) -> Graph:
    """A chain of words some of which are the same, so that alignments tie."""
    words = tuple((f"w{rng.integers(2)}", "T") for _ in range(int(rng.integers(2, 4))))
    return Graph(words, tuple((k - 1, k, "e") for k in range(1, len(words)) if rng.random() < 0.8))


@pytest.mark.parametrize("nulls", ["none", "words"])
def test_interrupted_fits_of_graphs_go_on_to_the_same_bits(nulls, tmp_path):
    """Alignments that tie are found anew as they were found before."""
    rng = np.random.default_rng(1)
    for number in range(8):
        pairs = [(few_words(rng), few_words(rng)) for _ in range(5)]
        known = {k: k for k in range(min(len(graph.words) for graph in pairs[0]))}
        evidence = [sl.Gold(pairs[0], known), *map(sl.Unlabeled, pairs[1:3])]
        evidence += [sl.Companion(pairs[3], +1), sl.Companion(pairs[4], -1)]
        whole = sl.Predictor(GraphAlignment(nulls=nulls, bits=8)).fit(evidence)
        for stop in range(1, min(len(whole.rounds_), 6)):
            path = tmp_path / f"{number}.{stop}"
            sl.Predictor(GraphAlignment(nulls=nulls, bits=8), max_rounds=stop, checkpoint=path).fit(evidence)
            again = sl.Predictor(GraphAlignment(nulls=nulls, bits=8), checkpoint=path).fit(evidence)
            np.testing.assert_array_equal(again.model_.weights, whole.model_.weights)


def test_more_similarities_of_words_are_features():
    def similarity(one, two):
        return np.ones((len(one.words), len(two.words), 1))

    plain, more = (GraphAlignment(bits=10, similarity=given).batch([(ONE, TWO)]) for given in (None, similarity))
    assert len(more.scorer.rows.indices) == len(plain.scorer.rows.indices) + 9


def test_first_weights_of_graphs_find_words_that_are_alike():
    structure = GraphAlignment(bits=10, similarity=lambda one, two: np.eye(len(one.words), len(two.words))[:, :, None])
    batch = structure.batch([(ONE, TWO)])
    by_letters = batch.best(structure.weights(mapped=-0.5, letters=1.0)).labels
    assert structure.decode((ONE, TWO), by_letters) == {1: 0, 2: 1}
    by_place = batch.best(structure.weights(mapped=-0.5, similarity=(1.0,))).labels
    assert structure.decode((ONE, TWO), by_place) == {0: 0, 1: 1, 2: 2}


def test_the_size_of_a_pair_is_that_of_both_graphs_or_of_the_first():
    longer = TWO._replace(words=(*TWO.words, ("again", "R")))
    assert GraphAlignment().sizes([(ONE, longer)]).tolist() == [5.5]
    assert GraphAlignment(measured="first").sizes([(ONE, longer)]).tolist() == [5.0]


def alike(similarity):
    return GraphAlignment(bits=6, similarity=similarity).batch([(ONE, TWO)])


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: CharacterAlignment().batch([("", "x")]), "input 0: the left string is empty"),
        (lambda: CharacterAlignment().encode(("ab", "x"), [0]), "a left string of 2 symbols has 1 targets"),
        (lambda: CharacterAlignment().encode(("ab", "x"), [0, 1]), "aligned with the right symbol 1; give a number"),
        (lambda: CharacterAlignment().batch(["ab"]), "input 0 is 'ab'; give .left, right., each a text or a list"),
        (lambda: CharacterAlignment().encode(("ab", "x"), "01"), "the output is '01'; give every left symbol"),
        (
            lambda: CharacterAlignment().encode(("ab", "x"), [(0, 0), None]),
            r"with the right symbol \(0, 0\); give a num",
        ),
        (lambda: CharacterAlignment().encode(("ab", "x"), [0.0, None]), "with the right symbol 0.0; give a number"),
        (lambda: CharacterAlignment().admitted(("ab", "x"), [None]), "a left string of 2 symbols has 1 targets"),
        (lambda: CharacterAlignment(bits=0), "bits is 0"),
        (lambda: GraphAlignment().batch([None]), r"input 0 is None; give \(first, second\), two Graphs"),
        (lambda: GraphAlignment().batch([ONE]), r"input 0: the first graph is .*; give Graph\(words, edges\)"),
        (lambda: GraphAlignment().batch([(Graph(("ab",)), TWO)]), r"graph has the word 'ab'; give \(word, tag\)"),
        (
            lambda: GraphAlignment().batch([(ONE._replace(edges=((1, 0),)), TWO)]),
            r"has the edge \(1, 0\); give \(number",
        ),
        (lambda: GraphAlignment().encode((ONE, TWO), [(0, 1)]), "the output is .*; give {word of the first graph"),
        (lambda: GraphAlignment().encode((ONE, TWO), {"a": 1}), "word 'a' is mapped to word 1; the graphs have 3 and"),
        (lambda: GraphAlignment().admitted((ONE, TWO), {0: 1}), "word 0 has 1; give a list of the words"),
        (lambda: GraphAlignment().admitted((ONE, TWO), {0: [9]}), "word 0 is mapped to word 9; the graphs have 3 and"),
        (lambda: GraphAlignment(bits=0), "bits is 0"),
        (lambda: GraphAlignment(measured="second"), "measured is 'second'; give one of 'both', 'first'"),
        (lambda: GraphAlignment().weights(size=1.0), "there is no feature 'size'; give mapped, same"),
        (lambda: GraphAlignment(nulls="some"), "nulls is 'some'; give one of 'none', 'words', 'words and relations'"),
        (
            lambda: GraphAlignment().batch([(ONE, TWO._replace(edges=((1, 3, "x"),)))]),
            r"input 0: the second graph has an edge \(1, 3\), and no word 3; give words from 0 to 2",
        ),
        (lambda: GraphAlignment().batch([(Graph(()), TWO)]), "input 0: the first graph has no words"),
        (
            lambda: GraphAlignment().batch([(ONE._replace(edges=((1, 0, "x"), (1, 0, "y"))), TWO)]),
            "input 0: the first graph has two edges between the same words",
        ),
        (lambda: CharacterAlignment(bits="9"), "bits is '9'; give a whole number, below"),
        (lambda: CharacterAlignment(bits=9.0), "bits is 9.0; give a number from 1 to 30"),
        (lambda: CharacterAlignment(crossing="no"), "crossing is 'no'; give True or False"),
        (lambda: GraphAlignment(exact="no"), "exact is 'no'; give True or False"),
        (lambda: GraphAlignment(seconds=-1), "seconds is -1; give a number from 0 on"),
        (lambda: GraphAlignment(seconds=math.nan), "seconds is nan; give a number"),
        (lambda: GraphAlignment(similarity=0.5), "similarity is 0.5; give a function"),
        (lambda: alike(lambda one, two: 0.5), r"input 0: similarity gave 0.5; give an array of numbers \[3, 3, D\]"),
        (lambda: alike(lambda one, two: np.ones((2, 3, 1))), r"similarity gave array.*; give an array of numbers"),
        (lambda: alike(lambda one, two: np.full((3, 3, 1), np.nan)), "or infinite ones; give at most 10, all of them"),
        (lambda: alike(lambda one, two: np.ones((3, 3, 11))), "similarity gave 11 numbers of two words.*at most 10"),
        (
            lambda: alike(lambda one, two: 1 / 0),
            "input 0: similarity raised ZeroDivisionError: division by zero; fix the function",
        ),
        (lambda: GraphAlignment().weights(similarity=[1.0] * 11), "similarity has 11 weights; give at most 10"),
        (lambda: GraphAlignment().encode((ONE, TWO), {0: 5}), "word 0 is mapped to word 5; the graphs have 3 and 3"),
        (lambda: GraphAlignment().encode((ONE, TWO), {0: 1, 1: 1}), "a word of the second graph is mapped twice"),
    ],
)
def test_bad_input(act, words):
    with pytest.raises(ValueError, match=words):
        act()


def test_one_target_is_as_good_as_a_list_of_one():
    letters = CharacterAlignment()
    one, listed = (letters.admitted(("ab", "xy"), [said, None]) for said in (1, [1]))
    assert one.tolist() == listed.tolist() == [[0, 0, 1], [1, 1, 1]]


def test_links_that_cross_are_named_with_the_setting_that_allows_them():
    fit = sl.Predictor(CharacterAlignment(bits=10), learner="perceptron").fit
    with pytest.raises(
        ValueError, match=r"evidence 0 \(Gold\): .* no.* an output of the space; .*crossing=True allows"
    ):
        fit([sl.Gold(("ab", "xy"), [1, 0])])


def test_predictions_that_ran_out_of_time_are_marked():
    rng = np.random.default_rng(0)
    every = [(a, b) for a in range(14) for b in range(14) if a != b]
    hard = [
        Graph(tuple(("abc"[k % 3], "") for k in range(14)), tuple((*ends, "") for ends in every if rng.random() < 0.4))
        for _ in range(2)
    ]
    predictor = sl.Predictor(GraphAlignment(bits=8)).fit([(ONE, TWO)], [{1: 0, 2: 1}])
    model = predictor.model_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert predictor.predict([(ONE, TWO)]) == [{1: 0, 2: 1}]
    predictor.model_ = replace(model, structure=replace(model.structure, plain=GraphAlignment(bits=8, seconds=0.01)))
    with pytest.warns(NotProved, match="1 of 2 outputs is not proved best: time ran out.*more seconds") as told:
        found = predictor.predict([(ONE, TWO), tuple(hard)])
    assert found[0] == {1: 0, 2: 1} and found[1] and told[0].filename == __file__
    assert predictor.model_.found([(ONE, TWO), tuple(hard)]).proved.tolist() == [True, False]
