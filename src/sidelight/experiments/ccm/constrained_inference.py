"""Methods of inference with rules, compared on references: a question left open in thesis section 3.1.2.

An HMM of labelled references is decoded under the rules of thesis Table 3.1, once with penalties that are counted on
the labelled references (Algorithm 7) and once with hard rules. Every method gets the same problems: scores and clauses
of the 100 test references. A method is *exact* on an input if it proves its output optimal; its *score* is the
difference between the values of the best output (known from exact methods) and of its output. Times are of one
reference on one thread after the rules have been read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from sidelight import recipes
from sidelight.errors import Infeasible, Intractable
from sidelight.estimators.constrained import ModelScorer
from sidelight.estimators.taggers import Tagger
from sidelight.evidence import gold
from sidelight.experiments.ccm.citation_rules import citation_rules
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.jlis.citations import Citations, load
from sidelight.experiments.table import Row, row
from sidelight.features import emissions
from sidelight.inference.methods.by_search import a_star, beam
from sidelight.inference.methods.choose import Method, solve
from sidelight.inference.problem import RuledProblem, Solution
from sidelight.inference.rule_set import RuleSet
from sidelight.rules import Rule, Sentence
from sidelight.rules.lowering.penalties import penalties_of

TITLE = "Inference with rules on references: score, accuracy, time (thesis 3.1.2)"
SIZES, QUICK_SIZES = (20, 300), (20,)
REFERENCES, QUICK_REFERENCES = 100, 15
LAST = "the integer program"  # of the methods; the slowest

NOTES = (
    "accuracy is of tokens, all wrong where a method finds no output; 'exact' is the share of references whose output "
    "is proved the best, 'best' the share whose output is worth as much as the best, 'behind' the mean of what it is "
    "worth less; 'ms' is the median time of one reference and 'ms, slowest tenth' the ninth decile, both with lowering",
    "references that no output can obey under hard rules are left out there, for every method; 'legal' is the share of "
    "the others for which a method found a legal output",
    "emissions have an additive mass of 250 per label; words are in lower case; nothing is tuned",
)


@dataclass(frozen=True)
class Trial:
    """One method on one reference."""

    solution: Solution | None
    seconds: float


def methods() -> dict[str, Callable[[RuledProblem], Solution]]:
    """The methods by their names."""

    def by(method: Method) -> Callable[[RuledProblem], Solution]:
        return partial(solve, method=method)

    return {
        "automatic": by("auto"),
        "dynamic programming": by("dynamic"),
        "A*": partial(a_star, at_limit="beam"),
        "beam of 10": partial(beam, width=10),
        "beam of 100": partial(beam, width=100),
        "beam of 100, no look-ahead": partial(beam, width=100, look_ahead=False),
        "linear relaxation": by("lp"),
        "Lagrangian relaxation": by("lagrangian"),
        LAST: by("ilp"),
    }


def problems_of(
    data: Citations, *, size: int, rules: Sequence[Rule], references: int
) -> tuple[list[RuledProblem], LabelledExamples]:
    """The problems of the first test references, under an HMM of the first `size` labelled ones."""
    train = LabelledExamples([_lower(x) for x in data.train.xs[:size]], data.train.ys[:size])
    test = LabelledExamples([_lower(x) for x in data.test.xs[:references]], data.test.ys[:references])
    tagger = Tagger(learner=recipes.hmm(), features=emissions(), labels=data.labels, n_jobs=1)
    tagger.fit(gold(train.xs, train.ys))
    known = [rule.penalty for rule in rules]
    counted = penalties_of(rules, train.xs, train.ys)
    prices = [count if price is None else price for price, count in zip(known, counted)]
    lowered = RuleSet(rules, data.labels, penalties=prices)
    batch = ModelScorer(tagger.model_).scores(test.xs, clamp=None, n_jobs=1)
    problems = [lowered.problem(Sentence(x), batch.own(i), batch.shared) for i, x in enumerate(test.xs)]
    return problems, test


def trials(problems: Sequence[RuledProblem], method: Callable[[RuledProblem], Solution]) -> list[Trial]:
    """One method on all problems; the first one is solved twice, because the first time may compile."""
    results: list[Trial] = []
    for problem in [*problems[:1], *problems]:
        began = time.perf_counter()
        solution: Solution | None
        try:
            solution = method(problem)
        except (Infeasible, Intractable):
            solution = None
        results.append(Trial(solution, time.perf_counter() - began))
    return results[1:]


def rows_of(setting: str, done: dict[str, list[Trial]], test: LabelledExamples, labels: Sequence[str]) -> list[Row]:
    """The results of each method on references for which some method has a legal output."""
    count = len(test.xs)
    best = [-math.inf] * count
    for every in done.values():
        best = [max(top, -math.inf if one.solution is None else one.solution.value) for top, one in zip(best, every)]
    legal = [i for i in range(count) if best[i] > -math.inf]
    results: list[Row] = []
    for method, every in done.items():
        mine = [i for i in legal if every[i].solution is not None]
        solved = {i: solution for i in mine if (solution := every[i].solution) is not None}
        right = sum(labels[k] == y for i, one in solved.items() for k, y in zip(one.labels, test.ys[i]))
        tokens = sum(len(test.ys[i]) for i in legal)
        behind = [best[i] - one.value for i, one in solved.items()]
        times = [1e3 * every[i].seconds for i in legal]
        figures = {
            "accuracy": 100.0 * right / max(tokens, 1),
            "exact": 100.0 * sum(one.exact for one in solved.values()) / len(legal),
            "best": 100.0 * sum(gap < 1e-6 for gap in behind) / len(legal),
            "behind": float(np.mean(behind)) if behind else math.nan,
            "legal": 100.0 * len(mine) / len(legal),
            "ms": float(np.median(times)),
            "ms, slowest tenth": float(np.quantile(times, 0.9)),
        }
        results += [row(setting, method, metric, [value]) for metric, value in figures.items()]
    return results


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """The rows of the table, and its notes; times need a machine that does nothing else, so one thread is used."""
    report(TITLE)
    corpus = load(data)
    results: list[Row] = []
    for size in QUICK_SIZES if quick else SIZES:
        for sort, rules in (("soft", [rule.soft() for rule in citation_rules()]), ("hard", list(citation_rules()))):
            references = QUICK_REFERENCES if quick else REFERENCES
            problems, test = problems_of(corpus, size=size, rules=rules, references=references)
            setting = f"{size} references, {sort} rules"
            done = {}
            for name, method in methods().items():
                done[name] = trials(problems, method)
                report(f"{setting}: {name}")
            results += rows_of(setting, done, test, corpus.labels)
            save(results)
    return results, NOTES


def _lower(x: Sequence[str]) -> list[str]:
    return [word.lower() for word in x]
