"""The help of `train` fits a screen; what it leaves out is in --help-all and in `sidelight learners`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from sidelight.cli import COMMANDS
from sidelight.commands.shared.program import loaded
from sidelight.commands.shared.train_options import COMMON
from sidelight.recipes import LEARNERS
from sidelight.specs.options import options_of

Run = Callable[..., Any]
TRAIN = next(entry for entry in COMMANDS if entry.name == "train")


@pytest.mark.parametrize("width", [80, 100])
def test_the_help_of_train_fits_a_screen(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERMINAL_WIDTH", str(width))
    lines = run("train", "--help").out.rstrip().splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= width
    text = "\n".join(lines)
    for said in ("--gold", "--unlabeled", "--rules", "sidelight learners", "--out", "--help-all", "Example: "):
        assert said in text


def test_all_options_are_somewhere(run: Run) -> None:
    flags = {param.name: param.opts[0] for param in loaded(TRAIN).params}
    short, long = run("train", "--help").out, run("train", "--help-all").out
    assert set(COMMON) < set(flags)
    for name, flag in flags.items():
        assert f"{flag} " in long
        assert (f"{flag} " in short) == (name in COMMON or name == "help")
    assert "unlabeled 0.1" in " ".join(long.replace("│", " ").split())


def test_learners_are_listed_with_what_they_learn_from(run: Run) -> None:
    rows = {line.split()[0]: line.split() for line in run("learners").out.splitlines() if line[:1].islower()}
    assert set(LEARNERS) <= set(rows)
    assert rows["jlis"][1] == "GPCYU" and rows["crf"][1] == "G" and rows["codl"][1] == "GPCUR"
    for name, learner in LEARNERS.items():
        assert ("U" in rows[name][1]) == ("Unlabeled" in learner.learns_from().split(";")[0])


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_shown_with_its_options(run: Run, name: str) -> None:
    out = run("learners", name).out
    assert out.startswith(f"{name}: ")
    assert f"\nshell:  sidelight train --learner {name} " in out
    for option in inspect.signature(LEARNERS[name]).parameters.values():
        assert any(line.split()[:2] == [option.name, str(option.default)] for line in out.splitlines())


@pytest.mark.parametrize("name", LEARNERS)
def test_what_options_may_be_is_what_the_recipe_takes(name: str) -> None:
    make = LEARNERS[name]
    for option in options_of(make):
        assert option.values
        if option.default is not None:
            make(**{option.name: option.default})
        if "'" in option.values and "solver=" not in option.values:
            for value in option.values.split("'")[1::2]:
                if value not in ("root", "uniform", "unigram"):  # which go with another option
                    make(**{option.name: value})


def test_a_learner_that_there_is_not(run: Run) -> None:
    assert run("learners", "magic", code=2).err.startswith("error: no learner is called 'magic'; there are jlis, ")
