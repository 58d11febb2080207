"""How good an output is, and whether one system is better than another.

>>> evaluation = evaluate([["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]])
>>> round(evaluation.accuracy, 2), evaluation.f1
(66.67, 0.0)
"""

from __future__ import annotations

from sidelight.evaluate.paired import Comparison, compare, paired_t
from sidelight.evaluate.scores import Evaluation, evaluate
from sidelight.evaluate.spans import Spans, spans

__all__ = ["Comparison", "Evaluation", "Spans", "compare", "evaluate", "paired_t", "spans"]
