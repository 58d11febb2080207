"""Dependency trees: every token has a head, another token or the root (head 0), and a relation to it if there are any.

    x   a sentence: its tokens, each a form or (form, tag)
    y   the head of every token, counted from 1, 0 for the root; with relations (head, relation)

Projective trees (no arcs that cross) by Eisner's algorithm, others by Chu, Liu and Edmonds; sums by inside–outside and
by the matrix-tree theorem. Features of arcs are hashed, so a structure has no vocabulary.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Ids
from sidelight.core.checks import check_fields, is_listed, is_whole, shown
from sidelight.errors import DataError
from sidelight.features.rows import offsets_of
from sidelight.features.structured.arc_features import ArcTokens, tag_before
from sidelight.features.words.lexicon import check_bits, each_hashed
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.arc_scorer import ArcScorer
from sidelight.spaces.trees.tree_space import TreeSpace

Token = str | tuple[str, str]  # a form, or a form and a tag
Sentence = Sequence[Token]
Arc = int | tuple[int, str]  # a head, or a head and a relation


@dataclass(frozen=True)
class DependencyTree:
    """Dependency trees."""

    projective: bool = True
    single_root: bool = True  # exactly one token has the root as its head
    relations: tuple[str, ...] = ()  # names of relations to the head; without any, trees have only heads
    bits: int = 20  # features are hashed into 2**bits weights
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_bits(self.bits)
        relations: Any = self.relations
        if not is_listed(relations) or not all(isinstance(name, str) for name in relations):
            raise ValueError(f"relations is {shown(relations)}; give a list of names")
        if len(set(relations)) < len(relations):
            raise ValueError("relations has a name twice; give every relation once")
        object.__setattr__(self, "relations", tuple(relations))

    def batch(self, xs: Sequence[Sentence]) -> Batch:
        """A batch of sentences with all their trees; raises `DataError` for one without tokens."""
        tokens = [_read(x, i) for i, x in enumerate(xs)]
        starts = offsets_of([len(one) for one in tokens])
        choices = (max((len(one) for one in tokens), default=0) + 1) * self._width
        forms, tags = (each_hashed([token[side] for one in tokens for token in one]) for side in (0, 1))
        hashed = ArcTokens(starts, forms, tags, tag_before(starts, tags), self._width, self.bits)
        scorer = ArcScorer(hashed, choices, self.n_jobs)
        space = TreeSpace(starts, choices, None, self.projective, self.single_root, self._width)
        return Batch(scorer, space, self.n_jobs)

    def encode(self, x: Sentence, y: Sequence[Arc]) -> Ids:
        """The choice of every token; raises `DataError` for a head or a relation that does not exist."""
        _check_count(x, y)
        return np.array([self._choice(arc, t, len(x)) for t, arc in enumerate(y)], dtype=np.int32)

    def decode(self, x: Sentence, choices: Ids) -> list[Any]:
        """The heads, or heads and relations."""
        if not self.relations:
            return [int(choice) for choice in choices]
        return [(int(choice) // self._width, self.relations[int(choice) % self._width]) for choice in choices]

    def admitted(self, x: Sentence, y: Sequence[Arc | Collection[Arc] | None]) -> Bytes:
        """The choices admitted by Partial and Candidates: for every token an arc, several arcs, or None for any. #
        [slots, K]
        """
        _check_count(x, y)
        mask = np.zeros((len(x), (len(x) + 1) * self._width), dtype=np.uint8)
        for t, value in enumerate(y):
            if value is None:
                mask[t] = 1
                continue
            single = not is_listed(value) or (
                isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str)
            )
            arcs: Collection[Any] = [value] if single else value  # type: ignore[assignment]
            mask[t, [self._choice(arc, t, len(x)) for arc in arcs]] = 1
        return mask

    @property
    def legal(self) -> str:
        """The condition that heads satisfy."""
        roots = ("exactly one token has head 0 (single_root=False allows several)",) if self.single_root else ()
        crossing = ("arcs do not cross (projective=False lets them)",) if self.projective else ()
        return "; ".join(("heads must lead from every token to the root, without circles", *roots, *crossing))

    def slot_words(self, x: Sentence) -> list[str]:
        """Tokens with their numbers."""
        return [f"{t} {token if isinstance(token, str) else token[0]}" for t, token in enumerate(x, start=1)]

    def choice_words(self, x: Sentence, choices: Ids) -> list[str]:
        """Heads with their numbers, and relations."""
        names = ["root", *self.slot_words(x)]
        arcs = [(arc, "") if isinstance(arc, int) else (arc[0], f" ({arc[1]})") for arc in self.decode(x, choices)]
        return [f"{names[head]}{relation}" for head, relation in arcs]

    @property
    def _width(self) -> int:
        return max(len(self.relations), 1)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.relations)}

    def _choice(self, arc: Any, t: int, length: int) -> int:
        if self.relations and not (isinstance(arc, list | tuple) and len(arc) == 2):
            raise DataError(f"token {t + 1} has {shown(arc)} for its arc", remedy="give (head, relation)")
        head, relation = arc if self.relations else (arc, None)
        if not is_whole(head) or not 0 <= head <= length or head == t + 1:
            remedy = f"give 0 for the root, or the number of another token, 1 to {length}"
            raise DataError(f"token {t + 1} has the head {shown(head)}", remedy=remedy)
        if not self.relations:
            return int(head)
        if relation not in self._numbers:
            raise DataError(
                f"token {t + 1} has the relation {relation!r}", remedy=f"there are {', '.join(self.relations)}"
            )
        return int(head) * self._width + self._numbers[relation]


def attachment(heads: Sequence[Sequence[Any]], gold: Sequence[Sequence[Any]]) -> float:
    """The attachment score: the share of tokens with the right head (with relations: and the right relation).

    >>> attachment([[0, 1, 1]], [[0, 1, 2]])
    0.6666666666666666
    """
    pairs = [
        (one, other) for guess, right in zip(heads, gold, strict=True) for one, other in zip(guess, right, strict=True)
    ]
    return float(sum(one == other for one, other in pairs)) / max(len(pairs), 1)


def _read(x: Sentence, i: int) -> list[tuple[str, str]]:
    if not is_listed(x):
        raise DataError(f"sentence {i} is {shown(x)}", remedy="give a list of tokens; split() makes words of a text")
    tokens = [(token, "") if isinstance(token, str) else _form_and_tag(token, i, t) for t, token in enumerate(x)]
    if not tokens:
        raise DataError(f"sentence {i} has no tokens", remedy="leave it out")
    return tokens


def _form_and_tag(token: Any, i: int, t: int) -> tuple[str, str]:
    if not isinstance(token, list | tuple) or len(token) != 2 or not all(isinstance(part, str) for part in token):
        raise DataError(f"sentence {i}, token {t + 1} is {shown(token)}", remedy="give a form, or (form, tag)")
    return token[0], token[1]


def _check_count(x: Sentence, y: Any) -> None:
    if not is_listed(y) or not hasattr(y, "__len__"):
        raise DataError(f"the output is {shown(y)}", remedy="give a list with the head of every token")
    if len(y) != len(x):
        raise DataError(f"a sentence of {len(x)} tokens has {len(y)} heads", remedy="give every token a head")
