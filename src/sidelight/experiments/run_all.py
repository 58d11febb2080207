"""Runs many experiments, each in a separate process, as many at a time as cores and memory allow.

Results are written to one folder (`result_files`). Finished experiments are kept; an experiment that was killed resumes
after its finished tasks (`kept_outcomes`). A failing experiment does not stop the others.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.core.progress import Progress
from sidelight.errors import SidelightError
from sidelight.experiments import draws, module_of, run
from sidelight.experiments.costs import FULL_MEMORY, cost_of
from sidelight.experiments.kept_outcomes import KeptOutcomes, Spent, Watch
from sidelight.experiments.pool import ONE_THREAD, end_with_parent, environment, watching, where
from sidelight.experiments.result_files import (
    StoredResult,
    fingerprint,
    read_result,
    settings_of,
    versions,
    write_result,
)
from sidelight.parallel import place_of
from sidelight.parallel.threads import thread_count

UNFINISHED = "unfinished"  # the folder for what is needed until an experiment is finished
LATE = 0.2  # of what has passed, an experiment that takes longer than thought is taken to need still
PAUSE = 0.5  # seconds between two looks at what is running


class Job(NamedTuple):
    """An experiment to run: the module that has it, about how many seconds it takes, and what memory it needs."""

    name: str
    place: str
    seconds: float
    megabytes: float


@dataclass(frozen=True)
class RunOptions:
    """The options of all experiments of a run."""

    data: Path
    out: Path
    quick: bool
    n_jobs: int = 1  # of each experiment
    place: str | None = None  # where its fits run


@dataclass
class _Running:
    job: Job
    process: SpawnProcess
    connection: Connection
    began: float = field(default_factory=time.perf_counter)
    text: str = ""  # what it is at
    problem: str | None = "ended"  # until it reports its end


def jobs_of(names: Sequence[str], *, quick: bool) -> list[Job]:
    """The experiments as jobs, the longest first."""
    costs = {name: cost_of(name) for name in names}
    more = 1.0 if quick else FULL_MEMORY
    results = [Job(name, module_of(name), cost.seconds, more * cost.megabytes) for name, cost in costs.items()]
    return sorted(results, key=lambda job: -job.seconds)


def run_all(
    jobs: Sequence[Job],
    *,
    data: Path,
    out: Path,
    quick: bool,
    n_jobs: int,
    place: str | None = None,
    progress: Progress,
) -> dict[str, str]:
    """Run unfinished experiments, and return problems by experiment; one at a time if workers make the fits."""
    out.mkdir(parents=True, exist_ok=True)
    waiting = [job for job in jobs if not _is_finished(out, job.name, quick)]
    count = 1 if place_of(place, n_jobs).remote else min(thread_count(n_jobs), max(len(waiting), 1))
    options = RunOptions(data, out, quick, thread_count(n_jobs) if count == 1 else 1, place)
    finished = len(jobs) - len(waiting)
    if finished:
        progress.line(f"{finished} of {len(jobs)} experiments are finished already")
    clock = _Clock(len(jobs), finished, count, known=quick)
    running: list[_Running] = []
    failures: dict[str, str] = {}
    try:
        while waiting or running:
            while len(running) < count and (job := _next(waiting, running)) is not None:
                waiting.remove(job)
                running.append(_started(job, options))
                progress.line(f"{job.name} begins")
            for one in _heard(running):
                running.remove(one)
                clock.finish(one)
                if one.problem is not None:
                    failures[one.job.name] = one.problem
                word = "is done" if one.problem is None else f"failed: {one.problem}"
                progress.line(f"{one.job.name} {word}; {clock.text(waiting, running)}")
            texts = [f"{one.job.name}: {one.text or 'begins'}" for one in running]
            progress.say("\n".join([clock.text(waiting, running), *texts]), done=clock.done, total=len(jobs))
    finally:
        for one in running:
            one.process.terminate()
        for one in running:
            one.process.join()
    with suppress(OSError):
        (out / UNFINISHED).rmdir()
    return failures


def _is_finished(out: Path, name: str, quick: bool) -> bool:
    """Whether there is a result: a full result also counts as a quick one, but not vice versa; a damaged file is
    rebuilt.
    """
    try:
        result = read_result(out, name)
    except SidelightError:
        return False
    return result is not None and (quick or not result.quick)


def _next(waiting: Sequence[Job], running: Sequence[_Running]) -> Job | None:
    """The longest experiment that fits into memory; if nothing is running, the longest one."""
    if not running or (free := free_megabytes()) is None:
        return waiting[0] if waiting else None
    promised = sum(max(0.0, one.job.megabytes - held_megabytes(one.process.pid)) for one in running)
    return next((job for job in waiting if job.megabytes <= free - promised), None)


def free_megabytes() -> float | None:
    """Available memory; None if unknown."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) / 1024.0
    return None


def held_megabytes(pid: int | None) -> float:
    """The memory of a process; 0 if unknown."""
    with suppress(OSError, ValueError):
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2.0**20
    return 0.0


def _started(job: Job, options: RunOptions) -> _Running:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(job, options, theirs), name=job.name)
    with environment(ONE_THREAD):
        process.start()
    theirs.close()
    return _Running(job, process, ours)


def _heard(running: Sequence[_Running]) -> list[_Running]:
    """Receive messages from experiments, and return those that have ended."""
    by_connection = {one.connection: one for one in running}
    ended = []
    for connection in wait(list(by_connection), timeout=PAUSE):
        one = by_connection[connection]  # type: ignore[index]
        try:
            kind, text = one.connection.recv()
        except (EOFError, OSError):
            one.process.join()
            one.connection.close()
            if one.problem == "ended":
                one.problem = _end(one.process.exitcode)
            ended.append(one)
            continue
        if kind == "task":
            one.text = text
        else:
            one.problem = None if kind == "done" else text
    return ended


def _end(code: int | None) -> str:
    if code is not None and code < 0:
        return f"ended by signal {-code}" + (", perhaps because memory ran out" if code == -9 else "")
    return f"ended with exit code {code}"


@dataclass
class _Clock:
    """Progress, and an estimate of the remaining time."""

    total: int
    done: int
    count: int  # experiments at a time
    known: bool  # whether the seconds of jobs are those of this run, and not in proportion to them
    took: float = 0.0
    thought: float = 0.0

    def finish(self, one: _Running) -> None:
        self.done += 1
        if one.problem is None:
            self.took += time.perf_counter() - one.began
            self.thought += one.job.seconds

    def text(self, waiting: Sequence[Job], running: Sequence[_Running]) -> str:
        known = f"{self.done} of {self.total} experiments are done"
        if not self.thought and not self.known:
            return known
        rate = self.took / self.thought if self.thought else 1.0
        now = time.perf_counter()
        rest = sum(rate * job.seconds for job in waiting)
        # experiments over their estimate are assumed to continue for a while
        for passed, one in ((now - one.began, one) for one in running):
            rest += max(rate * one.job.seconds - passed, LATE * passed)
        return f"{known}, about {spoken(rest / self.count)} left"


def spoken(seconds: float) -> str:
    """A time for people.

    >>> spoken(40), spoken(400), spoken(8000)
    ('40 s', '7 min', '2.2 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _work(job: Job, options: RunOptions, connection: Connection) -> None:
    """Run one experiment in a separate process, and write its file."""
    end_with_parent()
    folder = options.out / UNFINISHED
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{job.name}.log"
    with log.open("a", encoding="utf-8") as stream:
        for old in (1, 2):  # what libraries print would spoil the live line
            os.dup2(stream.fileno(), old)
        try:
            _carry_out(job, options, connection)
            connection.send(("done", ""))
        except Exception as error:
            traceback.print_exc()
            known = isinstance(error, SidelightError)
            connection.send(("failed", str(error) if known else f"{type(error).__name__}: {error}; see {log}"))
            return
    log.unlink()


def _carry_out(job: Job, options: RunOptions, connection: Connection) -> None:
    lines: list[str] = []
    began = time.perf_counter()
    header = repr((job.place, options.quick, versions(), str(options.data.resolve())))
    outcomes = options.out / UNFINISHED / f"{job.name}.outcomes"
    cells = options.out / UNFINISHED / f"{job.name}.cells.jsonl"

    def report(line: str) -> None:
        if line.startswith("note: "):
            return
        lines.append(line)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        connection.send(("task", line.strip()))

    since: list[Any] = [None, 0, 0.0]  # a batch of tasks: its size, the number done before, and when

    def tell(task: Any, done: int, total: int) -> None:
        now = time.perf_counter()
        if since[0] != total or done < since[1]:
            since[:] = [total, done, now]
        draw = "" if (number := getattr(task, "draw", None)) is None else f", draw {number}"
        left = f", {spoken((now - since[2]) / (done - since[1]) * (total - done))} left" if done > since[1] else ""
        connection.send(("task", f"{task}{draw}, {done} of {total} fits{left}"))

    draws.READ.clear()
    stored = KeptOutcomes(outcomes, header, lambda: Spent(time.perf_counter() - began, _used()["cpu_seconds"]))
    resumed = len(stored.known)
    watching.set(Watch(tell, stored))
    where.set(options.place)
    rows, notes = run(
        job.place, options.data, options.quick, options.n_jobs, {}, report=report, save=lambda rows: None, cells=cells
    )
    data = {name: fingerprint(folder) for name, folder in sorted(draws.READ.items())}
    about = {
        **_used(),
        **{what: round(value, 1) for what, value in stored.spent()._asdict().items()},
        "finished": _now(),
    }
    about |= {"processes": options.n_jobs, "resumed": resumed, "versions": versions(), "told": lines}
    settings = settings_of(job.place, {})
    write_result(options.out, StoredResult(job.name, options.quick, list(rows), list(notes), settings, data, about))
    for path in (outcomes, cells):
        path.unlink(missing_ok=True)


def _used() -> Mapping[str, float]:
    """Processor time and the most memory, of this process and those that it started."""
    try:
        import resource
    except ImportError:  # not on every system
        return {"cpu_seconds": round(time.process_time(), 1)}
    own, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = own.ru_utime + own.ru_stime + theirs.ru_utime + theirs.ru_stime
    unit = 2.0**20 if sys.platform == "darwin" else 2.0**10
    return {"cpu_seconds": round(seconds, 1), "megabytes": round(max(own.ru_maxrss, theirs.ru_maxrss) / unit)}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
