"""Scores of outputs, and significance tests between systems.

>>> evaluation = evaluate([["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]])
>>> round(evaluation.accuracy, 2), evaluation.f1
(66.67, 0.0)
"""

from __future__ import annotations

from sidelight.evaluate.paired import Comparison, compare, paired_t
from sidelight.evaluate.relations import RelationScores, score_relations
from sidelight.evaluate.schemes import scheme_of
from sidelight.evaluate.scores import Evaluation, evaluate
from sidelight.evaluate.spans import Spans, convert, span_counts, span_f1, spans

__all__ = [
    "Comparison",
    "Evaluation",
    "RelationScores",
    "Spans",
    "compare",
    "convert",
    "evaluate",
    "paired_t",
    "scheme_of",
    "score_relations",
    "span_counts",
    "span_f1",
    "spans",
]
