"""Pieces held by the workers of a team, and calls to them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sidelight.parallel.parcels import Parcel, opened, packed
from sidelight.parallel.place import Function, Held, Node, nodes_within, summed

if TYPE_CHECKING:
    from sidelight.parallel.ray_team import KeptStates, Team


class RayHeld:
    """Pieces in the workers of a team."""

    def __init__(self, team: Team, key: int, size: int) -> None:
        self._team, self._key, self._size = team, key, size
        self._states: list[KeptStates | None] = [None] * len(team)  # one per worker
        self._before = self._states

    def __del__(self) -> None:
        self._team.drop(self._key)

    def __len__(self) -> int:
        return self._size

    @property
    def n_jobs(self) -> int | None:
        return self._team.threads

    def each(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        team, began = self._team, time.perf_counter()
        message = team.question(function, common)
        mine = [self._own(number, own) for number in range(len(team))]
        results = team.ask(self._key, lambda actor, n: actor.each.remote(self._key, message, mine[n]))
        answers: dict[int, Any] = {}
        for parcel, _ in results:
            answers |= opened(parcel)
        team.answered(began, [*mine, *(parcel for parcel, _ in results)], [seconds for _, seconds in results])
        return [answers[number] for number in range(len(self))]

    def total(self, function: Function, *common: Any) -> Any:
        team, began = self._team, time.perf_counter()
        message = team.question(function, common)
        answers = team.ask(self._key, lambda actor, n: actor.total.remote(self._key, message, self._nodes(n)))
        return self._sum(answers, began)

    def advance(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> Any:
        team, began = self._team, time.perf_counter()
        message, none = team.question(function, common), packed({})
        mine = [self._own(number, own) for number in range(len(team))]

        def call(actor: Any, n: int) -> Any:
            state = self._before[n]
            before = none if state is None else state.reference
            return actor.advance.options(num_returns=2).remote(self._key, message, mine[n], before, self._nodes(n))

        self._before = self._states
        answers = team.ask(self._key, call)
        self._states = [None] * len(team)
        for (_, state), number in zip(answers, self._busy()):
            self._states[number] = state
        parcels = [*mine, *(state.here for _, state in answers)]
        return self._sum([answer for answer, _ in answers], began, parcels)

    def remembered(self, *, before: bool = False) -> list[Any]:
        known: dict[int, Any] = {}
        for state in self._before if before else self._states:
            known |= {} if state is None else opened(state.here)
        return [known.get(number) for number in range(len(self))]

    def remember(self, states: Sequence[Any]) -> None:
        self._states = [None] * len(self._team)
        for number in self._busy():
            mine = {k: states[k] for k in range(*self._team.range_of(number, len(self)))}
            self._states[number] = self._team.kept(mine)

    def derive(self, function: Function, *common: Any, own: Sequence[tuple[Any, ...]] | None = None) -> Held:
        return self._team.make(self._key, function, common, own)

    def _busy(self) -> list[int]:
        return [n for n in range(len(self._team)) if len(range(*self._team.range_of(n, len(self))))]

    def _nodes(self, number: int) -> list[Node]:
        return nodes_within((0, len(self)), *self._team.range_of(number, len(self)))

    def _own(self, number: int, own: Sequence[tuple[Any, ...]] | None) -> Parcel:
        return packed({} if own is None else {k: own[k] for k in range(*self._team.range_of(number, len(self)))})

    def _sum(self, answers: list[tuple[Parcel, float]], began: float, parcels: Sequence[Parcel] = ()) -> Any:
        known: dict[Node, Any] = {}
        for parcel, _ in answers:
            known |= opened(parcel)
        total = summed((0, len(self)), known.__getitem__, known)  # type: ignore[arg-type]
        self._team.answered(began, [*parcels, *(parcel for parcel, _ in answers)], [seconds for _, seconds in answers])
        return total
