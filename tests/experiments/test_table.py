"""Rows, the t-test, the table and the file."""

from __future__ import annotations

import json

import pytest

from sidelight.errors import DataError
from sidelight.evaluate.paired import paired_t
from sidelight.experiments import NAMES, reproduce
from sidelight.experiments.grid import JLIS, SSVM, GridPrices, Result, Scores, Setting
from sidelight.experiments.table import GAIN, lines_of, rows_of, write_rows

KEYS = {"setting", "method", "metric", "value", "std", "paper", "draws"}
SETTING = Setting("100 tokens", 100, 3, {SSVM: 58.24, JLIS: 64.05})


def results(setting=SETTING, *, base=(58.0, 60.0, 59.0), other=(62.0, 66.0, 64.0)):
    return [
        Result(setting, SSVM, (GridPrices(1.0),) * len(base), tuple(Scores(0.0, value, 0) for value in base)),
        Result(setting, JLIS, (GridPrices(1.0, 0.1),) * len(other), tuple(Scores(0.0, value, 8) for value in other)),
    ]


def test_rows_have_the_schema():
    rows = rows_of(results(), completions=True)
    assert all(set(row) == KEYS for row in rows)
    accuracies = {row["method"]: row for row in rows if row["metric"] == "accuracy"}
    assert accuracies[SSVM]["value"] == 59.0 and accuracies[SSVM]["paper"] == 58.24
    assert accuracies[JLIS]["value"] == 64.0 and accuracies[JLIS]["std"] == 2.0 and accuracies[JLIS]["draws"] == 3
    assert accuracies[JLIS]["setting"].startswith("100")
    assert [row["value"] for row in rows if row["metric"] == "completions"] == [8.0]


def test_the_difference_has_the_paired_t_test():
    rows = {row["metric"]: row for row in rows_of(results()) if row["method"] == GAIN}
    assert rows["difference"]["value"] == 5.0 and rows["difference"]["paper"] == 5.81
    assert rows["p-value"]["value"] == paired_t((62.0, 66.0, 64.0), (58.0, 60.0, 59.0))[1]


def test_one_draw_has_no_spread_and_no_test():
    rows = rows_of(results(base=(50.0,), other=(51.0,)))
    assert all(row["std"] is None for row in rows)
    assert "p-value" not in {row["metric"] for row in rows}


def test_nothing_published_is_null(tmp_path):
    rows = rows_of(results(Setting("250 negatives", 250, 3)))
    write_rows(tmp_path / "rows.json", rows)
    read = json.loads((tmp_path / "rows.json").read_text())
    assert read == rows and all(row["paper"] is None for row in read)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.json"]


def test_the_table_shows_the_paper_beside_ours():
    rows = rows_of(results())
    lines = lines_of(rows, choices={("100 tokens", JLIS): "C1 1, C2 0.1"}, notes=["what differs"])
    assert "58.24" in lines[2] and "59.00" in lines[2] and "± 1.00" in lines[2]
    assert "C1 1, C2 0.1" in lines[3]
    assert "+5.81" in lines[4] and "+5.00" in lines[4] and "p = 0.013" in lines[4]
    assert lines[-1] == "note: what differs"


def test_an_unknown_experiment_is_named(tmp_path):
    with pytest.raises(DataError, match="jlis-nothing"):
        reproduce("jlis-nothing", data=tmp_path, report=lambda line: None)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("sl-artificial", "examples")])
def test_a_missing_corpus_is_named(name, tmp_path):  # the others make data where they have none
    with pytest.raises(DataError, match=str(tmp_path)):
        reproduce(name, data=tmp_path, report=lambda line: None)
