"""An experiment of a few tasks, for tests of runs: what it does depends on files in the folder of data."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

from sidelight.errors import DataError
from sidelight.experiments.draws import folder_of
from sidelight.experiments.pool import pool
from sidelight.experiments.table import row

SIZES = (10, 20)
TASKS = 4
NOTES = ("made up",)


class ToyTask(NamedTuple):
    size: int
    draw: int

    def __str__(self) -> str:
        return f"{self.size} things"


def work(data: Path, task: ToyTask) -> float:
    if (data / "slow").exists():
        time.sleep(0.3)
    if (data / "bomb").exists() and task == ToyTask(20, 2):
        os.kill(os.getpid(), signal.SIGKILL)
    with (data / "log").open("a", encoding="utf-8") as stream:
        stream.write(f"{os.getpid()} {task.size} {task.draw}\n")
    return task.size + task.draw / 7


def rows(data, *, quick, n_jobs, report, save):
    folder_of(data, "corpus")
    if (data / "corpus" / "broken").exists():
        raise DataError("this line cannot be read", file=data / "corpus" / "broken", line=3, remedy="mend it")
    found = []
    with pool(work, data, n_jobs=n_jobs, report=report) as run:
        for size in SIZES:
            found.append(row(f"{size} things", "counting", "accuracy", run([ToyTask(size, k) for k in range(TASKS)])))
            save(found)
    return found, NOTES
