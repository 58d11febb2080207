"""Naive Bayes: a generative classifier of tokens, in closed form, as a linear model.

With c_l the weight of all tokens with label l, n_la that of attribute a among them, and smoothing α:

    multinomial   P(a | l) = (n_la + α) / Σ_b (n_lb + α)      score = log P(l) + Σ_a x_a log P(a | l)
    Bernoulli     P(a | l) = (n_la + α) / (c_l + 2 α)         score = log P(l) + Σ_a log of P(a | l) or 1 − P(a | l)

where the second is log P(l) + Σ_a log(1 − P(a | l)) + Σ_a x_a log(P(a | l) / (1 − P(a | l))): both are linear in x with
a constant. P(l) is c_l / Σ c, or the same for every label. Multinomial features are counts (McCallum and Nigam 1998);
Bernoulli features are 0 or 1, which is not checked when predicting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.file_contents import array_of, whole_of
from sidelight.core.records import CLOSED_FORM
from sidelight.errors import DataError
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.learners.single_tokens import GoldTokens, token_weights
from sidelight.rounds import Learner, State
from sidelight.rounds.learner import RoundByRound, Step
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData


@dataclass(frozen=True, kw_only=True)
class NaiveBayes(LearnerSpec):
    """Naive Bayes on counts, for classes or single tokens (McCallum and Nigam 1998).

    `events` is "multinomial" (features are counts) or "bernoulli" (features are 0 or 1). `smoothing` is added to every
    count. Without `prior`, all labels have the same prior probability.
    """

    name = "naive_bayes"
    needs = frozenset({Need.TOKENS})
    heeds = frozenset()
    minimises = "−log P(x, y) − log prior"
    inference = "none"
    stops = "closed form"
    no_partial_fit = "fit it on all evidence at once"

    events: str = option("multinomial", among=("multinomial", "bernoulli"))
    smoothing: float = option(1.0, above=0)  # α
    prior: bool = option(True)  # P(l) from counts; else the same for every label

    def make(self, data: FitData) -> Learner:
        """The weights of evidence count, its price does not."""
        if not data.layout.bias:
            raise ValueError("naive_bayes keeps its prior in the bias; give bias=True")
        tokens, binary = GoldTokens.of(data), self.events == "bernoulli"
        counts = TokenCounts.of(tokens.rows, tokens.labels, tokens.weights, data.layout, binary=binary)
        unseen = np.flatnonzero(counts.labels == 0)
        if self.prior and len(unseen):
            label = data.labels.names[int(unseen[0])]
            raise DataError(
                f"no Gold with a weight above 0 has the label {label!r}",
                remedy="leave it out of labels, or give prior=False",
            )
        return NaiveBayesLearner(counts, data.layout, self)


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Weights of labelled tokens, summed."""

    labels: Floats  # [L]
    features: Floats  # [D + A, L] dense features first

    @classmethod
    def of(cls, rows: Rows, labels: Ids, importance: Floats, layout: Layout, *, binary: bool) -> TokenCounts:
        """Count; raises `DataError` if a feature is negative or, if `binary`, not 0 or 1. `importance` is [T]."""
        size = layout.n_labels
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        indices, entries = rows.indices[first:last].astype(np.int64), np.diff(rows.indptr)
        values = rows.values[first:last] if len(rows.values) else np.ones(last - first)
        if np.any(values < 0) or np.any(rows.dense < 0):
            raise DataError("naive_bayes counts features, and some are negative", remedy="use another learner")
        if binary:
            _check_binary(rows, indices, values, entries)
        tokens = np.repeat(np.arange(rows.n_tokens), entries)
        cells = indices * size + labels[tokens]
        sparse = np.bincount(cells, values * importance[tokens], minlength=layout.n_attributes * size)
        dense = np.zeros((layout.n_dense, size))
        for label in range(size):
            mine = labels == label
            dense[:, label] = np.sum(rows.dense[mine] * importance[mine, None], axis=0, dtype=np.float64)
        return cls(
            np.bincount(labels, importance, minlength=size).astype(np.float64),
            np.concatenate([dense, sparse.reshape(layout.n_attributes, size)]),
        )


def naive_bayes_weights(counts: TokenCounts, layout: Layout, options: NaiveBayes) -> Floats:
    """The weights of the layout; every label must have been counted if there is a prior."""
    size = layout.n_labels
    prior = np.log(counts.labels / counts.labels.sum()) if options.prior else np.full(size, -np.log(size))
    smooth = counts.features + options.smoothing
    if options.events == "multinomial":
        constants, weights = prior, np.log(smooth) - np.log(smooth.sum(axis=0))
    else:
        present, absent = np.log(smooth), np.log(counts.labels - counts.features + options.smoothing)
        constants = prior + np.sum(absent - np.log(counts.labels + 2.0 * options.smoothing), axis=0)
        weights = present - absent
    return token_weights(
        layout, constants=constants, dense=weights[: layout.n_dense], attributes=weights[layout.n_dense :]
    )


@dataclass(slots=True)
class NaiveBayesLearner(RoundByRound):
    """Naive Bayes over tokens: one round."""

    LIMIT = CLOSED_FORM
    name = "naive_bayes"

    counts: TokenCounts
    layout: Layout
    options: NaiveBayes
    found: Floats | None = None

    @property
    def weights(self) -> Floats:
        """Log-probabilities, once there has been a round."""
        return self.layout.zeros() if self.found is None else self.found

    def limit(self) -> int:
        return 1

    def step(self) -> Step:
        """The one round."""
        self.found = naive_bayes_weights(self.counts, self.layout, self.options)
        return None, {}

    def more_state(self) -> State:
        """Nothing: there is only one round."""
        return {}, {} if self.found is None else {"weights": self.found}

    def take_more(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        values.setdefault("done", False)  # missing in earlier files
        whole_of(values, "rounds", high=1)
        there = "weights" in arrays
        self.found = array_of(arrays, "weights", np.float64, [self.layout.size], finite=False) if there else None


def _check_binary(rows: Rows, indices: Ints, values: Floats, entries: Ints) -> None:
    """Check that features are binary: an attribute must not occur twice at one token."""
    tokens = np.repeat(np.arange(rows.n_tokens), entries)
    order = np.lexsort((indices, tokens))
    twice = (np.diff(indices[order]) == 0) & (np.diff(tokens[order]) == 0)
    if np.any(twice) or not np.all(np.isin(values, (0.0, 1.0))) or not np.all(np.isin(rows.dense, (0.0, 1.0))):
        raise DataError(
            "Bernoulli features are 0 or 1, and some are not", remedy="give each at most once, or use multinomial"
        )
