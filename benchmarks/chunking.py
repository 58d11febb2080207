"""Training on CoNLL-2000 chunking with the tutorial template, from token strings in memory.

The SVM's price was chosen on held-out training sentences (`python -m benchmarks.prices svm`), never on the test part;
all else of it is as by default (squared hinge, gap of 1 %).
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.measure import Row, in_child

PRICE = 0.1


def run() -> list[Row]:
    module = "benchmarks.chunking_train"
    fast, slow = in_child(module, "sidelight-perceptron"), in_child(module, "crfsuite-ap")
    rows = [
        _against("averaged perceptron, strings to model", fast, "python-crfsuite ap 5", slow, 1 / 5, 93.45),
    ]
    fast, slow = train_svm(PRICE), in_child(module, "crfsuite-lbfgs")
    rows.append(_against("structural SVM, strings to model", fast, "python-crfsuite L-BFGS 50", slow, 1 / 2, 93.6))
    return rows


def train_svm(price: float, *, held_out: bool = False) -> dict[str, Any]:
    """Seconds, F1 and more of one training run; see `chunking_train`."""
    options = json.dumps({"price": price, "held_out": held_out})
    return in_child("benchmarks.chunking_train", "sidelight-svm", options)


def _against(what: str, ours: dict[str, Any], peer_name: str, peer: dict[str, Any], share: float, f1: float) -> Row:
    ratio = ours["seconds"] / peer["seconds"]
    return Row(
        "chunking",
        what,
        ours["seconds"],
        "s",
        peer["seconds"],
        peer_name,
        ratio,
        f"time at most {share:.2f} of the peer's, F1 at least {f1}, at most 400 MB",
        ratio <= share and ours["f1"] >= f1 and ours["peak_mb"] <= 400,
        f"F1 {ours['f1']:.2f} (peer {peer['f1']:.2f}), peak {ours['peak_mb']:.0f} MB (peer {peer['peak_mb']:.0f}), "
        f"{ours['rounds']} rounds, CPU {ours['cpu']:.1f} s (peer {peer['cpu']:.1f})",
    )
