"""Whether labelled inputs look like the good or like the bad inputs of companion evidence.

A labelled input has a good output, so labelled inputs should look like the good ones. Two models of pairs of
neighbouring tokens (by the lower-case word, by its shape, by ending and shape; by every column or named value) are
estimated from good and from bad inputs; for unseen pairs they are equal. The score of an input is the mean log-ratio of
the two models, minus the same for its own tokens in random order. So only the order counts, and not words that only one
side has. Inputs that are not sequences are scored by their features.

Answers are contradicted if two conditions hold, each with a p-value below `CHANCE`: labelled inputs are more often on
the side of the bad inputs, and they score below good inputs that the models did not see. The second condition is for
answers that do not depend on the order: then both models are noise, and so is the side. Answers about labelled inputs
themselves need no models: most of these answers must not be "bad".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sidelight.core.arrays import Floats, Ints
from sidelight.describe import content_key
from sidelight.features.structured.relation_features import shape

CHANCE = 0.05
MOST_GOLD, MOST_ANSWERS = 200, 500  # maximum number of inputs used; of good and bad ones each
FOLDS = 4  # folds of answers: an input is scored by models of the other folds
SHUFFLES = 5  # of every input
BACKOFF = 2.0  # pseudo-count: with this many occurrences, a token's estimates get half the weight
LONGEST, ENDING = 12, 3  # maximum letters of a shape, and of an ending
MOST_NAMES = 6  # maximum number of values of a token used

View = list[Any]  # one value for each token of an input


class Likeness(NamedTuple):
    """The number of labelled inputs that look like the bad ones, out of those that look like either."""

    like_bad: int = 0
    judged: int = 0
    contradicted: bool = False


def likeness(gold: Sequence[Any], good: Sequence[Any], bad: Sequence[Any], *, sequences: bool) -> Likeness:
    """Compare labelled inputs with the good and the bad ones; without a result if tokens are numbers.

    >>> good = [["to", "be"], ["or", "not", "to", "be"], ["not", "to", "be"]] * 4
    >>> bad = [x[::-1] for x in good]
    >>> likeness(good, good, bad, sequences=True).like_bad, likeness(good, bad, good, sequences=True)
    (0, Likeness(like_bad=12, judged=12, contradicted=True))
    """
    direct = _direct(gold, good, bad)
    if direct.contradicted:
        return direct
    answers = [_spread(good, MOST_ANSWERS), _spread(bad, MOST_ANSWERS)]
    sizes = [sum(len(x) if hasattr(x, "__len__") else 1 for x in xs) for xs in answers]
    answers = [_spread(xs, len(xs) * min(sizes) // max(1, size)) for xs, size in zip(answers, sizes)]
    sides = [_spread(gold, MOST_GOLD), *answers]  # equally many good and bad ones
    views = _views([x for side in sides for x in side], sequences=sequences) if all(sides) else []
    if not views:
        return Likeness()
    counts = [len(side) for side in sides]
    side = np.repeat(np.arange(3), counts)
    fold = np.concatenate([np.arange(count) % FOLDS for count in counts])
    scores = np.zeros(len(side))
    for view in views:
        scores += _scores(view, side, fold, ordered=sequences)
    known, others = scores[side == 0], scores[side == 1]
    like_bad, like_good = int((known < -1e-9).sum()), int((known > 1e-9).sum())
    mostly = _mostly_bad(like_bad, like_good)
    return Likeness(like_bad, like_good + like_bad, mostly and _below(known, others) < CHANCE)


def _mostly_bad(bad: int, good: int) -> bool:
    """Whether there are more bad than good ones, and not by chance."""
    return at_most(good, good + bad, 0.5) < CHANCE


def at_most(successes: int, of: int, share: float) -> float:
    """The probability of at most `successes` out of `of`, each with probability `share`.

    >>> at_most(1, 3, 0.5)
    0.5
    """
    from scipy.special import bdtr

    return float(bdtr(successes, of, share))


def _direct(gold: Sequence[Any], good: Sequence[Any], bad: Sequence[Any]) -> Likeness:
    """Labelled inputs for which there are answers, judged by these answers."""
    called_good, called_bad = ({content_key(x) for x in xs} for xs in (good, bad))
    keys = [content_key(x) for x in gold] if called_good or called_bad else []
    wrong, right = (
        sum(key in called and key not in others for key in keys)
        for called, others in ((called_bad, called_good), (called_good, called_bad))
    )
    return Likeness(wrong, wrong + right, _mostly_bad(wrong, right))


def _spread(xs: Sequence[Any], most: int) -> list[Any]:
    """At most `most` of the inputs, spread over the whole list."""
    return [xs[i * len(xs) // most] for i in range(most)] if len(xs) > most else list(xs)


def _views(xs: Sequence[Any], *, sequences: bool) -> list[list[View]]:
    """Every view of all inputs; none if tokens have no countable values."""
    if not sequences:
        atoms = [_named(x) for x in xs]
        return [[list(one.items()) for one in atoms if one is not None]] if None not in atoms else []
    if not all(isinstance(x, list | tuple) and x for x in xs):
        return []
    tokens = [token for x in xs for token in x]
    if all(isinstance(token, str) for token in tokens):
        read: Callable[[Any], View] = _word
    elif all(isinstance(token, list | tuple) and len(token) == len(tokens[0]) > 0 for token in tokens):
        read = _columns
    else:
        named = [_named(token) for token in tokens]
        shared = [name for name in named[0] or () if all(one is not None and name in one for one in named)]

        def read(token: Any) -> View:
            return [(_named(token) or {})[name] for name in shared[:MOST_NAMES]]

    values = [[read(token) for token in x] for x in xs]
    return [[[token[k] for token in x] for x in values] for k in range(len(values[0][0]))]


def _word(word: str) -> View:
    low, form = word.lower(), shape(word[:LONGEST])
    return [low, form, (low[-ENDING:], form)]


def _columns(token: Sequence[Any]) -> View:
    return [*_word(str(token[0])), *map(content_key, token[1:MOST_NAMES])]


def _named(token: Any) -> dict[Any, Any] | None:
    """The values of a token by name: of a dict, or of strings of the form name=value or name.

    >>> _named({"w=on": 1.0, "tag": "RP"}), _named(["w=on", "title"]), _named(3.0)
    ({'w': 'on', 'tag': 'RP'}, {'w': 'on', 'title': ''}, None)
    """
    if not isinstance(token, Mapping | list | tuple | set | frozenset):
        return None
    values = token if isinstance(token, Mapping) else dict.fromkeys(token, "")
    features = {}
    for name, value in values.items():
        first, equals, rest = str(name).partition("=")
        features[first if equals else name] = rest if equals else content_key(value)
    return features


class Pairs(NamedTuple):
    """Positions of neighbouring tokens among those of all inputs (-1 is a border), and their input."""

    before: Ints  # [P]
    after: Ints  # [P]
    owner: Ints  # [P]


def _pairs(lengths: Ints, *, ordered: bool, rng: np.random.Generator | None = None) -> Pairs:
    """The pairs of inputs of these lengths, with tokens in random order if `rng` is given; without order, each token
    follows -1.
    """
    starts = np.concatenate([[0], np.cumsum(lengths)])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(starts[-1])
    if not ordered:
        return Pairs(np.full(len(places), -1), places, owner)
    if rng is not None:
        places = places[np.lexsort((rng.random(len(places)), owner))]
    owner = np.repeat(np.arange(len(lengths)), lengths + 1)
    return Pairs(np.insert(places, starts[:-1], -1), np.insert(places, starts[1:], -1), owner)


def _scores(view: Sequence[View], side: Ints, fold: Ints, *, ordered: bool) -> Floats:
    """The scores of inputs [N] in one view, each by models of the good and bad inputs of other folds."""
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for x in view for value in x] + [len(numbers)])
    lengths = np.array([len(x) for x in view])
    seen = _pairs(lengths, ordered=ordered)
    ratios = _ratios(codes, seen, side, fold)
    scores = ratios(seen)
    if ordered:
        rng = np.random.default_rng(0)
        scores -= sum(ratios(_pairs(lengths, ordered=True, rng=rng)) for _ in range(SHUFFLES)) / SHUFFLES
    return scores


def _ratios(codes: Ints, seen: Pairs, side: Ints, fold: Ints) -> Callable[[Pairs], Floats]:
    """Bigram models by side and fold, and from them the mean log-ratio of every input [N]."""
    size = int(codes.max()) + 1
    keys = codes[seen.before] * size + codes[seen.after]
    answers = np.flatnonzero(side[seen.owner] > 0)
    known, number = np.unique(keys[answers], return_inverse=True)
    where = (side[seen.owner] - 1)[answers] * FOLDS + fold[seen.owner][answers]
    pairs = _tally(where, number, len(known))  # [2, folds, pairs]
    firsts = _tally(where, codes[seen.before][answers], size)
    after = np.bincount(codes[seen.after][answers], minlength=size) + 1.0
    prior = after / after.sum()

    def ratios(queries: Pairs) -> Floats:
        first, second, folds = codes[queries.before], codes[queries.after], fold[queries.owner]
        key = first * size + second
        place = np.minimum(np.searchsorted(known, key), len(known) - 1)
        together = np.where(known[place] == key, pairs[:, folds, place], 0.0)
        alone = firsts[:, folds, first]
        share = alone.mean(axis=0) / (alone.mean(axis=0) + BACKOFF)  # the same for both sides
        usual = np.broadcast_to(prior[second], alone.shape)
        shares = np.divide(together, alone, out=usual.copy(), where=alone > 0)
        good, bad = share * shares + (1.0 - share) * usual
        return np.bincount(queries.owner, np.log(good / bad), len(side)) / np.bincount(
            queries.owner, minlength=len(side)
        )

    return ratios


def _tally(where: Ints, what: Ints, size: int) -> Floats:
    """Counts on either side, in all folds but one. # [2, folds, size]"""
    counts = np.bincount(where * size + what, minlength=2 * FOLDS * size).reshape(2, FOLDS, size)
    return np.asarray(counts.sum(axis=1, keepdims=True) - counts, dtype=np.float64)


def _below(some: Floats, others: Floats) -> float:
    """The p-value that some scores are below others, by ranks (Mann-Whitney)."""
    from scipy.special import ndtr

    others = np.sort(others)
    above = len(others) - (np.searchsorted(others, some, "left") + np.searchsorted(others, some, "right")) / 2
    n, m = len(some), len(others)
    return float(ndtr((n * m / 2 - above.sum()) / np.sqrt(n * m * (n + m + 1) / 12)))
