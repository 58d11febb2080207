"""About what each experiment takes, so that the longest begins first and memory is not promised twice."""

from __future__ import annotations

from typing import NamedTuple

FULL_MEMORY = 2.5  # what a run in full takes, in memories of a quick one


class Cost(NamedTuple):
    """Of a quick run, on one core, with its kernels compiled."""

    seconds: float
    megabytes: float


UNKNOWN = Cost(30.0, 800.0)
QUICK = {
    "lclr-transliteration": Cost(110.0, 350.0),
    "strangers": Cost(80.0, 500.0),
    "jlis-identification": Cost(60.0, 900.0),
    "lclr-entailment": Cost(55.0, 950.0),
    "jlis-unsupervised": Cost(55.0, 450.0),
    "jlis-pos": Cost(50.0, 400.0),
    "jlis-citations": Cost(50.0, 300.0),
    "jlis-negatives": Cost(50.0, 350.0),
    "examples": Cost(43.0, 550.0),
    "solvers": Cost(40.0, 500.0),
    "lclr-paraphrase": Cost(40.0, 950.0),
    "jlis-newsgroups": Cost(40.0, 350.0),
    "sl-artificial": Cost(28.0, 450.0),
    "ccm-em": Cost(26.0, 500.0),
    "uem-alignment": Cost(26.0, 400.0),
    "ccm-rules": Cost(24.0, 450.0),
    "cllp-typing": Cost(24.0, 250.0),
    "sl-relations": Cost(24.0, 300.0),
    "cllp-discount": Cost(18.0, 300.0),
    "jlis-ads": Cost(12.0, 250.0),
    "trees": Cost(12.0, 400.0),
    "ccm-ads": Cost(11.0, 250.0),
    "ccm-inference": Cost(9.0, 300.0),
    "jlis-alignment": Cost(8.0, 300.0),
    "features": Cost(5.0, 300.0),
    "uem-pos": Cost(5.0, 250.0),
    "ccm-semicrf": Cost(4.0, 250.0),
}


def cost_of(name: str) -> Cost:
    """What a quick run takes."""
    return QUICK.get(name, UNKNOWN)
