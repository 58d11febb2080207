"""Validation examples choose the completion, or the epoch, whose model labels them best."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.corpus import references


def parts():
    """Three labelled references with companion evidence, and validation examples."""
    few, raw, held = references(3, seed=31), references(60, seed=32), references(40, seed=33)
    good = [r.tokens for r in raw]
    evidence = [
        *sl.gold([r.tokens for r in few], [r.labels for r in few]),
        *sl.companion(good, +1),
        *sl.companion(sl.shuffled(good, seed=1), -1),
    ]
    return evidence, ([r.tokens for r in held], [r.labels for r in held])


def tagger(**settings):
    return sl.Tagger(**{"learner": "jlis", "features": sl.features.words(), "n_jobs": 1, **settings})


def test_the_model_is_that_of_the_best_completion():
    evidence, held = parts()
    fitted = tagger(patience=50).fit(evidence, validation=held)
    scores = {r.completion: r.validation for r in fitted.rounds_ if r.validation is not None}
    assert len(scores) >= 2
    assert 0 not in scores  # Gold alone is not a result of this evidence
    assert fitted.score(*held) == max(scores.values())
    best = min(c for c, s in scores.items() if s == max(scores.values()))
    alone = tagger(max_completions=best).fit(evidence)
    np.testing.assert_array_equal(alone.model_.weights, fitted.model_.weights)


def test_patience_ends_training():
    evidence, held = parts()
    whole = tagger(patience=50).fit(evidence, validation=held)
    short = tagger(patience=1).fit(evidence, validation=held)
    scores = [r.validation for r in short.rounds_ if r.validation is not None]
    assert len(scores) < 2 or scores[-1] <= max(scores[:-1]) or short.rounds_[-1].last
    assert len(short.rounds_) <= len(whole.rounds_)


def test_validation_scores_every_epoch_of_the_perceptron():
    xs, ys = zip(*[(r.tokens, r.labels) for r in references(40, seed=5)])
    held = [r.tokens for r in references(30, seed=6)], [r.labels for r in references(30, seed=6)]
    fitted = tagger(learner="perceptron", max_rounds=6, patience=6).fit(xs, ys, validation=held)
    scores = [r.validation for r in fitted.rounds_]
    assert None not in scores
    assert fitted.score(*held) == max(scores)


def test_gold_alone_has_one_result():
    evidence, held = parts()
    gold = [piece for piece in evidence if piece.kind == "gold"]
    fitted = tagger().fit(gold, validation=held)
    assert [r.validation is not None for r in fitted.rounds_] == [False] * (len(fitted.rounds_) - 1) + [True]
    np.testing.assert_array_equal(fitted.model_.weights, tagger().fit(gold).model_.weights)


def test_patience_must_be_positive():
    with pytest.raises(ValueError, match="patience"):
        tagger(patience=0).fit([["a"]], [["X"]])


def test_judge_takes_sizes():
    evidence, _ = parts()
    xs = [piece.x for piece in evidence[-5:]]
    by_tokens = tagger(max_rounds=3).fit(evidence)
    by_function = tagger(max_rounds=3, size=len).fit(evidence)
    np.testing.assert_array_equal(by_function.judge(xs), by_tokens.judge(xs))
    with pytest.raises(sl.DataError, match="sizes"):
        by_function.model_.judge(xs)


def test_validation_goes_by_span_f1_where_a_scheme_is_seen():
    xs, ys = zip(*[(r.tokens, r.labels) for r in references(40, seed=5)])
    chunks = [[f"{'I' if t and y[t - 1] == label else 'B'}-{label}" for t, label in enumerate(y)] for y in ys]
    options = {"learner": "perceptron", "max_rounds": 4, "patience": 4}
    held = xs[:20], chunks[:20]
    for metric, named in ((None, "f1"), ("span_f1", "f1"), ("accuracy", "accuracy")):
        fitted = tagger(**options, metric=metric).fit(xs[20:], chunks[20:], validation=held)
        found = sl.evaluate(held[1], fitted.predict(held[0]))
        assert max(r.validation for r in fitted.rounds_) == pytest.approx(getattr(found, named) / 100)
    plain = tagger(**options).fit(xs[20:], ys[20:], validation=(xs[:20], ys[:20]))
    assert max(r.validation for r in plain.rounds_) == plain.score(xs[:20], ys[:20])
    assert sl.Tagger(metric="accuracy").get_params()["metric"] == "accuracy"


def test_a_metric_must_be_known_and_mean_something():
    with pytest.raises(ValueError, match="metric is 'f1'; give 'accuracy', 'span_f1' or None"):
        tagger(metric="f1").fit([["a"]], [["X"]])
    with pytest.raises(ValueError, match="single labels make no spans"):
        sl.Classifier(metric="span_f1").fit([{"a": 1.0}, {"b": 1.0}], ["x", "y"])


def test_an_interrupted_fit_with_restarts_judges_the_round_it_stopped_at(tmp_path):
    """The round that a checkpoint ends with was made before, and is validated when training resumes."""
    evidence, held = parts()
    learner = sl.recipes.jlis(restarts=2)
    whole = tagger(learner=learner, max_completions=2).fit(evidence, validation=held)
    judged = [record.number for record in whole.rounds_ if record.validation is not None]

    for number in judged[:2]:
        path = tmp_path / str(number)

        def stop(record, number=number):
            if record.number == number:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            tagger(learner=learner, max_completions=2, checkpoint=path, callbacks=[stop]).fit(evidence, validation=held)
        again = tagger(learner=learner, max_completions=2, checkpoint=path).fit(evidence, validation=held)
        assert again.rounds_[0].number == number and again.rounds_[0].validation is not None
        np.testing.assert_array_equal(again.model_.weights, whole.model_.weights)
