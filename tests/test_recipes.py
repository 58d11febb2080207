"""The learners' names: one list for the library, the command line and the docs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight import recipes
from sidelight.recipes import LEARNERS, Recipe, recipe_of, table
from sidelight.specs import Need
from sidelight.structures.structure import SECOND_ORDER

PAGE = Path(__file__).parent.parent / "docs" / "learners.md"


def test_every_name_is_a_learner_that_tells_of_itself():
    for name, learner in LEARNERS.items():
        assert getattr(recipes, name) is learner
        assert isinstance(recipe_of(name), Recipe) and recipe_of(name).name == name
        assert learner.line() and not learner.line().endswith(".")
        assert all(learner.entry())


PROMISED = [
    "structural_svm",
    "jlis",
    "cllp",
    "mms",
    "naive",
    "cl_svm",
    "latent_svm",
    "crf",
    "partial_crf",
    "semi_crf",
    "contrastive",
    "perceptron",
    "mira",
    "passive_aggressive",
    "self_training",
]


@pytest.mark.parametrize("name", PROMISED)
def test_the_names_of_the_papers_are_there(name):
    assert name in LEARNERS


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        *(("mira", "k", value) for value in (0, 2.5, True, "2")),
        *((name, "restarts", value) for name in ("jlis", "latent_svm") for value in (0, 2.5, float("nan"))),
        *(("transductive_svm", "anneal", value) for value in (-1, 1.5)),
        *((name, "max_length", value) for name in ("semi_crf", "semi_svm") for value in (0, 2.5)),
        *(("contrastive", "copies", value) for value in (0, 2.5)),
        *(("contrastive", "start", value) for value in (0.0, float("nan"), float("inf"))),
        *((name, "l1", value) for name in ("crf", "partial_crf") for value in (-1.0, float("nan"), float("inf"))),
        *((name, "aggressiveness", value) for name in ("mira", "passive_aggressive") for value in (0.0, float("nan"))),
        *(("arow", option, value) for option in ("variance", "r") for value in (0.0, float("nan"), float("inf"))),
        *(("arow", "margin", value) for value in ("squared",)),
        *(("self_training", "share", value) for value in (0.0, 1.5, float("nan"))),
        *(("self_training", "confidence", value) for value in (-1.0, float("nan"))),
    ],
)
def test_options_that_mean_nothing_are_refused(name, option, value):
    with pytest.raises(ValueError, match=f"^{option} is .*; give "):
        getattr(recipes, name)(**{option: value})


@pytest.mark.parametrize("make", [recipes.codl, recipes.posterior_regularization])
def test_the_beta_of_a_base_is_not_replaced(make):
    for base in (recipes.em(beta=0.5), recipes.hard_em(beta=0.0), recipes.unified_em(beta=1.0)):
        with pytest.raises(
            ValueError, match=rf"the base {base.name} has a beta of {base.beta}; give beta to {make().name}"
        ):
            make(base=base)
        with pytest.raises(ValueError, match="has a beta of"):
            make(base=base, beta=base.beta)
    assert make(base=recipes.em(start="min_greedy"), beta=0.25).beta == 0.25


def test_whole_numbers_of_any_kind_are_taken():
    assert recipes.mira(k=np.int64(3)) == recipes.mira(k=3)
    assert recipes.jlis(restarts=np.int32(2)) == recipes.jlis(restarts=2)


def test_the_page_has_the_table_of_the_code():
    text = PAGE.read_text()
    inside = text.split("<!-- table -->\n")[1].split("<!-- end of table -->")[0].strip().split("\n")
    assert inside == table(), "write the lines of sidelight.recipes.table() into docs/learners.md"


def test_orders_on_the_page_are_those_of_the_settings():
    line = next(line for line in PAGE.read_text().split("\n") if line.startswith("| `Tagger(order=2)`"))
    all_but, with_options = line.split("|")[2].split(";")
    without = {*re.findall(r"`(\w+)`", all_but), *re.findall(r"^ `(\w+)`", with_options), "semi_crf", "semi_svm"}
    assert without >= {"contrastive", "naive_bayes"}
    able = {name for name in LEARNERS if set(recipe_of(name).needed()) <= SECOND_ORDER.has}
    assert {*LEARNERS} - without == able


XS = [["a", "b"], ["c", "d"], ["a", "d"]]
YS = [["A", "B"], ["C", "A"], ["A", "A"]]
PIECES = {
    "Gold": sl.Gold(["a", "c"], ["A", "C"]),
    "Partial": sl.Partial(["a", "c"], ["A", None]),
    "Candidates": sl.Candidates(["a", "c"], [["A", "B"], ["C", "A"]]),
    "Unlabeled": sl.Unlabeled(["a", "b"]),
    "Companion": sl.Companion(["a", "b"], -1),
    "Voted": sl.Voted(["a", "b"], {"f": ["A", None]}),
}


def fitted(name, more, **settings):
    if "gold" not in LEARNERS[name].takes:
        pieces = [*sl.companion(XS, +1), sl.Companion(XS[0][::-1], -1), *more]
        return sl.Tagger(learner=name, labels=["A", "B", "C"], max_rounds=20, n_jobs=1, **settings).fit(pieces)
    if Need.SEGMENTS in LEARNERS[name].needs:
        return sl.SegmentTagger(learner=name, max_rounds=2, n_jobs=1, **settings).fit([*sl.gold(XS, YS), *more])
    shared = {"features": sl.features.words(), "max_rounds": 20, "n_jobs": 1, **settings}
    return sl.Tagger(learner=name, **shared).fit([*sl.gold(XS, YS), *more])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_learn_from_what_the_table_says(name):
    said = LEARNERS[name].learns_from()
    for kind, piece in PIECES.items():
        more = [piece, PIECES["Unlabeled"]] if name == "contrastive" else [piece]
        if kind in said:
            fitted(name, more)
        else:
            with pytest.raises(sl.DataError, match=r"learns? from"):
                fitted(name, more)


def test_unlabelled_inputs_say_nothing_to_a_partial_crf():
    found = [fitted("partial_crf", more).model_.weights for more in ([], [sl.Unlabeled(["a", "c"])] * 3)]
    np.testing.assert_array_equal(*found)


def test_costs_on_the_page_are_heeded():
    line = next(line for line in PAGE.read_text().split("\n") if line.startswith("| costs (`"))
    page = set(re.findall(r"`(\w+)`", line.split("|")[2].split(";")[0]))
    assert page <= set(LEARNERS)
    for name in LEARNERS:
        if Need.SEGMENTS in LEARNERS[name].needs:
            continue
        more = [PIECES["Unlabeled"]] if name == "contrastive" else []
        if name in page:
            found = [fitted(name, more, class_weight=weight).model_.weights for weight in (None, {"A": 5.0})]
            assert not np.array_equal(*found), name
        else:
            with pytest.raises(ValueError, match="cost"):
                fitted(name, more, class_weight={"A": 5.0})


def test_a_recipe_is_a_parameter_like_any_other():
    from sklearn.base import clone

    tagger = sl.Tagger(learner=recipes.cllp(discount=3.0))
    again = clone(tagger)
    assert again.get_params()["learner"] == recipes.cllp(discount=3.0)
    assert again.set_params(learner="crf").learner == "crf"


def test_public_names_are_loaded_when_used():
    import subprocess
    import sys

    code = (
        "import sys, sidelight; assert 'numba' not in sys.modules; [getattr(sidelight, n) for n in sidelight.__all__]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'Taggre'"):
        sl.Taggre  # noqa: B018
    assert "SegmentTagger" in dir(sl)
