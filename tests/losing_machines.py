"""Fits on a cluster of several machines, which are lost meanwhile: a line of JSON for what came of each.

Ray's own `Cluster` starts what a machine runs several times on this one. `python losing_machines.py FOLDER` is a
process of its own, since a process can work with one cluster alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import placed_fits
import sidelight as sl
from sidelight.parallel import ray_team
from sidelight.parallel.place import ThreadPlace, in_order
from sidelight.parallel.ray_place import RayPlace
from sidelight.parallel.ray_team import Team

STORE = 100 * 2**20  # bytes
QUICKLY = {"initial_delay_ms": 0, "period_ms": 500, "failure_threshold": 2}  # a machine is found lost
os.environ |= {f"RAY_health_check_{name}": str(value) for name, value in QUICKLY.items()}
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_worker_niceness": "0"}
MANY = {"alignment": 8000}  # tokens of a shard, where what it remembers is too large to come with its answers
placed_fits.PAIRS *= 40
LOST = {  # family: at which question a machine is lost, whether while it works, and whether it may say goodbye
    "crf": (3, True, False),
    "jlis": (5, True, True),
    "unified_em": (3, False, True),
    "alignment": (3, False, False),
    "alignment again": (4, True, False),
}


class Machines:
    """A head without room for workers, and machines with room for one each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(3):
            self.add()
        self.cluster.wait_for_nodes()

    def add(self, workers: int = 1, *, wait: bool = False) -> None:
        self.cluster.add_node(wait=wait, num_cpus=workers, object_store_memory=STORE)

    def place(self, tokens: int) -> RayPlace:
        return RayPlace(self.cluster.address, workers=2, shard_tokens=tokens)

    def lose(self, machine: Any, *, orderly: bool = False) -> None:
        """Everything that it runs ends at once, unless it may end in order."""
        if not orderly:
            ((raylet,),) = (told for name, told in machine.all_processes.items() if name == "raylet")
            for pid in (raylet.process.pid, *_children(raylet.process.pid)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.cluster.remove_node(machine, allow_graceful=orderly)

    def of(self, team: Team, numbers: Sequence[int]) -> list[Any]:
        """The machines of some workers."""
        names = [team.ray.get(team._actors[number].__ray_call__.remote(_machine)) for number in numbers]
        return [one for name in names for one in self.cluster.worker_nodes if one.node_id == name]

    @contextmanager
    def losing(
        self, team: Team, numbers: Sequence[int], question: int, *, within: bool, orderly: bool
    ) -> Iterator[None]:
        """Meanwhile, the machines of some workers are lost at a question: before it, or when it has been put."""
        machines = self.of(team, numbers)
        original, asked = Team.ask, 0

        def lose(now: bool) -> None:
            while now and asked == question and machines:
                self.lose(machines.pop(), orderly=orderly)

        def ask(team: Team, key: int, call: Callable[[Any, int], Any]) -> list[Any]:
            def put(actor: Any, number: int) -> Any:
                result = call(actor, number)
                lose(within and number == len(team) - 1)
                return result

            nonlocal asked
            asked += 1
            lose(not within)
            return original(team, key, put)

        Team.ask = ask  # type: ignore[method-assign]
        try:
            yield
        finally:
            Team.ask = original  # type: ignore[method-assign]


def _children(pid: int) -> list[int]:
    """Processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            found += [int(path.parent.name)] * (int(fields[1]) == pid)
    return found


def _machine(worker: Any) -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def tell(**said: Any) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def arrays(estimator: Any) -> list[Any]:
    """What a fit came to."""
    model = estimator.model_
    told = [np.nan if one.objective is None else one.objective for one in estimator.rounds_]
    return [*(model.parameters.lexicon if hasattr(model, "parameters") else [model.weights]), np.array(told)]


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(arrays(one), arrays(other), strict=True))


def one_is_lost(machines: Machines, name: str) -> None:
    """Its worker begins anew on another."""
    family, (question, within, orderly) = name.split()[0], LOST[name]
    tokens = MANY.get(family, placed_fits.TOKENS)
    here, evidence = placed_fits.unfitted(family, place=ThreadPlace(shard_tokens=tokens))
    place = machines.place(tokens)
    there, _ = placed_fits.unfitted(family, place=place)
    with machines.losing(place.team(), [0], question, within=within, orderly=orderly):
        there.fit(evidence)
    restarts = sum(one.place.restarts for one in there.rounds_)
    tell(case=name, same=same(there, here.fit(evidence)), restarts=restarts)
    machines.add()


def one_is_lost_in_a_list(machines: Machines) -> None:
    """Tasks that are done for one item after another."""
    place = machines.place(placed_fits.TOKENS)

    def items() -> Iterator[int]:
        for number in range(40):
            if number == 20:
                machines.lose(*machines.of(place.team(), [1]))
            yield number

    answers = list(in_order(place, _squared, items()))
    ok = all(np.array_equal(a, _squared(n)) for n, a in enumerate(answers)) and len(answers) == 40
    tell(case="tasks", same=ok, restarts=place.figures().restarts)
    machines.add()


def _squared(number: int) -> np.ndarray:
    return np.full(200_000, number * number)  # too large to come at once


def all_but_one_are_lost(machines: Machines) -> None:
    """Both workers begin anew on the machine that is left."""
    here, evidence = placed_fits.unfitted("crf", place=ThreadPlace(shard_tokens=placed_fits.TOKENS))
    place = machines.place(placed_fits.TOKENS)
    team = place.team()
    machines.add(workers=2, wait=True)
    there, _ = placed_fits.unfitted("crf", place=place)
    with machines.losing(team, [0, 1], 3, within=True, orderly=False):
        there.fit(evidence)
    restarts = sum(one.place.restarts for one in there.rounds_)
    tell(case="all but one", same=same(there, here.fit(evidence)), restarts=restarts)


def none_is_left(machines: Machines, case: str, path: Path, lose: Callable[[], None]) -> None:
    """The fit ends with a line, and its checkpoint goes on in threads."""
    place = machines.place(placed_fits.TOKENS)

    def lose_all(told: Any) -> None:
        if told.number == 3:
            lose()

    there, evidence = placed_fits.unfitted("crf", place=place, checkpoint=path, max_rounds=12, callbacks=[lose_all])
    began, line = time.monotonic(), ""
    try:
        there.fit(evidence)
    except sl.PlaceError as error:
        line = str(error)
    tell(case=case, line=line, seconds=time.monotonic() - began)


def main(folder: Path) -> None:
    machines = Machines()
    for name in LOST:
        one_is_lost(machines, name)
    one_is_lost_in_a_list(machines)
    all_but_one_are_lost(machines)
    ray_team.START, ray_team.PATIENCE = 3.0, 0.5

    def lose_workers() -> None:
        for machine in list(machines.cluster.worker_nodes):
            machines.lose(machine)

    none_is_left(machines, "all but the head", folder / "workers", lose_workers)
    machines.add(workers=2, wait=True)
    none_is_left(machines, "the head", folder / "head", machines.cluster.head_node.kill_all_processes)
    for machine in machines.cluster.list_all_nodes():
        machine.kill_all_processes(check_alive=False, allow_graceful=False)
    os._exit(0)  # Ray's end would look for the head


if __name__ == "__main__":
    main(Path(sys.argv[1]))
