"""How far voters are to be trusted: how often each thing that a function says is right.

A *symbol* s is one thing that one function says: a label, or a set S of labels. Where it is said, it is right with
probability ρ_s, and then names the right label among its own evenly; else the right label is any other one. So

    P(votes | y) = Π_t Π_{s said of t} θ_s(y_t),   θ_s(l) = ρ_s / |S| for l in S, else (1 − ρ_s) / (L − |S|)

(Dawid and Skene 1979, with one parameter for each vote of a function instead of a matrix of confusions, which says
nothing of a function that only ever votes for one label.) That a function says nothing of a token counts nothing: if it
did, the rarest label would be learned to be the one that nobody speaks of.

The prior of ρ_s is a Beta distribution with the counts of `strength` imaginary votes, the share `right` of them right.
So, before anything is known, functions are mostly right. Given beliefs about the labels, ρ is estimated in closed form:
expected counts and those of the prior, normalised. That is the M-step of EM, so that the penalised likelihood never
falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats
from sidelight.objective.vote_kernels import add_votes, count_votes
from sidelight.structures.encoded_votes import EncodedVotes


@dataclass(frozen=True, slots=True)
class TrustOptions:
    """What is believed of functions beforehand."""

    right: float = 0.9  # the share of imaginary votes that are right
    strength: float = 10.0  # how many there are of each symbol

    def __post_init__(self) -> None:
        if not 0.0 < self.right < 1.0:
            raise ValueError(f"right is {self.right}; give a share between 0 and 1")
        if not 0.0 < self.strength < np.inf:
            raise ValueError(f"strength is {self.strength}; give a positive number")

    def prior(self, symbols: int) -> Floats:
        """The counts of imaginary votes. # [S, 2] right, wrong"""
        return np.tile(self.strength * np.array([self.right, 1.0 - self.right]), (symbols, 1))


def counts_of(votes: EncodedVotes, tokens: Floats) -> Floats:
    """How often each symbol is expected to be right, and wrong, under beliefs [T, L] about tokens. # [S, 2]"""
    counts = np.zeros((len(votes.symbols), tokens.shape[1]))
    count_votes(votes.starts, votes.votes, tokens, counts)
    right = (counts * votes.admits).sum(axis=1)
    return np.stack([right, np.maximum(counts.sum(axis=1) - right, 0.0)], axis=1)


def trust_of(counts: Floats) -> Floats:
    """log ρ and log (1 − ρ), the most probable for counts that include those of the prior. # [S, 2]"""
    return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)), dtype=np.float64)


def log_odds(votes: EncodedVotes, trust: Floats) -> Floats:
    """log P(votes | y_t = l) of every token and label. # [T, L]"""
    own = votes.admits.sum(axis=1, dtype=np.float64)
    others = np.maximum(votes.admits.shape[1] - own, 1.0)
    right, wrong = trust[:, 0] - np.log(own), trust[:, 1] - np.log(others)
    out = np.zeros((len(votes.starts) - 1, votes.admits.shape[1]))
    add_votes(votes.starts, votes.votes, np.where(votes.admits != 0, right[:, None], wrong[:, None]), out)
    return out


def frequencies(votes: EncodedVotes) -> Floats:
    """How frequent labels are by votes, with one more vote for each. # [L]"""
    said = np.bincount(votes.votes, minlength=len(votes.symbols)).astype(np.float64)
    shares = votes.admits / votes.admits.sum(axis=1, keepdims=True)
    found = 1.0 + said @ shares
    return np.asarray(found / found.sum(), dtype=np.float64)
