"""Many independent tasks of one study on all cores, each in a process with one thread, or by the workers of a place."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from sidelight.experiments.kept_outcomes import Watch
from sidelight.parallel import place_of
from sidelight.parallel.threads import thread_count

# Linear algebra libraries read these when a process starts; their threads would get in the way of the other processes.
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
TOLD = 4  # times that progress is reported

Report = Callable[[str], None]
Study = TypeVar("Study")
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


@contextmanager
def pool(
    function: Callable[[Study, Task], Outcome], study: Study, *, n_jobs: int, report: Report
) -> Iterator[Callable[[Sequence[Task]], list[Outcome]]]:
    """A function that does tasks on `n_jobs` processes (-1: all cores) and gives their outcomes in order.

    `function` is one of a module; the study travels to every process once, so it is data. Where a place is set
    (`where`), its workers do the tasks.
    """
    count = thread_count(n_jobs)
    watch, place = watching.get(), place_of(where.get(), n_jobs)
    if place.remote:
        yield _watched(lambda tasks: place.each_done(_task, tasks, function, study), watch)
        return
    if count == 1:
        yield _watched(lambda tasks: ((k, function(study, task)) for k, task in enumerate(tasks)), watch)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy threads in an unknown state
    with (
        environment(ONE_THREAD),
        ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(function, study)) as workers,
    ):

        def finished(tasks: Sequence[Task]) -> Iterator[tuple[int, Outcome]]:
            futures = {workers.submit(_work, task): number for number, task in enumerate(tasks)}
            try:
                for done, future in enumerate(as_completed(futures), start=1):
                    yield futures[future], future.result()
                    if len(tasks) > 5 * TOLD and done % (len(tasks) // TOLD) == 0:
                        report(f"  {tasks[0]}: {done} of {len(tasks)} fits")
            except BaseException:
                workers.shutdown(wait=False, cancel_futures=True)
                raise

        yield _watched(finished, watch)


def _watched(
    finished: Callable[[Sequence[Task]], Iterator[tuple[int, Outcome]]], watch: Watch | None
) -> Callable[[Sequence[Task]], list[Outcome]]:
    """Tasks to outcomes in their order; `finished` gives outcomes with their numbers, in any order."""
    store = None if watch is None else watch.kept
    pool_number = 0 if store is None else store.next_pool()

    def run(tasks: Sequence[Task]) -> list[Outcome]:
        keys = [None if store is None else store.key(pool_number, task) for task in tasks]
        outcomes = {k: store.known[key] for k, key in enumerate(keys) if store is not None and key in store.known}
        missing = [k for k in range(len(tasks)) if k not in outcomes]
        if watch is not None and missing:
            watch.tell(tasks[missing[0]], len(outcomes), len(tasks))
        for place, outcome in finished([tasks[k] for k in missing]):
            number = missing[place]
            outcomes[number] = outcome
            if store is not None:
                store.add(keys[number], outcome)
            if watch is not None:
                watch.tell(tasks[missing[min(place + 1, len(missing) - 1)]], len(outcomes), len(tasks))
        return [outcomes[number] for number in range(len(tasks))]

    return run


def carried_out(
    function: Callable[[Study, Task], Outcome],
    study: Study,
    tasks: Sequence[Task],
    *,
    n_jobs: int,
    report: Report,
) -> list[Outcome]:
    """The outcomes of some tasks, in their order."""
    with pool(function, study, n_jobs=n_jobs, report=report) as run:
        return run(tasks)


watching: ContextVar[Watch | None] = ContextVar("sidelight.experiments.pool", default=None)
where: ContextVar[Any] = ContextVar("sidelight.experiments.pool.where", default=None)  # as for `place_of`


def _task(task: Any, function: Callable[[Any, Any], Any], study: Any) -> Any:
    return function(study, task)


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_held: list[Any] = []  # in a worker process: the function and the study it was started with


def _begin(function: Callable[[Study, Task], Outcome], study: Study) -> None:
    _held[:] = [function, study]
    end_with_parent()


def end_with_parent() -> None:
    """A process that was killed cannot stop its workers, so they watch it: call this in each of them."""
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(task: Any) -> Any:
    function, study = _held
    return function(study, task)
