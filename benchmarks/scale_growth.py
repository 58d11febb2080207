"""What a round costs on more machines, on paper: a formula of measured parts, and its check against local workers.

    seconds(m) = tokens · i / (m · cores)  +  (m · f + tokens · b) / network  +  q · latency  +  tokens · p  +  s

i: seconds of inference a token on one core; f: bytes that go to and come from each machine whatever it holds; b: bytes
a token, wherever it is; q questions of a round, one after another; p: seconds that the driver packs what goes with the
tokens; s: seconds that it solves. All but the network are measured with one worker. The driver's own network is the
narrow place, so that m machines take m times as long to be told and to answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchmarks.scale_fits import Timed

NETWORK = 10e9 / 8  # bytes a second
MACHINES = (1, 2, 5, 10, 20, 50, 100)
CORES = 16  # of a machine, each a thread of its worker
GROWTH = (1, 10, 100, 1000)  # times the corpus
MARGINS = ("structural SVM", "J-LIS")
WIDE = ("CRF", "HMM EM")  # whose weights or counts go to and come from every machine
BYTES = {
    "CRF": "8 W down, 8 W up (W weights that were seen, which grow more slowly than tokens)",
    "structural SVM": "12 for each weight that a block moved, down; 4 a token and 16 a sentence up",
    "J-LIS": "as structural SVM, and once more for every completion",
    "HMM EM": "8 (V L + L²) down and up (V words, L labels)",
    "word alignment": "16 for each entry of the table that a shard has, down and up; 4 for each possible link up",
    "prediction": "the text down, a label a token up; the model once",
    "prediction of a file": "the text down, the text with labels up; the model once",
}


@dataclass(frozen=True)
class Parts:
    """A family's measured parts."""

    tokens: int
    inference: float  # seconds a token, one core
    fixed: float  # bytes of a question to and from a machine, whatever it holds
    per_token: float  # bytes that go with the tokens
    questions: int  # of a round
    latency: float  # seconds of a question
    packing: float  # seconds a token
    solving: float  # seconds of a round
    grows: bool  # questions, and what is solved, grow with the tokens

    @classmethod
    def of(cls, name: str, one: Timed) -> Parts:
        """From a round with one worker."""
        place = one.place or {"bytes": 0, "inference": 0.0, "transit": 0.0, "solving": 0.0}
        margins, wide = name in MARGINS, name in WIDE
        questions = 2 * max(1, one.tokens // 8192) if margins else 1
        upward = 8.0 * one.tokens if margins else 0.0 if wide else float(place["bytes"])
        return cls(
            one.tokens,
            place["inference"] / one.tokens,
            max(place["bytes"] - upward, 0.0) / questions,
            upward / one.tokens,
            questions,
            place["transit"] / questions if margins else 0.0,
            0.0 if margins or wide else place["transit"] / one.tokens,
            place["solving"],
            margins,
        )

    def seconds(self, machines: int, *, cores: int = CORES, times: int = 1, network: float = NETWORK) -> float:
        """Of a round over so many times the tokens."""
        tokens, more = self.tokens * times, times if self.grows else 1
        sent = machines * self.fixed * self.questions * more + tokens * self.per_token
        here = self.questions * more * self.latency + tokens * self.packing + self.solving * more
        return tokens * self.inference / (machines * cores) + sent / network + here

    def most_machines(self, times: int) -> int:
        """The number of machines from which twice as many save less than a tenth of a round."""
        machines = 1
        while machines < 1024 and self.seconds(2 * machines, times=times) <= 0.9 * self.seconds(machines, times=times):
            machines *= 2
        return machines


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
    wide = parts.fixed > 0 and not parts.grows and transit > 0
    network = parts.fixed / transit if wide else math.inf
    alone = parts.seconds(min(workers, processors), cores=1, network=network)
    return alone + (workers - min(workers, processors)) * (transit if wide else 0.0)
