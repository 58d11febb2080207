"""Random small hidden Markov models, and slow but plain ways to complete what they leave open."""

from __future__ import annotations

import numpy as np
from drawing import generators, labelings, members_of, random_mask, random_transitions, starts_of
from hypothesis import strategies as st

from sidelight.generative.hmm import Hmm, HmmScores
from sidelight.spaces import ChainSpace
from sidelight.spaces.second_order.second_order import SecondOrderSpace


def random_hmm(
    rng: np.random.Generator, labels: int, symbols: int, *, order: int = 1, ends: bool = False, spread: float = 1.0
) -> Hmm:
    """`spread` is the scale of log-probabilities; some transitions and emissions of the first order are 0."""

    def rows(*shape: int, zeros: float = 0.0) -> np.ndarray:
        found = np.exp(spread * rng.normal(size=shape)) * (rng.random(shape) >= zeros)
        found[..., 0] += 1e-3
        return found / found.sum(-1, keepdims=True)

    return Hmm(
        rows(labels),
        rows(labels, labels, zeros=0.2 if order == 1 else 0.0),
        np.ascontiguousarray(rows(labels, symbols, zeros=0.2).T),
        rng.uniform(0.1, 0.9, labels) if ends else None,
        rows(labels, labels, labels) if order == 2 else None,
    )


def log_joint(hmm: Hmm, symbols: np.ndarray, paths: np.ndarray) -> np.ndarray:
    """log P(x, y) of each labeling of one sequence, factor by factor."""
    length = paths.shape[1]
    with np.errstate(divide="ignore"):
        total = np.log(hmm.start[paths[:, 0]])
        for t in range(length):
            total = total + np.log(hmm.emission[symbols[t], paths[:, t]])
            if t == 1 or (t > 1 and hmm.second is None):
                total = total + np.log(hmm.transition[paths[:, t - 1], paths[:, t]])
            elif t > 1:
                total = total + np.log(hmm.second[paths[:, t - 2], paths[:, t - 1], paths[:, t]])
            if t > 0 and hmm.stop is not None:
                total = total + np.log(1.0 - hmm.stop[paths[:, t - 1]])
        if hmm.stop is not None:
            total = total + np.log(hmm.stop[paths[:, -1]])
    return total


@st.composite
def hmm_spaces(draw: st.DrawFn, order: int = 1) -> tuple[HmmScores, ChainSpace | SecondOrderSpace, np.ndarray]:
    """A model, a batch that it has some probability for, and weights of its sequences."""
    rng = draw(generators())
    labels = draw(st.integers(1, 4))
    starts = draw(starts_of(most=3, longest=4))
    tokens = int(starts[-1])
    spread = draw(st.sampled_from([1.0, 6.0]))
    hmm = random_hmm(rng, labels, 4, order=order, ends=draw(st.booleans()), spread=spread)
    space = ChainSpace(starts, labels)
    if draw(st.booleans()):
        allowed = random_transitions(rng, labels)
        allowed.start[0] = allowed.end[0] = allowed.between[0, 0] = 1
        space = ChainSpace(starts, labels, allowed)
    if draw(st.booleans()):
        mask = random_mask(rng, (tokens, labels), 0.6)
        mask[:, 0] = 1
        space = space.inside(mask)
    symbols = rng.integers(0, 4, tokens).astype(np.int32)
    hmm.emission[:, 0] = np.maximum(hmm.emission[:, 0], 0.01)  # a path of the first label is always possible
    hmm.emission[:] = hmm.emission / hmm.emission.sum(0)
    scores = HmmScores(hmm, symbols)
    return scores, (space if order == 1 else SecondOrderSpace(space)), rng.uniform(0.5, 2.0, len(starts) - 1)


def plain_beliefs(scores: HmmScores, space, weights: np.ndarray, gamma: float) -> dict[str, np.ndarray]:
    """Completion by enumeration, for gamma above 0 and below infinity, or infinity."""
    chain = space.labelings if isinstance(space, SecondOrderSpace) else space
    size, starts = space.n_labels, space.starts
    out = {
        "values": np.zeros(len(weights)),
        "tokens": np.zeros((int(starts[-1]), size)),
        "transitions": np.zeros((size, size)),
        "start": np.zeros(size),
        "end": np.zeros(size),
        "second": np.zeros((size,) * 3),
    }
    for i, weight in enumerate(weights):
        first, last = int(starts[i]), int(starts[i + 1])
        paths = labelings(size, last - first)
        paths = paths[members_of(chain, first, paths)]
        logs = log_joint(scores.hmm, scores.symbols[first:last], paths)
        powers = np.zeros(len(paths)) if np.isinf(gamma) else logs / gamma
        q = np.exp(powers - powers.max())
        total = q.sum()
        q = q / total
        if np.isinf(gamma):
            out["values"][i] = np.sum(q * logs)
        else:
            out["values"][i] = gamma * (powers.max() + np.log(total))
        for path, share in zip(paths, q * weight):
            out["start"][path[0]] += share
            out["end"][path[-1]] += share
            for t, label in enumerate(path):
                out["tokens"][first + t, label] += share
                if t > 0:
                    out["transitions"][path[t - 1], label] += share
                if t > 1:
                    out["second"][path[t - 2], path[t - 1], label] += share
    return out
