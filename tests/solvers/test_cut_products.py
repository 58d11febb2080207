"""Inner products of the cuts of a term, whatever has been added and forgotten meanwhile."""

from __future__ import annotations

import numpy as np
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st

from sidelight.features.counts import SparseRows
from sidelight.features.rows import offsets_of
from sidelight.objective.cuts import Cuts
from sidelight.solvers.dual_coordinate import dual_value, sweeps
from sidelight.solvers.duals.working_set import WorkingSet

TERMS, SIZE = 4, 6


def random_cuts(rng, count):
    slopes = rng.normal(size=(count, SIZE)) * (rng.random((count, SIZE)) < 0.6)
    filled = slopes != 0
    rows = SparseRows(offsets_of(filled.sum(1)), np.nonzero(filled)[1].astype(np.int32), slopes[filled])
    return Cuts(rng.integers(0, TERMS, count), rows, rng.normal(size=count) + 1.0), slopes


def check(pool, slopes):
    """All that is known is right, and cuts of a term have places of their own."""
    products = pool.products
    assert len(products.places) == len(pool) == len(slopes)
    for term in range(TERMS):
        mine = np.flatnonzero(pool.terms[: pool.count] == term)
        room, places = products.rooms[term], products.places[mine]
        assert len(set(places.tolist())) == len(mine)
        gram = products.gram[products.at[term] : products.at[term + 1]].reshape(room, room)
        known = gram[np.ix_(places, places)]
        np.testing.assert_allclose(known, np.where(np.isnan(known), np.nan, slopes[mine] @ slopes[mine].T), atol=1e-12)


@law(60)
@given(generators(), st.lists(st.sampled_from(["add", "sweep", "remove", "forget"]), min_size=2, max_size=12))
def test_products_stay_right(rng, doings):
    pool, weights, prices = WorkingSet(TERMS), np.zeros(SIZE), rng.uniform(0.1, 2.0, TERMS)
    state = np.array([5], dtype=np.uint64)
    slopes = np.zeros((0, SIZE))
    for doing in ["add", "sweep", *doings, "sweep"]:
        if doing == "add":
            cuts, more = random_cuts(rng, int(rng.integers(1, 6)))
            pool.add(cuts)
            slopes = np.concatenate([slopes, more])
        elif doing == "remove":
            gone = np.flatnonzero(rng.random(TERMS) < 0.3)
            slopes = slopes[~np.isin(pool.terms[: pool.count], gone)]
            pool.remove(gone)
            weights[:] = pool.weights(SIZE, pool.alphas)
        elif doing == "forget":
            before = [tuple(row) for row in slopes]
            pool.forget_idle(0)
            left = {tuple(row) for row in pool_rows(pool)}
            slopes = np.array([row for row in before if row in left]).reshape(-1, SIZE)
        else:
            some = np.flatnonzero(rng.random(len(pool)) < 0.8)
            dual = dual_value(pool, weights, prices, power=1)
            gained = sweeps(pool, weights, prices, cuts=some, power=1, at_most=3, enough=0.0, state=state)[1]
            assert gained >= -1e-12
            np.testing.assert_allclose(dual_value(pool, weights, prices, power=1) - dual, gained, atol=1e-9)
            check(pool, slopes)


def pool_rows(pool):
    out = np.zeros((pool.count, SIZE))
    for j in range(pool.count):
        out[j, pool.indices[pool.begin[j] : pool.end[j]]] = pool.values[pool.begin[j] : pool.end[j]]
    return out


@law(30)
@given(generators())
def test_a_restored_working_set_goes_on_to_the_same_bits(rng):
    """Products are not in a checkpoint: they come out the same when they are computed again."""
    pool, weights, prices = WorkingSet(TERMS), np.zeros(SIZE), rng.uniform(0.1, 2.0, TERMS)
    state = np.array([5], dtype=np.uint64)
    pool.add(random_cuts(rng, 12)[0])
    asked = {"power": 1, "at_most": 3, "enough": 0.0}
    sweeps(pool, weights, prices, cuts=np.arange(12), **asked, state=state)
    copy = WorkingSet.restored(pool.state(), WorkingSet(TERMS), size=SIZE)
    more = random_cuts(rng, 5)[0]
    found = []
    for one in (pool, copy):
        w, s = weights.copy(), state.copy()
        one.add(more)
        sweeps(one, w, prices, cuts=np.arange(17), **asked, state=s)
        found.append((w, one.alphas[:17].copy()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
