"""What a fit tells: to `logging` always, to the standard error as `verbose` asks, to the standard output never."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sidelight as sl
from sidelight.core.compiling import SHARED, watched
from sidelight.core.kernels import kernel
from sidelight.core.progress import FitLog
from sidelight.rules import gallery

X = [["Ann", "lives", "in", "Oslo"], ["Rain", "falls", "on", "Lima"]]
Y = [["P", "O", "O", "L"], ["O", "O", "O", "L"]]
PAIRS = [(["green", "house"], ["casa", "verde"]), (["house"], ["casa"])]
VIEWS = [*sl.gold([["sun"], ["moon"]], ["day", "night"]), sl.Unlabeled(["sun", "blue"])]


@pytest.fixture(autouse=True)
def _no_log() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("sidelight", "sidelight.fit", "sidelight.core.kernels")]
    levels = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.NOTSET)
    yield
    for one, level in zip(loggers, levels):
        one.setLevel(level)


def fits(verbose: int) -> dict[str, Any]:
    """An estimator of every kind, and what it learns from."""
    own = sl.Classifier(), sl.Classifier()
    return {
        "Tagger": (sl.Tagger(verbose=verbose, max_rounds=2, tolerance=0.0), (X, Y)),
        "Classifier": (sl.Classifier(verbose=verbose, max_rounds=2, tolerance=0.0), ([["a"], ["b"]], ["x", "y"])),
        "SegmentTagger": (sl.SegmentTagger(verbose=verbose, max_rounds=2, tolerance=0.0), (X, Y)),
        "Aligner": (sl.Aligner(verbose=verbose, model1_iterations=1, hmm_iterations=1), (PAIRS,)),
        "CoTraining": (sl.CoTraining(*own, verbose=verbose, max_rounds=2), (VIEWS,)),
    }


@pytest.mark.parametrize("name", fits(0))
def test_verbose_tells_of_fits_and_of_rounds(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for verbose in (0, 1, 2):
        estimator, given = fits(verbose)[name]
        estimator.fit(*given)
        out, err = capsys.readouterr()
        assert out == ""
        told.append([line for line in err.splitlines() if "compiling" not in line])
    assert told[0] == []
    assert len(told[1]) == 2 and told[1][0].startswith(f"{name}: learning from ") and told[1][1].endswith(" s")
    rounds = [line for line in told[2] if f"{name}: round " in line]
    assert len(rounds) == len(estimator.rounds_) == len(told[2]) - 2


@pytest.mark.parametrize("name", fits(0))
def test_the_log_has_the_same(name: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    caplog.set_level(logging.DEBUG, logger="sidelight")
    estimator, given = fits(2)[name]
    estimator.fit(*given)
    own = [record for record in caplog.records if record.name == "sidelight.fit" and record.msg % record.args]
    fit = [record.getMessage() for record in own if record.levelno == logging.INFO]
    assert len(fit) == 2 and all(text.startswith(f"{name}: ") for text in fit)
    rounds = [record for record in own if record.levelno == logging.DEBUG and f"{name}: round" in record.getMessage()]
    assert len(rounds) == len(estimator.rounds_)
    assert capsys.readouterr() == ("", "")  # what the log shows is not shown twice


def test_the_log_says_what_was_given_and_why_it_ended(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="sidelight.fit")
    rules = [gallery.at_most(1, "P"), gallery.at_most(2, "L")]
    tagger = sl.Tagger(learner=sl.recipes.codl(cycles=2), rules=rules)
    tagger.fit([*sl.gold(X, Y), *sl.unlabeled(X * 600)])
    began, ended = (record.getMessage() for record in caplog.records)
    assert began == "Tagger: learning from 2 gold, 1,200 unlabeled and 2 rules by codl over crf"
    assert f", stopped: {tagger.rounds_[-1].stopped}, " in ended
    assert tagger.evidence_ == {"gold": 2, "unlabeled": 1200}


def test_a_fit_that_fails_does_not_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="sidelight.fit")
    with pytest.raises(sl.DataError):
        sl.Tagger(labels=["A"]).fit(X, Y)
    assert [record.getMessage() for record in caplog.records] == ["Tagger: learning from 2 gold by auto"]


@pytest.mark.parametrize("wrong", ["loud", 3, -1, None, 1.0])
@pytest.mark.parametrize("kind", [sl.Tagger, sl.Classifier, sl.SegmentTagger])
def test_other_amounts_are_refused(kind: Any, wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"verbose is .*; give 0 .silent., 1 .progress. or 2"):
        kind(verbose=wrong).fit(X, Y)


def test_a_log_changes_no_bit_and_no_checkpoint(tmp_path: Path) -> None:
    quiet, loud = (sl.Tagger(verbose=verbose, checkpoint=tmp_path / "c", max_rounds=4) for verbose in (0, 2))
    assert (quiet.fit(X, Y).model_.weights == loud.fit(X, Y).model_.weights).all()


def test_importing_is_silent_and_sets_no_log_up() -> None:
    code = (
        "import logging, sidelight\n"
        "own = logging.getLogger('sidelight')\n"
        "print([type(h).__name__ for h in own.handlers], own.level, logging.getLogger().handlers)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['NullHandler'] 0 []\n"


def test_a_kernel_that_is_compiled_is_heard_of(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    heard: list[tuple[str, float | None]] = []

    class Ear:
        def compiling(self, kernel: str) -> None:
            heard.append((kernel, None))

        def compiled(self, kernel: str, seconds: float) -> None:
            heard.append((kernel, seconds))

    made = _made("sidelight.spaces.made_up", tmp_path)
    other = _made("somebody.elses", tmp_path)
    with watched(Ear()):
        assert made(1) == 2 and other(1) == 2
    assert made(1.5) == 2.5  # compiled anew for floats, with nobody there
    assert [name for name, _ in heard] == ["sidelight.spaces.made_up.one_more"] * 2
    assert heard[0][1] is None and heard[1][1] is not None and heard[1][1] > 0


def test_a_fit_says_once_that_it_compiles(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    caplog.set_level(logging.INFO, logger="sidelight")
    with FitLog("Tagger", learner="jlis", seconds=6.0, source="nothing", verbose=1):
        assert _made("sidelight.features.first", tmp_path)(1) == 2
        assert _made("sidelight.features.second", tmp_path)(1) == 2
    seconds = 6.0 + SHARED  # of features
    told = [(record.name, record.getMessage()) for record in caplog.records]
    assert told[1] == ("sidelight.core.kernels", f"Tagger: compiling, once, about {seconds:.0f} s")
    assert len(told) == 3 and " s of them compiling" in told[2][1]
    capsys.readouterr()


def _made(module: str, folder: Path) -> Any:
    """A kernel of a module's name that no disk has."""
    path = folder / f"{module}.py"
    path.write_text("def one_more(x):\n    return x + 1\n")
    space: dict[str, Any] = {"__name__": module, "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return kernel(space["one_more"])
