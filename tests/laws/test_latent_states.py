"""Laws of labels with hidden states: the objective by its definition, completions inside, one state is no state."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from drawing import labelings, law, members_of, plain_scores, seeds, values_of
from hypothesis import given
from hypothesis import strategies as st
from test_monotone_jlis import LABELS, check_monotone, evidence_of, trained

from sidelight import Candidates, Companion, Gold, Partial, Tagger, features, recipes
from sidelight.objective.completion import Latent
from sidelight.objective.cuts import total_loss
from sidelight.objective.margin import TargetTerms
from sidelight.structures import LabelSet, StateSet, scheme_transitions, with_states
from sidelight.training import Training

KINDS = ("gold", "partial", "candidates", "unlabeled", "good", "bad")
PRICES = {"gold": 1.0, "partial": 0.7, "candidates": 0.5, "unlabeled": 0.2, "companion": 0.8}
counts_of = st.fixed_dictionaries({label: st.integers(1, 3) for label in LABELS})


def tagger(**settings) -> Tagger:
    return Tagger(**{"features": features.words(), "labels": LABELS, "n_jobs": 1, "learner": "latent_svm", **settings})


def names_of(states: dict[str, int]) -> list[str]:
    """The label of every state, from the definition alone."""
    return [label for label in LABELS for _ in range(states[label])]


def admitted_labels(one, t: int) -> set[str]:
    if isinstance(one, Gold):
        return {one.y[t]}
    if isinstance(one, Partial):
        return set(LABELS) if one.y[t] is None else {one.y[t]}
    if isinstance(one, Candidates):
        return set(LABELS) if one.y[t] is None else set(one.y[t])
    return set(LABELS)


def completed(training: Training, evidence, states: dict[str, int]):
    """The present target states of every input that has some, by its number."""
    learner, encoded, starts = training.learner, training.encoded, training.rows.starts
    several = [
        i for i, one in enumerate(evidence) if isinstance(one, Gold) and any(states[label] > 1 for label in one.y)
    ]
    latent = [*several, *encoded.of_kind("partial", "candidates", "unlabeled").tolist()]
    good = np.flatnonzero(encoded.answers == 1).tolist()
    out = {}
    for which, flat in ((latent, learner.completion.latent), (good, learner.completion.positive)):
        if which:
            lengths = np.diff(starts)[which]
            assert flat is not None
            assert len(flat) == lengths.sum()
            out |= dict(zip(which, np.split(flat, np.cumsum(lengths)[:-1])))
    names = names_of(states)
    for i, one in enumerate(evidence):
        if isinstance(one, Gold) and i not in out:
            out[i] = np.array([names.index(label) for label in one.y])
    return out


def definition(training: Training, evidence, states: dict[str, int], targets=None) -> float:
    """Q(w, ĥ), or J(w) = min over ĥ for Gold where no targets are given, by enumeration of states and labels."""
    learner, names = training.learner, np.array(names_of(states))
    weights = learner.weights
    scores = plain_scores(training.rows, training.structure.layout, weights)
    space = replace(learner.problem.gold.batch.space, admitted=None)
    total = 0.5 * float(weights @ weights)
    for i, one in enumerate(evidence):
        first, last = training.rows.starts[i : i + 2].tolist()
        paths = labelings(len(names), last - first)
        paths = paths[members_of(space, first, paths)]
        values = values_of(scores, first, paths)
        price = one.weight * training.settings.price(one.kind)
        if isinstance(one, Companion):
            best = values.max() if one.z == -1 else -values_of(scores, first, targets[i][None])[0]
            value = 1.0 + best / (last - first) + (weights[0] if one.z == -1 else -weights[0])
        else:
            if targets is None:
                assert isinstance(one, Gold)
                right = np.array(one.y)
                mine = values[np.all(names[paths] == right, axis=1)].max()
            else:
                right = names[targets[i]]
                mine = values_of(scores, first, targets[i][None])[0]
            wrong = np.sum(names[paths] != right, axis=1)  # labels, not states
            value = np.max(values + wrong) - mine
        total += price * max(0.0, value) ** learner.options.power
    return total


def check_inside(targets, evidence, states) -> None:
    names = names_of(states)
    for i, found in targets.items():
        for t, state in enumerate(found):
            assert names[state] in admitted_labels(evidence[i], t)


@law(40)
@given(
    seeds,
    st.tuples(*[st.integers(0, 2)] * 6),
    counts_of,
    st.sampled_from(["squared_hinge", "hinge"]),
    st.booleans(),
)
def test_mixed_evidence_is_monotone_honest_and_admitted(seed, counts, states, loss, random_ties):
    evidence = evidence_of(seed, dict(zip(KINDS, counts)))
    evidence = [one for one in evidence if len(one.x) < 4]  # up to 9 states are enumerated
    if not evidence:
        return
    settings = tagger(
        learner="jlis", states=states, loss=loss, prices=PRICES, random_ties=random_ties, max_rounds=80, seed=seed % 7
    )
    training, rounds = trained(settings, evidence)
    check_monotone(rounds)
    hidden = training.learner.problem.latent.hidden
    convex = training.learner.problem.is_convex
    if rounds[-1].completion > 0 or convex:
        targets = completed(training, evidence, states)
        check_inside(targets, evidence, states)
        assert rounds[-1].objective == pytest.approx(definition(training, evidence, states, targets), rel=1e-9)
    assert hidden == sum(isinstance(one, Gold) and any(states[y] > 1 for y in one.y) for one in evidence)


@pytest.mark.parametrize("counts", [{"gold": 8, "partial": 8}, {"partial": 5, "unlabeled": 5}, {"gold": 5, "good": 9}])
def test_the_objective_of_mixtures(counts):
    """Gold comes first among what is completed, wherever it stands in the evidence."""
    evidence = [one for one in evidence_of(8, counts) if len(one.x) < 4]
    states = {"A": 2, "B": 3, "C": 2}
    training, rounds = trained(tagger(learner="jlis", states=states, prices=PRICES), evidence)
    targets = completed(training, evidence, states)
    check_inside(targets, evidence, states)
    assert rounds[-1].completion >= 1
    assert rounds[-1].objective == pytest.approx(definition(training, evidence, states, targets), rel=1e-9)


@law(25)
@given(seeds, counts_of, st.sampled_from(["squared_hinge", "hinge"]))
def test_gold_alone_is_the_latent_structural_svm(seed, states, loss):
    """From the random beginning on the objective falls, and completing gives that of Yu and Joachims exactly."""
    evidence = [one for one in evidence_of(seed, {"gold": 12}) if len(one.x) < 4]
    if not evidence:
        return
    training, rounds = trained(tagger(states=states, loss=loss, tolerance=1e-3, max_rounds=150), evidence)
    check_monotone(rounds, first=0)
    learner = training.learner
    problem, weights = learner.problem, learner.weights
    completion, _, _ = problem.complete(weights, learner.completion, None)
    check_inside(completed(training, evidence, states), evidence, states)
    terms = problem.convex(completion)
    value = 0.5 * weights @ weights + total_loss(terms.worst(weights).values, terms.prices, learner.options.power)
    by_definition = definition(training, evidence, states)
    assert value == pytest.approx(by_definition, rel=1e-9)
    assert by_definition <= rounds[-1].objective * (1 + 1e-9)


def test_completions_do_move_states_and_do_lower_the_objective():
    evidence = evidence_of(3, {"gold": 40})
    training, rounds = trained(tagger(states=2, tolerance=1e-3, prices={"gold": 3.0}), evidence)
    ends = [a.objective for a, b in itertools.pairwise(rounds) if b.completion > a.completion]
    assert len(ends) >= 2
    assert sum(record.changed > 0 for record in rounds) >= 2
    assert rounds[-1].objective < ends[0] - 1e-2
    assert len(np.unique(training.learner.completion.latent)) > len(LABELS)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_one_state_is_the_structural_svm_to_the_bit(loss):
    evidence = evidence_of(5, {"gold": 30})
    found = []
    for settings in ({"learner": "structural_svm"}, {"states": 1}, {"states": {"A": 1}}, {}):
        training, rounds = trained(tagger(loss=loss, **settings), evidence)
        assert type(training.labels) is LabelSet
        found.append((training.model().weights, [(r.objective, r.dual) for r in rounds]))
    for weights, records in found[1:]:
        np.testing.assert_array_equal(weights, found[0][0])
        assert records == found[0][1]


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_completing_to_the_only_admitted_state_is_the_structural_svm(loss):
    """The way of hidden Gold, with nothing hidden: the same optimum within the tolerance."""
    evidence = evidence_of(6, {"gold": 30})
    plain, _ = trained(tagger(loss=loss, learner="structural_svm", tolerance=1e-4), evidence)
    training = Training(tagger(loss=loss, tolerance=1e-4)._settings(), evidence)
    problem = training.learner.problem
    gold = problem.gold
    one = (np.arange(3) == gold.cost.targets[:, None]).astype(np.uint8)
    none = gold.part(0, 0)
    assert isinstance(none, TargetTerms)
    blank = gold.with_targets(np.zeros_like(gold.cost.targets))
    same = replace(problem, gold=none, latent=Latent(blank, one, len(gold)))
    learner = type(training.learner).fresh(same, training.learner.options, size=training.structure.layout.size)
    rounds = list(learner.run())
    best, other = plain.learner.solver.best_primal, rounds[-1].objective
    assert abs(best - other) <= 1.01e-4 * max(best, other) + 1e-9
    np.testing.assert_array_equal(learner.completion.latent, gold.cost.targets)


@law(30)
@given(seeds, counts_of)
def test_transitions_and_costs_are_those_of_labels(seed, states):
    rng = np.random.default_rng(seed)
    bio = LabelSet(("B-X", "I-X", "O"))
    sizes = [states[label] for label in LABELS]
    of_bio = dict(zip(bio.names, sizes))
    found = scheme_transitions(with_states(bio, of_bio), "BIO")
    plain = scheme_transitions(bio, "BIO")
    kinds = np.repeat(np.arange(3), sizes)
    for a, b in itertools.product(range(len(kinds)), repeat=2):
        assert found.between[a, b] == plain.between[kinds[a], kinds[b]]
    assert found.start.tolist() == plain.start[kinds].tolist()
    assert found.end.tolist() == plain.end[kinds].tolist()
    cost = {("A", "B"): 3.0, ("C", "A"): 0.5}
    weight = {"B": 2.0} if rng.random() < 0.5 else "balanced"
    evidence = evidence_of(seed, {"gold": 4, "partial": 4})
    both = []
    for given_states in (None, states):
        settings = tagger(states=given_states, cost=cost, class_weight=weight)._settings()
        both.append(Training(settings, evidence).learner.problem.gold.cost.costs)
    np.testing.assert_array_equal(both[1], both[0][kinds[:, None], kinds])


@law(15)
@given(seeds, counts_of, st.sampled_from(["cllp", "mms"]))
def test_candidates_are_the_states_of_labels(seed, states, learner):
    evidence = [one for one in evidence_of(seed, dict(zip(KINDS[:4], [2] * 4))) if len(one.x) < 4]
    if not evidence:
        return
    training, rounds = trained(tagger(learner=learner, states=states, max_rounds=30), evidence)
    names, starts = names_of(states), training.rows.starts
    problem = training.learner.problem
    for i, one in enumerate(evidence):
        paths = labelings(len(names), len(one.x))
        tokens = range(*starts[i : i + 2].tolist())
        inside = problem.batch.space.admitted[tokens][np.arange(len(one.x)), paths].all(axis=1)
        expected = [all(names[s] in admitted_labels(one, t) for t, s in enumerate(path)) for path in paths]
        assert inside.tolist() == expected
        labels = training.learner.labels[starts[i] : starts[i + 1]]
        assert all(names[s] in admitted_labels(one, t) for t, s in enumerate(labels))
    assert np.isfinite(rounds[-1].objective)


@law(10)
@given(seeds, counts_of)
def test_a_crf_sums_over_the_states_of_labels(seed, states):
    evidence = [one for one in evidence_of(seed, dict(zip(KINDS[:3], [3] * 3))) if len(one.x) < 4]
    if not evidence:
        return
    training, rounds = trained(tagger(learner="partial_crf", states=states, prices=PRICES, max_rounds=15), evidence)
    names, weights = names_of(states), training.learner.weights
    scores = plain_scores(training.rows, training.structure.layout, weights)
    total = 0.5 * float(weights @ weights)
    for i, one in enumerate(evidence):
        paths = labelings(len(names), len(one.x))
        values = np.exp(values_of(scores, int(training.rows.starts[i]), paths))
        inside = [all(names[s] in admitted_labels(one, t) for t, s in enumerate(path)) for path in paths]
        total += one.weight * training.settings.price(one.kind) * np.log(values.sum() / values[inside].sum())
    assert rounds[-1].objective == pytest.approx(total, rel=1e-9)
    assert [b.objective <= a.objective + 1e-9 for a, b in itertools.pairwise(rounds)] == [True] * (len(rounds) - 1)


def test_hidden_gold_keeps_its_price_while_others_anneal():
    evidence = evidence_of(2, {"gold": 4, "unlabeled": 4})
    settings = tagger(states=2, learner=recipes.transductive_svm(anneal=3), prices={"unlabeled": 1.0})
    training = Training(settings._settings(), evidence)
    seen = set()
    gold_prices = [one.weight for one in evidence if isinstance(one, Gold)]
    rest = np.array([one.weight for one in evidence if not isinstance(one, Gold)])
    for record in training.rounds():
        if record.completion:
            prices = training.learner._convex().prices
            np.testing.assert_array_equal(prices[:4], gold_prices)
            seen.add(round(float(prices[4] / rest[0]), 4))
    assert {0.25, 0.5, 1.0} <= seen <= {0.125, 0.25, 0.5, 1.0}


def test_threads():
    evidence = evidence_of(5, {"gold": 300, "partial": 100, "good": 100, "bad": 100})
    found = []
    for n_jobs in (1, 2, 3):
        training = Training(tagger(learner="jlis", states=2, max_rounds=15, n_jobs=n_jobs)._settings(), evidence)
        records = [(r.objective, r.dual, r.completion, r.changed) for r in training.rounds()]
        model = training.model()
        found.append((records, model.weights.copy(), model.predict([one.x for one in evidence], n_jobs=n_jobs)))
    assert found[0][0][-1][2] >= 1
    for records, weights, outputs in found[1:]:
        assert records == found[0][0]
        assert outputs == found[0][2]
        np.testing.assert_array_equal(weights, found[0][1])


def test_the_beginning_is_random_and_seeded():
    evidence = evidence_of(1, {"gold": 30, "partial": 10})
    begun = [
        Training(tagger(states=2, seed=seed)._settings(), evidence).learner.completion.latent for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(begun[0], begun[1])
    assert np.any(begun[0] != begun[2])
    gold_tokens = sum(len(one.x) for one in evidence if isinstance(one, Gold))
    assert len(begun[0]) == gold_tokens
    assert set(begun[0].tolist()) == set(range(6))


def test_without_gold_states_begin_at_random():
    evidence = evidence_of(1, {"partial": 40})
    learner = Training(tagger(states=2)._settings(), evidence).learner
    assert learner.completions == 1
    assert set(learner.completion.latent.tolist()) == set(range(6))


def test_all_members_of_a_label_are_its_states():
    labels = with_states(LabelSet(("A", "B", "C")), {"B": 3, "C": 2})
    assert isinstance(labels, StateSet)
    assert [str(name) for name in labels.names] == ["A", "B/1", "B/2", "B/3", "C/1", "C/2"]
    assert labels.decode(np.arange(6)) == ["A", "B", "B", "B", "C", "C"]
    assert labels.label_of.tolist() == [0, 1, 1, 1, 2, 2]
    assert {label: labels.numbers(label) for label in labels.classes} == {"A": (0,), "B": (1, 2, 3), "C": (4, 5)}
    assert labels.mask(["A", "C"]).tolist() == [1, 0, 0, 0, 1, 1]
    assert "B" in labels
    assert "B/1" not in labels
