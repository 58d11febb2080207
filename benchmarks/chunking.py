"""Training on CoNLL-2000 chunking with the tutorial template, from token strings in memory."""

from __future__ import annotations

from benchmarks.measure import Row, in_child


def run() -> list[Row]:
    module = "benchmarks.chunking_train"
    fast, slow = in_child(module, "sidelight-perceptron"), in_child(module, "crfsuite-ap")
    rows = [
        _against("averaged perceptron, strings to model", fast, "python-crfsuite ap 5", slow, 1 / 5, 93.45),
    ]
    fast, slow = in_child(module, "sidelight-svm"), in_child(module, "crfsuite-lbfgs")
    rows.append(_against("structural SVM, strings to model", fast, "python-crfsuite L-BFGS 50", slow, 1 / 2, 93.6))
    return rows


def _against(what: str, ours: dict, peer_name: str, peer: dict, share: float, f1: float) -> Row:  # type: ignore[type-arg]
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
        f"F1 {ours['f1']:.2f} (peer {peer['f1']:.2f}), peak {ours['peak_mb']:.0f} MB (peer {peer['peak_mb']:.0f})",
    )
