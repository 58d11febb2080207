"""CL-SVM: a structural SVM on every candidate labeling as if it were Gold.

There is one copy of an input for each labeling that its candidates and the allowed transitions admit. The copies
contradict each other, so training time grows more than linearly. So a sample of the copies is trained on first; if its
time predicts a long training, a warning says so.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import Intractable, LongTraining
from sidelight.learners.candidates import svm_on
from sidelight.learners.initial_outputs import admitted_of
from sidelight.rounds import Learner
from sidelight.spaces import ChainSpace, Transitions
from sidelight.spaces.chains.chain_sums import log_sums
from sidelight.specs import LearnerSpec, Need, option
from sidelight.specs.fit_data import FitData

SAMPLE = 500  # copies to train on for a measure of time …
MANY = 4 * SAMPLE  # … where there are more than these
GROWTH = 1.25  # time grows as this power of the number of copies; measured: 1.1 to 1.4
PATIENCE = 5.0  # seconds that a sample may take
LONG = 10.0  # seconds of training from which there is a warning
LOG_MANY = 40.0  # of labelings of one input that are not counted exactly
MANY_TO_COUNT = np.exp(LOG_MANY)


@dataclass(frozen=True, kw_only=True)
class ClSvm(LearnerSpec):
    """A structural SVM that takes every candidate labeling for Gold; refuses more than `at_most` labelings."""

    name = "cl_svm"
    takes = ("candidates", "partial", "gold", "unlabeled")
    needs = frozenset({Need.BEST, Need.LISTS})
    heeds = frozenset({"cost", "loss", "prices"})
    minimises = "as structural_svm, with all labelings as Gold"
    inference = "loss-augmented"
    stops = "duality gap"
    alone = ""

    at_most: int = option(5_000_000, low=1)

    def make(self, data: FitData) -> Learner:
        """Raises `Intractable` if labelings are too many, `Infeasible` if there is none."""
        admitted, starts = admitted_of(data), data.rows.starts
        copies = float(np.sum(counted(starts, admitted, data.allowed)))
        if copies > self.at_most:
            shown = f"{copies:,.0f}" if copies < MANY_TO_COUNT else "more than e⁴⁰"
            raise Intractable(
                f"cl_svm would train on {shown} labelings of {len(data.rows):,} inputs, and at_most is "
                f"{self.at_most:,}; use cllp, or give recipes.cl_svm a higher at_most"
            )
        which, labels = expanded(starts, admitted, data.allowed)
        if len(which) > MANY:
            _warn_if_long(data, which, labels)
        return svm_on(data, which, labels)


def counted(starts: Ints, admitted: Bytes, allowed: Transitions | None) -> Floats:
    """The number of labelings of each input, at most e⁴⁰. # [N]

    >>> counted(np.array([0, 2]), np.array([[1, 1], [0, 1]], dtype=np.uint8), None).tolist()
    [2.0]
    """
    space = ChainSpace(starts, admitted.shape[1], allowed).inside(admitted)
    logarithms = log_sums(space, space.zero_scores())
    counts: Floats = np.rint(np.exp(np.minimum(logarithms, LOG_MANY)))
    return counts


def expanded(starts: Ints, admitted: Bytes, allowed: Transitions | None = None) -> tuple[Ints, Ids]:
    """Every labeling within the candidates: which input each copy is of, and its labels one after another.

    >>> which, labels = expanded(np.array([0, 2]), np.array([[1, 1], [0, 1]], dtype=np.uint8))
    >>> which.tolist(), labels.tolist()
    ([0, 0], [0, 1, 1, 1])
    """
    size = admitted.shape[1]
    between = np.ones((size, size), dtype=np.bool_) if allowed is None else allowed.between.astype(np.bool_)
    which, labels = [], []
    for i, (first, last) in enumerate(pairwise(starts)):
        options = admitted[first:last].astype(np.bool_)  # [t, L]
        if allowed is not None:
            options[0] &= allowed.start.astype(np.bool_)
            options[-1] &= allowed.end.astype(np.bool_)
            for t in range(len(options) - 1, 0, -1):  # leave out labels without an allowed continuation
                options[t - 1] &= between[:, options[t]].any(axis=1)
        paths = np.flatnonzero(options[0]).astype(np.int32)[:, None]
        for later in options[1:]:
            names = np.flatnonzero(later).astype(np.int32)
            before, after = np.nonzero(between[paths[:, -1]][:, names])
            paths = np.column_stack([paths[before], names[after]])
        which.append(np.full(len(paths), i, dtype=np.int64))
        labels.append(paths.ravel())
    return np.concatenate(which), np.concatenate(labels)


def foretold(seconds: float, sample: int, copies: int) -> float:
    """The predicted time of a training, from the seconds for a sample of its copies.

    >>> round(foretold(2.0, 500, 5000))
    36
    """
    return float(seconds * (copies / sample) ** GROWTH)


def _warn_if_long(data: FitData, which: Ints, labels: Ids) -> None:
    sample = np.sort(np.random.default_rng(0).permutation(len(which))[:SAMPLE])
    _trained(data, which, labels, sample[:2])  # what is compiled, or loaded, is no part of the measure
    took, ended = _trained(data, which, labels, sample)
    seconds = foretold(took, len(sample), len(which))
    if seconds > LONG:
        tokens = int(np.sum(data.rows.lengths[which]))
        warnings.warn(
            f"cl_svm trains on {len(which):,} labelings with {tokens:,} tokens; by a sample of them it takes "
            f"{'some' if ended else 'more than'} {_shown(seconds)}; cllp needs no copies",
            LongTraining,
            stacklevel=2,
        )


def _trained(data: FitData, which: Ints, labels: Ids, sample: Ints) -> tuple[float, bool]:
    """The seconds of a training on some of the copies, and whether it converged."""
    ends = np.cumsum(data.rows.lengths[which])
    tokens = [np.arange(end - length, end) for end, length in zip(ends[sample], data.rows.lengths[which[sample]])]
    learner = svm_on(data, which[sample], labels[np.concatenate(tokens)])
    for record in learner.run():
        if record.seconds > PATIENCE:
            break
    return learner.seconds, learner.done


def _shown(seconds: float) -> str:
    """
    >>> _shown(31.0), _shown(500.0), _shown(12345.0)
    ('30 seconds', '8 minutes', '3 hours')
    """
    if seconds < 100:
        return f"{10 * max(1, round(seconds / 10))} seconds"
    return f"{seconds / 60:,.0f} minutes" if seconds < 6000 else f"{seconds / 3600:,.0f} hours"
