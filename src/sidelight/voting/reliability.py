"""How far a learner came to trust each function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.voting.table import text_table


@dataclass(frozen=True, slots=True)
class Reliability:
    """The votes of a function for a label (or for a set of them, as "A or B"), and how many of them are believed right.

    >>> Reliability("suffix", "NOUN", 20.0, 15.0).share
    0.75
    """

    function: str
    label: str
    votes: float  # times weight and price
    right: float  # expected, or counted on Gold

    @property
    def share(self) -> float:
        """How often it is right."""
        return self.right / self.votes if self.votes > 0 else 0.0


def reliability_table(found: Sequence[Reliability]) -> str:
    """A line for each function: how often it is right in all, and by its votes for each label."""
    rows = [("function", "votes", "right", "by its votes")]
    for name in dict.fromkeys(one.function for one in found):
        own = [one for one in found if one.function == name]
        total = Reliability(name, "", sum(one.votes for one in own), sum(one.right for one in own))
        most = sorted(own, key=lambda one: -one.votes)
        parts = ", ".join(f"{one.label} {one.share:.0%}" for one in most[:4]) + (", …" if len(most) > 4 else "")
        rows.append((name, f"{total.votes:,.0f}", f"{total.share:.0%}", parts))
    return text_table(rows)
