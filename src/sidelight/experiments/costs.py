"""About what each experiment takes, so that the longest begins first and memory is not promised twice."""

from __future__ import annotations

from typing import NamedTuple

FULL_MEMORY = 2.5  # memory of a full run, relative to a quick one


class RunCost(NamedTuple):
    """The cost of a quick run, on one core, with compiled kernels."""

    seconds: float
    megabytes: float


UNKNOWN = RunCost(30.0, 800.0)
QUICK = {
    "lclr-transliteration": RunCost(110.0, 350.0),
    "strangers": RunCost(80.0, 500.0),
    "jlis-identification": RunCost(60.0, 900.0),
    "lclr-entailment": RunCost(55.0, 950.0),
    "jlis-unsupervised": RunCost(55.0, 450.0),
    "jlis-pos": RunCost(50.0, 400.0),
    "jlis-citations": RunCost(50.0, 300.0),
    "jlis-negatives": RunCost(50.0, 350.0),
    "examples": RunCost(43.0, 550.0),
    "solvers": RunCost(40.0, 500.0),
    "lclr-paraphrase": RunCost(40.0, 950.0),
    "jlis-newsgroups": RunCost(40.0, 350.0),
    "sl-artificial": RunCost(28.0, 450.0),
    "ccm-em": RunCost(26.0, 500.0),
    "uem-alignment": RunCost(26.0, 400.0),
    "ccm-rules": RunCost(24.0, 450.0),
    "cllp-typing": RunCost(24.0, 250.0),
    "sl-relations": RunCost(24.0, 300.0),
    "cllp-discount": RunCost(18.0, 300.0),
    "jlis-ads": RunCost(12.0, 250.0),
    "trees": RunCost(12.0, 400.0),
    "ccm-ads": RunCost(11.0, 250.0),
    "ccm-inference": RunCost(9.0, 300.0),
    "jlis-alignment": RunCost(8.0, 300.0),
    "features": RunCost(5.0, 300.0),
    "uem-pos": RunCost(5.0, 250.0),
    "ccm-semicrf": RunCost(4.0, 250.0),
}


def cost_of(name: str) -> RunCost:
    """The cost of a quick run."""
    return QUICK.get(name, UNKNOWN)
