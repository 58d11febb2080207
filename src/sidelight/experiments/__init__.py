"""One file per published table or figure, each run by its name."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sidelight.errors import DataError
from sidelight.experiments.choices import chosen
from sidelight.experiments.grid import QUICK_NOTE, Setting, TablePlan, quick_grids, run_setting, runner
from sidelight.experiments.pool import Report, where
from sidelight.experiments.table import Row, lines_of, rows_of, write_rows

MODULES: dict[str, tuple[str, str]] = {  # of every experiment: its file, and what it is
    "jlis-citations": (
        "jlis.citations",
        "fields of citations, accuracy by labelled tokens (Chang et al. 2010, Table 2)",
    ),
    "jlis-ads": ("jlis.ads", "fields of hotel posts in place of advertisements (shape of Chang et al. 2010, Table 2)"),
    "jlis-negatives": (
        "jlis.negatives",
        "accuracy by the number of bad examples (Chang et al. 2010, Figure 3; thesis 6.5.3)",
    ),
    "jlis-pos": (
        "jlis.pos",
        "part-of-speech tagging, accuracy and completions by labelled tokens (thesis Figures 6.2, 6.5(b))",
    ),
    "jlis-unsupervised": (
        "jlis.unsupervised",
        "part-of-speech tagging with a tag dictionary and no labels (thesis 6.5.4)",
    ),
    "jlis-newsgroups": (
        "jlis.newsgroups",
        "document classification, accuracy by labelled documents (thesis Figure 6.4)",
    ),
    "cllp-random": ("cllp.candidates_random", "candidate labels for some tokens, by their number (CLLP, Figure 1)"),
    "cllp-specified": (
        "cllp.candidates_specified",
        "candidate labels for all tokens, and initial error (CLLP, Figure 2)",
    ),
    "cllp-discount": ("cllp.candidates_discount", "accuracy by rounds of CCCP and by the discount (CLLP, Figure 3)"),
    "cllp-dictionary": ("cllp.tag_dictionary", "part-of-speech tagging with a tag dictionary (CLLP, Table 1)"),
    "cllp-typing": (
        "cllp.entity_types",
        "types of entities from the types that a knowledge base lists (CLLP, Table 2)",
    ),
    "ccm-citations": (
        "ccm.constrained_citations",
        "fields of citations with and without rules, by labelled references (thesis Table 3.3, Figures 3.3, 3.4)",
    ),
    "uem-pos": (
        "uem.unified_em_pos",
        "EM of every temperature with a tag dictionary, by its start (thesis Figure 4.1)",
    ),
    "uem-alignment": ("uem.word_alignment", "word alignment by unified EM with agreement (thesis Tables 4.2, 4.3)"),
    "ccm-em": (
        "ccm.constrained_em",
        "CoDL, hard EM and EM on citations, accuracy by iterations (thesis Figure 3.5)",
    ),
    "ccm-rules": (
        "ccm.constrained_rules",
        "hard and soft rules, every rule alone, and beta, on citations (thesis Tables 3.6, 3.7, Figure 3.6)",
    ),
    "ccm-semicrf": (
        "ccm.constrained_semicrf",
        "rules against CRF, semi-CRF and posterior regularisation on citations (thesis Tables 3.4, 3.5)",
    ),
    "ccm-ads": (
        "ccm.constrained_ads",
        "fields of hotel posts in place of advertisements, with and without rules (shape of thesis Tables 3.3, 3.8)",
    ),
    "ccm-inference": (
        "ccm.constrained_inference",
        "ways of inference with rules on references: score, accuracy, time (thesis 3.1.2)",
    ),
    "strangers": (
        "strangers",
        "seven corpora with few labels and indirect evidence, everything by default",
    ),
    "jlis-alignment": (
        "jlis.alignments",
        "alignments of letters and sounds in place of names, F1 by labelled pairs (Chang et al. 2010, Table 1)",
    ),
    "jlis-identification": (
        "jlis.identification",
        "labelled structures as companions of binary decisions: whose sounds are these (Chang et al. 2010, Figure 4)",
    ),
    "lclr-transliteration": (
        "lclr.transliteration",
        "names in two scripts, ranked by the best alignment of their letters (thesis Figure 5.2(a))",
    ),
    "sl-artificial": (
        "sl.artificial",
        "sequential learning on generated data, by examples and illegal outputs (Roth et al. 2009, Figures 3, 4)",
    ),
    "sl-relations": (
        "sl.relations",
        "entities and relations by LO, L+I, IBT and sequential learning (Roth et al. 2009, Table 1)",
    ),
    "lclr-paraphrase": (
        "lclr.paraphrase",
        "paraphrases by the best alignment of two sentences, three definitions of it (thesis Tables 5.3, 5.5)",
    ),
    "lclr-entailment": (
        "lclr.entailment",
        "textual entailment by the best alignment of two sentences (thesis Figure 5.2(b))",
    ),
    "trees": ("trees", "dependency trees of web text, projective and not: attachment scores by training sentences"),
    "features": ("default_features", "what each group of the default features is worth, by development data"),
    "examples": ("examples", "outputs to look at: before and after rules, alignments, entities and relations"),
    "solvers": ("solvers", "gap against time for every solver of the structural SVM (thesis Table 2.2)"),
}
NAMES: dict[str, str] = {name: line for name, (_, line) in MODULES.items()}


def reproduce(
    name: str,
    *,
    data: Path,
    json_path: Path | None = None,
    quick: bool = False,
    n_jobs: int = -1,
    choose: Mapping[str, str] | None = None,
    place: Any = None,
    report: Report,
) -> list[Row]:
    """Run an experiment of `NAMES` on the corpora in the folder `data`, and give its rows.

    A row has setting, method, metric, value (the mean over draws), std, paper (None if nothing was published) and
    draws. Rows are written to `json_path` after every setting, completely or not at all. `quick` runs few small
    settings with fewer draws; `choose` selects part of a large experiment, by its names. `place` is where fits run, as
    for `Tagger`. `report` gets progress and, at the end, the table, line by line. Raises `DataError` for an unknown
    name or a missing corpus.
    """
    cells = None if json_path is None else json_path.with_suffix(".cells.jsonl")
    save = partial(write_rows, json_path)
    before = where.set(place)
    try:
        return run(module_of(name), data, quick, n_jobs, choose or {}, report=report, save=save, cells=cells)[0]
    finally:
        where.reset(before)


def module_of(name: str) -> str:
    """The module of an experiment; raises `DataError` for an unknown name."""
    if name not in NAMES:
        raise DataError(f"there is no experiment {name!r}", remedy=f"choose from {', '.join(NAMES)}")
    return f"{__name__}.{MODULES[name][0]}"


def _name_of(place: str) -> str:
    return next((name for name, (file, _) in MODULES.items() if place == f"{__name__}.{file}"), place)


def run(
    place: str,
    data: Path,
    quick: bool,
    n_jobs: int,
    choose: Mapping[str, str],
    *,
    report: Report,
    save: Callable[[Sequence[Row]], None],
    cells: Path | None = None,
) -> tuple[list[Row], list[str]]:
    """The rows and the notes of the experiment in the module `place`; `cells` is a file from which some experiments
    resume.
    """
    module = importlib.import_module(place)
    if hasattr(module, "rows"):
        options: dict[str, Any] = {"quick": quick, "n_jobs": n_jobs, "report": report, "save": save}
        takes = inspect.signature(module.rows).parameters
        options |= {name: one for name, one in (("cells", cells), ("choose", choose)) if name in takes}
        if choose and "choose" not in takes:
            raise DataError(f"{_name_of(place)} has nothing to choose", remedy="leave --choose out")
        results, notes = module.rows(Path(data), **options)
        for line in lines_of(results, choices={}, notes=notes):
            report(line)
        return list(results), list(notes)
    plans: list[TablePlan] = module.plans(Path(data))
    if quick:
        plans = [replace(plan, grids=quick_grids(plan.grids), notes=(*plan.notes, QUICK_NOTE)) for plan in plans]
    rows: list[Row] = []
    lines: list[str] = []
    for plan, settings in zip(plans, _settings(plans, quick=quick, choose=choose)):
        if settings:
            rows += _carry_out(plan, settings, before=rows, n_jobs=n_jobs, report=report, save=save)
            lines += [note for note in plan.notes if note not in lines]
    return rows, lines


def _settings(plans: Sequence[TablePlan], *, quick: bool, choose: Mapping[str, str]) -> list[list[Setting]]:
    """The settings of every table, by name, with as many draws as are wanted."""
    every = [list(plan.quick if quick else plan.settings) for plan in plans]
    names = dict.fromkeys(setting.name for settings in every for setting in settings)
    choices = chosen(choose, settings=list(names), draws=())
    selection = [[setting for setting in settings if setting.name in choices["settings"]] for settings in every]
    if count := len(choices["draws"]):
        selection = [[replace(setting, draws=count) for setting in settings] for settings in selection]
    return selection


def _carry_out(
    plan: TablePlan,
    settings: Sequence[Setting],
    *,
    before: list[Row],
    n_jobs: int,
    report: Report,
    save: Callable[[Sequence[Row]], None],
) -> list[Row]:
    """The rows of one table, after which `before` and they are saved."""
    report(plan.title)
    rows: list[Row] = []
    prices: dict[tuple[str, str], str] = {}
    with runner(plan.study, n_jobs=n_jobs, report=report) as carry_out:
        for setting in settings:
            results = run_setting(setting, carry_out, grids=plan.grids, per_draw=plan.per_draw)
            table_rows = rows_of(results, completions=plan.completions)
            rows += [{**line, "method": line["method"] + plan.suffix} for line in table_rows]
            prices |= {(result.setting.name, result.method + plan.suffix): result.chosen for result in results}
            save([*before, *rows])
    for line in lines_of(rows, choices=prices, notes=plan.notes):
        report(line)
    return rows


__all__ = ["NAMES", "module_of", "reproduce", "run"]
