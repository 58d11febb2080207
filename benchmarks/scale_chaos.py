"""Processes that are ended at random moments, in every family of learners: how many, and what that changed.

Workers are ended before a question, while they work, and again right after they began anew; drivers while they learn
with a checkpoint, and while they write predictions that `--resume` goes on with.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

KILLS = 50  # of workers, over all families
DRIVERS = 5  # ends of each kind of driver
MOST_FITS = 40  # of a family

LEARN = """
import sys
import placed_fits, sidelight as sl
place = sl.RayPlace(sys.argv[2], workers=2, shard_tokens=placed_fits.TOKENS)
limit = {"hmm_iterations": 9} if sys.argv[1] == "alignment" else {"max_rounds": 12}
told = {**limit, "checkpoint": sys.argv[3], "callbacks": [lambda r: print(r.number, flush=True)]}
estimator, evidence = placed_fits.unfitted(sys.argv[1], place=place, **told)
estimator.fit(evidence).save(sys.argv[4])
"""
PREDICT = """
import sys
from sidelight.data import text_pieces
text_pieces.SIZE = 300
from sidelight.cli import main
sys.argv[0] = "sidelight"
main()
"""


def run(*, quick: bool, kills: int = KILLS) -> dict[str, Any]:
    """Small fits of all families, over and over, until enough workers have died in each; then drivers."""
    import placed_fits
    from sidelight.parallel.place import ThreadPlace
    from sidelight.parallel.ray_place import RayPlace

    here, place = ThreadPlace(shard_tokens=placed_fits.TOKENS), RayPlace(workers=2, shard_tokens=placed_fits.TOKENS)
    families = {**placed_fits.FAMILIES, "prediction": _predicted}
    families |= {f"{name} in files": _in_files(name) for name in ("crf", "em")}
    if quick:
        families = {name: families[name] for name in ("crf", "jlis", "prediction", "em in files")}
    share = 1 if quick else -(-kills // len(families))
    rows = [_row(_family(name, fit, here, place, share)) for name, fit in families.items()]
    drivers = [_row(_learning(name, 1 if quick else DRIVERS)) for name in ("crf", "em", "alignment")]
    drivers.append(_row(_predicting(1 if quick else DRIVERS)))
    changed = [row["family"] for row in (*rows, *drivers) if row["changed"]]
    told = {name: sum(row[name] for row in rows) for name in ("fits", "kills", "in_a_row", "restarts")}
    return {"families": rows, "drivers": drivers, **told, "changed": changed}


def _row(row: dict[str, Any]) -> dict[str, Any]:
    print("    " + ", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    return row


def _family(name: str, fit: Callable[[Any], Any], here: Any, place: Any, share: int) -> dict[str, Any]:
    """Fits until so many of their workers have been ended, and at least one twice in a row."""
    from chaos import Chaos

    expected = fit(here)
    row = {"family": name, "fits": 0, "kills": 0, "in_a_row": 0, "restarts": 0, "changed": 0}
    while (row["kills"] < share or not row["in_a_row"]) and row["fits"] < MOST_FITS:
        seed = 1000 * len(name) + row["fits"]
        with Chaos(seed, most=4, share=0.5, again=0.5).loose() as loose:
            found = fit(place)
        row["fits"] += 1
        row["kills"] += loose.kills
        row["in_a_row"] += loose.in_a_row
        row["restarts"] += loose.restarts
        same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(expected, found, strict=True))
        row["changed"] += not same
    return row


def _in_files(name: str) -> Callable[[Any], Any]:
    """A fit of data in files, whose shards workers open themselves."""
    import placed_fits
    import sidelight as sl
    from sidelight.data import stored, text_pieces, write_columns
    from sidelight.prepared import preparation

    def fit(place: Any) -> list[Any]:
        size, preparation.SHARD_TOKENS = preparation.SHARD_TOKENS, placed_fits.TOKENS
        pieces = text_pieces.SIZE
        text_pieces.SIZE = 400
        try:
            with tempfile.TemporaryDirectory() as folder:
                gold, raw = Path(folder, "gold.txt"), Path(folder, "raw.txt")
                gold.write_text(write_columns(placed_fits.XS, placed_fits.YS), encoding="utf-8")
                raw.write_text("".join("\n".join(x) + "\n\n" for x in placed_fits.XS), encoding="utf-8")
                data = stored(gold=gold, unlabeled=raw if name == "em" else None, folder=Path(folder, "prepared"))
                return [sl.Tagger(learner=name, max_rounds=5, place=place, n_jobs=1).fit(data).model_.weights]
        finally:
            preparation.SHARD_TOKENS, text_pieces.SIZE = size, pieces

    return fit


def _predicted(place: Any) -> list[Any]:
    """What a model says of many small lots of inputs, as an array."""
    import placed_fits
    import sidelight as sl
    from sidelight.parallel import place as places

    tagger = sl.Tagger(learner="perceptron", n_jobs=1).fit(placed_fits.GOLD)
    lot, places.LOT = places.LOT, 8
    try:
        found = [tagger.set_params(place=place).predict(placed_fits.XS) for _ in range(4)]
    finally:
        places.LOT = lot
    return [np.array([ord(label) for one in found for labels in one for label in labels])]


def _learning(name: str, ends: int) -> dict[str, Any]:
    """A driver that is ended after some rounds, again and again, against one that is not."""
    import ray

    address = ray.get_runtime_context().gcs_address
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, one)) for one in ("c1", "m1", "c2", "m2")]
        command = [sys.executable, "-c", LEARN, name, address]
        told = {"cwd": TESTS, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen([*command, *paths[:2]], **told) as process:  # type: ignore[call-overload]
            process.communicate()
        rng, done, tries = random.Random(len(name)), 0, 0
        while done < ends and tries < 3 * ends and not Path(paths[3]).exists():
            tries += 1
            with subprocess.Popen([*command, *paths[2:]], **told) as process:  # type: ignore[call-overload]
                assert process.stdout is not None
                if process.stdout.readline():
                    time.sleep(rng.random() * 0.02)
                    process.send_signal(signal.SIGKILL)
                done += process.wait() == -signal.SIGKILL
        with subprocess.Popen([*command, *paths[2:]], **told) as process:  # type: ignore[call-overload]
            process.communicate()
        same = Path(paths[1]).read_bytes() == Path(paths[3]).read_bytes()
    return {"family": f"driver of {name} with a checkpoint", "kills": done, "changed": int(not same)}


def _predicting(ends: int) -> dict[str, Any]:
    """`sidelight predict --resume` that is ended while it writes, again and again, against one that is not."""
    import placed_fits
    import sidelight as sl
    from sidelight.data import write_columns

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sl.Tagger(learner="perceptron", n_jobs=1).fit(placed_fits.GOLD).save(folder / "model")
        (folder / "input").write_text(write_columns(placed_fits.XS * 40, placed_fits.YS * 40), encoding="utf-8")
        command = [sys.executable, "-c", PREDICT, "predict", "model", "input", "--labelled", "--jobs", "1", "--out"]
        subprocess.run([*command, "whole"], cwd=folder, check=True, capture_output=True)
        rng, done, part = random.Random(ends), 0, folder / "out.part"
        for _ in range(3 * ends):
            if done == ends:
                break
            before = part.stat().st_size if part.exists() else 0
            with subprocess.Popen([*command, "out", "--resume"], cwd=folder, stderr=subprocess.DEVNULL) as process:
                while process.poll() is None and (part.stat().st_size if part.exists() else 0) == before:
                    time.sleep(0.001)
                time.sleep(rng.random() * 0.05)
                process.send_signal(signal.SIGKILL)
                done += process.wait() == -signal.SIGKILL
        subprocess.run([*command, "out", "--resume"], cwd=folder, check=True, capture_output=True)
        same = (folder / "out").read_bytes() == (folder / "whole").read_bytes()
    return {"family": "predict --resume", "kills": done, "changed": int(not same)}
