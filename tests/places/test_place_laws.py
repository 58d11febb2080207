"""What a place promises, checked on plain arrays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.errors import PlaceError
from sidelight.experiments import pool
from sidelight.parallel import place_of
from sidelight.parallel.place import ThreadPlace, added, nodes_within, summed
from sidelight.parallel.ray_place import _started, disband
from sidelight.parallel.ray_team import Team
from sidelight.parallel.ray_worker import Worker


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.lists(st.integers(0, 40), max_size=6))
def test_runs_of_pieces_add_up_to_the_same_bits(values, cuts):
    whole = (0, len(values))
    alone = summed(whole, values.__getitem__)
    bounds = sorted({0, len(values), *(cut for cut in cuts if cut < len(values))})
    known = {}
    for first, last in pairwise(bounds):
        known |= {node: summed(node, values.__getitem__) for node in nodes_within(whole, first, last)}
    assert summed(whole, None, known) == alone
    assert np.isclose(alone, sum(values), rtol=1e-9, atol=1e-6)


def test_results_are_added_part_by_part():
    one, other = (np.ones(2), 1.0, None), (np.full(2, 2.0), 2.0, None)
    arrays, number, nothing = added(one, other)
    assert arrays.tolist() == [3.0, 3.0] and number == 3.0 and nothing is None


@dataclass
class InFile:
    """A piece that is read where it is wanted."""

    path: Path

    def load(self):
        return np.load(self.path)


def _product(piece, weights):
    return piece @ weights


def _remembered(piece, state, weights):
    state = (0.0 if state is None else state) + float(piece @ weights)
    return state, (state,)


def _dying(piece, counter, times):
    with open(counter, "a") as file:
        file.write("x")
    if os.path.getsize(counter) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return float(piece.sum())


def _greedy(piece):
    if piece.sum() > 5:
        raise MemoryError
    return 0.0


class Large:
    """Takes more memory on its way back than there is."""

    def __reduce__(self):
        raise MemoryError


def _large(piece):
    return Large()


def _wrong(piece):
    raise sl.errors.DataError("a piece is wrong", file="a.txt", line=3, remedy="mend it")


def test_pieces_of_files_are_read_by_workers(workers, tmp_path):
    pieces = [np.arange(4.0) + k for k in range(5)]
    for k, piece in enumerate(pieces):
        np.save(tmp_path / f"{k}.npy", piece)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    stored = [InFile(tmp_path / f"{k}.npy") for k in range(5)]
    expected = ThreadPlace().hold(pieces).each(_product, weights)
    assert (
        expected == workers.hold(stored).each(_product, weights) == ThreadPlace().hold(stored).each(_product, weights)
    )


def test_what_pieces_remember_outlives_their_worker(workers):
    pieces, weights = [np.arange(4.0) + k for k in range(5)], np.ones(4)
    here, there = ThreadPlace().hold(pieces), workers.hold(pieces)
    for step in range(3):
        if step == 1:
            os.kill(workers.team().pids()[0], signal.SIGKILL)
        assert here.advance(_remembered, weights) == there.advance(_remembered, weights)


def test_what_pieces_remember_can_be_taken_up_elsewhere(workers):
    pieces, weights = [np.arange(4.0) + k for k in range(5)], np.ones(4)
    here, there = ThreadPlace().hold(pieces), workers.hold(pieces)
    assert here.remembered() == there.remembered() == [None] * 5
    for _ in range(3):
        expected = here.advance(_remembered, weights)
        there.advance(_remembered, weights)
    assert here.remembered() == there.remembered() == [3 * float(piece.sum()) for piece in pieces]
    before = {"before": True}
    assert here.remembered(**before) == there.remembered(**before) == [2 * float(piece.sum()) for piece in pieces]
    for place, elsewhere in ((workers, here), (ThreadPlace(), there)):
        again = place.hold(pieces)
        again.remember(elsewhere.remembered(**before))
        if place is workers:
            os.kill(workers.team().pids()[1], signal.SIGKILL)
        assert again.advance(_remembered, weights) == expected


def test_a_worker_that_dies_twice_is_asked_again(workers, tmp_path):
    held = workers.hold([np.ones(2)])
    workers.figures()
    assert held.total(_dying, tmp_path / "deaths", 2) == 2.0
    assert workers.figures().restarts == 2


def test_a_worker_that_always_dies_is_given_up(workers, tmp_path, monkeypatch):
    monkeypatch.setattr("sidelight.parallel.ray_team.MOST_DEATHS", 1)
    with pytest.raises(PlaceError, match=r"worker \d with shard 0 died 2 times .*checkpoint"):
        workers.hold([np.ones(2)]).total(_dying, tmp_path / "deaths", 100)
    assert workers.hold([np.ones(2)]).total(_product, np.ones(2)) == 2.0


def test_want_of_memory_names_shard_and_remedy(workers):
    with pytest.raises(PlaceError, match="too little memory for shard 1; give the fit fewer workers"):
        workers.hold([np.ones(2), np.full(2, 9.0)]).total(_greedy)
    with pytest.raises(PlaceError, match="too little memory for shard 0; give the fit fewer workers"):
        workers.hold([np.ones(2)]).each(_large)


def test_a_worker_that_ray_ends_for_memory_is_tried_again_and_then_told_of(workers, monkeypatch):
    import ray

    held, taken, ended = workers.hold([np.ones(2)]), Team._taken, []

    def short(team, result, reference, name):
        if len(ended) < most:
            ended.append(reference)
            raise ray.exceptions.OutOfMemoryError("the node was running low on memory")
        return taken(team, result, reference, name)

    monkeypatch.setattr(Team, "_taken", short)
    most = 1
    assert held.total(_product, np.ones(2)) == 2.0
    most = 10
    with pytest.raises(PlaceError, match=r"worker \d with shard 0 ended because memory ran out; give the fit fewer"):
        held.total(_product, np.ones(2))


def test_errors_of_workers_are_those_of_threads(workers):
    with pytest.raises(sl.errors.DataError, match=r"a.txt:3: a piece is wrong; mend it"):
        workers.hold([np.ones(2)]).total(_wrong)


def test_more_workers_than_processors_are_refused(workers):
    workers.team()
    with pytest.raises(PlaceError, match="500 workers with 1 threads each, where the cluster local has"):
        sl.RayPlace(workers=500).team()
    workers.hold([np.ones(2)]).total(_product, np.ones(2))


@pytest.mark.parametrize("place", [3, "rai", "", ["ray"], {"address": "x"}])
def test_places_that_are_none(place):
    with pytest.raises(ValueError, match=r"place is .*; give 'threads', 'ray', the address"):
        sl.Tagger(place=place).fit([["a"]], [["N"]])
    with pytest.raises(ValueError, match=r"place is"):
        sl.Aligner(place=place).fit([(["a"], ["b"])])


@pytest.mark.parametrize("make", [partial(sl.RayPlace, workers=0), partial(sl.RayPlace, threads=True)])
def test_numbers_of_workers_that_are_none(make):
    with pytest.raises(ValueError, match="give a whole number from 1 on"):
        make()


@pytest.mark.parametrize(
    ("learner", "why"),
    [
        ("perceptron", "takes one example right after another; give it shards"),
        (sl.recipes.crf(solver="sgd"), "takes one example after another; use the solver lbfgs"),
        (sl.recipes.structural_svm(solver="frank_wolfe"), "use dual_coordinate or one_slack"),
        ("mira", "sets one example right after another"),
        ("contrastive", "has not been spread over workers"),
    ],
)
def test_what_goes_on_step_by_step_says_so(learner, why):
    with pytest.raises(ValueError, match=f"place is 'ray', and .*{why}.*; leave place out"):
        sl.Tagger(learner=learner, place="ray").fit([["a"]], [["N"]])


def test_places_by_name():
    assert place_of(None, 2) == place_of("threads", 2) == ThreadPlace(2)
    assert place_of("head:6379", 2) == sl.RayPlace("head:6379")


def _weighed(piece, weights):
    return float(piece @ weights[: len(piece)])


def test_vectors_are_told_by_their_changes(workers):
    rng = np.random.default_rng(0)
    pieces, weights = [rng.normal(size=4) for _ in range(3)], rng.normal(size=20_000)
    here, there = ThreadPlace().hold(pieces), workers.hold(pieces)
    sent = []
    for step in range(5):
        weights[rng.integers(0, 4, 2)] = [-0.0, rng.normal()]
        if step in (2, 4):
            os.kill(workers.team().pids()[step % 3 - 1], signal.SIGKILL)
        if step == 2:  # without a vector: whoever began anew must know the last one all the same
            assert there.each(_remembered, None, np.ones(4)) == here.each(_remembered, None, np.ones(4))
        workers.figures()
        assert here.total(_weighed, weights) == there.total(_weighed, weights)
        sent.append(workers.figures().bytes)
        told = weights.copy()  # the driver's own may change after the question
        weights[0] += 1.0
        assert here.total(_weighed, told) == there.total(_weighed, told)
    assert sent[0] > weights.nbytes > 100 * sent[1]


def _noted(item, folder, dying):
    """A task that notes its process, and ends it where it is done for the first time."""
    path = folder / f"{item}"
    first = not path.exists()
    path.write_text(str(os.getpid()))
    if first and item in dying:
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def test_tasks_are_done_by_whoever_is_idle(workers, tmp_path):
    workers.figures()
    found = dict(workers.each_done(_noted, list(range(9)), tmp_path, (2, 5)))
    assert found == dict(ThreadPlace().each_done(_noted, list(range(9)), tmp_path, ())) == {k: k * k for k in range(9)}
    assert workers.figures().restarts == 2


def test_fits_of_an_experiment_are_spread(workers, tmp_path):
    token = pool.where.set(workers)
    try:
        found = pool.carried_out(_of_study, tmp_path, [3, 1, 2], n_jobs=2, report=print)
    finally:
        pool.where.reset(token)
    assert found == [9, 1, 4]
    pids = {int(path.read_text()) for path in tmp_path.iterdir()}
    assert pids <= set(workers.team().pids()) and os.getpid() not in pids


def _of_study(study, task):
    return _noted(task, study, ())


def test_a_task_that_fails_is_told_of(workers):
    with pytest.raises(sl.errors.DataError, match=r"a.txt:3: a piece is wrong"):
        list(workers.each_done(_wrong, [1, 2, 3]))
    assert dict(workers.each_done(_product, [np.ones(2)], np.ones(2))) == {0: 2.0}


def _refused(piece):
    return _wrong(piece) if piece.sum() > 5 else piece


@dataclass
class Greedy:
    """A piece that does not fit into memory."""

    def load(self):
        raise MemoryError


def test_what_goes_wrong_when_pieces_are_taken_is_told_at_the_question(workers):
    pieces = [np.ones(2), np.full(2, 9.0)]
    with pytest.raises(sl.errors.DataError, match=r"a.txt:3: a piece is wrong"):
        workers.hold(pieces).derive(_refused).derive(_same).total(_product, np.ones(2))
    with pytest.raises(PlaceError, match="too little memory for shard 1; give the fit fewer workers"):
        workers.hold([pieces[0], Greedy()]).each(_product, np.ones(2))


def _same(piece):
    return piece


OUTPUT = """
import os, signal, sys
import sidelight as sl

def dying(piece, path):
    with open(path, "a") as file:
        file.write("x")
    if os.path.getsize(path) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return piece

place = sl.RayPlace(workers=1)
print(place.hold([2.0]).total(dying, sys.argv[1]), place.figures().restarts)
"""


def test_a_death_says_nothing_amid_what_is_written(workers, tmp_path):
    given = [sys.executable, "-c", OUTPUT, str(tmp_path / "deaths")]
    found = subprocess.run(given, capture_output=True, text=True, check=True)
    assert (found.stdout, found.stderr) == ("2.0 1\n", "")


def test_a_worker_that_has_no_room_any_more_is_told_of(workers, monkeypatch, tmp_path):
    held = workers.hold([np.ones(2)])
    monkeypatch.setattr("sidelight.parallel.ray_team.PATIENCE", 0.5)
    monkeypatch.setattr("sidelight.parallel.ray_team.START", 2.0)
    monkeypatch.setattr(Team, "_actor", _too_large)
    with pytest.raises(PlaceError, match=r"not start again within 2 s .*lost a machine.*checkpoint"):
        held.total(_dying, tmp_path / "deaths", 1)
    monkeypatch.undo()
    disband()
    assert workers.hold([np.ones(2)]).total(_product, np.ones(2)) == 2.0


def _too_large(team):
    """A worker as after a machine was lost: nobody has as many processors."""
    return team.ray.remote(Worker).options(num_cpus=500).remote()


def test_a_cluster_without_its_head_is_told_of_though_workers_answer(workers, monkeypatch):
    held = workers.hold([np.ones(2)])
    assert held.total(_product, np.ones(2)) == 2.0
    with monkeypatch.context() as patched:
        patched.setattr("sidelight.parallel.ray_team.PATIENCE", 0.0)
        patched.setattr("sidelight.parallel.ray_team.answers", lambda address: False)
        with pytest.raises(PlaceError, match=r"the Ray cluster local is gone; .*checkpoint"):
            for _ in range(9):
                held.total(_product, np.ones(2))
    workers.team()._silent = 0
    assert held.total(_product, np.ones(2)) == 2.0


class _Busy:
    """Ray on a machine that is too busy to start it so many times."""

    def __init__(self, failures):
        self.failures, self.tries, self.ends = failures, 0, 0

    def init(self, **_):
        self.tries += 1
        if self.tries <= self.failures:
            raise Exception("The current node timed out\nduring startup.")

    def shutdown(self):
        self.ends += 1


def test_a_busy_machine_is_tried_again():
    late, never = _Busy(2), _Busy(9)
    assert _started(late, {}) is late and (late.tries, late.ends) == (3, 2)
    with pytest.raises(PlaceError, match=r"could be started here \(The current node timed out during startup\.\); is"):
        _started(never, {})
    assert never.tries == never.ends == 3
