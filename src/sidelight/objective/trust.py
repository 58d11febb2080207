"""How far voters are to be trusted: the probability of each thing that they may say, given the right label.

The model of votes, with v_tf what function f says of token t, one of its symbols or nothing (∅):

    P(votes | y) = Π_t Π_f θ_f(v_tf | y_t),   Σ_v θ_f(v | l) + θ_f(∅ | l) = 1

(Dawid and Skene 1979, with silence as one more answer, so that a function that only ever says one thing tells something
by saying it.) Silence counts with a power α between 0 and 1: the silences of many functions are less independent than
their votes. With α = 0 silence says nothing, and θ_f is the probability of a vote given that there is one.

The prior of θ_f(· | l) is a Dirichlet distribution, whose counts are those of so many imaginary votes, shared among the
function's symbols as its real ones are, and right with probability `right`; a vote for a wrong label is for any of
them, as they are frequent. So, before anything is known, functions are mostly right.

Given beliefs about the labels, θ is estimated in closed form: expected counts and those of the prior, normalised.
That is the M-step of EM, so that  log Σ_y p(y | x) P(votes | y)^C + log prior  never falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.arrays import Floats, Ints
from sidelight.objective.vote_kernels import add_votes, count_votes
from sidelight.structures.encoded_votes import EncodedVotes

LEAST = 1e-3  # of the tokens of a label a function is silent about, in the prior, at the least


@dataclass(frozen=True, slots=True)
class TrustOptions:
    """The prior, and what silence counts."""

    right: float = 0.8  # of imaginary votes
    strength: float = 10.0  # imaginary votes of each function
    silence: float = 1.0  # α

    def __post_init__(self) -> None:
        if not 0.0 < self.right < 1.0:
            raise ValueError(f"right is {self.right}; give a probability between 0 and 1")
        if not 0.0 < self.strength < np.inf:
            raise ValueError(f"strength is {self.strength}; give a positive number")
        if not 0.0 <= self.silence <= 1.0:
            raise ValueError(f"silence is {self.silence}; give a number from 0 to 1")


@dataclass(frozen=True, slots=True)
class VoteCounts:
    """How often symbols were used, and functions silent, by labels that are believed."""

    votes: Floats  # [S, L]
    silent: Floats  # [F, L]

    def __add__(self, other: VoteCounts) -> VoteCounts:
        return VoteCounts(self.votes + other.votes, self.silent + other.silent)


@dataclass(frozen=True, slots=True)
class Trust:
    """log θ."""

    votes: Floats  # [S, L]
    silent: Floats  # [F, L]; 0 where silence says nothing


def counts_of(votes: EncodedVotes, lengths: Ints, tokens: Floats) -> VoteCounts:
    """Expected counts under beliefs [T, L] about the tokens of inputs of these lengths [N]."""
    said = np.zeros((len(votes.symbols), tokens.shape[1]))
    count_votes(votes.starts, votes.votes, tokens, said)
    inputs = np.add.reduceat(tokens, np.cumsum(lengths) - lengths) if len(lengths) else tokens[:0]  # [N, L]
    silent = votes.asked.T.astype(np.float64) @ inputs
    np.subtract.at(silent, votes.function_of, said)
    return VoteCounts(said, np.maximum(silent, 0.0))


def frequencies(votes: EncodedVotes, known: Floats) -> Floats:
    """How frequent labels are, by votes and by tokens whose label is known [L], with one more of each. # [L]"""
    said = np.bincount(votes.votes, minlength=len(votes.symbols)).astype(np.float64)
    shares = votes.admits / votes.admits.sum(axis=1, keepdims=True)
    found = 1.0 + known + said @ shares
    return np.asarray(found / found.sum(), dtype=np.float64)


def prior_of(votes: EncodedVotes, lengths: Ints, frequent: Floats, options: TrustOptions) -> VoteCounts:
    """The counts of imaginary votes; `frequent` is how frequent labels are [L]."""
    said = np.bincount(votes.votes, minlength=len(votes.symbols)).astype(np.float64)  # [S]
    mass = votes.admits * frequent  # [S, L]
    among = mass.sum(axis=1, keepdims=True)
    rest = frequent - mass
    others = rest.sum(axis=1, keepdims=True)
    right = np.where(others > 1e-12, options.right, 1.0)
    meant = right * mass / among + (1.0 - right) * rest / np.maximum(others, 1e-12)  # [S, L] P(l | s)
    counts = said[:, None] * meant
    total = np.bincount(votes.function_of, weights=said, minlength=len(votes.functions))  # [F]
    asked = (votes.asked * lengths[:, None]).sum(axis=0, dtype=np.float64)  # [F] tokens
    silent = asked[:, None] * frequent
    floor = LEAST * silent
    np.subtract.at(silent, votes.function_of, counts)
    scale = options.strength / np.maximum(total, 1.0)
    return VoteCounts(counts * scale[votes.function_of][:, None], np.maximum(silent, floor) * scale[:, None] + LEAST)


def trust_of(counts: VoteCounts, function_of: Ints, options: TrustOptions) -> Trust:
    """The most probable θ for counts that include those of the prior."""
    silent = options.silence * counts.silent
    totals = silent.copy()
    np.add.at(totals, function_of, counts.votes)
    totals = np.log(np.maximum(totals, 1e-300))
    said = np.log(np.maximum(counts.votes, 1e-300)) - totals[function_of]
    return Trust(said, np.log(silent) - totals if options.silence > 0 else np.zeros_like(silent))


def log_density(trust: Trust, counts: VoteCounts, options: TrustOptions) -> float:
    """Σ counts · log θ, silences with their power: of the prior's counts up to a constant, and of known votes."""
    return float((counts.votes * trust.votes).sum() + options.silence * (counts.silent * trust.silent).sum())


def log_odds(votes: EncodedVotes, lengths: Ints, trust: Trust, options: TrustOptions) -> Floats:
    """log Π_f θ_f(v_tf | l) of every token and label. # [T, L]"""
    quiet = options.silence * trust.silent
    out = np.repeat(votes.asked.astype(np.float64) @ quiet, lengths, axis=0)
    add_votes(votes.starts, votes.votes, trust.votes - quiet[votes.function_of], out)
    return out
