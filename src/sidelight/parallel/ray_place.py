"""A place on Ray: workers on this machine, or on those of a cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidelight.core.records import PlaceFigures
from sidelight.errors import PlaceError
from sidelight.parallel.place import SHARD_TOKENS, Function, Held
from sidelight.parallel.ray_team import Team, answers
from sidelight.parallel.threads import thread_count

LOG = logging.getLogger("sidelight.place")
LOCAL = "local"
STARTS = 3  # attempts to start a cluster on this machine
MISSING = "ray is not installed; pip install 'sidelight[ray]'"


@dataclass(frozen=True, slots=True)
class RayPlace:
    """Workers on a Ray cluster: the cluster at an address, or one started on this machine.

    `workers` is their number (None: one per `threads` processors of the cluster), and `threads` the threads of each.
    Results do not depend on either. `shard_tokens` is the size of a shard, which changes the last bits of results.
    """

    address: str = LOCAL
    workers: int | None = None
    threads: int = 1
    shard_tokens: int = SHARD_TOKENS
    remote = True

    def __post_init__(self) -> None:
        for name in ("workers", "threads", "shard_tokens"):
            value = getattr(self, name)
            if value is None and name == "workers":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; give a whole number from 1 on")

    @property
    def n_jobs(self) -> int:
        return self.threads

    @property
    def size(self) -> int:
        return len(self.team())

    def hold(self, pieces: Sequence[Any]) -> Held:
        return self.team().hold(pieces)

    def each_done(
        self, function: Function, items: Iterable[Any], *common: Any, ahead: int = 1, most: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        return self.team().each_done(function, items, *common, ahead=ahead, most=most)

    def figures(self) -> PlaceFigures | None:
        return self.team().figures()

    def team(self) -> Team:
        """The workers; they are started on first use, and reused by later fits."""
        return _team(self.address, self.workers, self.threads)


_teams: dict[str, Team] = {}  # by address: the current workers


def _team(address: str, workers: int | None, threads: int) -> Team:
    """The workers at an address; a team of another size is ended first."""
    before = _teams.get(address)
    if before is not None and (len(before), before.threads) == (workers, threads) and before.is_there():
        return before
    ray = _connected(address, workers, threads)
    cpus = int(ray.cluster_resources().get("CPU", 1))
    size = workers or max(1, cpus // threads)
    if size * threads > cpus:
        problem = f"{size} workers with {threads} threads each, where the cluster {address} has {cpus} processors"
        raise PlaceError(f"{problem}; give fewer workers, or start the cluster with more (num_cpus)")
    if before is not None:
        if (len(before), before.threads) == (size, threads) and before.is_there():
            return before
        del _teams[address]
        before.end()
    _teams[address] = Team(ray, address, size, threads)
    return _teams[address]


def disband() -> None:
    """End all workers, and the cluster if it was started here."""
    import ray

    _teams.clear()
    ray.shutdown()


def _started(ray: Any, options: dict[str, Any]) -> Any:
    """Ray with a cluster on this machine; on a busy machine this may take a second attempt, since Ray waits only 30
    seconds.
    """
    for left in reversed(range(STARTS)):
        try:
            ray.init(address=LOCAL, **options)
            break
        except Exception as error:  # Ray raises no narrower error
            ray.shutdown()
            if not left:
                cause = " ".join(str(error).split())[:300]
                remedy = "is the machine very busy, or short of memory? Start the same command again"
                raise PlaceError(f"no Ray cluster could be started here ({cause}); {remedy}") from None
    return ray


def _keep_from_output() -> None:
    """Send Ray's messages about dead workers to the log: otherwise they would be printed between the output of a
    command.
    """
    from ray._private import worker

    def to_log(data: Mapping[str, Any], ignore_prefix: bool = False) -> None:
        for line in data.get("lines", ()):
            LOG.debug("%s", line)

    if hasattr(worker, "print_to_stdstream"):  # Ray has no setting for this
        worker.print_to_stdstream = to_log


def _connected(address: str, workers: int | None, threads: int) -> Any:
    """Ray, connected to a cluster; raises `PlaceError` if it is not installed or the cluster does not answer."""
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise PlaceError(MISSING) from None
    if ray.is_initialized():
        now = ray.get_runtime_context().gcs_address
        if address not in (LOCAL, "auto", now):
            problem = f"this process works with the Ray cluster at {now}, and {address} was requested"
            raise PlaceError(f"{problem}; call ray.shutdown() first, or leave the address out")
        return ray
    _keep_from_output()
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # results that are not awaited after an error
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "ignore_reinit_error": True}
    if address == LOCAL:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # like threads: Ray's default of 15 starves them on a busy machine
        os.environ.setdefault("RAY_worker_niceness", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        cpus = max(thread_count(-1), (workers or 1) * threads)
        return _started(ray, {"num_cpus": cpus, "include_dashboard": False, **quiet})
    remedy = "give the address of a running head (ray start --head prints it), or 'ray' to start one here"
    if not answers(address):
        raise PlaceError(f"no Ray cluster answers at {address}; {remedy}")
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, ray.exceptions.RayError) as error:
        cause = " ".join(str(error).split())[:300]
        token = "if the cluster asks for a token, set RAY_AUTH_MODE=token here too"
        raise PlaceError(f"no Ray cluster answers at {address} ({cause}); {remedy}; {token}") from None
    return ray
