"""Labels that are too many to be labels: another column was read, or numbers that are measured and not chosen.

Transitions take memory with the square of the number of labels, features with their number times that of the features;
so this is looked at before anything of that size is made.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from sidelight.errors import DataError
from sidelight.evidence import Evidence, Gold
from sidelight.structures.label_names import named

MANY = 1000  # labels that nobody asks about
OFTEN = {True: 20, False: 2}  # how often more labels than that must be met, of tokens and of single inputs
COPIES = 3  # of the weights that training holds at least
_COLUMN = "is the label the last column (label_column=…, --label-column)?"


def check_label_count(count: int, evidence: Sequence[Evidence], *, sequences: bool) -> None:
    """Raise `DataError` for labels that were found in evidence, are very many, and are hardly met again."""
    if count <= MANY:
        return
    met = 0
    for piece in evidence:
        if isinstance(piece, Gold):
            met += len(piece.y) if sequences else 1
        else:
            met += sum(1 for _ in named(piece, sequences=sequences))
    if count * OFTEN[sequences] > met:
        what = "tokens" if sequences else "inputs"
        raise DataError(
            f"{count:,} different labels on {met:,} {what}",
            remedy=f"{_COLUMN} If they are right, give them: labels=[…]",
        )


def check_memory(n_weights: int, n_labels: int, n_features: int, *, memory: int | None = None) -> None:
    """Raise `DataError` where the weights of labels that were found in evidence do not fit into memory, in bytes."""
    most = _memory() if memory is None else memory
    needed = 8 * COPIES * n_weights
    if n_labels > 2 and most is not None and needed > most:
        raise DataError(
            f"{n_labels:,} labels and {n_features:,} features need about {needed / 1e9:,.1f} GB, and there are "
            f"{most / 1e9:,.1f}",
            remedy="are these the labels, and is theirs the last column? Raise min_count, lower hash_bits, or give "
            "labels=[…] to try all the same",
        )


def _memory() -> int | None:
    """The memory of this machine in bytes, if it tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
