"""Evidence made in memory is checked, and the bad piece is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sidelight.data import check_evidence
from sidelight.errors import DataError
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Origin, Partial, Unlabeled


def failure(piece: Any, before: int = 0) -> str:
    with pytest.raises(DataError) as caught:
        check_evidence([*[Unlabeled(["a"])] * before, piece])
    assert caught.value.remedy
    return str(caught.value)


def test_good_evidence_passes() -> None:
    check_evidence([])
    check_evidence(
        [
            Gold(["a", "b"], ["X", "Y"], weight=0.0),
            Gold(["a", "b"], ("X", "Y"), weight=np.float64(2)),
            Gold({"f": 1.0}, "x"),
            Gold({}, "x"),
            Gold(object(), ["x"]),
            Partial(["a", "b"], [None, "X"]),
            Candidates(["a", "b"], [{"X"}, None], known=["X", "Z"]),
            Candidates({"f": 1.0}, [("A", "B")]),
            Companion(["a"], 1),
            Companion(["a"], -1),
        ]
    )


def test_outputs_that_are_not_labels_of_tokens() -> None:
    segments = [Gold(["a", "b", "c"], [(0, 2, "X")]), Gold(["a", "b"], [None]), Gold(np.ones(3), "x")]
    check_evidence(segments, per_token=False)
    with pytest.raises(DataError, match=r"evidence 0 \(Gold\): 3 tokens but an output for 1"):
        check_evidence(segments)


@pytest.mark.parametrize(
    ("piece", "problem"),
    [
        (Unlabeled(["a"], weight=-0.5), "(Unlabeled): the weight -0.5; give a finite number, 0 or more"),
        (Unlabeled(["a"], weight=float("nan")), "(Unlabeled): the weight nan"),
        (Unlabeled(["a"], weight=float("inf")), "(Unlabeled): the weight inf"),
        (Unlabeled(["a"], weight="1"), "(Unlabeled): the weight '1'"),  # type: ignore[arg-type]
        (Companion(["a"], 0), "(Companion): the answer 0; answer +1 or -1"),
        (Unlabeled([]), "(Unlabeled): the input has no tokens; leave it out"),
        (Gold(np.ones((0, 3)), []), "(Gold): the input has no tokens"),
        (Gold(["a", "b"], ["X"]), "(Gold): 2 tokens but an output for 1; give one element per token"),
        (Gold(["a", "b"], ["X", None]), "(Gold), token 1: no label; use Partial where labels are missing"),
        (Partial(["a", "b"], ["X"]), "(Partial): 2 tokens but an output for 1"),
        (Candidates(["a"], [None, {"X"}]), "(Candidates): 1 tokens but an output for 2"),
        (Candidates(["a", "b"], [None, []]), "(Candidates), token 1: an empty candidate set; give at least one label"),
        (Candidates({"f": 1.0}, [()]), "(Candidates), token 0: an empty candidate set"),
        (Candidates(["a"], ["NOUN"]), "(Candidates), token 0: the candidates 'NOUN' are a str; give a set or tuple"),
        (Candidates(["a"], [3]), "(Candidates), token 0: the candidates 3 are a int"),
        (
            Candidates(["a", "b"], [None, ("B", "A")], known=["X", "C"]),
            "(Candidates), token 1: the known label 'C' is not among the candidates {'A', 'B'}; add the label",
        ),
        (Candidates(["a", "b"], {"A", "B"}), "(Candidates): the output {"),
        (Candidates(["a"], None), "(Candidates): the output None is a NoneType; give a list with one element"),
        (Partial(["a", "b"], "AB"), "(Partial): the output 'AB' is a str; give a list with one element per token"),
        (Partial(["a", "b"], np.array(["A"])), "(Partial): 2 tokens but an output for 1"),
        (Gold("a text", ["x", "y"]), "(Gold): the input is a string; give a list of tokens"),
        (Candidates(["a"], [{"A"}], known=[]), "(Candidates): 1 candidate sets but 0 known labels"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_evidence_is_named(piece: Evidence, problem: str) -> None:
    assert failure(piece, before=12).startswith(f"evidence 12 {problem}")


def test_things_that_are_not_evidence() -> None:
    assert failure((["a"], ["X"])) == (
        "evidence 0 is a tuple; wrap the input in Gold, Partial, Candidates, Companion, Unlabeled or Voted"
    )


def test_the_origin_is_named() -> None:
    origin = Origin("a.txt", range(10, 12))
    message = failure(Candidates(["a", "b"], [None, ()], origin=origin), before=3)
    assert message.startswith("a.txt:11: evidence 3 (Candidates), token 1: an empty candidate set")
    assert failure(Unlabeled(["a"], weight=-1, origin=origin)).startswith("a.txt:10: evidence 0 (Unlabeled)")
    assert failure(Unlabeled([], origin=Origin("a.txt", []))).startswith("a.txt: evidence 0 (Unlabeled)")
