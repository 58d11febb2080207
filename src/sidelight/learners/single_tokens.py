"""Classifiers that look at one token at a time, in the layout of chains.

The constant of a label is the start weight of the first token. A token after it has the constant as the weight of any
transition into its label, so that a chain labels every token as the classifier does. In the layout of two classes
(`null_label`) the second label has the difference of both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.errors import DataError
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.specs.fit_data import FitData


def token_weights(layout: Layout, *, constants: Floats, dense: Floats, attributes: Floats) -> Floats:
    """The weights of the layout from constants [L], and weights of dense [D, L] and sparse [A, L] features.

    >>> layout = Layout(2, 1, chain=False, null_label=True)
    >>> nothing = np.zeros((0, 2))
    >>> token_weights(layout, constants=np.array([1.0, 3.0]), dense=nothing, attributes=np.array([[0.0, 0.5]])).tolist()
    [0.0, 2.0, 0.5]
    """
    out = layout.zeros()
    if layout.null_label:
        constants, dense, attributes = (part[..., 1:] - part[..., :1] for part in (constants, dense, attributes))
    if layout.bias:
        out[layout.start_at : layout.end_at] = constants
        if layout.chain:
            into = out[layout.transition_at : layout.second_at].reshape(layout.n_labels, layout.n_labels)
            into[:] = constants
    layout.dense_weights(out)[:] = dense
    layout.attribute_weights(out)[:] = attributes
    return out


def as_tokens(rows: Rows) -> Rows:
    """Every token as a separate input."""
    return Rows(np.arange(rows.n_tokens + 1), rows.indptr, rows.indices, rows.values, rows.dense)


def check_constants(layout: Layout, lengths: Ints, name: str) -> None:
    """Refuse a layout that has no place for the constants of all tokens."""
    if layout.bias and not layout.chain and np.any(lengths > 1):
        raise DataError(
            f"{name} keeps a constant per label in the transitions, and the features have none",
            remedy="add a B template, or give bias=False",
        )


@dataclass(frozen=True, slots=True)
class GoldTokens:
    """Every token of Gold as a separate input; for classes these are the inputs."""

    rows: Rows
    labels: Ids  # [T]
    weights: Floats  # [T] of the evidence
    prices: Floats  # [T] weight times price

    @classmethod
    def of(cls, data: FitData) -> GoldTokens:
        """Raises `DataError` if the layout has no place for the constants of all tokens."""
        rows, layout = data.chain()
        check_constants(layout, rows.lengths, data.settings.learner.name)
        weights, prices = (np.repeat(part, rows.lengths) for part in (data.encoded.weights, data.prices()))
        return cls(as_tokens(rows), data.encoded.targets, weights, prices)
