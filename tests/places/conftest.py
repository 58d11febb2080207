"""One Ray cluster on this machine for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chaos import Chaos
from placed_fits import TOKENS
from sidelight.parallel.ray_place import RayPlace, disband


@pytest.fixture(scope="session")
def workers() -> Iterator[RayPlace]:
    """Two workers with a thread each."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'sidelight[ray]'")
    yield RayPlace(workers=2, shard_tokens=TOKENS)
    disband()


@pytest.fixture
def chaos() -> type[Chaos]:
    return Chaos
