"""What someone meets who changes no setting: names of CoNLL-2003, 8,000 sentences, CPU time of each part.

The structural SVM and J-LIS from token strings, all settings their defaults (squared hinge, price 1, gap of 1 %,
`features.standard()`), against 100 L-BFGS iterations of python-crfsuite (c2 = 0.5, the default price here) that is
handed the same features; and dicts of some twenty features, as sklearn-crfsuite takes them: 50 L-BFGS iterations of
both, and prediction by a model that was just loaded. Seconds are those of CPU on all threads. Nothing is chosen by
scores.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.measure import Row, in_child

SENTENCES, SMALL = 8000, 200
ITERATIONS, DICT_ITERATIONS = 100, 50


def run(*, quick: bool = False) -> list[Row]:
    sentences = SMALL if quick else SENTENCES
    peer = _child("peer_strings", sentences, ITERATIONS)
    rows = []
    for learner in ("structural_svm", "jlis"):
        ours = _child(learner, sentences, 0)
        note = (
            f"gap of 1 % after {ours['rounds']} rounds, peak {ours['peak_mb']:.0f} MB; {sentences} sentences of names"
        )
        what, name = f"{learner}, defaults, strings to model", f"python-crfsuite L-BFGS {ITERATIONS}"
        rows.append(_row(what, ours["train"], peer["train"], name, note))
    ours, peer = _child("dicts", sentences, DICT_ITERATIONS), _child("peer_dicts", sentences, DICT_ITERATIONS)
    what = {
        "train": f"CRF, L-BFGS {DICT_ITERATIONS}, dicts to model",
        "first": "tagging dicts, model just loaded",
        "again": "tagging the same dicts again",
    }
    note = f"{ours['items']:.1f} features a token, price 1 and c2 = 0.5"
    return rows + [_row(text, ours[part], peer[part], "python-crfsuite", note) for part, text in what.items()]


def _row(what: str, ours: float, peer: float, name: str, note: str) -> Row:
    ratio = ours / peer
    return Row("strangers", what, ours, "s CPU", peer, name, ratio, "at most the peer's time", ratio <= 1.0, note)


def _child(part: str, sentences: int, iterations: int) -> dict[str, Any]:
    return in_child("benchmarks.strangers_train", json.dumps([part, sentences, iterations]))
