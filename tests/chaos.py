"""Ends workers of a place at random moments."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from sidelight.parallel.ray_team import Team


class Chaos:
    """Ends workers at random moments: before they are asked, while they work, and right after they began anew."""

    def __init__(self, seed: int, most: int, share: float = 0.4) -> None:
        self.rng = np.random.default_rng(seed)
        self.kills = 0
        self.most, self.share = most, share
        self._ask = Team.ask

    @contextmanager
    def loose(self) -> Iterator[Chaos]:
        """While this lasts."""
        chaos = self

        def ask(team: Team, key: int, call: Any) -> list[Any]:
            timers = chaos.begin(team)
            try:
                return chaos._ask(team, key, call)
            finally:
                for timer in timers:
                    timer.join()

        Team.ask = ask  # type: ignore[method-assign]
        try:
            yield self
        finally:
            Team.ask = self._ask  # type: ignore[method-assign]

    def begin(self, team: Team) -> list[threading.Timer]:
        if self.kills >= self.most or self.rng.random() > self.share:
            return []
        pids = self.rng.permutation(team.pids())[: 1 + int(self.rng.random() < 0.2)]
        delays = self.rng.choice([0.0, 0.001, 0.004], size=len(pids))
        self.kills += len(pids)
        timers = [threading.Timer(float(delay), _end, [int(pid)]) for delay, pid in zip(delays, pids)]
        for timer in timers:
            timer.start()
        return timers


def _end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
