"""The page of algorithms, made from what every learner says of itself.

python tests/algorithms_page.py > docs/algorithms.md
"""

from __future__ import annotations

import re
import sys

from sidelight.recipes import LEARNERS, Recipe
from sidelight.specs import Need
from sidelight.specs.options import options_of

HEAD = """# Algorithms

This page lists every learner with its objective, its reference and its recipe. It is generated from
`sidelight.recipes.LEARNERS` by `tests/algorithms_page.py`, and a test compares the two.

- [Learners](learners.md) says which learner to use, and has all of them in one table.
- [Solvers](solvers.md) describes the solvers behind them.
- [References](references.md) lists the papers by their titles. "Thesis" is Chang 2011.

In all objectives w are the weights, and C is the price of the evidence (`prices=`). A margin loss is taken of the
output that violates its margin most. By default it is the squared hinge (`loss="squared_hinge"`); `"hinge"` and
`"logistic"` are the other losses.
"""
TAIL = """## Estimators with an algorithm of their own

### Co-training

There are two views of an input, with a model for each. Each model labels its most certain inputs for the other one.

- **Reference:** Blum and Mitchell 1998
- **Recipe:** `sl.CoTraining(sl.Classifier(), sl.Classifier(), views=(one, other))`
- **Learns from:** Gold, and inputs without labels

### Sequential learning

Sub-problems that rules connect are learned one after another. A later one corrects what the earlier ones imply about
its labels.

- **Reference:** Roth, Small and Titov 2009
- **Recipe:** `sl.SequentialLearner(structure, method="SL")`; `"LO"`, `"L+I"` and `"IBT"` are the other protocols
  that the paper compares ([sequential learning](sequential.md))
- **Learns from:** Gold

### Word alignment

IBM model 1, then the HMM alignment model, in both directions. The posteriors of both directions agree on every link.

- **Objective:** −Σ max over q that agree of (E_q log P(x, h) + γ H(q)), over both directions
- **Reference:** Ganchev et al. 2010; Samdani, Chang and Roth 2012; thesis chapter 4
- **Recipe:** `sl.Aligner(gamma=0.5, agreement=True)`, `sidelight align train`
- **Learns from:** pairs of sentences
"""
FAMILIES = {
    "Likelihood": "crf partial_crf semi_crf contrastive naive_bayes",
    "Margins": "structural_svm jlis lclr latent_svm transductive_svm semi_svm self_training one_against_rest",
    "Online": "perceptron passive_aggressive mira arow",
    "Candidate labels by margins": "cllp cllp_as_printed mms naive cl_svm",
    "Hidden Markov models and EM": "hmm em hard_em unified_em",
    "Rules in learning": "codl codl_as_printed posterior_regularization",
}
SAID_ELSEWHERE = {  # papers of learners whose first line does not end with one
    "cllp": "Li, Zhang and Chen 2014",
    "naive": "a baseline of Li, Zhang and Chen 2014",
    "cl_svm": "a baseline of Li, Zhang and Chen 2014",
    "semi_svm": "Sarawagi and Cohen 2004, with the margins of Tsochantaridis et al. 2005",
    "codl_as_printed": "Chang, Ratinov and Roth 2007; thesis Algorithm 8",
}
PAPER = re.compile(r"\(([^()]*\d{4}[^()]*|thesis[^()]*)\)")


def reference(name: str, learner: type[Recipe]) -> str:
    """The paper of a learner, as its first line has it."""
    return SAID_ELSEWHERE.get(name) or PAPER.findall(learner.line())[-1]


def entry(name: str, learner: type[Recipe]) -> str:
    """One learner."""
    first, *rest = learner.described().split("\n\n")
    estimator = "SegmentTagger" if Need.SEGMENTS in learner.needs else "Tagger"
    facts = (
        ("Objective", learner.minimises),
        ("Reference", reference(name, learner)),
        ("Recipe", f"`sl.{estimator}(learner=sl.recipes.{name}())`, `sidelight train --learner {name}`"),
        ("Learns from", learner.learns_from()),
        ("Inference", learner.inference),
        ("Stops by", learner.stops),
    )
    lines = [f"### {name}", "", " ".join(first.split()), ""]
    lines += [f"- **{what}:** {said}" for what, said in facts]
    options = options_of(learner)
    if options:
        lines += ["", "| option | default | what it may be |", "| --- | --- | --- |"]
        lines += [f"| `{one.name}` | `{one.default}` | {one.values} |" for one in options]
    for paragraph in rest:
        lines += ["", paragraph]
    return "\n".join(lines) + "\n"


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for family, names in FAMILIES.items():
        parts.append(f"## {family}\n")
        parts += [entry(name, LEARNERS[name]) for name in names.split()]
    return "\n".join([*parts, TAIL])


if __name__ == "__main__":
    sys.stdout.write(page())
