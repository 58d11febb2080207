"""A rule that fails names the line that its writer should look at."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from sidelight.errors import DataError
from sidelight.rules import Domain, Sentence, gallery, read_rules, rule

DOMAIN = Domain(["A", "B"])
X = Sentence(["x", "y"])


def _said(one) -> str:
    with pytest.raises(DataError) as raised:
        one.on_labels(X, DOMAIN)
    return str(raised.value)


def _line(function, more: int) -> str:
    return f"test_places.py:{function.__code__.co_firstlineno + more}: "


def test_the_line_is_the_writer_s_own_and_not_of_a_library_it_calls() -> None:
    def helper(text):
        return json.loads(text)

    def reads(x, y):
        return y[0] == helper(x.words[0])

    assert _line(helper, 1) in _said(rule(reads))  # the deepest one of the file

    @functools.wraps(reads)
    def wrapped(x, y):
        return reads(x, y)

    assert _line(helper, 1) in _said(rule(wrapped))

    def reads_itself(x, y):
        return y[0] == json.loads(x.words[0])

    assert _line(reads_itself, 1) in _said(rule(reads_itself))


def test_what_is_returned_has_the_line_of_the_function() -> None:
    def says_nothing(x, y):
        x.words.sort()

    assert _line(says_nothing, 0) in _said(rule(says_nothing))


def test_objects_that_are_called_and_rules_of_the_gallery() -> None:
    class Callable:
        def __call__(self, x, y):
            return y[0] == json.loads(x.words[0])

    assert _line(Callable.__call__, 1) in _said(rule(Callable(), name="callable"))

    def also(word):
        return json.loads(word)

    assert _line(also, 1) in _said(gallery.changes_after_punctuation(also=also))
    assert _said(gallery.ends_with("C")).startswith("the rule end: there is no label 'C'")


@pytest.mark.parametrize("folder", ["sidelight/rules", "mine"])
def test_files_are_told_from_the_library_by_where_they_are(tmp_path: Path, folder: str, monkeypatch) -> None:
    path = tmp_path / folder / "zero.py"
    path.parent.mkdir(parents=True)
    path.write_text("from sidelight.rules import rule\n@rule\ndef zero(x, y):\n    return y[0] == 1 / 0\n")
    monkeypatch.chdir(path.parent)
    for given in (path, "zero.py"):
        assert (
            _said(read_rules(given)[0]) == f"{path}:4: the rule zero: ZeroDivisionError: division by zero; fix the rule"
        )
    path.write_text("import json\n\nRULES = json.loads('x')\n")
    for given in (path, "zero.py"):
        with pytest.raises(DataError, match=r"zero.py:3: JSONDecodeError"):
            read_rules(given)
