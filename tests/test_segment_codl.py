"""Segments learned from rules and inputs without labels: CoDL over semi-Markov models."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from sidelight import (
    Candidates,
    Chunk,
    Classifier,
    Gold,
    Partial,
    SegmentTagger,
    Tagger,
    Unlabeled,
    features,
    gold,
    recipes,
    unlabeled,
)
from sidelight.corpus import references
from sidelight.errors import Infeasible
from sidelight.features.segments.segment_sources import SegmentFeatures
from sidelight.rules import Sentence, every, gallery, rule
from sidelight.rules.lowering.penalties import mixed, penalties_of
from sidelight.training import Training

BASES = ("semi_crf", "semi_svm")
CORPUS = references(70, seed=3)
XS, YS = [list(r.tokens) for r in CORPUS], [list(r.labels) for r in CORPUS]
FIELDS = sorted({label for y in YS for label in y})
ONCE = gallery.appears_once(FIELDS)
HASHED = {"features": features.words(before=1, hash_bits=10), "segment_features": SegmentFeatures(hash_bits=10)}


def tagger(learner, **options) -> SegmentTagger:
    usual = {"features": features.words(before=1), "labels": FIELDS, "max_length": 8, "max_rounds": 15, "n_jobs": 1}
    return SegmentTagger(**{**usual, "learner": learner, **options})


def prepared(estimator: SegmentTagger, evidence) -> Training:
    """A fit before its first round."""
    return Training(estimator._settings(), evidence)


def open_batch(training: Training):
    """The inputs that are completed."""
    return training.data.batch(training.data.to_complete())


def known(y: list[str]) -> list[str | None]:
    """All labels, as Partial has them."""
    return list(y)


def accuracy(found, ys) -> float:
    return sum(a == b for x, y in zip(found, ys) for a, b in zip(x, y)) / sum(map(len, ys))


@pytest.mark.parametrize("base", BASES)
def test_with_gold_alone_it_is_its_base_to_the_bit(base: str) -> None:
    rules = [ONCE.soft(), gallery.starts_with("author").soft(2.0)]
    alone = tagger(base, rules=rules).fit(XS[:8], YS[:8])
    driven = tagger(recipes.codl(base=base), rules=rules).fit(XS[:8], YS[:8])
    np.testing.assert_array_equal(driven.model_.weights, alone.model_.weights)
    assert driven.penalties_ == alone.penalties_ and np.any(alone.model_.weights)
    assert [(r.number, r.learner, r.completion, r.last) for r in driven.rounds_] == [(1, "codl", 0, True)]


@pytest.mark.parametrize("base", BASES)
def test_beta_one_keeps_the_weights_and_penalties_of_gold(base: str) -> None:
    alone = tagger(base, rules=[ONCE.soft()], **HASHED).fit(XS[:8], YS[:8])
    driven = tagger(recipes.codl(base=base, beta=1.0, cycles=2), rules=[ONCE.soft()], **HASHED)
    driven.fit([*unlabeled(XS[8:14]), *gold(XS[:8], YS[:8])])
    np.testing.assert_array_equal(driven.model_.weights, alone.model_.weights)
    assert driven.penalties_ == alone.penalties_
    assert len(driven.rounds_) > 1


@pytest.mark.parametrize("base", BASES)
def test_completions_that_leave_nothing_open_are_learned_from_like_gold(base: str) -> None:
    shown = [*gold(XS[:4], YS[:4]), *(Partial(x, known(y)) for x, y in zip(XS[4:10], YS[4:10]))]
    prices = {"gold": 2.0, "unlabeled": 2.0}
    together = tagger(recipes.codl(base=base, beta=None), prices=prices, **HASHED).fit(shown)
    both = tagger(base, prices=prices, **HASHED).fit(XS[:10], YS[:10])
    np.testing.assert_array_equal(together.model_.weights, both.model_.weights)
    assert together.rounds_[-1].changed == 0 and together.rounds_[-1].number == 3
    theirs = tagger(recipes.codl(base=base, beta=0.0), prices=prices, **HASHED).fit(shown)
    rest = tagger(base, prices=prices, **HASHED).fit(XS[4:10], YS[4:10])
    np.testing.assert_array_equal(theirs.model_.weights, rest.model_.weights)
    first = tagger(base, prices=prices, **HASHED).fit(XS[:4], YS[:4])
    mixture = tagger(recipes.codl(base=base, beta=0.25), prices=prices, **HASHED).fit(shown)
    expected = 0.25 * first.model_.weights + 0.75 * rest.model_.weights
    np.testing.assert_array_equal(mixture.model_.weights, expected)


def test_without_beta_completed_inputs_have_the_price_of_unlabeled() -> None:
    def fitted(learner, evidence, **prices: float) -> np.ndarray:
        options = {"prices": prices, "tolerance": 1e-6, "max_rounds": 200, **HASHED}
        return tagger(learner, **options).fit(evidence).model_.weights

    learner = recipes.codl(base="semi_crf", beta=None)
    labelled = gold(XS[:4], YS[:4])
    rest = [Partial(x, known(y), weight=2.0) for x, y in zip(XS[4:8], YS[4:8])]
    free = fitted(learner, [*labelled, *rest], unlabeled=0.0)
    np.testing.assert_allclose(free, fitted("semi_crf", labelled), atol=1e-2)
    half = [*labelled, *gold(XS[4:8], YS[4:8], weight=0.5)]
    np.testing.assert_array_equal(fitted(learner, [*labelled, *rest], unlabeled=0.25), fitted("semi_crf", half))


WORDS = ("ed", "holt", "1994", ",")
SMALL = {None: ["name", "year"], "BIO": ["B-name", "I-name", "O"]}


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_completions_are_the_best_of_what_is_admitted_under_rules(data: st.DataObject) -> None:
    scheme = data.draw(st.sampled_from([None, "BIO"]))
    labels = SMALL[scheme]
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    sizes = st.integers(1, 4)
    xs = [[WORDS[k] for k in rng.integers(0, 4, data.draw(sizes))] for _ in range(3)]
    masks = [[sorted({labels[k] for k in (-1, *rng.integers(0, len(labels), 2))}) for _ in x] for x in xs[1:]]
    name = labels[0]
    hard, soft = gallery.at_most(2, name), gallery.starts_with(name).soft(float(rng.exponential()))
    own = gallery.at_least(1, name).soft(1.0)
    right = ["B-name", "O"] if scheme else ["name", "year"]
    evidence = [
        Gold(["ed", "1994"], right),
        Unlabeled(xs[0], rules=(own,)),
        *(Candidates(x, mask) for x, mask in zip(xs[1:], masks)),
    ]
    estimator = SegmentTagger(
        learner=recipes.codl(base="semi_crf"), scheme=scheme, labels=labels, max_length=2, rules=[hard, soft], n_jobs=1
    )
    ready = prepared(estimator, evidence)
    learner = ready.learner
    weights = rng.normal(size=ready.data.size)
    found = learner.complete(weights, learner.count(None))
    names = ready.labels.names
    everything = open_batch(ready)
    starts = everything.starts.tolist()
    rules_of = [(hard, soft, own), (hard, soft), (hard, soft)]
    allowed = [[labels] * len(xs[0]), *masks]
    for i, x in enumerate(xs):
        worths = {}
        for numbers in itertools.product(range(len(names)), repeat=len(x)):
            named = [names[k] for k in numbers]
            edges, labeling = np.array([0, len(x)]), np.array(numbers, dtype=np.int32)
            broken = ready.structure.scheme.fault(edges, labeling, max_length=2)
            if broken is not None or any(label not in mask for label, mask in zip(named, allowed[i])):
                continue
            degrees = [(one.penalty, one.violations(Sentence(x), named)) for one in rules_of[i]]
            cost = sum(penalty * degree for penalty, degree in degrees if degree)
            worths[numbers] = float(everything.part(i, i + 1).score(weights, labeling)[0] - cost)
        assert worths[tuple(found[starts[i] : starts[i + 1]].tolist())] == pytest.approx(max(worths.values()))


@rule
def years_are_dates(x, y):
    """Four digits that begin with 19 or 20 are a date."""
    years = [t for t, word in enumerate(x.words) if len(word) == 4 and word[:2] in ("19", "20") and word.isdigit()]
    return every(y[t] == "date" for t in years)


def broken(ys, xs) -> int:
    return sum(years_are_dates.violations(Sentence(x), y) for x, y in zip(xs, ys))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("beta", [0.1, None])
def test_learns_what_only_a_rule_says(base: str, beta: float | None) -> None:
    """Gold shows no date at all; the rule says what is one, and is not there at test time.

    β weighs a model that has only seen reasons against dates: so it is small, and tokens right in all are compared
    where Gold and completed inputs are learned from together.
    """
    dateless = [[(word, label) for word, label in zip(x, y) if label != "date"] for x, y in zip(XS[:8], YS[:8])]
    shown = gold([[w for w, _ in one] for one in dateless], [[label for _, label in one] for one in dateless])
    options = {"prices": {"gold": 5.0, "unlabeled": 5.0}, "features": features.spelling()}
    alone = tagger(base, **options).fit(shown)
    driven = tagger(recipes.codl(base=base, beta=beta, cycles=2), rules=[years_are_dates], **options)
    driven.fit([*shown, *unlabeled(XS[8:32])])
    xs, ys = XS[32:], YS[32:]
    missed, found, ruled = alone.predict(xs), driven.predict(xs, rules=()), driven.predict(xs)
    assert broken(found, xs) < 0.5 * broken(missed, xs) and broken(ruled, xs) == 0
    assert beta is not None or accuracy(found, ys) > accuracy(missed, ys) + 0.01


@pytest.mark.parametrize("base", BASES)
def test_threads_do_not_change_bits(base: str) -> None:
    evidence = [*gold(XS[:5], YS[:5]), *unlabeled(XS[5:15]), Partial(XS[15], [YS[15][0], *[None] * (len(XS[15]) - 1)])]
    rules = [ONCE.soft(), gallery.changes_after_punctuation().soft()]
    learner = recipes.codl(base=base, beta=0.5, cycles=2)
    first, *others = [tagger(learner, rules=rules, n_jobs=n_jobs).fit(evidence) for n_jobs in (1, 2, 3)]
    for other in others:
        np.testing.assert_array_equal(first.model_.weights, other.model_.weights)
        assert first.penalties_ == other.penalties_


def test_penalties_follow_completions_and_go_into_the_file(tmp_path: Path) -> None:
    rules = [ONCE.soft(), gallery.starts_with("author").soft(3.0)]
    own = gallery.ends_with("date").soft()
    evidence = [*gold(XS[:5], YS[:5]), *(Partial(x, known(y)) for x, y in zip(XS[5:12], YS[5:12]))]
    evidence += [*unlabeled(XS[12:14], rules=[own])]
    driven = tagger(recipes.codl(base="semi_crf", beta=0.5, cycles=1), rules=rules).fit(evidence)
    ready = prepared(driven, evidence)
    learner = ready.learner
    assert learner.inputs.rules == (*rules, own)
    *_, last = learner.run()
    completed = [
        [ready.labels.names[k] for k in learner.labels[a:b]]
        for a, b in itertools.pairwise(open_batch(ready).starts.tolist())
    ]
    assert last.last and completed[:7] == YS[5:12]
    first, second = penalties_of(rules, XS[:5], YS[:5]), penalties_of(rules, XS[5:14], completed)
    assert driven.penalties_ == pytest.approx(mixed(first, second, 0.5)) and driven.penalties_ != first
    assert driven.penalties_[1] == 3.0
    assert driven.model_.about["penalties"] == {ONCE.name: driven.penalties_[0]}
    driven.save(tmp_path / "driven.sl")
    again = SegmentTagger.load(tmp_path / "driven.sl")
    assert again.learner == driven.learner
    assert again.predict(XS[14:20], rules=rules) == driven.predict(XS[14:20])
    assert again.predict(XS[14:20]) == driven.predict(XS[14:20], rules=())


def test_rules_of_the_evidence_bear_on_their_inputs_alone() -> None:
    no_title = gallery.at_most(0, "title")
    learner = recipes.codl(base="semi_svm", beta=0.5, cycles=1)
    some = [*gold(XS[:5], YS[:5]), *unlabeled(XS[5:8], rules=[no_title]), *unlabeled(XS[8:11])]
    fitted = tagger(learner).fit(some)
    ready = prepared(fitted, some)
    driven = ready.learner
    *_, _last = driven.run()
    title = ready.labels.number["title"]
    titles = [title in driven.labels[a:b] for a, b in itertools.pairwise(open_batch(ready).starts.tolist())]
    assert not any(titles[:3]) and any(titles[3:])
    np.testing.assert_array_equal(driven.weights, fitted.model_.weights)
    assert fitted.penalties_ == [] and "penalties" not in fitted.model_.about


def test_cycles_are_rounds_and_parameters_are_scikit_learns() -> None:
    seen = []
    learner = recipes.codl(base=recipes.semi_crf(max_length=6), beta=0.5, cycles=2)
    one = tagger(learner, rules=[ONCE.soft(1.0)], callbacks=[seen.append], max_length=None)
    one.fit([*gold(XS[:5], YS[:5]), *unlabeled(XS[5:9])])
    assert seen == one.rounds_ and one.model_.structure.max_length == 6
    assert [record.completion for record in seen] == list(range(len(seen))) and seen[1].changed == 4
    assert [record.last for record in seen] == [False] * (len(seen) - 1) + [True]
    other = clone(one)
    assert other.learner == learner and not hasattr(other, "model_")
    assert tagger(recipes.semi_svm(max_length=5), max_length=None).fit(XS[:3], YS[:3]).model_.structure.max_length == 5


X, Y = ["ed", "holt", "1994"], ["name", "name", "year"]


@pytest.mark.parametrize(
    ("evidence", "options", "problem"),
    [
        (
            [Unlabeled(X)],
            {"labels": ["name"], "max_length": 2, "segment_features": SegmentFeatures(counted="all")},
            "codl begins with a model of Gold, and there is none; give some",
        ),
        ([Gold(X, Y)], {"learner": "codl_as_printed"}, "codl_as_printed needs a generative model, which segments do"),
        (
            [Gold(X, Y)],
            {"learner": recipes.codl(base="naive_bayes")},
            "naive_bayes needs labels of single tokens, which seg",
        ),
        (
            [Gold(X, Y)],
            {"learner": recipes.codl(base=recipes.semi_crf(max_length=4)), "max_length": 3},
            "max_length is 3, and 4 in the learner",
        ),
        ([Gold(X, Y)], {"prices": {"unlabeled": -1.0}}, "the price of unlabeled is -1.0"),
        ([Gold(X, Y), Unlabeled(X, rules=(gallery.starts_with("month"),))], {}, "there is no label 'month'"),
        (
            [Gold(X, Y), Unlabeled(X)],
            {"rules": [gallery.at_least(4, "name", name="many")]},
            "example 1: no output obeys the rule many",
        ),
        (
            [Gold(X, Y), Candidates(X, [None] * 3, chunks=[Chunk(0, [("name", "name"), ("year", "year")])])],
            {},
            r"evidence 1 \(Candidates\): codl takes candidates of single tokens",
        ),
    ],
)
def test_what_cannot_be_used_is_said(evidence, options, problem) -> None:
    with pytest.raises((ValueError, Infeasible), match=problem):
        SegmentTagger(**{"learner": recipes.codl(base="semi_crf"), **options}).fit(evidence)


def test_taggers_of_tokens_name_the_tagger_of_segments() -> None:
    learner = recipes.codl(base="semi_crf")
    with pytest.raises(
        ValueError,
        match=r"needs segments, which chains do not have; use SegmentTagger\(learner=recipes.codl\(base='semi_crf'",
    ):
        Tagger(learner=learner).fit([X], [Y])
    with pytest.raises(ValueError, match="use SegmentTagger"):
        Classifier(learner=learner).fit([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
