"""Entities and relations by LO, L+I, IBT and sequential learning (Roth, Small and Titov 2009, Table 1).

The corpus of Roth and Yih (2004), sentences with a relation, entities of type "Other" left out as in the paper's count.
Five random splits of the paper's sizes (815 to train, 333 to develop, the rest to test). Averaged perceptrons with a
thick margin; the margins of entities and relations and the number of passes are chosen for each method and split by the
F1 of relations on the development part, and so is a bias on "none" where a row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sidelight.data.relations import EntitySentence, Extraction, read_relations, without_types
from sidelight.estimators.sequential_learner import SequentialLearner
from sidelight.evaluate.paired import paired_t
from sidelight.evaluate.relations import RelationScores, score_relations
from sidelight.experiments.choices import chosen
from sidelight.experiments.draws import folder_of
from sidelight.experiments.pool import carried_out
from sidelight.experiments.table import Row, row
from sidelight.rules.gallery import argument_types
from sidelight.structures.relations import ENTITY, NONE, RELATION, SETS, EntityRelation

TYPES = ("Peop", "Loc", "Org")
ARGUMENTS = {
    "Located_In": ("Loc", "Loc"),
    "Work_For": ("Peop", "Org"),
    "OrgBased_In": ("Org", "Loc"),
    "Live_In": ("Peop", "Loc"),
    "Kill": ("Peop", "Peop"),
}
PARTS = ("train", "dev", "test")
TRAIN, DEV, DRAWS = 815, 333, 5
MARGINS = ((10.0, 1.0), (20.0, 1.0), (20.0, 3.0), (20.0, 10.0), (40.0, 3.0))  # of entities and relations, in updates
PASSES = (20, 60)
BIASES = (0.0, -0.25, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)  # of "none", in updates
EACH = ", 14 classifiers"  # one for every label against the others, as the paper has it
HELD_OUT = "SL, by held-out error" + EACH
SHUFFLED = "SL, relations shuffled" + EACH  # in the places that they have in the order by updates
SHUFFLES = tuple(f"SL, relations shuffled {k}" + EACH for k in range(1, 6))  # so many orders for each split
FITS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {  # the method, its options, and the rows it gives
    "L+I": ("L+I", {}, ("LO", "L+I")),  # of one fit: LO differs in prediction alone
    "IBT": ("IBT", {}, ("IBT",)),
    "SL": ("SL", {"order": [ENTITY, RELATION]}, ("SL",)),
    "SL, relations first": ("SL", {"order": [RELATION, ENTITY]}, ("SL, relations first",)),
    "L+I" + EACH: ("L+I", {"one_vs_all": True}, ("LO" + EACH, "L+I" + EACH)),
    "IBT" + EACH: ("IBT", {"one_vs_all": True}, ("IBT" + EACH,)),
    "SL" + EACH: ("SL", {"one_vs_all": True, "order": "updates"}, ("SL" + EACH,)),
    HELD_OUT: ("SL", {"one_vs_all": True, "order": "held_out"}, (HELD_OUT,)),
    SHUFFLED: ("SL", {"one_vs_all": True, "order": SHUFFLED}, SHUFFLES),
}
PAPER = {"L+I" + EACH: (44.5, 89.2), "IBT" + EACH: (44.8, 89.2), "SL" + EACH: (48.2, 89.5)}
GAINS = (
    *(("L+I", "LO"), ("SL", "L+I"), ("SL", "IBT"), ("SL", "SL, relations first")),
    *(("SL" + EACH, "L+I" + EACH), ("SL" + EACH, "IBT" + EACH), ("SL" + EACH, HELD_OUT)),
    *(("SL" + EACH, shuffled) for shuffled in SHUFFLES),
)
NOTES = (
    "the lists of common names and large cities are not public; nothing stands in for them",
    "the paper has one split, which is not given; here 5 random ones of its sizes",
    f"{EACH[2:]!r}: one for every label, as in the paper, SL in the order discovered by updates, or by the"
    " error on a fifth of the training sentences; else a sub-problem is"
    " the types of entities, or the relations of pairs, and SL learns types first",
    f"margins (entities, relations) {MARGINS} and passes {PASSES}, for each method and split,"
    " by the F1 of relations on development sentences",
)

RelatedSentences = list[tuple[EntitySentence, Extraction]]


class RelationTask(NamedTuple):
    """One method on one split."""

    draw: int
    features: str
    fit: str
    passes: Sequence[int]  # to choose from
    margins: Sequence[tuple[float, float]]  # the same

    def __str__(self) -> str:
        return f"{self.features} features, {self.fit}"


class RelationOutcome(NamedTuple):
    """Scores on the test part, without and with a bias on "none", and the choices."""

    plain: RelationScores
    biased: RelationScores
    chosen: str


def rows(
    data: Path,
    *,
    quick: bool,
    n_jobs: int,
    report: Callable[[str], None],
    save: Callable[[Sequence[Row]], None],
    choose: Mapping[str, str],
) -> tuple[list[Row], tuple[str, ...]]:
    """Relation and entity scores of each method, and its gains over another."""
    examples = read_examples(folder_of(data, "conll04"))
    results = list[Row]()
    fits = list(FITS)[: 4 if quick else None]
    sets, splits = SETS[: 1 if quick else None], range(2 if quick else DRAWS)
    grid = PASSES[: 1 if quick else None]
    choices = chosen(choose, features=sets, fits=fits, passes=grid, margins=MARGINS, draws=splits)
    draws, passes, margins = choices["draws"], choices["passes"], choices["margins"]
    for features in choices["features"]:
        by: dict[str, list[RelationOutcome]] = {}
        setting = f"{features} features"
        for name in choices["fits"]:
            forms = FITS[name][2]
            tasks = [RelationTask(draw, features, name, passes, margins) for draw in draws]
            outcomes = carried_out(score, examples, tasks, n_jobs=n_jobs, report=report)
            for form in forms:
                by[form] = [one[form] for one in outcomes]
                results += _rows_of(setting, form, [one.plain for one in by[form]], PAPER.get(form))
                results += _rows_of(setting, f"{form}, bias", [one.biased for one in by[form]], None)
                each = " ".join(f"{100 * one.plain.relations.f1:.1f}" for one in by[form])
                report(f"{setting}, {form}: F1 {results[-8]['value']:.1f} ({each})")
                for draw, one in zip(draws, by[form]):
                    report(f"  split {draw}: {one.chosen}")
            save(results)
        for first, second in GAINS:
            results += _gain(setting, first, second, by) if {first, second} <= set(by) else []
        save(results)
    return results, NOTES


def score(examples: RelatedSentences, task: RelationTask) -> dict[str, RelationOutcome]:
    """Fit all margins and passes, choose by development sentences, and score test sentences."""
    order = np.random.default_rng(task.draw).permutation(len(examples))
    train, dev, test = (
        [examples[i] for i in some] for some in (order[:TRAIN], order[TRAIN : TRAIN + DEV], order[TRAIN + DEV :])
    )
    method, options, forms = FITS[task.fit]
    structure = EntityRelation(TYPES, list(ARGUMENTS), [argument_types(ARGUMENTS)], features=task.features)
    best: dict[str, tuple[float, SequentialLearner, str]] = {}
    trials = [(options, forms)]  # options of a fit, and the forms that are read off it
    if options.get("order") == SHUFFLED:
        orders = _shuffled(structure, train, task)
        trials = [({**options, "order": order}, (form,)) for order, form in zip(orders, forms)]
    settings = list(product(task.passes, task.margins, trials))
    prepared = None  # attributes are those of the training part, in every fit
    for passes, (entity, relation), (own_options, own_forms) in settings:
        learner = SequentialLearner(
            structure, method=method, passes=passes, margin={ENTITY: entity, RELATION: relation}, **own_options
        ).fit([x for x, _ in train], [y for _, y in train])
        prepared = prepared or [learner.prepare([x for x, _ in part]) for part in (dev, test)]
        for form in own_forms:
            reached = _scores(_as(form, learner), prepared[0], dev).relations.f1
            if form not in best or reached > best[form][0]:
                best[form] = reached, learner, f"margins {entity:g} {relation:g}, {passes} passes"
    assert prepared is not None
    unit = float(np.mean([1 + len(set(x.tokens)) for x, _ in train]))  # about what one update changes a score by
    results = {}
    for form, (_, learner, names) in best.items():
        own = _as(form, learner)
        biases = [{(RELATION, NONE): bias * unit} for bias in BIASES]
        bias = max(biases, key=lambda one: _scores(own.set_params(bias=one), prepared[0], dev).relations.f1)
        biased = _scores(own.set_params(bias=bias), prepared[1], test)
        plain = _scores(own.set_params(bias=None), prepared[1], test)
        names += f", bias {bias[RELATION, NONE] / unit:g}"
        if options.get("one_vs_all") and method == "SL":
            names += f", order {', '.join(learner.order_)}"
        results[form] = RelationOutcome(plain, biased, names)
    return results


def _shuffled(structure: EntityRelation, train: RelatedSentences, task: RelationTask) -> list[list[str]]:
    """The order by updates, its relations in another order at random: so many times."""
    entity, relation = task.margins[0]
    margin = {ENTITY: entity, RELATION: relation}
    learner = SequentialLearner(structure, passes=task.passes[0], margin=margin, one_vs_all=True, order="updates")
    order = learner.fit([x for x, _ in train], [y for _, y in train]).order_
    places = [k for k, name in enumerate(order) if name.startswith(RELATION)]
    results = []
    for shuffle in range(1, len(SHUFFLES) + 1):
        anew = dict(zip(places, np.random.default_rng([task.draw, shuffle]).permutation(places).tolist()))
        results.append([order[anew.get(k, k)] for k in range(len(order))])
    return results


def _as(form: str, learner: SequentialLearner) -> SequentialLearner:
    method = form.removesuffix(EACH)
    return learner.set_params(method=method) if method in ("LO", "L+I") else learner


def read_examples(folder: Path) -> RelatedSentences:
    """All sentences with a relation, without entities of type "Other"; of two relations of a pair the first is kept."""
    results = []
    for part in PARTS:
        xs, ys = read_relations(folder / f"{part}.jsonl")
        for x, y in zip(xs, ys or []):
            x, y = without_types(x, y, ["Other"])
            first: dict[frozenset[int], tuple[int, int, str]] = {}
            for relation in y.relations:
                first.setdefault(frozenset(relation[:2]), relation)
            results.append((x, Extraction(y.types, tuple(first.values()))))
    return results


def _scores(learner: SequentialLearner, prepared: Any, examples: RelatedSentences) -> RelationScores:
    return score_relations([y for _, y in examples], learner.predict(prepared))


def _rows_of(setting: str, method: str, scores: Sequence[RelationScores], paper: Any) -> list[Row]:
    f1, entities = paper or (None, None)
    return [
        row(setting, method, "relation F1", [100 * one.relations.f1 for one in scores], paper=f1),
        row(setting, method, "relation precision", [100 * one.relations.precision for one in scores]),
        row(setting, method, "relation recall", [100 * one.relations.recall for one in scores]),
        row(setting, method, "entity accuracy", [100 * one.accuracy for one in scores], paper=entities),
    ]


def _gain(setting: str, one: str, other: str, outcomes: dict[str, list[RelationOutcome]]) -> list[Row]:
    first, second = ([100 * outcome.plain.relations.f1 for outcome in outcomes[name]] for name in (one, other))
    gains = [a - b for a, b in zip(first, second)]
    paper = round(PAPER[one][0] - PAPER[other][0], 2) if one in PAPER and other in PAPER else None
    results = [row(setting, f"{one} - {other}", "difference", gains, paper=paper)]
    if len(gains) > 1:
        p = paired_t(first, second)[1]
        results.append({**row(setting, f"{one} - {other}", "p-value", [p]), "draws": len(gains)})
    return results
