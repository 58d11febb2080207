"""Pieces of a file are the file: the same lines at any size, errors in the same places, and a way to go on."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.data import read_lines, stored
from sidelight.data.text_pieces import pieces_of, placed
from sidelight.errors import DataError

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.lists(st.tuples(st.sampled_from(["", " ", "\t", "é B", "the A", "-DOCSTART- O", "a\u2028b C"]), ENDS))


@settings(max_examples=100)
@given(lines=LINES, size=st.integers(1, 20), by_line=st.booleans(), mark=st.booleans(), last=st.booleans())
def test_pieces_are_the_file(
    lines: list[tuple[str, str]],
    size: int,
    by_line: bool,
    mark: bool,
    last: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    text = "".join(line + end for line, end in lines) + ("end X" if last else "")
    data = ("\ufeff" if mark else "").encode() + text.encode()
    folder = tmp_path_factory.mktemp("pieces")
    for name, written in (("a.txt", data), ("a.txt.gz", gzip.compress(data))):
        path = folder / name
        path.write_bytes(written)
        whole = read_lines(path)
        pieces = list(pieces_of(path, by_line=by_line, size=size))
        assert [line for piece in pieces for line in piece.lines] == whole
        assert [piece.first for piece in pieces] == [sum(len(p.lines) for p in pieces[:k]) for k in range(len(pieces))]
        for k, piece in enumerate(pieces):
            lines_so_far = piece.first + len(piece.lines)
            rest = list(pieces_of(path, by_line=by_line, size=size, begin=piece.end, first=lines_so_far))
            assert [line for one in rest for line in one.lines] == whole[lines_so_far:]
            if not by_line and k + 1 < len(pieces):
                assert not piece.lines[-1].strip(" \t")  # sentences are whole


def test_errors_have_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a A\n\nb B\n\n\xff C\n")
    with pytest.raises(DataError, match=r"a\.txt:5: the byte 0xff is not UTF-8"):
        list(pieces_of(path, by_line=False, size=4))
    path.write_text("a A\n\nb B\n\nc\n")
    *_, last = pieces_of(path, by_line=False, size=4)
    with pytest.raises(DataError) as found, placed(last):
        raise DataError("odd", file=str(path), line=1)
    assert found.value.line == 5


def test_other_columns_further_down_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sidelight.data import text_pieces

    monkeypatch.setattr(text_pieces, "SIZE", 4)
    path = tmp_path / "a.txt"
    path.write_text("a A\n\nb A\n\nc x A\n\n")
    corpus = stored(gold=path, folder=tmp_path / "p")
    with pytest.raises(DataError, match=r"a\.txt:5: 2 columns of input where the lines before have 1"):
        list(corpus.pieces("gold", path))


@pytest.mark.parametrize("data", [b"\x1f\x8bnonsense", gzip.compress(b"a A\n\n" * 99)[:-9]])
def test_a_broken_archive_is_named(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(data)
    with pytest.raises(DataError, match="not a whole gzip file"):
        list(pieces_of(path, by_line=False))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        list(pieces_of(tmp_path / "a.txt", by_line=False))
    with pytest.raises(DataError, match="cannot be read twice"):
        stored(gold="-", folder=tmp_path)
    with pytest.raises(DataError, match="no evidence"):
        stored(folder=tmp_path)
