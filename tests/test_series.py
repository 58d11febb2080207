"""Series with an index of their own are read by position, in every place where lists are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import sidelight as sl


class Series:
    """What a Series of pandas is to a reader: in a bracket it takes what its index calls its elements."""

    def __init__(self, values: Sequence[Any], index: Sequence[Any] | None = None) -> None:
        self._values = list(values)
        self._index = list(range(7, 7 + len(self._values))) if index is None else list(index)
        self.shape = (len(self._values),)
        self.iloc = self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __getitem__(self, label: Any) -> Any:
        if label not in self._index:
            raise KeyError(label)
        return self._values[self._index.index(label)]


def of_pandas(values: Sequence[Any]) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.Series(values, index=range(7, 7 + len(values)), dtype=object)


X = [["the", "light", "is", "on"], ["a", "light"], ["on", "the", "light"], ["it", "is", "a", "light"]]
Y = [["D", "N", "V", "P"], ["D", "N"], ["P", "D", "N"], ["N", "V", "D", "N"]]
makers = pytest.mark.parametrize("series", [Series, of_pandas])


@makers
@pytest.mark.parametrize("inner", [False, True])
def test_a_tagger_reads_series_by_position(series: Callable[..., Any], inner: bool) -> None:
    plain = sl.Tagger(learner="crf", n_jobs=1).fit(X, Y, validation=(X, Y))
    xs, ys = (series([series(one) if inner else one for one in part]) for part in (X, Y))
    tagger = sl.Tagger(learner="crf", n_jobs=1).fit(xs, ys, sample_weight=series([1.0] * 4), validation=(xs, ys))
    assert tagger.predict(xs) == plain.predict(X)
    assert tagger.score(xs, ys) == plain.score(X, Y)
    assert tagger.predict_marginals(xs) == plain.predict_marginals(X)
    assert tagger.log_probability(xs, Y).tolist() == plain.log_probability(X, Y).tolist()
    assert sl.evaluate(ys, tagger.predict(xs)).accuracy == sl.evaluate(Y, plain.predict(X)).accuracy


@makers
def test_evidence_takes_series(series: Callable[..., Any]) -> None:
    sets = [[[label, "N"] for label in y] for y in Y]

    def evidence(made: Callable[[Any], Any]) -> list[Any]:
        inside = [made([made(labels) for labels in one]) for one in sets]
        return [
            *sl.gold(made([made(x) for x in X]), made([made(y) for y in Y])),
            *sl.partial(made([made(x) for x in X]), made([made([None, *y[1:]]) for y in Y])),
            *sl.candidates(made([made(x) for x in X]), made(inside)),
        ]

    found, expected = (sl.Tagger(learner="partial_crf", n_jobs=1).fit(evidence(made)) for made in (series, list))
    assert found.model_.weights.tolist() == expected.model_.weights.tolist()
    assert sl.Tagger(learner="partial_crf", n_jobs=1).fit(series(evidence(series))).predict(X) == expected.predict(X)


@makers
def test_a_classifier_and_a_segmenter_read_series_by_position(series: Callable[..., Any]) -> None:
    xs, ys = [{"a": 1.0}, {"b": 1.0}, {"b": 2.0}], ["x", "y", "y"]
    found = sl.Classifier(n_jobs=1).fit(series(xs), series(ys))
    assert found.predict(series(xs)) == sl.Classifier(n_jobs=1).fit(xs, ys).predict(xs)
    segments = sl.SegmentTagger(max_rounds=5, n_jobs=1).fit(series(X), series(Y))
    assert segments.predict(series(X)) == sl.SegmentTagger(max_rounds=5, n_jobs=1).fit(X, Y).predict(X)


@makers
def test_folds_of_series(series: Callable[..., Any]) -> None:
    evidence = sl.gold(X, Y)
    found = [test.tolist() for _, test in sl.GoldFolds(2).split(series(evidence))]
    assert found == [test.tolist() for _, test in sl.GoldFolds(2).split(evidence)]
