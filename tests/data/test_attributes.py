"""CRFsuite's format: names round-trip through their escapes, and values are finite numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.data import Corpus, read_attributes
from sidelight.errors import DataError

Tokens = list[tuple[str, dict[str, float]]]


def read(tmp_path: Path, text: str, *, labelled: bool = True) -> Corpus:
    path = tmp_path / "a.crfsuite"
    path.write_bytes(text.encode())
    return read_attributes(path, labelled=labelled)


def written(sequences: list[Tokens]) -> str:
    def escape(name: str) -> str:
        return name.replace("\\", "\\\\").replace(":", "\\:")

    def line(label: str, token: dict[str, float]) -> str:
        return "\t".join([escape(label), *(f"{escape(name)}:{value!r}" for name, value in token.items())])

    return "\n\n".join("\n".join(line(label, token) for label, token in tokens) for tokens in sequences)


def test_values_escapes_and_sums(tmp_path: Path) -> None:
    corpus = read(
        tmp_path, "B\\:X\ta\tb:2.5\ta\tb:-0.5\n\nO\ttime=10\\:30\tp=\\\\:3\tw=\\n\t\n\n\n\tno\n", labelled=False
    )
    assert corpus.xs == [[{"a": 2.0, "b": 2.0}], [{"time=10:30": 1.0, "p=\\": 3.0, "w=\\n": 1.0}], [{"no": 1.0}]]
    assert corpus.ys == [["B\\:X"], ["O"], [""]]
    assert [list(origin.lines) for origin in corpus.origins] == [[1], [3], [6]]


def test_labels_are_unescaped(tmp_path: Path) -> None:
    corpus = read(tmp_path, "B\\:X\ta\r\nO\r\n")
    assert (corpus.xs, corpus.ys) == ([[{"a": 1.0}, {}]], [["B:X", "O"]])
    assert list(corpus.origins[0].lines) == [1, 2]


NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff"), min_size=1, max_size=5)
LABEL = NAME.filter(lambda label: label.strip(" "))
TOKEN = st.dictionaries(NAME, st.floats(allow_nan=False, allow_infinity=False), max_size=4)


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(LABEL, TOKEN), min_size=1, max_size=4), min_size=1, max_size=4))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, sequences: list[Tokens]) -> None:
    corpus = read(tmp_path_factory.mktemp("attributes"), written(sequences))
    assert corpus.xs == [[token for _, token in tokens] for tokens in sequences]
    assert corpus.ys == [[label for label, _ in tokens] for tokens in sequences]


ESCAPES = r"write a colon that belongs to a name as \: and a backslash as \\"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X\tw=10:30:1", f"the value '30:1' of 'w=10:30:1' is not a number; {ESCAPES}"),
        ("X\tw=:", f"the value '' of 'w=:' is not a number; {ESCAPES}"),
        ("X\ta\tb:1_0", f"the value '1_0' of 'b:1_0' is not a number; {ESCAPES}"),
        ("X\ta:nan", "the value 'nan' of 'a:nan' is not finite; give a finite number, or leave the attribute out"),
        ("X\ta:-inf", "the value '-inf' of 'a:-inf' is not finite; give a finite number, or leave the attribute out"),
        (
            "X\ta:1e999",
            "the value '1e999' of 'a:1e999' is not finite; give a finite number, or leave the attribute out",
        ),
        ("X\ta:1e308\ta:1e308", "the values of attribute 'a' add up to inf; give values whose sum is finite"),
        ("X\t:1", f"no attribute before the colon in ':1'; {ESCAPES}"),
        ("B:X\ta", f"an unescaped colon in the label 'B:X'; {ESCAPES}"),
        ("\ta", "an empty label; start the line with a label and a tab"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, f"X\ta\n\nX\ta\n{line}\n")
    assert str(caught.value) == f"{tmp_path / 'a.crfsuite'}:4: {message}"


def test_a_file_without_tokens(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.crfsuite: no tokens; give one token a line"):
        read(tmp_path, "\n \n")
