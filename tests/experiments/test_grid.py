"""The grid on a tiny corpus: what is fitted, what chooses, what is scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from sidelight import Tagger, companion, experiments, features, gold, shuffled
from sidelight.errors import DataError
from sidelight.experiments.grid import (
    GRIDS,
    JLIS,
    KEPT,
    SSVM,
    TOGETHER,
    GridPrices,
    GridTask,
    LabelledExamples,
    Outcome,
    Scores,
    Setting,
    TablePlan,
    choose,
    fit,
    run_setting,
    runner,
)
from sidelight.experiments.jlis import ads, citations, newsgroups, pos


def sentences(count: int, seed: int) -> LabelledExamples:
    rng = np.random.default_rng(seed)
    xs = [[f"a{rng.integers(9)}", f"b{rng.integers(9)}", f"c{rng.integers(9)}"] for _ in range(count)]
    return LabelledExamples(xs, [[word[0].upper() for word in x] for x in xs])


@dataclass(frozen=True)
class Letters:
    train: LabelledExamples = field(default_factory=lambda: sentences(12, 0))
    dev: LabelledExamples = field(default_factory=lambda: sentences(10, 1))
    test: LabelledExamples = field(default_factory=lambda: sentences(10, 2))

    def gold(self, setting, draw):
        order = np.random.default_rng(draw).permutation(len(self.train.xs))[: setting.size]
        return gold([self.train.xs[i] for i in order], [self.train.ys[i] for i in order])

    def companion(self, setting, draw):
        xs = sentences(20, 3).xs
        return [*companion(xs, +1), *companion(shuffled(xs, seed=draw), -1)]

    def estimator(self, prices, draw):
        return Tagger(
            learner="jlis", features=features.words(), labels=["A", "B", "C"], prices=prices, n_jobs=1, seed=draw
        )


SMALL = {SSVM: (GridPrices(1.0),), JLIS: (GridPrices(1.0, 0.1), GridPrices(1.0, 1.0))}
SETTING = Setting("2 sentences", 2, 3)
TWO = (SETTING, Setting("4 sentences", 4, 3))


def test_the_grid_is_the_papers():
    assert GRIDS[SSVM] == (GridPrices(0.1), GridPrices(1.0), GridPrices(10.0))
    assert len(set(GRIDS[JLIS])) == 9
    assert {price for prices in GRIDS[JLIS] for price in prices} == {0.1, 1.0, 10.0}


def test_a_fit_gives_per_cent_and_completions():
    study = Letters()
    plain = fit(study, GridTask(SETTING, 0, GridPrices(1.0)))
    joint = fit(study, GridTask(SETTING, 0, GridPrices(1.0, 1.0)))
    assert plain.converged == plain.kept and plain.kept.completions == 0
    assert joint.converged.completions >= joint.kept.completions > 0
    assert joint.kept.dev >= joint.converged.dev
    assert 0.0 <= plain.kept.test <= 100.0 and type(plain.kept.test) is float
    assert joint == fit(study, GridTask(SETTING, 0, GridPrices(1.0, 1.0)))


def test_convergence_is_that_of_a_plain_fit():
    study, task = Letters(), GridTask(SETTING, 0, GridPrices(1.0, 1.0))
    estimator = study.estimator({"gold": 1.0, "companion": 1.0}, 0)
    estimator.fit([*study.gold(SETTING, 0), *study.companion(SETTING, 0)])
    assert fit(study, task).converged.test == 100.0 * estimator.score(*study.test)


def test_ties_go_to_the_lowest_prices():
    assert choose(
        {GridPrices(10.0, 1.0): [5.0], GridPrices(1.0, 10.0): [5.0], GridPrices(1.0, 1.0): [5.0]}
    ) == GridPrices(1.0, 1.0)


def recorded(dev, test=lambda task: 50.0, kept=0.0):
    """A runner that looks scores up, and the tasks it was asked for."""
    seen: list[GridTask] = []

    def run(tasks):
        seen.extend(tasks)
        return [
            Outcome(Scores(dev(task), test(task), 9), Scores(dev(task) + kept, test(task) + kept, 3)) for task in tasks
        ]

    return run, seen


def test_the_development_set_chooses_and_the_test_set_does_not():
    run, seen = recorded(
        lambda task: 90.0 if task.prices == GridPrices(0.1, 10.0) else 50.0,
        lambda task: 90.0 if task.prices == GridPrices(10.0, 0.1) else 50.0 + task.draw,
        kept=1.0,
    )
    results = {result.method: result for result in run_setting(SETTING, run)}
    assert set(results[JLIS].prices) == {GridPrices(0.1, 10.0)}
    assert results[JLIS].accuracies == [50.0, 51.0, 52.0]
    assert results[KEPT].accuracies == [51.0, 52.0, 53.0]
    assert results[JLIS].completions == [9.0] * 3 and results[KEPT].completions == [3.0] * 3
    assert len(seen) == len(set(seen)) == 12 * 3


def test_both_methods_see_the_same_draws():
    run, seen = recorded(lambda task: 50.0)
    run_setting(SETTING, run)
    draws = {prices: sorted(task.draw for task in seen if task.prices == prices) for prices in GRIDS[JLIS]}
    assert set(map(tuple, draws.values())) == {(0, 1, 2)}
    study = Letters()
    assert study.gold(SETTING, 1) == study.gold(SETTING, 1)
    assert study.gold(SETTING, 1) != study.gold(SETTING, 2)


def test_pilots_choose_and_all_draws_are_tested():
    run, seen = recorded(lambda task: 50.0)
    results = run_setting(Setting("2 sentences", 2, 4, pilots=1), run, grids=SMALL)
    assert [len(result.scores) for result in results] == [4, 4]
    assert sorted(task.draw for task in seen if task.prices == GridPrices(1.0, 1.0)) == [0]
    assert sorted(task.draw for task in seen if task.prices == GridPrices(1.0, 0.1)) == [0, 1, 2, 3]


def test_each_draw_can_choose_for_itself_besides():
    favourites = {0: GridPrices(0.1, 1.0), 1: GridPrices(1.0, 0.1), 2: GridPrices(1.0, 0.1)}

    def score(task):
        return 90.0 if task.prices == favourites[task.draw] else 50.0

    run, seen = recorded(score, score)
    results = {result.method: result for result in run_setting(SETTING, run, per_draw=True)}
    assert set(results[JLIS + TOGETHER].prices) == {GridPrices(1.0, 0.1)}
    assert results[JLIS + TOGETHER].accuracies == [50.0, 90.0, 90.0]
    assert results[JLIS].prices == tuple(favourites[draw] for draw in range(3))
    assert results[JLIS].accuracies == [90.0, 90.0, 90.0]
    assert len(seen) == len(set(seen))


def test_draws_without_a_trial_cannot_choose_for_themselves():
    run, _ = recorded(lambda task: 50.0)
    results = run_setting(Setting("2 sentences", 2, 4, pilots=1), run, per_draw=True)
    assert [result.method for result in results] == [SSVM, JLIS, KEPT]


def test_processes_and_one_process_agree():
    study = Letters()
    with runner(study, n_jobs=1, report=lambda line: None) as run:
        alone = run_setting(SETTING, run, grids=SMALL)
    with runner(study, n_jobs=2, report=lambda line: None) as run:
        together = run_setting(SETTING, run, grids=SMALL)
    assert [(r.method, r.prices, r.scores) for r in alone] == [(r.method, r.prices, r.scores) for r in together]


def test_processes_use_one_thread_for_linear_algebra_and_leave_the_environment_alone(monkeypatch):
    import os

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with runner(Letters(), n_jobs=2, report=lambda line: None):
        assert os.environ["OPENBLAS_NUM_THREADS"] == os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7" and "OMP_NUM_THREADS" not in os.environ


def test_an_error_in_a_process_comes_back():
    @dataclass(frozen=True)
    class Nothing:
        pass

    with pytest.raises(AttributeError), runner(Nothing(), n_jobs=1, report=lambda line: None) as run:  # type: ignore[arg-type]
        run([GridTask(SETTING, 0, GridPrices(1.0))])


def test_a_part_of_the_settings_and_of_the_draws(monkeypatch, tmp_path):
    module = SimpleNamespace(plans=lambda data: [TablePlan("letters", Letters(), TWO, TWO[:1], grids=SMALL)])
    monkeypatch.setattr(experiments.importlib, "import_module", lambda name: module)
    options = {"data": tmp_path, "n_jobs": 1, "report": lambda line: None}
    rows = experiments.reproduce("jlis-ads", choose={"settings": "4 sentences", "draws": "2"}, **options)
    assert {(row["setting"], row["draws"]) for row in rows} == {("4 sentences", 2)}
    with pytest.raises(DataError, match="settings has no '4 sentences'; choose settings=2 sentences"):
        experiments.reproduce("jlis-ads", quick=True, choose={"settings": "4 sentences"}, **options)


def test_a_quick_run_chooses_the_price_of_companions_alone(monkeypatch, tmp_path):
    module = SimpleNamespace(plans=lambda data: [TablePlan("letters", Letters(), TWO, TWO[:1])])
    monkeypatch.setattr(experiments.importlib, "import_module", lambda name: module)
    tried = []
    carry_out = experiments.run_setting
    monkeypatch.setattr(
        experiments, "run_setting", lambda *some, **how: tried.append(how["grids"]) or carry_out(*some, **how)
    )
    told = []
    experiments.reproduce("jlis-ads", quick=True, data=tmp_path, n_jobs=1, report=told.append)
    assert [str(prices) for prices in tried[0]["J-LIS"]] == ["C1 1, C2 0.1", "C1 1, C2 1", "C1 1, C2 10"]
    assert [str(prices) for prices in tried[0]["SSVM"]] == ["C1 1"] and any("C2 alone" in line for line in told)


@pytest.mark.parametrize("study", [citations.Citations, ads.Ads, pos.TaggedSentences, newsgroups.Newsgroups])
def test_what_is_called_svm_is_one(study):
    """The default learner may be another one for labels alone."""
    some = study(*[None] * (6 if study is newsgroups.Newsgroups else 5))
    assert some.estimator({"gold": 1.0}, 0).learner == "jlis"
