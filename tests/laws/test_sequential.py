"""Sequential learning against its definition: sums by enumeration, slopes by differences, a plain perceptron."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.data.relations import EntitySentence, Extraction
from sidelight.estimators.sequential_learner import SequentialLearner
from sidelight.objective.online.sequential_epochs import PartPerceptron
from sidelight.rounds.sequential_learning import SequentialLikelihood, TiedExamples, learn_by_perceptron
from sidelight.rules import rule
from sidelight.rules.gallery import argument_types
from sidelight.structures import sub_problems
from sidelight.structures.relations import EntityRelation
from sidelight.testing import check_structure
from tied_problems import KINDS, drawn_data, drawn_structure

PARTS = {"one": [0, 1], "two": [2, 3, 4], "three": [5, 6]}
seeds = st.integers(0, 2**32 - 1)


def examples(seed: int, count: int = 6, *, soft: bool = True) -> tuple[TiedExamples, sub_problems.SubProblems]:
    rng = np.random.default_rng(seed)
    structure = drawn_structure(rng, soft=soft)
    xs, ys = drawn_data(structure, rng, count)
    batch = structure.batch(xs)
    targets = np.concatenate([structure.encode(x, y) for x, y in zip(xs, ys)])
    return TiedExamples(batch.scorer.rows, batch.scorer.layout, batch.space, targets, np.ones(count)), structure


def worths(data: TiedExamples) -> dict[tuple[int, ...], float]:
    """What rules leave of every output of the first input: a charge, or −inf."""
    listed = {tuple(y): -charge for y, charge in zip(*[part.tolist() for part in data.space.lists[0]])}
    every = product(PARTS["one"], PARTS["two"], PARTS["three"])
    return {y: listed.get(y, -np.inf) for y in every}


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_listed_outputs_keep_the_laws(seed):
    rng = np.random.default_rng(seed)
    structure = drawn_structure(rng, soft=False)
    checked = check_structure(structure.batch(drawn_data(structure, rng, 2)[0]), seed=seed)
    assert checked.sums and checked.likelihood and checked.k_best


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_the_likelihood_is_that_of_the_list(seed):
    """P(y_k | x) ∝ e^φ_k Σ_(y_<t) e^(c + Σ φ_j), where c(y_<t, y_k) is that of the best completion."""
    data, _ = examples(seed)
    rng = np.random.default_rng(seed + 1)
    single = bool(rng.integers(2))  # labels against others, or whole kinds
    groups = [np.array([c]) for c in range(7)] if single else [np.array(own) for own in PARTS.values()]
    order = rng.permutation(len(groups))
    step = int(rng.integers(len(groups)))
    choices = groups[order[step]]
    learned = np.zeros(7, np.uint8)
    for k in order[:step]:
        learned[groups[k]] = 1
    earlier = rng.normal(size=(len(data.targets), 7)) * learned
    objective = SequentialLikelihood.of(data, choices, earlier, learned, tied=True, C=0.7)
    weights = data.layout.zeros()
    for c in choices:
        data.layout.bias(weights)[c] = rng.normal()
        data.layout.attribute_weights(weights)[:, c] = rng.normal(size=data.layout.n_attributes)
    scores = earlier + data.scores(weights) * np.isin(np.arange(7), choices)
    seen = learned.copy()
    seen[choices] = 1
    expected = 0.5 * weights @ weights
    ties = worths(data)
    for i in range(len(data.rows)):
        best: dict[tuple[int, ...], float] = {}  # by what is seen of an output: its score, and the best charge
        for y, worth in ties.items():
            view = tuple(c if seen[c] else -1 for c in y)
            total = worth + sum(scores[3 * i + v, c] for v, c in enumerate(y) if seen[c])
            best[view] = max(best.get(view, -np.inf), total)
        target = data.targets[3 * i : 3 * i + 3]
        mine = tuple(int(c) if c in choices else -1 for c in target)
        right = [v for view, v in best.items() if tuple(c if c in choices else -1 for c in view) == mine]
        expected -= 0.7 * (np.logaddexp.reduce(right) - np.logaddexp.reduce(list(best.values())))
    gradient = data.layout.zeros()
    assert objective.evaluate(weights, gradient) == pytest.approx(expected)


@settings(max_examples=15, deadline=None)
@given(seed=seeds, tied=st.booleans())
def test_the_slope_of_the_likelihood(seed, tied):
    data, _ = examples(seed)
    rng = np.random.default_rng(seed + 1)
    names = list(PARTS)
    rng.shuffle(names)
    step = int(rng.integers(3))
    learned = np.zeros(7, np.uint8)
    for name in names[:step]:
        learned[PARTS[name]] = 1
    choices = np.array(PARTS[names[step]])
    earlier = rng.normal(size=(len(data.targets), 7)) * learned
    objective = SequentialLikelihood.of(data, choices, earlier, learned, tied=tied, C=1.3)
    among = data.layout.zeros()
    data.layout.bias(among)[choices] = 1.0
    data.layout.attribute_weights(among)[:, choices] = 1.0
    weights = rng.normal(size=len(among)) * among
    gradient, other = data.layout.zeros(), data.layout.zeros()
    objective.evaluate(weights, gradient)
    assert np.all(gradient[among == 0] == 0.0)
    direction = rng.normal(size=len(among)) * among
    ahead, behind = (objective.evaluate(weights + h * direction, other) for h in (1e-5, -1e-5))
    assert gradient @ direction == pytest.approx((ahead - behind) / 2e-5, rel=1e-4, abs=1e-5)


def plain_perceptron(data, choices, earlier, margins, passes, seed):
    """Figure 2 with several passes, averages and a thick margin, by trying all outputs."""
    ties, layout = worths(data), data.layout
    weights, sums, count, updates = layout.zeros(), layout.zeros(), 1.0, 0
    sums += weights
    rng = np.random.default_rng(seed)
    for _ in range(passes):
        moved = 0
        for i in rng.permutation(len(data.rows)).tolist():
            target = data.targets[3 * i : 3 * i + 3].tolist()
            scores = (
                earlier[3 * i : 3 * i + 3] + (data.scores(weights) * np.isin(np.arange(7), choices))[3 * i : 3 * i + 3]
            )
            for v, y in enumerate(target):
                if y in choices:
                    scores[v, y] -= margins[y]
                else:
                    scores[v, choices] += margins[choices]
            guess = max(ties, key=lambda y: ties[y] + sum(scores[v, c] for v, c in enumerate(y)))
            for v, (y, g) in enumerate(zip(target, guess)):
                if y != g and (y in choices or g in choices):
                    moved += 1
                    own = np.zeros((layout.n_attributes, 7))
                    x = np.zeros(layout.n_attributes)
                    at = slice(data.rows.indptr[3 * i + v], data.rows.indptr[3 * i + v + 1])
                    x[data.rows.indices[at]] = data.rows.values[at]
                    for c, sign in ((y, 1.0), (g, -1.0)):
                        if c in choices:
                            layout.bias(weights)[c] += sign
                            own[:, c] += sign * x
                    layout.attribute_weights(weights)[:] += own
            sums += weights
            count += 1.0
        updates += moved
        if not moved:
            break
    return sums / count, updates


@settings(max_examples=10, deadline=None)
@given(seed=seeds, single=st.booleans(), thick=st.sampled_from([0.0, 0.5, 2.0]))
def test_the_perceptron_is_that_of_figure_2(seed, single, thick):
    data, _ = examples(seed, 8)
    rng = np.random.default_rng(seed + 1)
    choices = np.array([int(rng.integers(7))]) if single else np.array(PARTS["two"])
    earlier = rng.normal(size=(len(data.targets), 7)) * (np.arange(7) < 2) * (0 if single else 1)
    margins = np.full(7, thick)
    found = learn_by_perceptron(data, choices, earlier, tied=True, margins=margins, passes=3, seed=5)
    expected, updates = plain_perceptron(data, choices, earlier, margins, 3, 5)
    assert found.updates == updates
    np.testing.assert_allclose(found.weights, expected, atol=1e-9)


@settings(max_examples=8, deadline=None)
@given(seed=seeds, tied=st.booleans(), related=st.booleans())
def test_compiled_passes_are_plain_passes(seed, tied, related):
    """Of slots alone, of lists, and of entities and relations under a soft rule about one of them."""
    rng = np.random.default_rng(seed)
    data = related_examples(rng) if related else examples(seed, 8)[0]
    size = data.space.n_labels
    choices = np.sort(rng.permutation(size)[: int(rng.integers(1, size + 1))])
    space = data.space if tied else data.free
    fixed = rng.normal(size=(len(data.targets), size))
    given = data.rows, space, fixed, data.targets, rng.random(len(data.rows)), choices, data.layout.n_attributes
    one, other = PartPerceptron.fresh(*given), PartPerceptron.fresh(*given)
    for _ in range(3):
        order = rng.permutation(len(data.rows))
        moved = other.plain_epoch(order)
        other.clock += len(order)
        assert one.epoch(order) == moved
    assert np.array_equal(one.weights, other.weights) and np.array_equal(one.average(), other.average())


def related_examples(rng: np.random.Generator) -> TiedExamples:
    shy = rule(penalty=0.8)(lambda x, y: y.entity[0] != "Loc")
    lives = argument_types({"Live_In": ("Peop", "Loc")})
    structure = EntityRelation(["Peop", "Loc"], ["Live_In"], [lives, shy])
    words = np.array(["Ann", "Oslo", "in", "lives", "from"])
    xs = [
        EntitySentence(tuple(rng.choice(words, 6)), tuple((k, k + 1) for k in range(int(rng.integers(1, 4)))))
        for _ in range(8)
    ]
    batch = structure.batch(xs)
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    return TiedExamples(batch.scorer.rows, batch.scorer.layout, batch.space, targets, np.ones(len(xs)))


@settings(max_examples=6, deadline=None)
@given(seed=seeds)
def test_programs_and_lists_have_the_same_best_outputs(seed):
    structure = examples(seed)[1]
    rng = np.random.default_rng(seed)
    xs = [rng.normal(size=(3, 3)) for _ in range(4)]
    listed = structure.batch(xs).space
    most, sub_problems.MOST_LISTED = sub_problems.MOST_LISTED, 1
    try:
        searched = structure.batch(xs).space
    finally:
        sub_problems.MOST_LISTED = most
    assert type(searched) is not type(listed) and np.array_equal(searched.there, listed.there | searched.there)
    scores = np.where(searched.there, rng.normal(size=(12, 7)), -np.inf)
    one, other = listed.best_each(scores), searched.best_each(scores)
    np.testing.assert_allclose(one[1], other[1], atol=1e-9)
    assert np.array_equal(one[0], other[0])


@pytest.mark.parametrize("form", ["perceptron", "log_linear"])
@pytest.mark.parametrize("method", ["LO", "L+I", "IBT", "SL"])
def test_the_same_seed_gives_the_same_bits_and_rules_are_kept(form, method):
    rng = np.random.default_rng(3)
    structure = drawn_structure(rng, soft=False)
    xs, ys = drawn_data(structure, rng, 40)
    options = {"method": method, "form": form, "passes": 4, "seed": 7}
    one, other = (SequentialLearner(structure, **options).fit(xs, ys) for _ in range(2))
    assert np.array_equal(one.model_.weights, other.model_.weights) and one.order_ == other.order_
    batch = one.prepare(xs).batch
    legal = batch.space.admits(one.predict_choices(xs))
    assert legal.all() or method == "LO"
    assert one.score(xs, ys) > 0.8


@pytest.mark.parametrize("form", ["perceptron", "log_linear"])
def test_without_rules_all_four_are_one(form):
    """Sub-problems that nothing ties are the same whichever way they are learned, but for IBT's common clock."""
    rng = np.random.default_rng(4)
    structure = drawn_structure(rng, soft=False)
    structure.rules = ()
    xs, ys = drawn_data(structure, rng, 25)
    made = {m: SequentialLearner(structure, method=m, form=form, passes=3) for m in ("LO", "L+I", "IBT", "SL")}
    weights = {m: learner.fit(xs, ys).model_.weights for m, learner in made.items()}
    for other in ("L+I", "SL", "IBT") if form == "perceptron" else ("L+I", "SL"):
        np.testing.assert_allclose(weights[other], weights["LO"], atol=1e-5)
    np.testing.assert_allclose(weights["IBT"], weights["LO"], atol=0.05)


def test_the_order_by_updates_is_that_of_fewest_updates_for_the_instances():
    rng = np.random.default_rng(5)
    structure = drawn_structure(rng)
    xs, ys = drawn_data(structure, rng, 30)
    learner = SequentialLearner(structure, passes=2, one_vs_all=True).fit(xs, ys)
    assert sorted(learner.order_) == sorted(f"{kind} {label}" for kind, own in KINDS.items() for label in own)
    for step in learner.steps_:
        assert step.errors[step.chosen] == min(step.errors.values())
    assert [len(step.errors) for step in learner.steps_] == [7, 6, 5, 4, 3, 2, 1]
    assert [step.chosen for step in learner.steps_] == learner.order_
    again = SequentialLearner(structure, passes=2, one_vs_all=True, order=learner.order_).fit(xs, ys)
    assert np.array_equal(again.model_.weights, learner.model_.weights)
    other = SequentialLearner(structure, passes=2, one_vs_all=True, order=learner.order_[::-1]).fit(xs, ys)
    assert other.order_ == learner.order_[::-1]
    assert not np.array_equal(other.model_.weights, learner.model_.weights)


def test_types_are_marginalised_where_relations_are_learned():
    """The log-linear form over entities and relations, against all outputs of a sentence."""
    lives = argument_types({"Live_In": ("Peop", "Loc")})
    structure = EntityRelation(["Peop", "Loc"], ["Live_In"], [lives], features=lambda x, kind, key: [kind])
    x = EntitySentence(("Ann", "lives", "in", "Oslo"), ((0, 1), (3, 4)))
    batch = structure.batch([x])
    targets = structure.encode(x, Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),)))
    data = TiedExamples(batch.scorer.rows, batch.scorer.layout, batch.space, targets, np.ones(1))
    earlier = np.zeros((3, 5))
    earlier[:2, :2] = [[0.3, -0.2], [0.1, 0.4]]
    learned, related = np.array([1, 1, 0, 0, 0], np.uint8), np.array([2, 3, 4])
    objective = SequentialLikelihood.of(data, related, earlier, learned, tied=True, C=1.0)
    weights = data.layout.zeros()
    data.layout.bias(weights)[related] = [0.5, -0.1, 0.2]
    types = {(a, b): np.exp(earlier[0, a] + earlier[1, b]) for a in (0, 1) for b in (0, 1)}
    mass = [sum(types.values()) * np.exp(0.5), types[0, 1] * np.exp(-0.1), types[1, 0] * np.exp(0.2)]
    expected = 0.5 * (0.25 + 0.01 + 0.04) - np.log(mass[1] / sum(mass))
    assert objective.evaluate(weights, data.layout.zeros()) == pytest.approx(expected)
