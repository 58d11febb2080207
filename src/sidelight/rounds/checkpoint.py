"""Rounds that are kept in a file, so that training which was stopped goes on after its last one, to the same bits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sidelight.core.file_contents import mapping_of, part_of, reading
from sidelight.core.records import MAX_ROUNDS, Round
from sidelight.errors import ModelFileError
from sidelight.models.files import REMEDY, load_checkpoint, save_checkpoint
from sidelight.parallel.place import Place, figures_since
from sidelight.rounds.learner import Resumable, State


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The file of one training: `mark` stands for its data and settings, `limit` for how many rounds there may be.

    `more` is what has to be kept besides what the learner knows, and `take` takes it up; it may raise `ModelFileError`.
    """

    path: str | Path
    mark: str
    limit: int | None
    more: Callable[[Round], State] = lambda record: ({}, {})
    take: Callable[[dict[str, Any], dict[str, Any]], None] = lambda values, arrays: None

    def rounds(self, learner: Resumable, rounds: Iterator[Round], *, again: bool = False) -> Iterator[Round]:
        """A learner's rounds, each of them kept before it is told.

        The last one that was kept comes once more where training had ended with it, and `again` in any case.
        """
        last = self._take_up(learner)
        if last is not None and again:
            yield last
            last = None
        for record in rounds:
            last = None
            self._keep(learner, record)
            yield record
        if last is not None:
            yield last

    def _keep(self, learner: Resumable, record: Round) -> None:
        values, arrays = learner.state()
        own, held = self.more(record)
        arrays = {**{f"learner.{name}": array for name, array in arrays.items()}, **held}
        save_checkpoint(self.path, self.mark, ({"learner": values, "round": record.as_dict(), **own}, arrays))

    def _take_up(self, learner: Resumable) -> Round | None:
        """Go on from the file, if there is one: its last round, which is not the last where more are allowed by now."""
        if (state := load_checkpoint(self.path, self.mark)) is None:
            return None
        values, arrays = state
        if "learner" not in values:
            raise ModelFileError("the checkpoint is of an earlier version", file=self.path, remedy=REMEDY)
        with reading(self.path, remedy=REMEDY):
            learner.resume((mapping_of(values, "learner"), part_of(arrays, "learner.")))
            self.take(values, arrays)
            last = Round.stored(mapping_of(values, "round"))
        more = last.stopped == MAX_ROUNDS and (self.limit is None or self.limit > last.number)
        return replace(last, last=False, stopped=None) if more else last


def rounds_in(place: Place, learner: Resumable) -> Iterator[Round]:
    """A learner's rounds, with what workers did in each."""
    began = time.perf_counter()
    for record in learner.run():
        figures = figures_since(place, began)
        yield record if figures is None else replace(record, place=figures)
        began = time.perf_counter()
