"""Laws of a space: the best output under costs, bonuses, clamps and candidates, against a list of all outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids
from sidelight.errors import Infeasible, Intractable
from sidelight.features.rows import taken
from sidelight.objective.batch import Batch
from sidelight.spaces import AnyCost, Cost, LeavingCost, Paths, Space, sums
from sidelight.testing.outputs import BrokenLaw, ListedOutputs, differs, repeated

ROOM = 1e-8  # tolerance between numbers that should be equal, relative to the larger one


def close(one: float, other: float) -> bool:
    """Whether two numbers are equal up to rounding."""
    return one == other or abs(one - other) <= ROOM * max(1.0, abs(one), abs(other))


def name_of(choices: Ids) -> str:
    """An output as shown in messages."""
    return "(" + ", ".join(map(str, np.asarray(choices).tolist())) + ")"


def check_found(law: str, paths: Paths, lists: list[ListedOutputs], values: list[Floats]) -> None:
    """Each input's output is listed, has the value that is reported, and no output has a higher one."""
    for one, own in zip(lists, values):
        labels, value = paths.labels[one.slots], float(paths.values[one.number])
        place = one.place(labels)
        if place is None:
            raise BrokenLaw(f"{law}: input {one.number}: {name_of(labels)} is not an output of the space")
        if not close(own[place], value):
            raise differs(law, one.number, f"the value of {name_of(labels)}", value, own[place])
        top = int(own.argmax())
        if not close(own[top], value):
            better = name_of(one.outputs[top])
            raise BrokenLaw(
                f"{law}: input {one.number}: {name_of(labels)} has {value:.9g}, but {better} {own[top]:.9g}"
            )


def refuses(law: str, lists: list[ListedOutputs], act: Callable[[], Any]) -> bool:
    """Whether some input has no output; then `act` must raise `Infeasible`."""
    empty = [one.number for one in lists if not len(one.outputs)]
    if not empty:
        return False
    try:
        act()
    except Infeasible as error:
        if str(empty[0]) not in str(error):
            raise BrokenLaw(f"{law}: input {empty[0]} has no output, and Infeasible says {str(error)!r}") from error
        return True
    raise BrokenLaw(f"{law}: input {empty[0]} has no output, and Infeasible was not raised")


def check_best(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """The best output: plain, with a cost, with a bonus, and with ties broken at random."""
    if refuses("best", lists, lambda: batch.best(weights)):
        return
    plain = [one.scores for one in lists]
    check_found("best", batch.best(weights), lists, plain)
    for law, cost in costs_at_random(batch, lists, rng):
        paths = batch.best(weights, cost=cost)
        check_found(law, paths, lists, [one.scores + one.costs(cost) for one in lists])
        for one in lists:
            place = one.place(cost.targets[one.slots])
            if place is not None and not close(paths.targets[one.number], one.scores[place]):
                raise differs(law, one.number, "the target's score", paths.targets[one.number], one.scores[place])
    bonus = rng.normal(size=(int(batch.starts[-1]), batch.space.n_labels))
    space, scores = sums.raised(batch.space, batch.scores(weights), bonus)
    check_found(
        "best with a bonus", space.best(scores), lists, [one.scores + one.sums(bonus[one.slots]) for one in lists]
    )
    check_ties(batch, weights, lists, rng)


def check_ties(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """Random ties give a best output, the same for a seed, or `Intractable` is raised."""
    seed = int(rng.integers(2**32))
    try:
        paths = batch.best(weights, rng=np.random.default_rng(seed))
    except Intractable:
        return
    check_found("best with random ties", paths, lists, [one.scores for one in lists])
    again = batch.best(weights, rng=np.random.default_rng(seed))
    if not np.array_equal(paths.labels, again.labels):
        raise BrokenLaw("best with random ties: the same seed gives other outputs")


def costs_at_random(batch: Batch, lists: list[ListedOutputs], rng: np.random.Generator) -> list[tuple[str, AnyCost]]:
    """Any matrix of costs, with and without weights of slots, and a cost of leaving candidates."""
    slots, size = int(batch.starts[-1]), batch.space.n_labels
    targets = outputs_at_random(lists, rng)
    matrix = np.abs(rng.normal(size=(size, size)))
    mask = (rng.random((slots, size)) < 0.5).astype(np.uint8)
    return [
        ("best with a cost", Cost(targets, matrix)),
        ("best with a cost weighted by slots", Cost(targets, matrix, rng.random(slots))),
        ("best with a cost of leaving candidates", LeavingCost(targets, mask)),
    ]


def outputs_at_random(lists: list[ListedOutputs], rng: np.random.Generator) -> Ids:
    """One of the listed outputs of every input. # [T]"""
    drawn = [one.outputs[rng.integers(len(one.outputs))] for one in lists]
    return np.concatenate([np.zeros(0, np.int32), *drawn]).astype(np.int32)


def check_members(batch: Batch, weights: Floats, lists: list[ListedOutputs], every: list[Ids]) -> None:
    """`admits`, `feasible` and `score`. # every: [choices, slots] of each input, all that could be outputs"""
    feasible = batch.space.feasible()
    for one, choices in zip(lists, every):
        if bool(feasible[one.number]) != bool(len(one.outputs)):
            answer = bool(feasible[one.number])
            raise BrokenLaw(f"feasible: input {one.number} has {len(one.outputs)} outputs, and it says {answer}")
        outputs = {tuple(y) for y in one.outputs.tolist()}
        members = repeated(batch, one.number, len(choices)).space.admits(choices.ravel())
        for y, answer in zip(choices.tolist(), members):
            if bool(answer) != (tuple(y) in outputs):
                wrong = "is no output, and admits says it is" if answer else "is an output, and admits denies it"
                raise BrokenLaw(f"admits: input {one.number}: {name_of(np.array(y))} {wrong}")
        scores = repeated(batch, one.number, len(one.outputs)).score(weights, one.outputs.ravel())
        for y, answer, right in zip(one.outputs, scores, one.scores):
            if not close(answer, right):
                raise differs("score", one.number, f"the score of {name_of(y)}", answer, right)


def check_inside(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """Clamped slots and candidates: the best output, the members, and the case without outputs."""
    slots, size = int(batch.starts[-1]), batch.space.n_labels
    candidates = (rng.random((slots, size)) < 0.6).astype(np.uint8)
    clamps = np.ones((slots, size), np.uint8)
    if all(len(one.outputs) for one in lists):
        held = rng.random(slots) < 0.5
        clamps[held] = np.eye(size, dtype=np.uint8)[outputs_at_random(lists, rng)[held]]
    for law, mask in (
        ("inside candidates", candidates),
        ("inside clamps", clamps),
        ("inside both", candidates & clamps),
    ):
        inside = [
            one.only(np.all(mask[one.slots][np.arange(one.outputs.shape[1]), one.outputs], axis=1)) for one in lists
        ]
        check_within(law, batch, batch.space.inside(mask), weights, inside, rng)
    twice = batch.space.inside(candidates).inside(clamps)
    check_same(twice, batch.space.inside(candidates & clamps), "inside of inside")


def check_outside(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """Outputs that leave the candidates of some slot, or `Intractable`."""
    mask = (rng.random((int(batch.starts[-1]), batch.space.n_labels)) < 0.7).astype(np.uint8)
    try:
        space = batch.space.outside(mask)
    except Intractable:
        return
    stays = [np.all(mask[one.slots][np.arange(one.outputs.shape[1]), one.outputs], axis=1) for one in lists]
    check_within("outside candidates", batch, space, weights, [one.only(~own) for one, own in zip(lists, stays)], rng)


def check_within(
    law: str, batch: Batch, space: Space, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator
) -> None:
    """The best of a smaller space, plain and with a cost, of the inputs that have an output."""
    answers, right = space.feasible().tolist(), [bool(len(one.outputs)) for one in lists]
    if answers != right:
        where = next(i for i, (a, b) in enumerate(zip(answers, right)) if a != b)
        count = len(lists[where].outputs)
        raise BrokenLaw(f"{law}: input {where} has {count} outputs, and feasible says {answers[where]}")
    smaller = batch.within(space)
    if refuses(law, lists, lambda: smaller.best(weights)):
        which = np.flatnonzero(right)
        smaller, lists = smaller.take(which), renumbered(lists, which)
    check_found(law, smaller.best(weights), lists, [one.scores for one in lists])
    cost = costs_at_random(smaller, lists, rng)[1][1]
    values = [one.scores + one.costs(cost) for one in lists]
    check_found(f"{law}, with a cost", smaller.best(weights, cost=cost), lists, values)


def renumbered(lists: list[ListedOutputs], which: Any) -> list[ListedOutputs]:
    """The lists of some of the inputs, as these are numbered in a batch of their own."""
    copies, first = [], 0
    for number, i in enumerate(np.asarray(which).tolist()):
        one = lists[i]
        copies.append(ListedOutputs(number, first, one.outputs, one.scores))
        first += one.outputs.shape[1]
    return copies


def check_same(one: Space, other: Space, law: str) -> None:
    """Two spaces must have outputs for the same inputs."""
    if not np.array_equal(one.feasible(), other.feasible()):
        raise BrokenLaw(f"{law}: inputs have outputs in one and none in the other")


def check_random(batch: Batch, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """Random outputs are valid outputs, and equal seeds give equal ones; or `Intractable` is raised."""
    seed = int(rng.integers(2**32))
    if refuses("random", lists, lambda: batch.space.random(np.random.default_rng(seed))):
        return
    try:
        drawn = batch.space.random(np.random.default_rng(seed))
    except Intractable:
        return
    for one in lists:
        if one.place(drawn[one.slots]) is None:
            raise BrokenLaw(f"random: input {one.number}: {name_of(drawn[one.slots])} is not an output of the space")
    if not np.array_equal(drawn, batch.space.random(np.random.default_rng(seed))):
        raise BrokenLaw("random: the same seed gives other outputs")


def check_parts(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """`part` and `take` of a batch give the same results as the whole batch, including costs."""
    if not all(len(one.outputs) for one in lists):
        return
    cost = costs_at_random(batch, lists, rng)[1][1]
    whole, count = batch.best(weights, cost=cost), len(batch)
    lo, hi = sorted(rng.integers(0, count + 1, 2).tolist())
    some = rng.integers(0, count, count) if count else np.zeros(0, np.int64)
    for law, which, piece in (
        (f"part({lo}, {hi})", np.arange(lo, hi), batch.part(lo, hi)),
        (f"take({some.tolist()})", some, batch.take(some)),
    ):
        slots = taken(batch.starts, which)[1]
        own = cost.take(slots)
        best = piece.best(weights, cost=own)
        if not (np.allclose(best.values, whole.values[which]) and np.allclose(best.targets, whole.targets[which])):
            raise BrokenLaw(f"{law}: the best values differ from those of the whole batch")


def check_repeatable(batch: Batch, weights: Floats, lists: list[ListedOutputs], rng: np.random.Generator) -> None:
    """Of outputs that tie, the same one is found whatever was asked before, and whatever inputs are beside."""
    if not all(len(one.outputs) for one in lists):
        return
    tied = rng.integers(-1, 2, batch.scorer.size).astype(np.float64)
    first = batch.best(tied).labels
    for between in (weights, -tied):
        batch.best(between)
        if not np.array_equal(batch.best(tied).labels, first):
            raise BrokenLaw("best: the same scores give other outputs after a question about others")
    for i in range(len(batch)):
        if not np.array_equal(batch.part(i, i + 1).best(tied).labels, first[batch.starts[i] : batch.starts[i + 1]]):
            raise BrokenLaw(f"best: input {i} has another output alone than among others")


def admitted_at_random(lists: list[ListedOutputs], size: int, rng: np.random.Generator) -> Bytes:
    """Candidates that leave every input an output. # [T, K]"""
    drawn = outputs_at_random(lists, rng)
    mask = (rng.random((len(drawn), size)) < 0.6).astype(np.uint8)
    mask[np.arange(len(drawn)), drawn] = 1
    return mask
