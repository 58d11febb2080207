"""Parallel text, and everything that can be wrong with it."""

from __future__ import annotations

import gzip

import pytest

from sidelight.data.parallel import read_parallel
from sidelight.errors import DataError


def files(folder, left, right, *, zipped=False):
    paths = []
    for name, text in (("a.en", left), ("a.fr", right)):
        data = text if isinstance(text, bytes) else text.encode()
        path = folder / (name + ".gz" * zipped)
        path.write_bytes(gzip.compress(data) if zipped else data)
        paths.append(path)
    return paths


@pytest.mark.parametrize("zipped", [False, True])
def test_pairs_and_their_lines(tmp_path, zipped):
    text = read_parallel(*files(tmp_path, "light on\nno .\n", "lumière allumée\r\nnon .\r\n", zipped=zipped))
    assert text.pairs == [(["light", "on"], ["lumière", "allumée"]), (["no", "."], ["non", "."])]
    assert (text.lines, text.skipped, text.count) == ([1, 2], [], 2)


def test_a_no_break_space_is_part_of_its_word(tmp_path):
    text = read_parallel(*files(tmp_path, "10\u00a0% more\n", "10\u00a0%\tde  plus \n"))
    assert text.sources == [["10\u00a0%", "more"]]
    assert text.targets == [["10\u00a0%", "de", "plus"]]


@pytest.mark.parametrize(("left", "right", "file"), [("a\n\nb\n", "x\ny\nz\n", "a.en"), ("a\nb\n", "x\n \t\n", "a.fr")])
def test_an_empty_sentence_is_named_and_skipped_on_request(tmp_path, left, right, file):
    paths = files(tmp_path, left, right)
    with pytest.raises(DataError, match=rf"{file}:2: an empty sentence; .*--skip-empty") as caught:
        read_parallel(*paths)
    assert caught.value.line == 2
    text = read_parallel(*paths, skip_empty=True)
    assert text.skipped == [2]
    assert text.on_all_lines(["L"] * len(text.lines)) == ["" if n == 2 else "L" for n in range(1, left.count("\n") + 1)]


def test_different_numbers_of_lines(tmp_path):
    with pytest.raises(DataError, match=r"a\.fr: 1 lines where .*a\.en has 2; "):
        read_parallel(*files(tmp_path, "a\nb\n", "x\n"))


def test_no_pairs(tmp_path):
    for text in ("", "\n\n"):
        with pytest.raises(DataError, match="no sentence pairs"):
            read_parallel(*files(tmp_path, text, text), skip_empty=True)


def test_text_that_is_not_utf8(tmp_path):
    with pytest.raises(DataError, match=r"a\.fr:2: the byte 0xe9 is not UTF-8"):
        read_parallel(*files(tmp_path, "a\nb\n", b"x\n\xe9t\xe9\n"))
