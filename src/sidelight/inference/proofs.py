"""Warnings about outputs that are not proved optimal."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import NotProved


class Proof(Protocol):
    """How an output was found, and whether it is proved optimal."""

    @property
    def exact(self) -> bool: ...

    @property
    def method(self) -> str: ...


def unproved(proofs: Sequence[Proof]) -> str | None:
    """A note on outputs that are not proved optimal; None if all are.

    >>> from sidelight.inference.problem import Solution
    >>> best, good = Solution((0,), 1.0, 1.0, True, "beam search"), Solution((0,), 1.0, 2.0, False, "beam search")
    >>> unproved([best, good, good]), unproved([best])
    ('2 of 3 outputs are not proved best (beam search)', None)
    """
    left = [one for one in proofs if not one.exact]
    if not left:
        return None
    methods = ", ".join(dict.fromkeys(one.method for one in left))
    return f"{_not_proved(len(left), len(proofs))} ({methods})"


def _not_proved(left: int, count: int) -> str:
    return f"{left:,} of {count:,} outputs {'is' if left == 1 else 'are'} not proved best"


def warn_of_early_ends(proved: NDArray[np.bool_] | None) -> None:
    """Warn the caller of an estimator if outputs of its structure are not proved optimal."""
    if proved is not None and not proved.all():
        message = _not_proved(int((~proved).sum()), len(proved))
        why = "time ran out, or a relaxation was rounded"
        remedy = "give the structure more seconds, or exact=True; space.solved(…) of a batch shows which"
        warnings.warn(f"{message}: {why}; {remedy}", NotProved, stacklevel=4)


def warn_of_unproved(proofs: Sequence[Proof]) -> None:
    """Warn the caller's caller if outputs are not proved optimal."""
    message = unproved(proofs)
    if message is not None:
        warnings.warn(f"{message}; solutions(…) shows which, the method 'auto' is exact", NotProved, stacklevel=3)
