"""Processes that fork: what was fitted before is there, and what is asked of a child ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from numba.core.compiler_lock import global_compiler_lock

import sidelight as sl
from sidelight.corpus import references
from sidelight.estimators.segment_tagger import SegmentTagger
from sidelight.parallel import threads
from sidelight.rules import count, rule
from translating import made_up

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

LIMIT = 120.0  # seconds, after which a child counts as hung
CORPUS = references(160, seed=5)
XS, YS = [list(one.tokens) for one in CORPUS], [list(one.labels) for one in CORPUS]
SOURCES, TARGETS, _ = made_up(200)


@rule
def has_a_title(x, y):
    return count(y[t] == "title" for t in x.positions) >= 1


def in_child(work: Callable[[], object]) -> object:
    """What a forked child makes of some work; a child that hangs is killed, and fails the test."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks beside threads
        child = os.fork()
    if child == 0:  # nothing of the test's own may run on here
        code = 1
        try:
            os.close(reader)
            os.write(writer, repr(work()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    limit = time.monotonic() + LIMIT
    while (done := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    with os.fdopen(reader, "rb") as file:
        told = file.read()
    assert os.waitstatus_to_exitcode(done[1]) == 0, told
    return told.decode()


def tagger() -> sl.Tagger:
    return sl.Tagger(learner="crf", n_jobs=2, max_rounds=4)


def ruled() -> sl.Tagger:
    return sl.Tagger(learner="crf", n_jobs=2, max_rounds=4, rules=[has_a_title])


def segmenter() -> SegmentTagger:
    return SegmentTagger(n_jobs=2, max_rounds=3, max_length=6)


def test_a_pool_is_not_shared_with_a_child() -> None:
    work = list(range(100))
    assert threads(str, work, n_jobs=2) == threads(str, work, n_jobs=1)
    assert in_child(lambda: threads(str, work, n_jobs=2)) == repr(list(map(str, work)))
    assert in_child(lambda: in_child(lambda: threads(str, work, n_jobs=2))) == repr(repr(list(map(str, work))))
    assert threads(str, work, n_jobs=2) == list(map(str, work))  # and the parent still has its own


@pytest.mark.parametrize("make", [tagger, ruled, segmenter])
def test_taggers_fit_and_predict_in_a_child(make: Callable[[], Any]) -> None:
    fitted = make().fit(XS, YS)
    expected = repr(fitted.predict(XS))
    assert in_child(lambda: fitted.predict(XS)) == expected
    assert in_child(lambda: make().fit(XS, YS).predict(XS)) == expected


def test_aligners_fit_and_align_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("agreement", "alignment_decoding", "translation"):
        monkeypatch.setattr(
            f"sidelight.generative.word_alignment.{module}.SHARD_CELLS", 1 << 10
        )  # so that there are several
    pairs = list(zip(SOURCES, TARGETS))
    fitted = sl.Aligner(n_jobs=2).fit(pairs)
    expected = repr(fitted.align(pairs))
    assert in_child(lambda: fitted.align(pairs)) == expected
    assert in_child(lambda: sl.Aligner(n_jobs=2).fit(pairs).align(pairs)) == expected


def test_a_pool_of_processes() -> None:
    fitted = tagger().fit(XS, YS)
    expected = fitted.predict(XS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(fitted.predict, [XS[:80], XS[80:]]).get(LIMIT) == [expected[:80], expected[80:]]


def test_a_fork_while_another_thread_compiles() -> None:
    begun, done = threading.Event(), threading.Event()

    def compile_for_long() -> None:
        with global_compiler_lock:
            begun.set()
            done.wait(0.5)

    def taken() -> bool:
        with global_compiler_lock:
            return True

    other = threading.Thread(target=compile_for_long)
    other.start()
    begun.wait()
    assert in_child(taken) == "True"
    done.set()
    other.join()
    assert taken()
