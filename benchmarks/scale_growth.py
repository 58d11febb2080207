"""What a round costs on more machines, on paper: a formula of measured parts, and its check against local workers.

    seconds(m) = tokens · i / (m · cores)  +  (m · q · f + tokens · b) / network  +  q · latency  +  d

i: seconds of inference a token on one core; q: questions of a round, one after another; f: bytes of a question that go
to and come from each machine whatever it holds; b: bytes a token, wherever it is; d: seconds of the driver. With more
tokens d grows too, and so does q of margins, but where a round is one question and one sum (CRF, EM) neither does.

i and d are seconds of CPU of the shortest round with one worker, f and b come from what one and two workers were sent;
the network and its latency are assumed. The driver's own network is the narrow place, so that m machines take m times
as long to be told and to answer. The check is in seconds of CPU as well, of the driver and of the busiest worker: it
holds on a machine with fewer processors than workers too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.scale_fits import Timed

NETWORK = 10e9 / 8  # bytes a second
LATENCY = 0.002  # seconds of a question that says and asks little
MACHINES = (1, 2, 5, 10, 20, 50, 100)
CORES = 16  # of a machine, each a thread of its worker
GROWTH = (1, 10, 100, 1000)  # times the corpus
BLOCK = 8192  # tokens of a question of margins, about; there is one for the loss and one for its bound
MARGINS = ("structural SVM", "J-LIS")
WIDE = ("CRF", "HMM EM")  # whose weights or counts go to and come from every machine
BYTES = {
    "CRF": "8 W down, 8 W up (W weights that were seen, which grow more slowly than tokens)",
    "structural SVM": "12 for each weight that a block moved, down; 4 a token and 16 a sentence up",
    "J-LIS": "as structural SVM, and once more for every completion",
    "HMM EM": "8 (V L + L²) down and up (V words, L labels)",
    "word alignment": "16 for each entry of the table that a shard has, down and up",
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
    driver: float  # seconds of a round
    questions_grow: bool  # with the tokens
    driver_grows: bool

    @classmethod
    def of(cls, name: str, one: Timed, two: Timed) -> Parts:
        """From rounds with one and with two workers."""
        here, sent, sent_to_two = one.shortest, *(float((run.place or {})["bytes"]) for run in (one, two))
        questions = 2 * max(1, one.tokens // BLOCK) if name in MARGINS else 1
        more = max(sent_to_two - sent, 0.0)
        return cls(
            one.tokens,
            sum(here[2:]) / one.tokens,
            more / questions,
            max(sent - more, 0.0) / one.tokens,
            questions,
            here[0] + here[1],
            name in MARGINS,
            name not in WIDE,
        )

    def seconds(self, machines: int, *, times: int = 1) -> float:
        """Of a round over so many times the tokens."""
        tokens, questions = self.tokens * times, self.questions * (times if self.questions_grow else 1)
        sent = machines * self.fixed * questions + tokens * self.per_token
        here = questions * LATENCY + self.driver * (times if self.driver_grows else 1)
        return tokens * self.inference / (machines * CORES) + sent / NETWORK + here

    def most_machines(self, times: int) -> int:
        """The number of machines from which twice as many save less than a tenth of a round."""
        machines = 1
        while machines < 1024 and self.seconds(2 * machines, times=times) <= 0.9 * self.seconds(machines, times=times):
            machines *= 2
        return machines

    def local(self, workers: int) -> float:
        """Of a round with local workers of one thread each, as `Timed.path` counts them."""
        return self.tokens * self.inference / workers + self.driver


def table(name: str, parts: Parts) -> list[dict[str, Any]]:
    """Seconds a round, and where it stops paying."""
    rows = []
    for times in GROWTH:
        seconds = {machines: parts.seconds(machines, times=times) for machines in MACHINES}
        stops = parts.most_machines(times)
        rows.append({"family": name, "tokens": parts.tokens * times, "seconds": seconds, "stops_paying": stops})
    return rows


def parts_as_text(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What was measured of each family, and the formula beside the seconds of CPU of local workers."""
    head = ("", "i, µs", "q", "f, MB", "b, bytes", "d, s", "workers: s on paper, measured")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        parts = Parts(**row["parts"])
        checks = "; ".join(f"{w}: {paper:.2f}, {run:.2f}" for w, (paper, run) in row["check"].items())
        told = [row["family"], f"{1e6 * parts.inference:.2f}", str(parts.questions), f"{parts.fixed / 1e6:.2f}"]
        lines.append("| " + " | ".join([*told, f"{parts.per_token:.1f}", f"{parts.driver:.2f}", checks]) + " |")
    return lines


def table_as_text(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Seconds a round by machines, for ten and for a thousand times the corpus."""
    lines = [f"| | tokens | {' | '.join(map(str, MACHINES))} | enough |", "|---" * (len(MACHINES) + 3) + "|"]
    for row in rows:
        for one in row["table"]:
            if one["tokens"] // row["table"][0]["tokens"] in (10, 1000):
                told = [_shown(one["seconds"][machines]) for machines in MACHINES]
                tokens = f"{one['tokens'] / 1e6:,.0f} million"
                lines.append(f"| {row['family']} | {tokens} | {' | '.join(told)} | {one['stops_paying']} |")
    return lines


def _shown(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"
