"""The reliability of voters: how often each kind of vote of a function is right.

A *symbol* s is one possible vote of one function: a label, or a set S of labels. A vote s is right with probability
ρ_s; then the right label is one of its labels, with equal probability. Otherwise the right label is any other one. So

    P(votes | y) = Π_t Π_{s on t} θ_s(y_t),   θ_s(l) = ρ_s / |S| for l in S, else (1 − ρ_s) / (L − |S|)

(Dawid and Skene 1979, with one parameter for each vote of a function instead of a confusion matrix, which would be
meaningless for a function that only votes for one label.) Abstentions do not count: if they did, the rarest label would
become the label of tokens without votes.

The prior has two levels, so that a rare vote is trusted as much as its function. With κ imaginary votes
(`strength`), the share r of them right (`right`), and ρ_f the trust in function f in general,

    −log prior = κ Σ_s KL(ρ_f ‖ ρ_s) − κ Σ_f (r log ρ_f + (1 − r) log (1 − ρ_f)),   KL of two coins

So a priori, functions are mostly right. Given beliefs about the labels, with R_s right and W_s wrong
votes expected, the M-step of EM minimises  −Σ_s (R_s log ρ_s + W_s log (1 − ρ_s)) − log prior,  which is convex, by
alternating ρ_s = (R_s + κ ρ_f) / (R_s + W_s + κ), and ρ_f where the derivative is zero. So the penalised likelihood
never falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.core.arrays import Floats, Ids, Ints
from sidelight.core.kernels import kernel
from sidelight.voting.votes import EncodedVotes


@kernel
def add_votes(starts: Ints, votes: Ids, gains: Floats, out: Floats) -> None:
    """out[t] += Σ over the votes s on token t of gains[s]; starts are [T + 1], gains [S, L], out [T, L]."""
    size = gains.shape[1]
    for t in range(starts.shape[0] - 1):
        row = out[t]
        for place in range(starts[t], starts[t + 1]):
            gain = gains[votes[place]]
            for label in range(size):
                row[label] += gain[label]


@kernel
def count_votes(starts: Ints, votes: Ids, tokens: Floats, out: Floats) -> None:
    """out[s] += Σ over the tokens t with a vote s of tokens[t]; tokens are [T, L], out [S, L]."""
    size = out.shape[1]
    for t in range(starts.shape[0] - 1):
        row = tokens[t]
        for place in range(starts[t], starts[t + 1]):
            count = out[votes[place]]
            for label in range(size):
                count[label] += row[label]


LEAST = 1e-9  # no function is trusted less, or more than 1 less this
TURNS, HALVINGS = 20, 60  # of an M-step


@dataclass(frozen=True, slots=True)
class TrustOptions:
    """The prior beliefs about functions."""

    right: float = 0.9  # the share of imaginary votes that are right
    strength: float = 100.0  # how many there are of each symbol, and of each function
    gold: float = 10.0  # weight of a vote on Gold: other votes are judged by beliefs that follow them

    def __post_init__(self) -> None:
        if not 0.0 < self.right < 1.0:
            raise ValueError(f"right is {self.right}; give a share between 0 and 1")
        if not 0.0 < self.strength < np.inf:
            raise ValueError(f"strength is {self.strength}; give a positive number")
        if not 0.0 <= self.gold < np.inf:
            raise ValueError(f"gold is {self.gold}; give a number that is not negative")


@dataclass(frozen=True, slots=True)
class Trust:
    """How often votes are right."""

    symbols: Floats  # [S] ρ_s
    functions: Floats  # [F] ρ_f

    @classmethod
    def beforehand(cls, function_of: Ints, functions: int, options: TrustOptions) -> Trust:
        """The prior trust."""
        return cls(np.full(len(function_of), options.right), np.full(functions, options.right))


def counts_of(votes: EncodedVotes, tokens: Floats) -> Floats:
    """The expected numbers of right and wrong votes of each symbol, under beliefs [T, L] about tokens. # [S, 2]"""
    counts = np.zeros((len(votes.symbols), tokens.shape[1]))
    count_votes(votes.starts, votes.votes, tokens, counts)
    right = (counts * votes.admits).sum(axis=1)
    return np.stack([right, np.maximum(counts.sum(axis=1) - right, 0.0)], axis=1)


def estimated(trust: Trust, counts: Floats, function_of: Ints, options: TrustOptions) -> Trust:
    """The M-step: trust that explains the counts [S, 2] at least as well as the current one."""
    kappa, functions = options.strength, trust.functions
    symbols = trust.symbols
    for _ in range(TURNS):
        symbols = (counts[:, 0] + kappa * functions[function_of]) / (counts.sum(axis=1) + kappa)
        sizes = np.bincount(function_of, minlength=len(functions))
        pull: Floats = np.zeros(len(functions))
        np.add.at(pull, function_of, np.log(symbols / (1.0 - symbols)))
        functions = _root(sizes, pull, options.right)
    return Trust(symbols, functions)


def _root(sizes: Ints, pull: Floats, right: float) -> Floats:
    """Where the derivative  size · logit ρ − pull − r / ρ + (1 − r) / (1 − ρ),  which rises, is zero. # [F]"""
    low, high = np.full(len(sizes), LEAST), np.full(len(sizes), 1.0 - LEAST)
    for _ in range(HALVINGS):
        rho = 0.5 * (low + high)
        slope = sizes * np.log(rho / (1.0 - rho)) - pull - right / rho + (1.0 - right) / (1.0 - rho)
        low, high = np.where(slope < 0, rho, low), np.where(slope < 0, high, rho)
    return np.asarray(0.5 * (low + high), dtype=np.float64)


def penalty(trust: Trust, function_of: Ints, options: TrustOptions) -> float:
    """−log prior."""
    own, general = trust.symbols, trust.functions[function_of]
    apart = general * np.log(general / own) + (1.0 - general) * np.log((1.0 - general) / (1.0 - own))
    rho, right = trust.functions, options.right
    return float(options.strength * (apart.sum() - (right * np.log(rho) + (1.0 - right) * np.log1p(-rho)).sum()))


def log_likelihood(trust: Trust, counts: Floats) -> float:
    """Σ R log ρ + W log (1 − ρ)."""
    return float((counts[:, 0] * np.log(trust.symbols) + counts[:, 1] * np.log1p(-trust.symbols)).sum())


def log_odds(votes: EncodedVotes, trust: Trust) -> Floats:
    """log P(votes | y_t = l) of every token and label. # [T, L]"""
    own = votes.admits.sum(axis=1, dtype=np.float64)
    others = np.maximum(votes.admits.shape[1] - own, 1.0)
    right, wrong = np.log(trust.symbols / own), np.log((1.0 - trust.symbols) / others)
    out = np.zeros((len(votes.starts) - 1, votes.admits.shape[1]))
    add_votes(votes.starts, votes.votes, np.where(votes.admits != 0, right[:, None], wrong[:, None]), out)
    return out
