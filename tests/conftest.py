"""Lets every test import `drawing` and `quadratic`, which stand in tests/laws, and `expressions`, beside this file.

Cases of laws are drawn anew in every run, so that they go on looking; where SIDELIGHT_STEADY is set (before a change
lands) they are the same in every run, so that a change is judged by what it changes. Where SIDELIGHT_NO_SKIPS is set,
a run that skips a test has failed: it is to show that all libraries are there.
"""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here / "laws"), str(here)]
settings.register_profile("anew", deadline=None)  # no test is about time: the first case may compile
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady" if os.environ.get("SIDELIGHT_STEADY") else "anew")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where tests were skipped, if none may be."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("SIDELIGHT_NO_SKIPS") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
