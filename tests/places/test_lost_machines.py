"""A machine that is lost with its workers changes nothing; where none is left, a line says so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import placed_fits
from sidelight.parallel.place import ThreadPlace

SCRIPT = "losing_machines.py"
CHANGING_NOTHING = ["crf", "jlis", "unified_em", "alignment", "alignment again", "tasks", "all but one"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lost")


@pytest.fixture(scope="module")
def told(folder):
    """What came of each case, by its name."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'sidelight[ray]'")
    command, tests = [sys.executable, SCRIPT, str(folder)], Path(placed_fits.__file__).parent
    found = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=False, timeout=500)
    assert found.returncode == 0, found.stderr[-3000:]
    return {one["case"]: one for one in map(json.loads, found.stdout.splitlines())}


@pytest.mark.parametrize("case", CHANGING_NOTHING)
def test_workers_begin_anew_on_other_machines(case, told):
    assert told[case]["same"] and told[case]["restarts"] == (2 if case == "all but one" else 1)


@pytest.mark.parametrize(
    ("case", "file", "said"),
    [
        ("all but the head", "workers", r"worker [01] did not start again within 3 s at .*: with a checkpoint it "),
        ("the head", "head", r"the Ray cluster .* is gone from this machine; .*: with a checkpoint it continues"),
    ],
)
def test_where_none_is_left_a_checkpoint_goes_on(case, file, said, told, folder):
    line = told[case]["line"]
    assert re.match(said, line) and "\n" not in line
    here = ThreadPlace(shard_tokens=placed_fits.TOKENS)
    whole, evidence = placed_fits.unfitted("crf", place=here, max_rounds=12)
    gone_on, _ = placed_fits.unfitted("crf", place=here, max_rounds=12, checkpoint=folder / file)
    assert [one.number for one in gone_on.fit(evidence).rounds_] == list(range(4, 13))
    assert np.array_equal(gone_on.model_.weights, whole.fit(evidence).model_.weights)
