"""Memory that is really short: allocations that the system refuses, and workers that Ray's own monitor ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sidelight.errors import PlaceError

resource = pytest.importorskip("resource", reason="this system does not limit the memory of a process")
if not Path("/proc/self/statm").exists():
    pytest.skip("this system does not tell how much memory a process has", allow_module_level=True)

SPARE, VAST = 1 << 30, 1 << 30  # bytes that are left to a worker; numbers of eight bytes that do not fit
REMEDY = "give the fit fewer workers on a machine, smaller shards"


def _limited(piece):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + SPARE, hard))


def _not_limited(piece):
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return os.getpid()


def _filling(piece):
    return float(np.ones(VAST if len(piece) == 3 else 1).sum())


class Vast:
    """A shard that is too large where it is read."""

    def load(self):
        return np.ones(VAST)


def test_an_allocation_that_is_refused_names_the_shard(workers):
    pieces = [np.ones(2), np.ones(3)]
    held = workers.hold(pieces)
    pids = workers.team().pids()
    held.each(_limited)
    try:
        with pytest.raises(PlaceError, match=f"a worker had too little memory for shard 1; {REMEDY}"):
            held.total(_filling)
        with pytest.raises(PlaceError, match=f"a worker had too little memory for shard 0; {REMEDY}"):
            workers.hold([Vast(), np.ones(2)]).total(_filling)
        assert held.total(np.sum) == 5.0  # nobody died of it
    finally:
        assert held.each(_not_limited) == pids


FIT = """
import placed_fits, sidelight as sl
evidence, options = placed_fits.FITS["crf"]
place = sl.RayPlace(workers=1, shard_tokens=placed_fits.TOKENS)
try:
    sl.Tagger(place=place, n_jobs=1, checkpoint="checkpoint", **options).fit(evidence)
except sl.PlaceError as error:
    print(error)
"""


def test_workers_that_ray_ends_for_memory_are_told_of(tmp_path):
    """Ray is told to see memory as short where a hundredth of it is used."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'sidelight[ray]'")
    short = {"RAY_memory_usage_threshold": "0.01", "RAY_memory_monitor_refresh_ms": "20"}
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    told = {"cwd": tmp_path, "env": {**os.environ, **short, "PYTHONPATH": path}}
    found = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, timeout=300, **told)
    assert re.match(rf"worker 0 with shards 0 to \d+ ended because memory ran out; {REMEDY}", found.stdout), found
