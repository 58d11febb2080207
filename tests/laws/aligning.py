"""Small bitexts, and every alignment of a sentence pair one by one."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from sidelight.generative.word_alignment.agreement import Parameters
from sidelight.generative.word_alignment.alignment_em import AlignmentEM
from sidelight.generative.word_alignment.alignment_hmm import REACH, Jumps
from sidelight.generative.word_alignment.bitext import Bitext, numbers, vocabulary
from sidelight.generative.word_alignment.translation import TranslationLexicon, TranslationTable, table_of


class Enumerated(NamedTuple):
    """All alignments of one direction of one pair."""

    paths: np.ndarray  # [A, T] columns, 0 for the null word
    logs: np.ndarray  # [A] log p(x, a)
    links: np.ndarray  # [A, I, J] 0 or 1


def bitext(sources, targets, n_jobs=None):
    words, other = vocabulary(sources), vocabulary(targets)
    return table_of(
        *numbers(sources, words),
        *numbers(targets, other),
        source_words=len(words),
        target_words=len(other),
        n_jobs=n_jobs,
    )


def sentences(rng, pairs, *, longest=4, words=5):
    def one():
        return [f"w{n}" for n in rng.integers(words, size=rng.integers(1, longest + 1))]

    return [one() for _ in range(pairs)], [one() for _ in range(pairs)]


def random_parameters(table: TranslationTable, rng, *, hmm=True, null=0.2, spread=2.0):
    """Parameters drawn at random; translations of a word sum to 1."""
    lexicon = TranslationLexicon(
        rng.normal(size=table.entries + 2) * spread,
        rng.normal(size=table.entries + 2) * spread,
        rng.normal(size=table.target_words + 1) * spread,
        rng.normal(size=table.source_words + 1) * spread,
    )
    for group, values in ((table.rows(), lexicon.forward), (table.partners, lexicon.backward)):
        sums = np.bincount(group, weights=np.exp(values[: table.entries]))
        values[: table.entries] -= np.log(sums)[group]
    for values in (lexicon.forward_null, lexicon.backward_null):
        values -= np.log(np.exp(values[:-1]).sum())
    jumps = [Jumps(rng.dirichlet(np.ones(2 * REACH + 3))) if hmm else None for _ in range(2)]
    return Parameters(lexicon, *jumps, null)


def enumerate_pair(text: Bitext, pair: int, parameters: Parameters, *, backward=False) -> Enumerated:
    """Every alignment of a pair with its probability, straight from the definition."""
    source = text.sources[text.source_starts[pair] : text.source_starts[pair + 1]]
    target = text.targets[text.target_starts[pair] : text.target_starts[pair + 1]]
    cells = text.entries[text.cell_starts[pair] : text.cell_starts[pair + 1]].reshape(len(source), len(target))
    words = parameters.lexicon
    if backward:
        table, nulls, jumps = words.backward[cells.T], words.backward_null[source], parameters.backward
    else:
        table, nulls, jumps = words.forward[cells], words.forward_null[target], parameters.forward
    size, steps = table.shape
    null = parameters.null
    paths = np.array(list(product(range(size + 1), repeat=steps)), dtype=np.int64)
    logs = np.zeros(len(paths))
    links = np.zeros((len(paths), len(source), len(target)))
    for a, path in enumerate(paths):
        column = 0
        for t, to in enumerate(path):
            if to == 0:
                logs[a] += (np.log(null) if null > 0 else -np.inf) + nulls[t]
                continue
            logs[a] += table[to - 1, t] + np.log(1 - null)
            if jumps is None:
                logs[a] -= np.log(size)
            else:
                weights = jumps.of(size + 1)
                reachable = [weights[size + 1 + i - column] for i in range(1, size + 1)]
                logs[a] += np.log(weights[size + 1 + to - column] / sum(reachable))
            links[(a, t, to - 1) if backward else (a, to - 1, t)] = 1.0
            column = to
    return Enumerated(paths, logs, links)


def tempered(found: Enumerated, gamma: float, tilt=0.0):
    """log Σ (p e^{λ·u})^{1/γ} · γ and the distribution that goes with it."""
    logs = (found.logs + (found.links * tilt).sum(axis=(1, 2))) / gamma
    top = logs.max()
    weights = np.exp(logs - top)
    return gamma * (top + np.log(weights.sum())), weights / weights.sum()


def em_of(sources, targets, **options):
    table, text = bitext(sources, targets)
    return AlignmentEM.of(table, text, **options)
