"""Python does not look for cycles while many objects are made, and does afterwards what it did before."""

import gc
import threading

import pytest

from sidelight.core.collection import without_collection


@pytest.fixture(autouse=True)
def as_before():
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("on", [True, False])
def test_what_was_before_is_there_again(on):
    (gc.enable if on else gc.disable)()
    with pytest.raises(KeyError), without_collection():
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled() is on


def test_the_last_of_several_threads_ends_it():
    gc.enable()
    inside, done = threading.Event(), threading.Event()

    def other():
        with without_collection():
            inside.set()
            done.wait()

    thread = threading.Thread(target=other)
    with without_collection():
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    done.set()
    thread.join()
    assert gc.isenabled()
