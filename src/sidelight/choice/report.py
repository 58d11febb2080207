"""The report of the automatic choice: every plan that was tried, its score and standard error, and the effect of each
kind of evidence.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sidelight.choice.plan import WORDS, Plan, in_brief
from sidelight.core import html

FEWER = "Scores over fewer folds are of fewer inputs: compare the differences from the first plan."


@dataclass(frozen=True, slots=True)
class Candidate:
    """One plan on held-out Gold, in per cent."""

    plan: Plan
    score: float | None  # None if it could not be fitted
    spread: float | None  # its standard error
    ahead: float | None  # lead over the fixed choice, on the same sentences
    error: float | None  # standard error of the lead
    folds: int
    seconds: float
    failure: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        numbers = {name: getattr(self, name) for name in ("score", "spread", "ahead", "error", "folds", "seconds")}
        return {"plan": str(self.plan), **numbers, "failure": self.failure}


@dataclass(frozen=True, slots=True)
class KindVerdict:
    """The effect of a kind of evidence on held-out Gold: the plan with it against the plan without it, in per cent."""

    kind: str
    verdict: str  # "helps", "no difference", "harms", "not tried"
    gain: float | None = None
    error: float | None = None
    kept: bool = True  # whether the model learns from it

    def __str__(self) -> str:
        """The verdict in words.

        >>> print(KindVerdict("votes", "no difference", 0.2, 0.5, kept=False))
        left out: votes made no clear difference (+0.2 ± 0.5 points on held-out labels)
        """
        shown = "" if self.gain is None else f" ({self.gain:+.1f} ± {self.error:.1f} points on held-out labels)"
        words = {
            "helps": "helped",
            "no difference": "made no clear difference",
            "harms": "did harm",
            "not tried": "could not be judged",
        }
        verdict = words[self.verdict]
        if self.gain is not None and self.error is not None and not self.kept and self.gain > self.error:
            verdict = "helped the first choice; the chosen one is as good without it"
        return f"{'kept' if self.kept else 'left out'}: {WORDS[self.kind]} {verdict}{shown}"


@dataclass(frozen=True, slots=True)
class ChoiceReport:
    """The report of `learner="auto"`: `chosen` is the plan, `reasons` say why, in words."""

    chosen: Plan
    fixed: Plan  # the choice without cross-validation
    metric: str  # "accuracy" or "span_f1"
    reasons: tuple[str, ...]
    candidates: tuple[Candidate, ...] = ()
    kinds: tuple[KindVerdict, ...] = ()
    left_out: tuple[str, ...] = ()  # kinds of evidence that were given but not used
    false_rules: tuple[str, ...] = ()  # names of rules that Gold contradicts
    wrong_functions: tuple[str, ...] = ()  # names of labelling functions that Gold contradicts
    doubtful_functions: tuple[str, ...] = ()  # names of functions that are mostly wrong there, but with too few votes
    wrong_candidates: bool = False  # whether Gold contradicts the candidate labels
    wrong_companions: bool = False  # whether labelled inputs look like the bad ones
    labelled: int = 0  # number of inputs that were held out
    folds: int = 0
    fits: int = 0
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "chosen": str(self.chosen),
            "fixed": str(self.fixed),
            "metric": self.metric,
            "reasons": list(self.reasons),
            "left_out": list(self.left_out),
            "false_rules": list(self.false_rules),
            "wrong_functions": list(self.wrong_functions),
            "doubtful_functions": list(self.doubtful_functions),
            "wrong_candidates": self.wrong_candidates,
            "wrong_companions": self.wrong_companions,
            "kinds": [asdict(verdict) for verdict in self.kinds],
            "candidates": [one.as_dict() for one in self.candidates],
            "labelled": self.labelled,
            "folds": self.folds,
            "fits": self.fits,
            "seconds": self.seconds,
        }

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The candidates as text: difference from the first, score, lead over the first, folds."""
        rows = []
        for one in self.candidates:
            name = ("* " if one.plan == self.chosen else "  ") + in_brief(one.plan, self.fixed)
            if one.score is None:
                rows.append((name, "failed", "", str(one.folds)))
                continue
            ahead = "" if one.plan == self.fixed else f"{one.ahead:+.1f} ± {one.error:.1f}"
            rows.append((name, f"{one.score:.1f} ± {one.spread:.1f}", ahead, str(one.folds)))
        return rows

    @property
    def _headers(self) -> tuple[str, str, str, str]:
        name = "span F1" if self.metric == "span_f1" else "accuracy"
        return ("  tried (* chosen)", name, "against the first", "folds")

    def __str__(self) -> str:
        """The reasons, and a table of what was tried."""
        lines = [f"chosen: {self.chosen}", *self.reasons]
        if self.candidates:
            table = [self._headers, *self.rows()]
            widths = [max(len(row[k]) for row in table) for k in range(4)]
            lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table]
            lines += [FEWER] if len({one.folds for one in self.candidates}) > 1 else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        tried = html.table(self._headers, self.rows()) if self.candidates else None
        fewer = html.muted(FEWER) if len({one.folds for one in self.candidates}) > 1 else None
        return html.block(f"chosen: {self.chosen}", *self.reasons, tried, fewer)
