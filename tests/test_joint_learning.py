"""Decisions learned together: all that margins and likelihoods can learn from, and what is wrong is said."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import sidelight as sl
from sidelight import DataError, Intractable, Joint, ModelFileError, NotFitted, recipes
from sidelight.models.files import write_tensors
from sidelight.models.model_file import VARIABLES, model_state
from sidelight.rules import every, implies, rule
from sidelight.spaces.variables import elimination

KINDS = {"who": ["person", "place"], "link": ["none", "lives_in"]}
PEOPLE, PLACES, EITHER = ["Ann", "Bob", "Eve"], ["Paris", "Rome", "Oslo"], ["Kim", "Ray"]
SOLVERS = ("one_slack", "n_slack_qp", "frank_wolfe", "subgradient")


def sentence(rng: np.random.Generator) -> tuple[list[str], dict[str, dict[object, str]]]:
    kinds = [str(kind) for kind in rng.choice(["person", "place"], 2)]
    words = [str(rng.choice((PEOPLE if kind == "person" else PLACES) + EITHER)) for kind in kinds]
    lives = kinds == ["person", "place"] and rng.random() < 0.8
    between = ["lives", "in"] if lives and rng.random() < 0.7 else ["is", "from"] if rng.random() < 0.5 else ["saw"]
    x = [words[0], *between, words[1]]
    last = len(x) - 1
    return x, {"who": {0: kinds[0], last: kinds[1]}, "link": {(0, last): "lives_in" if lives else "none"}}


DRAWN = [sentence(np.random.default_rng(seed)) for seed in range(120)]
XS, YS = [x for x, _ in DRAWN], [y for _, y in DRAWN]


def features(x, kind, key):
    return {"word": x[key]} if kind == "who" else {"between": x[key[0] + 1 : key[1]]}


def variables(x):
    return {"who": [0, len(x) - 1], "link": [(0, len(x) - 1)]}


def pairs(x):
    link = ("link", (0, len(x) - 1))
    return [("from", link, ("who", 0)), ("to", link, ("who", len(x) - 1))]


def joint(rules=(), **options) -> Joint:
    return Joint(KINDS, rules, **{"variables": variables, "features": features, "pairs": pairs, **options})


@rule
def typed(x, y):
    """Who lives in what is a person, and what a place."""
    return every(
        implies(r == "lives_in", every(y.who[a] == "person", y.who[b] == "place")) for (a, b), r in y.link.items()
    )


def share_right(found, ys) -> float:
    both = [(one[kind][key], label) for one, y in zip(found, ys) for kind in y for key, label in y[kind].items()]
    return sum(guess == label for guess, label in both) / len(both)


def mixed(learner: str) -> list[sl.Evidence]:
    """Gold, and beside it what a learner takes."""
    found: list[sl.Evidence] = list(sl.gold(XS[:30], YS[:30]))
    if learner in ("jlis", "latent_svm", "cllp", "mms", "partial_crf", "naive"):
        found += [sl.Partial(x, {"who": y["who"], "link": {}}) for x, y in zip(XS[30:45], YS[30:45])]
        sets = [{key: {label} for key, label in y["link"].items()} for y in YS[45:60]]
        found += [sl.Candidates(x, {"link": own}) for x, own in zip(XS[45:60], sets)]
    if learner in ("jlis", "partial_crf"):
        found += [*sl.companion(XS[60:70], 1), *sl.companion([["in", "Oslo"], ["Bob", "Rome", "saw"]], -1)]
    if learner in ("jlis", "transductive_svm"):
        found += sl.unlabeled(XS[70:80])
    return found


@pytest.mark.parametrize(
    "learner",
    [
        "jlis",
        "structural_svm",
        "latent_svm",
        "transductive_svm",
        "cllp",
        "mms",
        "naive",
        "crf",
        "partial_crf",
        "perceptron",
    ],
)
def test_every_learner_learns(learner):
    found = joint(learner=learner).fit(mixed(learner))
    alone = joint(learner=learner, pairs=None).fit(sl.gold(XS[:30], YS[:30]))
    common = [{"who": dict.fromkeys(y["who"], "place"), "link": dict.fromkeys(y["link"], "none")} for y in YS[80:]]
    assert found.score(XS[80:], YS[80:]) > share_right(common, YS[80:]) + 0.1
    assert found.rounds_[-1].last and found.model_.about["learner"] == learner
    assert alone.model_.layout.size < found.model_.layout.size
    again = joint(learner=learner).fit(mixed(learner))
    np.testing.assert_array_equal(again.model_.weights, found.model_.weights)


def test_every_solver_finds_the_same_optimum():
    gold = sl.gold(XS[:40], YS[:40])
    exact = joint(learner="structural_svm", loss="hinge", tolerance=1e-4).fit(gold).rounds_[-1].objective
    for solver in SOLVERS:
        learner = recipes.structural_svm(solver=solver)
        last = joint(learner=learner, loss="hinge", tolerance=0.02).fit(gold).rounds_[-1]
        assert exact * (1 - 1e-3) <= last.objective <= exact * 1.03, solver
        assert last.dual is None or last.dual <= exact * (1 + 1e-3)


def test_the_objective_never_rises_between_completions():
    rounds = joint().fit(mixed("jlis")).rounds_
    ends = [
        one for one, after in zip(rounds, [*rounds[1:], None]) if after is None or after.completion != one.completion
    ]
    values = [one.objective for one in ends if one.completion > 0]
    assert len(values) > 1
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(values))


def test_rules_limit_what_is_predicted():
    asked, rules = XS[80:], [typed]
    loose, ruled = joint(pairs=None).fit(XS[:30], YS[:30]), joint(rules, pairs=None).fit(XS[:30], YS[:30])
    np.testing.assert_array_equal(loose.model_.weights, ruled.model_.weights)
    assert any(ruled.violations(asked, loose.predict(asked)))
    assert not any(ruled.violations(asked, ruled.predict(asked)))
    assert ruled.score(asked, YS[80:]) >= loose.score(asked, YS[80:])
    broken = next(x for x, y in zip(asked, loose.predict(asked)) if any(ruled.violations([x], [y])))
    assert ruled.explain_rules(broken).changes
    assert ruled.solutions([broken])[0].exact
    soft = joint([typed.soft()]).fit(XS[:30], YS[:30])
    assert soft.penalties[0] is not None and soft.penalties[0] > 0


def test_scores_that_are_handed_in_come_first():
    fitted = joint().fit(XS[:20], YS[:20])
    scores = {"who": {0: [0.0, 1.0]}}
    assert fitted.predict([XS[0]], [scores]) == [{"who": {0: "place"}}]


def test_probabilities_and_answers():
    fitted = joint(learner="crf").fit(XS[:40], YS[:40])
    for found, best in zip(fitted.predict_marginals(XS[80:90]), fitted.predict(XS[80:90])):
        assert set(found) == set(best)
        for kind, members in found.items():
            assert set(members) == set(best[kind])
            for row in members.values():
                assert list(row) == KINDS[kind] and sum(row.values()) == pytest.approx(1.0)
    for outputs, best in zip(fitted.k_best(XS[80:85], 9), fitted.predict(XS[80:85])):
        assert len(outputs) == 8 and outputs[0][0] == best  # two labels of each of three variables
        assert all(one >= other for (_, one), (_, other) in pairwise(outputs))
    drawn = fitted.sample(XS[80:85], seed=3)
    assert drawn == fitted.sample(XS[80:85], seed=3) and [list(y) for y in drawn] == [["who", "link"]] * 5
    judged = joint().fit(mixed("jlis"))
    assert judged.judge(XS[60:70]).mean() > judged.judge([["in", "Oslo"], ["Bob", "Rome", "saw"]]).mean()
    assert len(joint(size="one").fit(mixed("jlis")).judge(XS[:3])) == 3
    assert len(joint(size=lambda x: 2.0).fit(mixed("jlis")).judge(XS[:3])) == 3


def test_costs_and_weights_of_labels():
    dear = joint(cost={(("link", "lives_in"), ("link", "none")): 20.0}, prices={"gold": 0.02}).fit(XS[:40], YS[:40])
    plain = joint(prices={"gold": 0.02}).fit(XS[:40], YS[:40])
    other = joint(class_weight={("link", "lives_in"): 20.0}, prices={"gold": 0.02}).fit(XS[:40], YS[:40])

    def links(fitted):
        return sum(label == "lives_in" for y in fitted.predict(XS[40:]) for label in y["link"].values())

    assert links(dear) > links(plain) < links(other)
    assert joint(class_weight="balanced").fit(XS[:20], YS[:20]).rounds_


def test_save_and_load(tmp_path):
    path = tmp_path / "joint.safetensors"
    fitted = joint([typed]).fit(XS[:30], YS[:30])
    fitted.save(path)
    again = joint([typed]).load(path)
    assert again.predict(XS[80:]) == fitted.predict(XS[80:])
    np.testing.assert_array_equal(again.model_.weights, fitted.model_.weights)
    assert again.model_.structure.types == fitted.model_.structure.types and again.model_.about["learner"] == "jlis"
    with pytest.raises(ModelFileError, match="its labels are others; give Joint the labels it was trained with"):
        Joint({"who": ["person", "place"]}).load(path)
    with pytest.raises(ModelFileError):
        sl.load_model(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelFileError):
        joint().load(path)


def listed(fitted: Joint, x: list[str]) -> list[tuple[dict, float]]:
    """All outputs of an input with their scores, counted by hand from the weights of attributes and pairs."""
    structure, weights = fitted.model_.structure, fitted.model_.weights
    layout = structure.layout
    rows = structure.rows([x])
    found = []
    called = rows.called[0]
    for labels in product(*(KINDS[kind] for kind, _ in called)):
        y: dict = {}
        for (kind, key), label in zip(called, labels):
            y.setdefault(kind, {})[key] = label
        numbers = structure.labels.encode([(kind, label) for (kind, _), label in zip(called, labels)])
        score = float(layout.bias(weights)[numbers].sum())
        for v, number in enumerate(numbers):
            own = rows.attributes.indices[rows.attributes.indptr[v] : rows.attributes.indptr[v + 1]]
            score += float(layout.attribute_weights(weights)[own, number].sum())
        for name, one, other in structure.reader.pairs_of(x, called, 0):
            sort = [called_so for called_so, *_ in structure.types].index(name)
            places = [KINDS[called[v][0]].index(labels[v]) for v in (one, other)]
            score += float(layout.table(weights, sort)[tuple(places)])
        found.append((y, score))
    return found


def test_contributions_add_up_to_the_margin():
    fitted = joint(learner="crf").fit(XS[:40], YS[:40])
    for x in XS[80:90]:
        why = sl.explain(fitted, x)
        (best, first), (_, second) = fitted.k_best([x], 2)[0]
        assert why.score == pytest.approx(first) and why.margin == pytest.approx(first - second)
        assert sum(item.amount for item in why.contributions) == pytest.approx(why.margin)
        assert why.tokens == [f"who[{0}]", f"who[{len(x) - 1}]", f"link[(0, {len(x) - 1})]"]
        assert why.predicted == [(kind, label) for kind, members in best.items() for label in members.values()]
        assert "margin over the runner-up" in str(why) and why._repr_html_()
    lone = Joint({"who": ["person"]}, variables=lambda x: {"who": [0]}, features=features).fit(
        [["Ann"]], [{"who": {0: "person"}}]
    )
    with pytest.raises(DataError, match="there is one output only"):
        sl.explain(lone, ["Ann"])


def test_weights_by_name():
    fitted = joint(learner="crf").fit(XS[:40], YS[:40])
    structure, every = fitted.model_.structure, sl.weights(fitted, top=None)
    assert sorted(one.value for one in every) == sorted(fitted.model_.weights[fitted.model_.weights != 0])
    named = {(one.part, one.name, one.label): one.value for one in every}
    layout, weights = structure.layout, fitted.model_.weights
    assert len(named) == len(every)
    for sort, (name, one, other) in enumerate(structure.types):
        kinds = list(KINDS)
        for i, before in enumerate(KINDS[kinds[one]]):
            for j, label in enumerate(KINDS[kinds[other]]):
                key = "pair", f"{name}: {before}", (kinds[other], label)
                assert named[key] == layout.table(weights, sort)[i, j]
    of_places = sl.weights(fitted, top=None, label=("who", "place"))
    assert {one.label for one in of_places} == {("who", "place")}
    assert len(of_places) == sum(one.label == ("who", "place") for one in every)
    assert sl.weights(fitted, label=("who", "person"), top=1)[0].value == max(
        one.value for one in every if one.label == ("who", "person")
    )
    with pytest.raises(DataError, match="the model has no label 'place'"):
        sl.weights(fitted, label="place")


@pytest.mark.parametrize("learner", ["crf", "jlis"])
def test_what_is_asked_of_a_model_against_all_outputs(learner):
    fitted = joint(learner=learner).fit(XS[:40], YS[:40])
    some = XS[80:86]
    clamp = [{"who": {0: "place"}}] * len(some)
    ranked, fixed = fitted.k_best(some, 99), fitted.k_best(some, 99, clamp=clamp)
    marginals, totals = fitted.predict_marginals(some), fitted.log_partition(some)
    given, likely = fitted.log_probability(some, YS[80:86]), fitted.predict(some, by="marginals")
    for i, x in enumerate(some):
        every = sorted(listed(fitted, x), key=lambda one: -one[1])
        values = np.array([value for _, value in every])
        np.testing.assert_allclose([value for _, value in ranked[i]], values)
        assert ranked[i][0][0] == fitted.predict([x])[0]
        assert totals[i] == pytest.approx(np.logaddexp.reduce(values))
        here = next(value for y, value in every if y == YS[80 + i])
        assert given[i] == pytest.approx(here - totals[i])
        inside = [value for y, value in every if y["who"][0] == "place"]
        np.testing.assert_allclose([value for _, value in fixed[i]], inside)
        assert fitted.log_partition([x], clamp=clamp[:1])[0] == pytest.approx(np.logaddexp.reduce(inside))
        for kind, members in marginals[i].items():
            for key, row in members.items():
                for label, share in row.items():
                    sums = [value for y, value in every if y[kind][key] == label]
                    assert share == pytest.approx(np.exp(np.logaddexp.reduce(sums) - totals[i]))
                assert likely[i][kind][key] == max(row, key=row.__getitem__)
    assert fitted.predict(some, clamp=clamp) == [outputs[0][0] for outputs in fixed]
    assert all(y["who"][0] == "place" for y in fitted.sample(some, seed=1, clamp=clamp))


@pytest.mark.parametrize("learner", ["jlis", "crf", "cllp", "perceptron"])
def test_an_interrupted_fit_goes_on_to_the_same_bits(learner, tmp_path):
    def stop(record):
        if record.number == 2:
            raise KeyboardInterrupt

    few = {"max_completions": 2} if learner == "cllp" else {"max_rounds": 8}
    evidence, path = mixed(learner)[:40], tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        joint(learner=learner, checkpoint=path, callbacks=[stop], **few).fit(evidence)
    rest, whole = (joint(learner=learner, checkpoint=at, **few).fit(evidence) for at in (path, None))
    np.testing.assert_array_equal(rest.model_.weights, whole.model_.weights)
    with pytest.raises(ModelFileError, match="of other data or settings"):
        joint(learner=learner, checkpoint=path, **few).fit(evidence[1:])


def test_validation_keeps_the_best_and_patience_ends():
    held = XS[80:], YS[80:]
    fitted = joint(patience=1, tolerance=0.1, prices={"gold": 0.02}).fit(mixed("jlis"), validation=held)
    scores = [record.validation for record in fitted.rounds_ if record.validation is not None]
    assert scores and fitted.score(*held) == pytest.approx(max(scores))
    ruled = joint([typed.soft()], patience=1, tolerance=0.1).fit(mixed("jlis"), validation=sl.gold(*held))
    assert ruled.score(*held) == pytest.approx(max(one.validation or 0.0 for one in ruled.rounds_))


def test_fits_go_on_from_fits():
    fitted = joint(warm_start=True).fit(XS[:20], YS[:20])
    before, rounds = fitted.model_, len(fitted.rounds_)
    assert len(fitted.fit(XS[:20], YS[:20]).rounds_) < rounds
    partly = joint(pairs=lambda x: pairs(x)[: 1 + (len(x) == 4)]).fit(*three(XS, YS))
    old = partly.model_.structure
    partly.partial_fit(XS[:10], YS[:10])
    new = partly.model_.structure
    assert new.size > old.size and len(new.types) == 2 > len(old.types)
    moved = new.moved(before_weights := np.arange(old.size, dtype=float), old)
    some = three(XS, YS)[0]
    np.testing.assert_allclose(
        new.batch(new.rows(some)).best(moved).values, old.batch(old.rows(some)).best(before_weights).values
    )
    frozen = joint(freeze_vocabulary=True).fit(XS[:5], YS[:5])
    assert frozen.partial_fit(XS[5:20], YS[5:20]).model_.structure.size == frozen.model_.structure.size
    assert before.structure.size <= fitted.model_.structure.size


def three(xs, ys):
    """The inputs of three words."""
    return [x for x in xs if len(x) == 3], [y for x, y in zip(xs, ys) if len(x) == 3]


@rule
def different(x, y):
    """One is a person and the other a place."""
    return y.who[0] != y.who[len(x) - 1]


def test_rules_in_training():
    pairs_of = [(x, y) for x, y in DRAWN if y["who"][0] != y["who"][len(x) - 1]][:25]
    xs, ys = [x for x, _ in pairs_of], [y for _, y in pairs_of]
    gold = sl.gold(xs, ys)
    shared = {"learner": "structural_svm", "pairs": None, "prices": {"gold": 0.1}, "tolerance": 1e-4, "loss": "hinge"}
    loose, ruled = (joint([different], rules_in=where, **shared).fit(gold) for where in ("prediction", "training"))
    values = []
    for fitted in (loose, ruled):  # the objective under rules, over all outputs
        losses = 0.0
        for x, y in zip(xs, ys):
            every = [one for one in listed(fitted, x) if not any(fitted.violations([x], [one[0]]))]
            right = next(score for other, score in every if other == y)
            wrong = [[other[kind][key] != label for kind in y for key, label in y[kind].items()] for other, _ in every]
            losses += max(sum(own) + score for own, (_, score) in zip(wrong, every)) - right
        weights = fitted.model_.weights
        values.append(0.5 * weights @ weights + 0.1 * losses)
    assert ruled.rounds_[-1].objective == pytest.approx(values[1], rel=1e-6)
    assert values[1] < values[0] * (1 - 1e-3) and values[0] < loose.rounds_[-1].objective
    for learner in ("jlis", "perceptron", "latent_svm"):
        assert joint([typed.soft()], rules_in="training", learner=learner).fit(mixed(learner)).score(XS, YS) > 0.75
    with pytest.raises(ValueError, match="rules_in is 'training', and crf needs more than the best output"):
        joint([typed], rules_in="training", learner="crf").fit(gold)


def test_constraint_driven_learning():
    gold, some = sl.gold(XS[:15], YS[:15]), [sl.Partial(x, {"who": y["who"]}) for x, y in zip(XS[30:80], YS[30:80])]
    alone = joint([typed], learner="structural_svm").fit(gold).score(XS[80:], YS[80:])
    for rules in ([typed], [typed.soft()]):
        learner = recipes.codl(base="structural_svm", cycles=3, beta=None)
        fitted = joint(rules, learner=learner).fit([*gold, *some])
        assert fitted.score(XS[80:], YS[80:]) >= alone and fitted.rounds_[-1].last


def test_files_of_the_version_before(tmp_path):
    path = tmp_path / "old"
    fitted = joint([typed.soft()]).fit(XS[:30], YS[:30])
    spec, tensors, _ = model_state(fitted.model_, path)
    del spec["size_by"]
    write_tensors(path, tensors, kind=VARIABLES, version=1, spec=spec)
    again = joint([typed.soft()]).load(path)
    assert again.predict(XS[80:]) == fitted.predict(XS[80:]) and again.penalties == fitted.penalties
    write_tensors(path, tensors, kind=VARIABLES, version=2, spec=spec)
    with pytest.raises(ModelFileError, match="version"):
        joint().load(path)
    fitted.save(path)
    with pytest.raises(ModelFileError, match="the model of a Joint, without its functions; use Joint"):
        sl.Tagger.load(path)
    sl.Tagger(learner="jlis", max_rounds=2).fit([["a"]], [["A"]]).save(path)
    with pytest.raises(ModelFileError, match="not the model of a Joint; use the estimator of chains"):
        joint().load(path)


def test_what_is_too_large_for_elimination(monkeypatch):
    monkeypatch.setattr(elimination, "MOST_CELLS", 4)
    elimination.plan_of.cache_clear()

    def dense(x):
        return [(("who", 0), ("who", len(x) - 1)), *pairs(x)]

    with pytest.raises(Intractable, match="elimination needs a table of 8 cells"):
        joint(learner="crf", pairs=dense).fit(XS[:20], YS[:20])
    assert joint(pairs=dense).fit(XS[:20], YS[:20]).score(XS[:20], YS[:20]) > 0.8
    elimination.plan_of.cache_clear()


@pytest.mark.parametrize(
    ("learner", "missing"),
    [
        ("hmm", "a generative model"),
        ("naive_bayes", "labels of single tokens"),
        ("semi_crf", "segments"),
        ("contrastive", "neighbours of an output"),
    ],
)
def test_what_a_learner_misses_is_said(learner, missing):
    with pytest.raises(ValueError, match=f"{learner}.* needs {missing}, which variables do not have; use "):
        joint(learner=learner).fit(XS[:5], YS[:5])


def test_what_is_wrong_is_said():
    x, y = XS[0], YS[0]
    last = len(x) - 1
    for evidence, problem in (
        (
            [sl.Gold(x, {"who": {0: "person"}})],
            r"evidence 0 \(Gold\): who\[\d\] has no label; label every variable, or give",
        ),
        (
            [sl.Gold(x, {**y, "who": {0: "persn", last: "place"}})],
            r"who\[0\]: unknown label 'persn'; use one of person, place",
        ),
        ([sl.Partial(x, {"who": {9: "person"}})], r"the input has no variable who\[9\]; see variables"),
        ([sl.Partial(x, ["person"])], "the output is .*; give {kind: {key: label}}"),
        ([sl.Candidates(x, {"who": {0: []}})], r"who\[0\] has no candidates; give some, or None"),
        ([sl.Gold(x, y, weight=-1.0)], "the weight -1.0; give a finite number"),
        ([sl.Companion(x, 2)], "the answer 2; answer"),
        ([sl.Voted(x, {"f": [None]})], "Joint does not learn from votes; leave it out"),
        ([x], "evidence 0 is a list; wrap the input"),
        ([], "no evidence; give at least one example"),
    ):
        with pytest.raises(DataError, match=problem):
            joint().fit(evidence)
    with pytest.raises(NotFitted, match="call fit first, or give scores"):
        joint().predict(XS)
    with pytest.raises(DataError, match="to learn, Joint needs variables; give variables="):
        Joint(KINDS).fit(XS, YS)
    with pytest.raises(ValueError, match="sample_weight goes with fit"):
        joint().fit(sl.gold(XS, YS), sample_weight=[1.0])
    for options, problem in (
        ({"variables": lambda x: {"mood": [0]}}, "input 0: there is no kind of variable 'mood'; there are who, link"),
        ({"variables": lambda x: [0]}, "gave a list; give {kind: keys}"),
        ({"variables": lambda x: {"who": [0, 0]}}, "a key is there twice"),
        ({"variables": lambda x: {}, "pairs": None}, "the input has no variables; leave it out"),
        ({"pairs": lambda x: [(("who", 0), ("who", 77))]}, "is not of two of its variables"),
        (
            {"pairs": lambda x: [("p", ("who", 0), ("who", len(x) - 1)), ("p", ("link", (0, len(x) - 1)), ("who", 0))]},
            "the pairs called 'p' are of different kinds; give them names of their own",
        ),
    ):
        with pytest.raises(DataError, match=problem):
            joint(**options).fit([sl.Unlabeled(x) for x in XS[:2]])
    fitted = joint(pairs=lambda x: pairs(x) if len(x) == 4 else []).fit(
        [x for x in XS if len(x) == 3], [y for x, y in DRAWN if len(x) == 3]
    )
    with pytest.raises(DataError, match="no pair called 'from' was learned from"):
        fitted.predict([next(x for x in XS if len(x) == 4)])


def test_rounds_are_told():
    seen = []
    fitted = joint(callbacks=[seen.append], max_rounds=3).fit(XS[:20], YS[:20], sample_weight=[1.0] * 20)
    assert seen == fitted.rounds_ and len(seen) <= 3
