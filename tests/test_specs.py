"""What learners say of themselves is true: ranges of options, relatives, and what outputs have."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

from sidelight.evidence import Companion, Gold, Partial, Unlabeled, Voted
from sidelight.recipes import LEARNERS, recipe_of
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.learner import refuse, refuse_evidence
from sidelight.specs.options import options_of
from sidelight.structures import structure

KINDS = ("gold", "partial", "candidates", "companion", "unlabeled", "votes")
OUTPUTS = [value for value in vars(structure).values() if isinstance(value, structure.OutputKind)]
QUIET = {"costs": False, "states": False, "ruled": False}


@dataclass(frozen=True, kw_only=True)
class Made(LearnerSpec):
    """A learner that is made up (Nobody 1900)."""

    name = "made_up"

    way: str = option("here", among=("here", "there"))
    share: float = option(0.5, above=0, high=1)
    times: int | None = option(None, low=2, goes_with=("way", ("there",)))
    far: float = option(1.0, infinite=True)
    sure: bool = option(False)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"way": "where"}, "way is 'where'; give 'here' or 'there'"),
        ({"way": 3}, "way is 3; give 'here' or 'there'"),
        ({"share": 0.0}, "share is 0.0; give a number above 0 and up to 1"),
        ({"share": float("nan")}, "share is nan; give a number above 0 and up to 1"),
        ({"share": True}, "share is True; give a number above 0 and up to 1"),
        ({"times": 1, "way": "there"}, "times is 1; give a whole number from 2 on"),
        ({"times": 2.0, "way": "there"}, "times is 2.0; give a whole number from 2 on"),
        ({"times": 2**40, "way": "there"}, "times is 1099511627776; give a whole number from 2 on, below 2**31"),
        ({"times": 3}, "times goes with way='there', and way is 'here'; leave it out"),
        ({"far": 1e200}, "far is 1e+200; give a number, infinite or not"),
        ({"sure": 1}, "sure is 1; give True or False"),
    ],
)
def test_an_option_says_what_it_may_be(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        Made(**given)


def test_options_become_numbers_of_python_and_are_listed() -> None:
    made = Made(share=np.float32(0.5), times=np.int64(3), way="there", far=-np.inf, sure=np.bool_(True))
    assert [type(getattr(made, one.name)) for one in fields(made)] == [str, float, int, float, bool]
    assert options_of(Made)[2] == ("times", None, "a whole number from 2 on, with way=there, or None")
    assert (Made.line(), Made.paper()) == ("A learner that is made up (Nobody 1900)", "Nobody 1900")


def named(words: str) -> list[str]:
    """The learners that a remedy names."""
    return [word for word in re.findall(r"\w+", words.partition(" with the base")[0]) if word in LEARNERS]


@pytest.mark.parametrize("name", LEARNERS)
def test_relatives_take_what_a_learner_does_not(name: str) -> None:
    learner = recipe_of(name)
    for kind in set(KINDS) - set(learner.taken()) - {"votes"}:
        others = named(learner.relative(kind))
        assert others and all(kind in LEARNERS[other].takes for other in others), (kind, others)
    assert not learner.plain_form or learner.plain_form in LEARNERS
    assert set(learner.beside) <= set(learner.taken()) or not learner.plain_form


@pytest.mark.parametrize("outputs", OUTPUTS, ids=[one.name for one in OUTPUTS])
def test_learners_for_outputs_need_nothing_that_these_lack(outputs: structure.OutputKind) -> None:
    assert named(outputs.instead)
    for name in named(outputs.instead):
        refuse(recipe_of(name), outputs, **QUIET)
    for name in LEARNERS:
        lacking = [need for need in recipe_of(name).needed() if need not in outputs.has]
        if lacking:
            with pytest.raises(
                ValueError, match=f"{name}.* needs {lacking[0].value}, which {outputs.name} do not have; "
            ):
                refuse(recipe_of(name), outputs, **QUIET)
        else:
            refuse(recipe_of(name), outputs, **QUIET)


def test_what_a_learner_does_not_heed_is_refused() -> None:
    crf = recipe_of("crf")
    for asked, said in (
        ("costs", "knows no cost"),
        ("states", "no hidden states"),
        ("ruled", "needs more than the"),
    ):
        with pytest.raises(ValueError, match=f"crf .*{said}"):
            refuse(crf, structure.CHAINS, **{**QUIET, asked: True})
    refuse(recipe_of("jlis"), structure.CHAINS, costs=True, states=True, ruled=True)


def test_evidence_that_a_learner_does_not_take_is_refused() -> None:
    x = ["a"]
    pieces = [Gold(x, ["A"]), Partial(x, [None]), Companion(x, 1), Unlabeled(x), Voted(x, {"f": ["A"]})]
    for name in LEARNERS:
        learner = recipe_of(name)
        for piece in pieces:
            if piece.kind in learner.taken():
                refuse_evidence(learner, [piece], [piece.kind], chunks=False, go_on=False)
            else:
                with pytest.raises(ValueError, match=f"evidence 0 .*the learner {name} learns from .* only; use "):
                    refuse_evidence(learner, [piece], [piece.kind], chunks=False, go_on=False)
        if learner.no_partial_fit:
            with pytest.raises(ValueError, match=f"{name} has no partial_fit; {learner.no_partial_fit}"):
                refuse_evidence(learner, [], [], chunks=False, go_on=True)


def test_options_change_what_a_learner_needs() -> None:
    assert Need.TIES not in recipe_of("jlis").needed() and Need.TIES in LEARNERS["jlis"](restarts=2).needed()
    by_sums = LEARNERS["structural_svm"](solver="exponentiated_gradient")
    assert Need.SUMS in by_sums.needed() and "rules_in_training" not in by_sums.heeded()
    for base in ("hmm", "crf", "semi_crf"):
        assert set(recipe_of(base).needed()) < set(LEARNERS["codl"](base=base).needed())


def test_annotations_may_be_types_or_text():
    """Files of users need no `from __future__ import annotations`."""
    told = {"name": "typed", "__doc__": "Made up (Nobody 1900)."}
    typed = type("Typed", (LearnerSpec,), {**told, "__annotations__": {"times": int}, "times": option(1, low=1)})
    learner = dataclass(frozen=True, kw_only=True)(typed)
    assert learner(times=2).times == 2
    with pytest.raises(ValueError, match="times is 0; give a whole number from 1 on"):
        learner(times=0)
