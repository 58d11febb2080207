"""Experiments that run together: killed and gone on with, failing, in order of length, as memory allows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import toy_experiment
from sidelight.core.progress import Progress
from sidelight.errors import DataError
from sidelight.experiments import NAMES, run_all
from sidelight.experiments.kept_outcomes import KeptOutcomes, Spent
from sidelight.experiments.result_files import read_result, result_path
from sidelight.experiments.run_all import Job, jobs_of

TOY = Job("toy", "toy_experiment", 1.0, 50.0)
SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from sidelight.core.progress import Progress
from sidelight.experiments.run_all import Job, run_all
if __name__ == "__main__":
    folder, job = Path(sys.argv[2]), Job("toy", "toy_experiment", 1.0, 50.0)
    run_all([job], data=folder / "data", out=folder / "out", quick=True, n_jobs=1, progress=Progress(live=False))
"""


def made(folder, jobs, **options):
    """Run jobs on folder/data, to folder/out."""
    with Progress(live=False) as progress:
        chosen = {"quick": True, "n_jobs": 1, **options}
        return run_all.run_all(jobs, data=folder / "data", out=folder / "out", progress=progress, **chosen)


def result_of(folder):
    """The result without what differs from run to run."""
    found = json.loads(result_path(folder / "out", "toy").read_text(encoding="utf-8"))
    assert found.pop("run")["versions"]
    return found


def tasks_of(folder):
    """What was done, task by task."""
    lines = (folder / "data" / "log").read_text(encoding="utf-8").splitlines()
    return [tuple(map(int, line.split()[1:])) for line in lines]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data" / "corpus").mkdir(parents=True)
    (tmp_path / "data" / "corpus" / "text").write_text("some text\n")
    return tmp_path


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The result of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("unbroken")
    (folder / "data" / "corpus").mkdir(parents=True)
    (folder / "data" / "corpus" / "text").write_text("some text\n")
    assert made(folder, [TOY]) == {}
    assert not (folder / "out" / run_all.UNFINISHED).exists()
    return result_of(folder)


def test_a_result_says_what_it_is_of(unbroken):
    assert [row["value"] for row in unbroken["rows"]] == pytest.approx([10 + 1.5 / 7, 20 + 1.5 / 7])
    assert unbroken["settings"] == {"SIZES": "(10, 20)", "TASKS": "4"} and unbroken["notes"] == ["made up"]
    assert list(unbroken["data"]) == ["corpus"] and "1 files, 10 bytes" in unbroken["data"]["corpus"]


def test_an_experiment_that_was_killed_goes_on_to_the_same_file(folder, unbroken):
    (folder / "data" / "bomb").touch()
    assert "signal 9" in made(folder, [TOY])["toy"]
    before = tasks_of(folder)
    assert before == [(10, 0), (10, 1), (10, 2), (10, 3), (20, 0), (20, 1)]
    assert read_result(folder / "out", "toy") is None  # nothing in part
    (folder / "data" / "bomb").unlink()
    assert made(folder, [TOY]) == {}
    assert result_of(folder) == unbroken
    assert tasks_of(folder) == [*before, (20, 2), (20, 3)]  # nothing twice
    text = result_path(folder / "out", "toy").read_bytes()
    assert made(folder, [TOY]) == {} and len(tasks_of(folder)) == 8  # a finished one is kept
    assert result_path(folder / "out", "toy").read_bytes() == text


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no signal that kills")
def test_a_run_that_was_killed_goes_on_to_the_same_file(folder, unbroken):
    (folder / "data" / "slow").touch()
    arguments = [sys.executable, "-c", SCRIPT, str(Path(toy_experiment.__file__).parent), str(folder)]
    script = subprocess.Popen(arguments, env=dict(os.environ))
    log = folder / "data" / "log"
    while not log.exists() or len(tasks_of(folder)) < 2:
        assert script.poll() is None
        time.sleep(0.05)
    worker = int(log.read_text(encoding="utf-8").split()[0])
    script.kill()
    script.wait()
    for _ in range(100):
        if _is_gone(worker):
            break
        time.sleep(0.05)
    assert _is_gone(worker)  # it does not go on by itself
    done = len(tasks_of(folder))
    assert done < 8
    (folder / "data" / "slow").unlink()
    assert made(folder, [TOY]) == {}
    assert result_of(folder) == unbroken
    assert len(tasks_of(folder)) <= 9  # at most the task that was under way is done twice


def _is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_one_that_fails_does_not_stop_the_rest(folder):
    (folder / "data" / "corpus" / "broken").touch()
    missing = Job("nowhere", "no_such_experiment", 3.0, 50.0)
    failures = made(folder, [missing, TOY], n_jobs=2)
    assert list(failures) == ["nowhere", "toy"] or list(failures) == ["toy", "nowhere"]
    assert "broken:3: this line" in failures["toy"] and "mend it" in failures["toy"]
    assert "ModuleNotFoundError" in failures["nowhere"] and "nowhere.log" in failures["nowhere"]
    assert "Traceback" in (folder / "out" / run_all.UNFINISHED / "nowhere.log").read_text(encoding="utf-8")
    (folder / "data" / "corpus" / "broken").unlink()
    assert list(made(folder, [missing, TOY], n_jobs=2)) == ["nowhere"]
    assert read_result(folder / "out", "toy") is not None


def test_a_run_in_full_replaces_a_quick_one(folder):
    (folder / "out").mkdir()
    text = {"experiment": "toy", "quick": True, "rows": []}
    for quick, kept in ((True, True), (False, False)):
        result_path(folder / "out", "toy").write_text(json.dumps({**text, "quick": quick}))
        assert run_all._is_finished(folder / "out", "toy", quick=True)
        assert run_all._is_finished(folder / "out", "toy", quick=False) is not kept


BEGIN = '{"experiment": "toy", "quick": true'


@pytest.mark.parametrize(
    "text", ["", "{", "[]", BEGIN + "}", BEGIN + ', "rows": [{"setting": "a"}]}', BEGIN + ', "rows": [']
)
def test_what_is_no_result_is_not_read(folder, text):
    (folder / "out").mkdir()
    result_path(folder / "out", "toy").write_text(text)
    with pytest.raises(DataError, match=r"toy\.json: not the result"):
        read_result(folder / "out", "toy")
    assert not run_all._is_finished(folder / "out", "toy", quick=True)  # and so is made anew


def test_outcomes_that_were_cut_off_are_done_again(tmp_path):
    path = tmp_path / "a" / "toy.outcomes"
    kept = KeptOutcomes(path, "header")
    sizes = [path.stat().st_size]
    for k in range(3):
        kept.add(kept.key(1, toy_experiment.ToyTask(10, k)), 10.0 + k)
        sizes.append(path.stat().st_size)
    whole = path.read_bytes()
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        again = KeptOutcomes(path, "header")
        count = sum(end >= size for size in sizes[1:])
        assert list(again.known.values()) == [10.0, 11.0, 12.0][:count]
        again.add("1 new", 5.0)
        assert list(KeptOutcomes(path, "header").known.values()) == [*again.known.values()]
    assert KeptOutcomes(path, "other sources").known == {} and KeptOutcomes(path, "header").known == {}
    assert kept.key(1, object()) is None  # its text is an address


def test_the_time_of_a_run_that_was_stopped_counts(tmp_path):
    first = KeptOutcomes(tmp_path / "toy.outcomes", "header", lambda: Spent(3.0, 2.0))
    first.add("1 a", 5.0)
    second = KeptOutcomes(tmp_path / "toy.outcomes", "header", lambda: Spent(10.0, 4.0))
    assert second.before == (3.0, 2.0) and second.spent() == (13.0, 6.0)
    second.add("1 b", 6.0)
    assert KeptOutcomes(tmp_path / "toy.outcomes", "header").spent() == (13.0, 6.0)


def test_the_longest_begins_first_and_memory_is_not_promised_twice(monkeypatch):
    jobs = jobs_of(list(NAMES), quick=True)
    assert [job.seconds for job in jobs] == sorted((job.seconds for job in jobs), reverse=True)
    assert {job.name for job in jobs} == set(NAMES)
    assert all(full.megabytes > job.megabytes for full, job in zip(jobs_of(list(NAMES), quick=False), jobs))
    large, small = Job("large", "", 9.0, 900.0), Job("small", "", 1.0, 100.0)
    begun = type("Begun", (), {"job": large, "process": type("Process", (), {"pid": 1})})
    monkeypatch.setattr(run_all, "held_megabytes", lambda pid: 400.0)
    for free, expected in ((None, large), (2000.0, large), (1399.0, small), (550.0, None)):
        monkeypatch.setattr(run_all, "free_megabytes", lambda free=free: free)
        assert run_all._next([large, small], [begun]) is expected
        assert run_all._next([large, small], []) is large  # one runs, whatever there is
    assert run_all.free_megabytes.__name__ == "<lambda>" and run_all._next([], []) is None


def test_memory_is_known_where_the_system_tells():
    if Path("/proc/meminfo").exists():
        assert run_all.free_megabytes() > 1.0 and run_all.held_megabytes(os.getpid()) > 10.0
    assert run_all.held_megabytes(None) == 0.0
