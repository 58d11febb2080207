"""pytorch-crf on one thread: `python -m benchmarks.sums_torch SEQUENCES LABELS CHECKED`, a process of its own.

The best of several batch sizes, in the float32 that its users have. Value and gradient of the first CHECKED sequences
are told as well, so that the other side can see that both compute the same thing.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from benchmarks.measure import seconds
from benchmarks.sums_data import Chains, chains

BATCHES = (32, 128, 512)
REPEAT = 3


def peer(sequences: int, labels: int, checked: int) -> dict[str, Any]:
    import torch
    from torchcrf import CRF

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    given = chains(sequences, labels)
    crf = CRF(labels)
    with torch.no_grad():
        crf.transitions.copy_(torch.from_numpy(given.transition))
        crf.start_transitions.copy_(torch.from_numpy(given.start))
        crf.end_transitions.copy_(torch.from_numpy(given.end))

    def batches(size: int) -> list[tuple[Any, Any]]:
        """Scores [LENGTH, size, L] and labels [LENGTH, size], in torch's own memory before the clock starts."""
        found = []
        for first in range(0, sequences, size):
            tokens = np.ascontiguousarray(given.tokens[first : first + size].swapaxes(0, 1), dtype=np.float32)
            tags = np.ascontiguousarray(given.labels[first : first + size].T, dtype=np.int64)
            found.append((torch.from_numpy(tokens).requires_grad_(), torch.from_numpy(tags)))
        return found

    def pass_over(work: list[tuple[Any, Any]]) -> None:
        for tokens, tags in work:
            tokens.grad = None
            crf.zero_grad()
            crf(tokens, tags).backward()

    times = {}
    for size in BATCHES:
        work = batches(size)
        pass_over(work[:1])
        times[size], _ = seconds(lambda: pass_over(work), repeat=REPEAT)  # noqa: B023
    best = min(times, key=lambda size: times[size])
    return {"seconds": times[best], "batch": best, "torch": torch.__version__, **_checked(crf, given, checked)}


def _checked(crf: Any, given: Chains, count: int) -> dict[str, Any]:
    import torch

    crf = crf.double()
    crf.zero_grad()
    tokens = torch.from_numpy(np.ascontiguousarray(given.tokens[:count].swapaxes(0, 1))).requires_grad_()
    value = crf(tokens, torch.from_numpy(np.ascontiguousarray(given.labels[:count].T, dtype=np.int64)))
    value.backward()
    own = [crf.transitions, crf.start_transitions, crf.end_transitions]
    found = [tokens.grad.swapaxes(0, 1), *(one.grad for one in own)]
    return {"value": value.item(), "gradients": [one.numpy().ravel().tolist() for one in found]}


if __name__ == "__main__":
    print(json.dumps(peer(*map(int, sys.argv[1:]))))
