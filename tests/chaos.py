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

    def __init__(self, seed: int, most: int, share: float = 0.4, again: float = 0.0) -> None:
        """At most so many are ended, in a share of the questions; `again`: the share of those that began anew."""
        self.rng = np.random.default_rng(seed)
        self.kills = self.in_a_row = self.restarts = 0
        self.most, self.share, self.again = most, share, again
        self._ask, self._each_done, self._restart = Team.ask, Team.each_done, Team._restart

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

        def each_done(team: Team, *told: Any, **how: Any) -> Iterator[tuple[int, Any]]:
            timers = chaos.begin(team)
            for answer in chaos._each_done(team, *told, **how):
                timers += chaos.begin(team)
                yield answer
            for timer in timers:
                timer.join()

        def restart(team: Team, number: int, *told: Any) -> None:
            chaos._restart(team, number, *told)
            chaos.restarts += 1
            if chaos.kills < chaos.most and chaos.rng.random() < chaos.again:
                threading.Thread(target=chaos.end_again, args=(team, team._actors[number]), daemon=True).start()

        Team.ask, Team.each_done, Team._restart = ask, each_done, restart  # type: ignore[method-assign]
        try:
            yield self
        finally:
            Team.ask, Team.each_done, Team._restart = self._ask, self._each_done, self._restart  # type: ignore[method-assign]

    def begin(self, team: Team) -> list[threading.Timer]:
        if self.kills >= self.most or self.rng.random() > self.share:
            return []
        pids = self.rng.permutation(_pids(team))[: 1 + int(self.rng.random() < 0.2)]
        delays = self.rng.choice([0.0, 0.001, 0.004], size=len(pids))
        timers = [threading.Timer(float(delay), self.end, [int(pid)]) for delay, pid in zip(delays, pids)]
        for timer in timers:
            timer.start()
        return timers

    def end(self, pid: int) -> bool:
        """End a process, if it is there."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.kills += 1
            return True
        return False

    def end_again(self, team: Team, actor: Any) -> None:
        """End a worker that has just begun anew."""
        with suppress(Exception):  # of Ray: it has died by itself
            self.in_a_row += self.end(int(team.ray.get(actor.pid.remote())))


def _pids(team: Team) -> list[int]:
    """The processes of the workers that are there."""
    found = []
    for actor in team._actors:
        with suppress(Exception):  # of Ray: this one has been ended
            found.append(int(team.ray.get(actor.pid.remote())))
    return found
