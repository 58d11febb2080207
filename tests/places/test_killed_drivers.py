"""A driver that is killed in the middle of a fit: another one goes on from its checkpoint, wherever it is."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import placed_fits
from sidelight.parallel.place import ThreadPlace

HERE = ThreadPlace(shard_tokens=placed_fits.TOKENS)
FIT = """
import os, signal, sys
import placed_fits, sidelight as sl
from sidelight.parallel.place import ThreadPlace

def killed(told):
    if told.number == int(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)

shards = {"shard_tokens": placed_fits.TOKENS}
place = ThreadPlace(**shards) if sys.argv[2] == "threads" else sl.RayPlace(sys.argv[2], workers=1, **shards)
estimator, evidence = placed_fits.unfitted(sys.argv[1], place=place, checkpoint=sys.argv[3], callbacks=[killed])
estimator.fit(evidence)
"""


@pytest.mark.parametrize("where", ["threads", "workers"])
@pytest.mark.parametrize("family", ["alignment", "em"])
def test_another_driver_goes_on_to_the_same_bits(family, where, request, tmp_path):
    address = where
    if where == "workers":
        one = replace(request.getfixturevalue("workers"), workers=1)  # so that a processor of the cluster is free
        address = one.team().ray.get_runtime_context().gcs_address
    path = tmp_path / "checkpoint"
    for number in (1, 3):  # the second driver goes on, and is killed too
        command = [sys.executable, "-c", FIT, family, address, str(path), str(number)]
        tests = Path(placed_fits.__file__).parent
        found = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=False, timeout=300)
        assert found.returncode == -9, found.stderr
    whole, evidence = placed_fits.unfitted(family, place=HERE)
    whole.fit(evidence)
    gone_on = placed_fits.unfitted(family, place=HERE, checkpoint=path)[0].fit(evidence)
    assert [one.number for one in gone_on.rounds_] == list(range(4, len(whole.rounds_) + 1))
    assert [one.objective for one in gone_on.rounds_] == [one.objective for one in whole.rounds_[3:]]
    for a, b in zip(learned(gone_on), learned(whole), strict=True):
        assert np.array_equal(a, b)


def learned(estimator):
    """Its weights, or the parameters of an aligner."""
    model = estimator.model_
    return list(model.parameters.lexicon) if hasattr(model, "parameters") else [model.weights]
