"""What is known of inputs with one label each: the forms that are taken, and those that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

import sidelight as sl
from sidelight.data import check_evidence
from sidelight.data.single import single_label
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Partial
from sidelight.structures import LabelSet
from sidelight.structures.labels.encoding import encode

X = {"cheap": 1.0}
GOLD = [sl.Gold({"noon": 1.0}, "ham"), sl.Gold({"x": 1.0}, "spam")]
LEARNERS = ["cllp", "mms", "naive", "partial_crf", "jlis", "latent_svm"]


@pytest.mark.parametrize("y", [{"b", "a"}, ["a", "b"], ("a", "b"), [["a", "b"]], ({"a", "b"},), np.array(["a", "b"])])
def test_a_set_of_labels_may_stand_alone_or_in_a_list(y: Any) -> None:
    (found,) = single_label(Candidates(X, y), 0).y  # type: ignore[attr-defined]
    assert sorted(found) == ["a", "b"]
    (limits,) = single_label(Companion(X, 1, candidates=y), 0).candidates  # type: ignore[attr-defined]
    assert sorted(limits) == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "form"), [(None, [None]), ([None], [None]), (["a"], [["a"]]), ({("a", 1)}, [{("a", 1)}])]
)
def test_sets_of_one_label_and_of_any(y: Any, form: Any) -> None:
    assert single_label(Candidates(X, y), 0).y == form  # type: ignore[attr-defined]


def test_a_known_label_may_stand_alone_or_in_a_list() -> None:
    assert [single_label(Partial(X, y), 0).y for y in ("a", ["a"], ("a",), None, [None], 3)] == [  # type: ignore[attr-defined]
        ["a"],
        ["a"],
        ["a"],
        [None],
        [None],
        [3],
    ]
    piece: Any = single_label(Candidates(X, {"a", "b"}, known="a", initial=["b"]), 0)
    assert (piece.known, piece.initial) == (["a"], ["b"])


@pytest.mark.parametrize(
    ("piece", "problem"),
    [
        (Candidates(X, "spam"), "the candidates 'spam' are a str; give the labels that the input may have"),
        (Candidates(X, [["p"], ["q"]]), "2 candidate sets, where an input has one"),
        (Candidates(X, [("p", "q"), None]), "2 candidate sets, where an input has one"),
        (Candidates(X, [set()]), "an empty candidate set"),
        (Candidates(X, []), "an empty candidate set"),
        (Candidates(X, 3), "the candidates 3 are a int"),
        (Candidates(X, {None}), "the candidate None is not a label"),
        (Candidates(X, {"a", "b"}, known="c"), "token 0: the known label 'c' is not among the candidates"),
        (Candidates(X, {"a", "b"}, initial=["a", "b"]), "2 initial labels, where an input has one"),
        (Candidates(X, None, chunks=[sl.Chunk(0, [("a",)])]), "chunks of tokens, where an input has one label"),
        (Companion(X, 1, candidates=[["p"], ["q"]]), "2 candidate sets, where an input has one"),
        (Partial(X, ["p", "q"]), "2 labels, where an input has one; give a label, alone or in a list, or None"),
        (Partial(X, []), "0 labels, where an input has one"),
        (Partial(X, {"p"}), "the labels {'p'} are a set"),
        (Partial(X, [["p"]]), "the label ['p'] is a list"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_forms_are_refused(piece: Evidence, problem: str) -> None:
    with pytest.raises(DataError) as caught:
        check_evidence([*GOLD, piece], per_token=False)
    assert str(caught.value).startswith(f"evidence 2 ({type(piece).__name__})") and problem in str(caught.value)
    with pytest.raises(DataError):
        sl.Classifier(learner="jlis").fit([*GOLD, piece])


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_form_is_the_same_to_a_learner(learner: str) -> None:
    """Labels are no characters, and no set speaks of the next input."""

    def weights(y: Any, known: Any) -> Any:
        evidence = [Candidates(X, y), *GOLD, Partial({"z": 1.0}, known), Gold({"q": 1.0}, "post")]
        fitted = sl.Classifier(learner=learner, n_jobs=1, max_rounds=20).fit(evidence)
        assert fitted.classes_ == ["ham", "post", "spam"]
        return fitted.model_.weights

    usual = weights([["spam", "ham"]], ["ham"])
    np.testing.assert_array_equal(weights({"spam", "ham"}, "ham"), usual)
    np.testing.assert_array_equal(weights(("spam", "ham"), ["ham"]), usual)


@pytest.mark.parametrize(
    "piece", [Candidates(X, [["a"], ["b"]]), Partial(X, ["a", "b"]), Companion(X, 1, candidates=[["a"], ["b"]])]
)
def test_no_array_is_written_past_the_end_of_an_input(piece: Evidence) -> None:
    with pytest.raises(DataError, match="1 tokens but an output for 2"):
        encode([piece, Gold(X, ["a"])], LabelSet(("a", "b")), np.array([0, 1, 2]), sequences=True)


def test_descriptions_count_labels_and_not_their_characters() -> None:
    found = sl.describe([Candidates(X, {"spam", "ham"}), Partial(X, "spam"), Partial(X, None)])
    sizes = {row.kind: row.labels_per_token for row in found.kinds}
    assert sizes == {"candidates": 2.0, "partial": 1.5}


@pytest.mark.parametrize("form", [np.asarray, csr_matrix, csr_array])
def test_rows_of_a_matrix_are_evidence_of_every_kind(form):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(40, 3))
    classes = [int(np.argmax(row)) for row in numbers]
    sets = [{k, (k + int(rng.integers(1, 3))) % 3} for k in classes]
    xs = form(numbers)
    whole = sl.Classifier(n_jobs=1).fit(xs, classes)
    same = sl.Classifier(n_jobs=1).fit(sl.gold(xs, classes))
    np.testing.assert_array_equal(whole.model_.weights, same.model_.weights)
    learned = sl.Classifier(learner="cllp", n_jobs=1).fit(sl.candidates(xs, sets))
    assert learned.score(xs, classes) > 0.6
    mixed = [*sl.gold(xs[:20], classes[:20]), *sl.unlabeled(xs[20:]), *sl.companion(xs[:3], 1)]
    fitted = sl.Classifier(n_jobs=1).fit(mixed)
    assert fitted.predict(xs) == fitted.predict([xs[i : i + 1] if hasattr(xs, "tocsr") else xs[i] for i in range(40)])


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="different lengths"):
        sl.Classifier().fit([sl.Gold(np.ones(3), "a"), sl.Gold(np.ones(2), "b")])
