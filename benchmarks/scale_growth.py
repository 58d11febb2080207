"""What a round costs on more machines, on paper: a formula of measured parts, and its check against local workers.

    seconds(m) = tokens · i / (m · cores)  +  m · b / network  +  q · latency  +  s

i: seconds of inference a token on one core; b: bytes that go to and come from one machine; q questions of a round, one
after another; s: seconds that the driver solves. All but the network and the latency are measured with one worker. The
driver's own network is the narrow place, so that m machines take m times as long to be told and to answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchmarks.scale_fits import Timed

NETWORK = 10e9 / 8  # bytes a second
LATENCY = 0.002  # seconds of a question: measured here with two local workers
MACHINES = (1, 2, 5, 10, 20, 50, 100)
CORES = 16  # of a machine, each a thread of its worker
GROWTH = (1, 10, 100, 1000)  # times the corpus
BYTES = {
    "CRF": "8 W down, 8 W up (W weights that were seen, which grow more slowly than tokens)",
    "structural SVM": "12 for each weight that a block moved, down; 4 a token and 16 a sentence up",
    "J-LIS": "as structural SVM, and once more for every completion",
    "HMM EM": "8 (V L + L²) down and up (V words, L labels)",
    "word alignment": "16 for each entry of the table that a shard has, down and up",
    "prediction": "the text down, a label a token up; the model once",
}


@dataclass(frozen=True)
class Parts:
    """A family's measured parts."""

    tokens: int
    inference: float  # seconds a token, one core
    fixed: float  # bytes a machine and round that do not grow with tokens
    per_token: float  # bytes of a round that go with the tokens, wherever these are
    questions: int
    solving: float  # seconds a token

    @classmethod
    def of(cls, name: str, one: Timed) -> Parts:
        """From a round with one worker."""
        place = one.place
        assert place is not None
        steps = max(1, one.tokens // 8192) if name in ("structural SVM", "J-LIS") else 1
        wide = name in ("CRF", "HMM EM")
        fixed = float(place["bytes"]) if wide else 0.0
        per_token = 0.0 if wide else place["bytes"] / one.tokens
        if name in ("structural SVM", "J-LIS"):  # weights go to every worker, outputs come from one
            up = 4.0 * 2 * one.tokens
            fixed, per_token = max(place["bytes"] - up, 0.0), up / one.tokens
        return cls(one.tokens, place["inference"] / one.tokens, fixed, per_token, steps, place["solving"] / one.tokens)

    def seconds(self, machines: int, *, cores: int = CORES, times: int = 1, network: float = NETWORK) -> float:
        """Of a round."""
        tokens, questions = self.tokens * times, self.questions * (times if self.questions > 1 else 1)
        sent = machines * self.fixed * (times if self.questions > 1 else 1) + tokens * self.per_token
        solving = self.solving * tokens if self.questions > 1 else self.solving * self.tokens
        return tokens * self.inference / (machines * cores) + sent / network + questions * LATENCY + solving

    def most_machines(self, times: int) -> int:
        """From how many machines on one more does not pay."""
        each = self.fixed * (times if self.questions > 1 else 1) / NETWORK
        if each <= 0:
            return 10**6
        return max(1, round(math.sqrt(self.tokens * times * self.inference / CORES / each)))


def table(name: str, parts: Parts) -> list[dict[str, Any]]:
    """Seconds a round, and where it stops paying."""
    rows = []
    for times in GROWTH:
        seconds = {machines: parts.seconds(machines, times=times) for machines in MACHINES}
        stops = parts.most_machines(times)
        rows.append({"family": name, "tokens": parts.tokens * times, "seconds": seconds, "stops_paying": stops})
    return rows


def predicted(parts: Parts, workers: int, processors: int, transit: float) -> float:
    """A round with local workers of one thread each, which share processors and send through memory."""
    network = parts.fixed / transit if transit > 0 and parts.fixed > 0 else math.inf
    return parts.seconds(min(workers, processors), cores=1, network=network)
