"""Initial outputs for learners from candidates: by a partially labelled CRF, or at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids
from sidelight.data.checks import trouble
from sidelight.errors import Intractable
from sidelight.evidence import Candidates
from sidelight.learners.likelihood import PartialCrf
from sidelight.objective.candidates import inside_of
from sidelight.spaces import Space
from sidelight.spaces.parts import Labelings, Parts
from sidelight.specs.fit_data import FitData

Initial = Literal["partial_crf", "random"]  # whose labels are begun with
SHARE = 0.1  # of its price that an input other than Gold has in the CRF that is begun with, beside Gold


def admitted_of(data: FitData) -> Bytes:
    """The admitted labels of each token: for Gold one label (or its states). # [T, L]"""
    encoded = data.encoded
    tokens, labels = int(data.rows.starts[-1]), len(data.labels)
    admitted = np.ones((tokens, labels), np.uint8) if encoded.admitted is None else encoded.admitted.copy()
    if data.labels.hidden:  # then Gold is a mask as well
        return admitted
    gold = data.rows.tokens_of(encoded.of_kind("gold"))
    admitted[gold] = 0
    admitted[gold, encoded.targets[gold]] = 1
    return admitted


def begun(data: FitData, space: Space, initial: Initial) -> Ids:
    """An output of each input to begin with, by a CRF or at random, with the initial labels that are given. # [T]

    `space` has the outputs within candidates. Raises `DataError` if initial labels are no output of it.
    """
    rng, n_jobs = np.random.default_rng(data.settings.seed), data.settings.n_jobs
    begins = _with_initial(data, space)
    if initial == "random":
        return begins.random(rng, n_jobs=n_jobs)
    batch = replace(data.batch(np.arange(len(data.rows))), space=begins)
    try:
        return batch.best(crf_weights(data)).labels
    except Intractable as error:
        name = data.settings.learner.name
        raise Intractable(f"{name} begins with a CRF: {error}, or give it initial='random'") from None


def crf_weights(data: FitData) -> Floats:
    """The weights of the partially labelled CRF of all that has labels; beside Gold the rest counts by `SHARE`."""
    encoded = data.encoded
    gold = encoded.of_kind("gold")
    if np.any(data.prices()[gold] > 0):
        weights = encoded.weights * SHARE
        weights[gold] = encoded.weights[gold]
        encoded = replace(encoded, weights=weights)
    evidence = data.evidence
    if encoded.chunks:  # each token by itself
        admitted = Parts.of(admitted_of(data), encoded.chunks).admitted
        evidence = [replace(piece, chunks=()) if isinstance(piece, Candidates) else piece for piece in evidence]
        encoded = replace(encoded, admitted=admitted, chunks=[])
    settings = replace(data.settings, max_rounds=None)
    learner = PartialCrf().make(replace(data, settings=settings, evidence=evidence, encoded=encoded))
    for _ in learner.run():
        pass
    return learner.finish()


def has_initial(data: FitData) -> bool:
    return bool(np.any(data.encoded.initial >= 0))


def _with_initial(data: FitData, space: Space) -> Space:
    """The outputs of a space that have the initial labels; raises `DataError` if an input has none."""
    if not has_initial(data):
        return space
    rng, n_jobs = np.random.default_rng(data.settings.seed), data.settings.n_jobs
    narrow = _begun_space(data)
    wrong = np.flatnonzero(~narrow.feasible(n_jobs=n_jobs))
    if len(wrong):
        space.random(rng, n_jobs=n_jobs)  # raises `Infeasible` if the fault is not with the initial labels
        i = int(wrong[0])
        problem = "no output within the candidates and the allowed transitions has the initial labels"
        raise trouble(data.evidence[i], i, problem=problem, remedy="begin with labels of one output, or with None")
    return narrow


def _begun_space(data: FitData) -> Space:
    """The outputs within candidates that have the initial labels; of a label with several states, all of them."""
    initial, of = data.encoded.initial, data.labels.label_of
    started = np.flatnonzero(initial >= 0)
    admitted = admitted_of(data)
    admitted[started] &= of[initial[started], None] == of
    chunks = []
    for first, rows in data.encoded.chunks:
        guess = initial[first : first + rows.shape[1]]
        fits = np.all((guess < 0) | (of[rows] == of[guess]), axis=1)
        chunks.append(Labelings(first, rows[fits]))
    return within(data, admitted, chunks)


def within(data: FitData, admitted: Bytes, chunks: Sequence[Labelings]) -> Space:
    """The outputs of all inputs within candidates."""
    return inside_of(data.batch(np.arange(len(data.rows))).space, Parts.of(admitted, chunks) if chunks else admitted)
