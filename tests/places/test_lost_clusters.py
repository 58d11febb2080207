"""A cluster that is lost during a fit: a line that says so, and a checkpoint that goes on elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import placed_fits
import sidelight as sl
from sidelight.parallel.place import ThreadPlace

ROUNDS = 12
LOSE = """
import os, signal, sys, time
import placed_fits, sidelight as sl
from ray._private import worker
from sidelight.parallel import ray_team

ray_team.PATIENCE = 0.2

def lose(told):
    if told.number == 2:
        (one,) = worker._global_node.all_processes[sys.argv[1]]
        os.kill(one.process.pid, signal.SIGKILL)
    if told.number >= 2:
        time.sleep(0.5)

evidence, options = placed_fits.FITS["crf"]
told = {**options, "max_rounds": int(sys.argv[3]), "checkpoint": sys.argv[2], "callbacks": [lose], "n_jobs": 1}
place = sl.RayPlace(workers=2, shard_tokens=placed_fits.TOKENS)
try:
    sl.Tagger(place=place, **told).fit(evidence)
except sl.PlaceError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("process", "said"),
    [
        ("raylet", "is gone from this machine; "),
        ("gcs_server", "is gone; "),
    ],
)
def test_a_cluster_that_is_lost_is_told_of_and_the_fit_goes_on_elsewhere(process, said, tmp_path):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'sidelight[ray]'")
    path = tmp_path / "checkpoint"
    given = [sys.executable, "-c", LOSE, process, str(path), str(ROUNDS)]
    tests = Path(placed_fits.__file__).parent
    found = subprocess.run(given, cwd=tests, capture_output=True, text=True, check=False, timeout=300)
    assert (
        found.stdout.startswith(f"the Ray cluster local {said}")
        and "with a checkpoint it continues from the last round" in found.stdout
    )
    evidence, options = placed_fits.FITS["crf"]
    told = {**options, "max_rounds": ROUNDS, "n_jobs": 1, "place": ThreadPlace(shard_tokens=placed_fits.TOKENS)}
    gone_on = sl.Tagger(checkpoint=path, **told).fit(evidence)
    assert 0 < len(gone_on.rounds_) < ROUNDS
    assert np.array_equal(gone_on.model_.weights, sl.Tagger(**told).fit(evidence).model_.weights)
