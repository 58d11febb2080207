"""The CRF by L-BFGS on CoNLL-2000 chunking with the tutorial template, from token strings in memory.

50 iterations against python-crfsuite's 50, and to convergence. Prices were chosen on held-out training sentences
(`python -m benchmarks.crf_prices`), never on the test part. CRFsuite has its own default, c2 = 1: the price 0.5 here.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

from benchmarks.measure import Row, in_child

ROUNDS = 50
PRICES = {("seen", ROUNDS): 2.0, ("all", ROUNDS): 4.0, ("seen", None): 4.0, ("all", None): 4.0}
SMALL = 300  # sentences


def run(*, quick: bool = False) -> list[Row]:
    sentences = SMALL if quick else None
    peer = None
    if find_spec("pycrfsuite") is not None:
        peer = train(peer=True, rounds=ROUNDS, sentences=sentences)
    found = []
    for support in ("seen", "all"):
        ours = train(support=support, price=PRICES[support, ROUNDS], rounds=ROUNDS, sentences=sentences)
        found.append(_against(support, ours, peer))
    for support in ("seen", "all"):
        ours = train(support=support, price=PRICES[support, None], rounds=None, sentences=sentences)
        found.append(_converged(support, ours))
    return found


def train(**options: Any) -> dict[str, Any]:
    """Seconds, F1 and more of one training run; see `crf_train`."""
    return in_child("benchmarks.crf_train", json.dumps(options))


def _against(support: str, ours: dict[str, Any], peer: dict[str, Any] | None) -> Row:
    what = f'CRF, L-BFGS {ROUNDS}, support "{support}", strings to model'
    target = "time at most 1/3 of the peer's, F1 at least 93.5"
    note = f"price {PRICES[support, ROUNDS]:g}, {_told(ours)}"
    if peer is None:
        return Row("crf", what, ours["seconds"], "s", note=f"{note}; python-crfsuite is not installed")
    ratio = ours["seconds"] / peer["seconds"]
    return Row(
        "crf",
        what,
        ours["seconds"],
        "s",
        peer["seconds"],
        f"python-crfsuite L-BFGS {ROUNDS}",
        ratio,
        target,
        ratio <= 1 / 3 and ours["f1"] >= 93.5,
        f"{note}; peer: F1 {peer['f1']:.2f}, peak {peer['peak_mb']:.0f} MB",
    )


def _converged(support: str, ours: dict[str, Any]) -> Row:
    return Row(
        "crf",
        f'CRF to convergence, support "{support}", strings to model',
        ours["seconds"],
        "s",
        target="F1 at least 93.7",
        met=ours["f1"] >= 93.7,
        note=f"price {PRICES[support, None]:g}, {_told(ours)}",
    )


def _told(ours: dict[str, Any]) -> str:
    rounds = f"{ours['rounds']} iterations in {ours['learning']:.2f} s"
    return f"F1 {ours['f1']:.2f}, {rounds}, objective {ours['objective']:.1f}, peak {ours['peak_mb']:.0f} MB"
