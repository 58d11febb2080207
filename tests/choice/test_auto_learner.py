"""`learner="auto"` from end to end, on references that the package writes itself."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sidelight as sl
from sidelight.choice.contradictions import believable, believable_evidence
from sidelight.corpus import references
from sidelight.rules import every, gallery, rule


@pytest.fixture(scope="module")
def data():
    found = references(260, seed=3)
    return [list(one.tokens) for one in found], [list(one.labels) for one in found]


def dictionary_of(xs, ys):
    found: dict[str, set[str]] = {}
    for x, y in zip(xs, ys):
        for word, label in zip(x, y):
            found.setdefault(word, set()).add(label)
    return found


def evidence_with(data, dictionary, *, labelled=12, raw=60):
    xs, ys = data
    pool = xs[100 : 100 + raw]
    sets = [[dictionary.get(word) for word in x] for x in pool]
    return [*sl.gold(xs[:labelled], ys[:labelled]), *sl.candidates(pool, sets)]


def spoiled(dictionary, labels, seed=0):
    rng = np.random.default_rng(seed)
    return {word: {labels[int(rng.integers(len(labels)))]} for word in dictionary}


def test_gold_alone_is_one_fit_of_a_crf(data):
    xs, ys = data
    fitted = sl.Tagger(max_rounds=10, n_jobs=1).fit(xs[:10], ys[:10])
    assert fitted.model_.about["learner"] == "crf"
    assert fitted.choice_.fits == 0
    assert not fitted.choice_.candidates


def test_a_dictionary_helps_and_a_spoiled_one_is_left_out(data):
    xs, ys = data
    good = dictionary_of(xs[160:260], ys[160:260])
    labels = sorted({label for y in ys for label in y})
    alone = sl.Tagger(n_jobs=1).fit(xs[:12], ys[:12]).score(xs[60:100], ys[60:100])
    helped = sl.Tagger(n_jobs=1).fit(evidence_with(data, good))
    harmed = sl.Tagger(n_jobs=1).fit(evidence_with(data, spoiled(good, labels)))
    assert helped.choice_.chosen.takes("candidates")
    assert helped.score(xs[60:100], ys[60:100]) > alone
    assert "candidates" in harmed.choice_.left_out
    assert harmed.choice_.wrong_candidates and "candidate labels admit" in str(harmed.choice_)
    assert harmed.score(xs[60:100], ys[60:100]) > alone - 0.02


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(data):
    xs, ys = data
    evidence = evidence_with(data, dictionary_of(xs[160:], ys[160:]), labelled=8, raw=40)
    one, two = (sl.Tagger(n_jobs=n_jobs, max_rounds=15, seed=1).fit(evidence) for n_jobs in (1, 2))
    assert one.choice_.as_dict() | {"seconds": 0, "candidates": 0} == two.choice_.as_dict() | {
        "seconds": 0,
        "candidates": 0,
    }
    assert [c.score for c in one.choice_.candidates] == [c.score for c in two.choice_.candidates]
    np.testing.assert_array_equal(one.model_.weights, two.model_.weights)


def test_a_false_rule_is_left_out_of_prediction_too(data):
    @rule
    def all_dates(x, y):
        return every(y[t] == "date" for t in x.positions)

    xs, ys = data
    fitted = sl.Tagger(rules=[all_dates], max_rounds=15, n_jobs=1).fit(xs[:12], ys[:12])
    assert fitted.choice_.false_rules == ("all_dates",)
    assert "the rule all_dates is broken by 12 of 12 labelled inputs: left out" in str(fitted.choice_)
    assert fitted.predict(xs[100:110]) == fitted.predict(xs[100:110], rules=())
    assert set(fitted.predict(xs[100:101], rules=[all_dates])[0]) == {"date"}
    assert fitted.set_params(rules=[all_dates.soft(0.0)]).predict(xs[100:101])


def test_a_model_that_is_loaded_or_goes_on_takes_rules_as_the_choice_did(data, tmp_path):
    @rule
    def all_dates(x, y):
        return every(y[t] == "date" for t in x.positions)

    xs, ys = data
    rules = [all_dates, gallery.starts_with("author").soft(), gallery.appears_once(("journal",))]
    known = [(x, y) for x, y in zip(xs, ys) if y[0] == "author"][:12]
    broken = (known[0][0][:3], ["journal", "author", "journal"])  # by one input of thirteen: it becomes soft
    fitted = sl.Tagger(rules=rules, max_rounds=10, n_jobs=1).fit(*map(list, zip(*known, broken)))
    assert fitted.model_.about["rules_left_out"] == ["all_dates"]
    assert fitted.model_.about["rules_taken_soft"] == [rules[2].name]
    fitted.save(tmp_path / "model")
    loaded = sl.Tagger.load(tmp_path / "model", rules=rules)
    assert loaded.predict(xs[100:130]) == fitted.predict(xs[100:130])
    assert loaded.penalties_ == fitted.penalties_ and len(loaded.penalties_) == 2
    assert set(loaded.predict(xs[100:101], rules=[all_dates])[0]) == {"date"}
    fitted.partial_fit(xs[30:40], ys[30:40])
    assert len(fitted.penalties_) == 2 and fitted.model_.about["rules_left_out"] == ["all_dates"]
    assert set(fitted.predict(xs[100:101])[0]) != {"date"}


def test_unlabelled_text_becomes_classes_of_words_that_are_saved(data, tmp_path):
    xs, ys = data
    fitted = sl.Tagger(max_rounds=15, n_jobs=1).fit([*sl.gold(xs[:12], ys[:12]), *sl.unlabeled(xs[100:160])])
    assert fitted.choice_.chosen.takes("text")
    assert fitted.model_.extractor.templates.classes is not None
    fitted.save(tmp_path / "model")
    assert sl.Tagger.load(tmp_path / "model").predict(xs[200:210]) == fitted.predict(xs[200:210])


def test_evidence_of_another_kind_than_gold_is_refused_though_nothing_is_learned_from_it(data):
    xs, ys = data
    dicts = [[{"word": word} for word in x] for x in xs[20:24]]
    with pytest.raises(sl.DataError, match="tokens are dicts and strings; give all tokens in the same form"):
        sl.Tagger().fit([*sl.gold(xs[:5], ys[:5]), *sl.unlabeled(dicts)])


def test_companions_alone_with_labels_and_costs_go_to_margins(data):
    xs, ys = data
    fitted = sl.Tagger(class_weight="balanced", max_rounds=5, n_jobs=1).fit(xs[:10], ys[:10])
    assert fitted.model_.about["learner"] == "jlis"


def test_validation_judges_and_warm_start_keeps_the_choice(data):
    xs, ys = data
    evidence = evidence_with(data, dictionary_of(xs[160:], ys[160:]), labelled=8, raw=40)
    fitted = sl.Tagger(max_rounds=10, n_jobs=1, warm_start=True).fit(evidence, validation=(xs[60:100], ys[60:100]))
    assert fitted.choice_.labelled == 40
    before = fitted.choice_
    assert fitted.fit(evidence).choice_ is before


def test_worth_has_a_row_for_each_way_of_learning(data):
    xs, ys = data
    evidence = [
        *evidence_with(data, dictionary_of(xs[160:], ys[160:]), labelled=8, raw=40),
        *sl.companion(xs[200:220], +1),
        *sl.companion(sl.shuffled(xs[200:220]), -1),
    ]
    found = sl.worth(evidence, estimator=sl.Tagger(max_rounds=8, n_jobs=1))
    names = [row.trained_on for row in found.rows]
    assert names[0] == "gold alone"
    assert "all" in names
    assert sum(name.startswith("all but") for name in names) == sum(name.startswith("gold +") for name in names) == 3
    assert found.rows[0].gain == 0.0
    assert all(row.p is None or 0.0 <= row.p <= 1.0 for row in found.rows)
    assert json.loads(json.dumps(found.as_dict()))["labelled"] == 8
    assert all(name in str(found) for name in names)


def test_worth_needs_gold_and_something_beside_it(data):
    xs, ys = data
    with pytest.raises(sl.DataError, match="labelled inputs"):
        sl.worth(sl.gold(xs[:3], ys[:3]))
    with pytest.raises(sl.DataError, match="no evidence besides Gold to measure"):
        sl.worth(sl.gold(xs[:8], ys[:8]))


@pytest.mark.parametrize(("broken", "kept"), [(0, "hard"), (1, "soft"), (2, "soft"), (3, "nothing")])
def test_a_rule_is_as_hard_as_gold_lets_it_be(broken, kept):
    pieces = sl.gold([["a", "b"]] * 10, [["B" if i < broken else "A", "B"] for i in range(10)])
    first = gallery.starts_with("A")
    found = believable([first], pieces, sequences=True)
    assert found.rules == {"hard": (first,), "soft": (first.soft(),), "nothing": ()}[kept]
    assert found.false == ((first.name,) if kept == "nothing" else ())
    assert all(f"broken by {broken} of 10" in note for note in found.notes)
    assert len(found.notes) == (broken > 0)


def test_a_function_that_gold_contradicts_is_left_out_and_named(data):
    xs, ys = data
    labels = sorted({label for y in ys for label in y})
    truth = dict(zip(map(tuple, xs), ys))
    known = sl.gold(xs[:12], ys[:12])

    def right(x):
        return [label if t % 3 == 0 else None for t, label in enumerate(truth[tuple(x)])]

    def wrong(x):
        return [next(other for other in labels if other != label) for label in truth[tuple(x)]]

    evidence = [*known, *sl.votes(xs[100:130], [right, wrong], gold=known)]
    fitted = sl.Tagger(max_rounds=10, n_jobs=1).fit(evidence)
    assert fitted.choice_.wrong_functions == ("wrong",)
    assert "the function wrong is right in 0 of" in str(fitted.choice_)
    assert {one.function for one in fitted.reliabilities_} == {"right"}


def test_a_function_with_too_few_votes_on_gold_is_kept_and_named(data):
    xs, ys = data
    known = sl.gold(xs[:12], ys[:12])
    truth = dict(zip(map(tuple, xs), ys))

    def right(x):
        return [label if t % 2 == 0 else None for t, label in enumerate(truth[tuple(x)])]

    def rare(x):
        said = "note" if tuple(x) in {tuple(one) for one in [*xs[:2], *xs[100:130]]} else None
        return [said, *[None] * (len(x) - 1)]

    evidence = [*known, *sl.votes(xs[100:130], [right, rare], gold=known)]
    found = believable_evidence(evidence)
    assert found.evidence == evidence and (found.wrong_functions, found.doubtful_functions) == ((), ("rare",))
    fitted = sl.Tagger(max_rounds=5, n_jobs=1).fit(evidence)
    assert fitted.choice_.doubtful_functions == tuple(fitted.choice_.as_dict()["doubtful_functions"]) == ("rare",)
    assert "too few votes on labelled inputs to judge: rare (0 of 2 right): kept" in str(fitted.choice_)


def test_functions_without_a_vote_on_gold_are_named_where_others_have_some(data):
    xs, ys = data
    known = sl.gold(xs[:12], ys[:12])

    def usual(x):
        return ["note"] * len(x)

    def elsewhere(x):
        return ["note" if tuple(x) == tuple(xs[100]) and t == 0 else None for t in range(len(x))]

    def never(x):
        return [None] * len(x)

    functions = [usual, elsewhere, never]
    judged = believable_evidence([*known, *sl.votes(xs[100:130], functions, gold=known)])
    told = [note for note in judged.notes if "cannot be judged" in note]
    assert told == ["functions without a vote on labelled inputs cannot be judged: elsewhere: kept"]
    assert believable_evidence([*known, *sl.votes(xs[100:130], functions)]).notes == ()


def test_text_alone_goes_to_em_over_words(data):
    xs, ys = data
    labels = sorted({label for y in ys for label in y})
    fitted = sl.Tagger(labels=labels, max_rounds=3, n_jobs=1).fit(sl.unlabeled(xs[:100]))
    assert sum(map(len, xs[:100])) > 1000
    assert fitted.model_.about["learner"] == "em"
    assert str(fitted.choice_.chosen) == "em from unlabelled inputs"
