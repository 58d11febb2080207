"""Text files are read and written whole, and say what is wrong with them."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.data import read_lines, read_text, write_text_atomically
from sidelight.errors import DataError
from sidelight.models.files import write_tensors


def failure(path: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        read_text(path)
    return caught.value


def test_plain_compressed_and_marked_files_read_alike(tmp_path: Path) -> None:
    data = "Grüße\r\nan\ralle\n".encode()
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbf" + data)
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(data))
    for name in ("a.txt", "b.txt", "c.txt.gz"):
        assert read_text(tmp_path / name) == "Grüße\nan\nalle\n"
        assert read_lines(str(tmp_path / name)) == ["Grüße", "an", "alle"]


def test_only_line_ends_end_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\u2028b\x0cc\x85d\ne", encoding="utf-8")
    assert read_lines(tmp_path / "a.txt") == ["a\u2028b\x0cc\x85d", "e"]


def test_a_model_is_not_data(tmp_path: Path) -> None:
    write_tensors(tmp_path / "m", {"a": np.full(3, -1.5)}, kind="sidelight model", version=1, spec={})
    whole = (tmp_path / "m").read_bytes()
    (tmp_path / "m.gz").write_bytes(gzip.compress(whole))
    for name in ("m", "m.gz"):
        assert (
            str(failure(tmp_path / name)) == f"{tmp_path / name}: a sidelight model, not data; name a file with inputs"
        )
    (tmp_path / "text").write_text('12345678{"a": 1}')
    assert read_text(tmp_path / "text") == '12345678{"a": 1}'


def test_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("é\r\n".encode()), encoding="ascii"))
    assert read_text("-") == "é\n"


def test_standard_input_has_a_name_in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff")))
    with pytest.raises(DataError, match=r"^<stdin>:2: the byte 0xff is not UTF-8"):
        read_text("-")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_byte_that_is_not_utf8_is_found(tmp_path: Path, end: bytes, mark: bytes) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(mark + end.join(["é".encode(), b"b", b"caf\xe9 au lait", b"d"]))
    error = failure(path)
    assert error.line == 3
    assert str(error) == (
        f"{path}:3: the byte 0xe9 is not UTF-8; convert the file to UTF-8, e.g. iconv -f latin1 -t utf8"
    )


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
def test_utf16_is_called_by_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "notepad.txt"
    path.write_bytes("\ufeffAnn B\n".encode(name))
    assert failure(path).remedy == "convert the file to UTF-8, e.g. iconv -f utf-16 -t utf8"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert str(failure(tmp_path / "no.txt")) == f"{tmp_path / 'no.txt'}: there is no such file; check the name"
    assert str(failure(tmp_path)) == f"{tmp_path}: a folder, not a file; name a file in it"
    (tmp_path / "file").write_text("a")
    assert "cannot be read (Not a directory)" in str(failure(tmp_path / "file" / "b.txt"))
    whole = gzip.compress(b"some text that is long enough to be cut")
    for name, data in {"cut.gz": whole[:-12], "plain.gz": b"plain text", "bad.gz": whole[:10] + b"\xff" * 30}.items():
        (tmp_path / name).write_bytes(data)
        message = str(failure(tmp_path / name))
        assert message.startswith(f"{tmp_path / name}: not a whole gzip file (")
        assert message.endswith("; compress it again, or drop .gz from its name")


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")), st.sampled_from(["a.txt", "a.txt.gz"])
)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, text: str, name: str) -> None:
    path = tmp_path_factory.mktemp("files") / name
    write_text_atomically(path, text)
    assert read_text(path) == text.removeprefix("\ufeff")
    assert os.listdir(path.parent) == [name]


def test_writing_replaces_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text_atomically(path, "old")
    (tmp_path / "link.txt").symlink_to(path)
    write_text_atomically(str(tmp_path / "link.txt"), "new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "link.txt"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    write_text_atomically(path, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DataError, match=r"cannot be written \(No space left on device\); check the folder"):
        write_text_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "a.txt"
    with pytest.raises(DataError) as caught:
        write_text_atomically(missing, "text")
    assert (
        str(caught.value) == f"{missing}: there is no folder {missing.parent}; create the folder, or name another file"
    )
    with pytest.raises(DataError, match="this is a folder"):
        write_text_atomically(tmp_path, "text")
    with pytest.raises(DataError, match="not a regular file"):
        write_text_atomically("/dev/null", "text")
    with pytest.raises(DataError, match=r"a\.txt:2: the character .* cannot be written as UTF-8"):
        write_text_atomically(tmp_path / "a.txt", "a\n\ud800")
    assert os.listdir(tmp_path) == []
