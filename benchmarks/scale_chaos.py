"""Workers that are ended at random moments, in every family of learners: how many, and what they changed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

KILLS = 50


def run(*, quick: bool) -> dict[str, Any]:
    """Small fits of all families, over and over, until enough workers have died."""
    import placed_fits
    from chaos import Chaos
    from sidelight.parallel.place import ThreadPlace
    from sidelight.parallel.ray_place import RayPlace

    here, place = ThreadPlace(shard_tokens=placed_fits.TOKENS), RayPlace(workers=2, shard_tokens=placed_fits.TOKENS)
    families = dict(list(placed_fits.FAMILIES.items())[:3]) if quick else placed_fits.FAMILIES
    expected = {name: fit(here) for name, fit in families.items()}
    kills, fits, changed = dict.fromkeys(families, 0), 0, []
    seed = 0
    while sum(kills.values()) < (3 if quick else KILLS):
        for name, fit in families.items():
            seed += 1
            with Chaos(seed, most=2 if quick else 3).loose() as loose:
                found = fit(place)
            kills[name] += loose.kills
            fits += 1
            if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(expected[name], found, strict=True)):
                changed.append(name)
    return {"kills": kills, "total": sum(kills.values()), "fits": fits, "changed": changed}
