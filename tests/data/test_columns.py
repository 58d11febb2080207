"""Column files round-trip, and a bad line is named with its remedy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.data import Corpus, read_columns, write_columns
from sidelight.errors import DataError
from sidelight.evidence import Origin


def read(tmp_path: Path, text: str, **options: object) -> Corpus:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    return read_columns(path, **options)  # type: ignore[arg-type]


def failure(tmp_path: Path, text: str, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        read(tmp_path, text, **options)
    return str(caught.value).removeprefix(str(tmp_path) + "/")


def test_sentences_labels_and_origins(tmp_path: Path) -> None:
    corpus = read(tmp_path, "\n\nLights NNS NOUN\non   IN\tADP\n \t\n\n\nOff RB ADV")
    file = str(tmp_path / "a.txt")
    assert corpus.xs == [[("Lights", "NNS"), ("on", "IN")], [("Off", "RB")]]
    assert corpus.ys == [["NOUN", "ADP"], ["ADV"]]
    assert corpus.origins == [Origin(file, range(3, 5)), Origin(file, range(8, 9))]
    assert len(corpus) == 2
    assert corpus.origins[0].line(1) == 4


def test_label_column_may_be_any_or_none(tmp_path: Path) -> None:
    text = "a b c\n"
    assert (read(tmp_path, text, label_column=0).xs, read(tmp_path, text, label_column=0).ys) == (
        [[("b", "c")]],
        [["a"]],
    )
    assert read(tmp_path, text, label_column=-2).xs == [[("a", "c")]]
    assert read(tmp_path, text, label_column=1).ys == read(tmp_path, text, label_column=-2).ys
    bare = read(tmp_path, text, label_column=None)
    assert (bare.xs, bare.ys) == ([[("a", "b", "c")]], None)
    assert read(tmp_path, "a\nb\n", label_column=None).xs == [[("a",), ("b",)]]


def test_a_tab_in_the_first_token_line_separates(tmp_path: Path) -> None:
    assert read(tmp_path, "New York\t\tLOC\n").xs == [[("New York", "")]]
    assert read(tmp_path, "a b\tX\n", separator=" ").xs == [[("a",)]]
    assert read(tmp_path, "a,b c,X\n", separator=",").xs == [[("a", "b c")]]


def test_windows_and_marked_files(tmp_path: Path) -> None:
    corpus = read(tmp_path, "\ufeffa X\r\nb Y\r\n\r\nc X\r\n")
    assert (corpus.xs, corpus.ys) == ([[("a",), ("b",)], [("c",)]], [["X", "Y"], ["X"]])


def test_a_no_break_space_is_part_of_its_word(tmp_path: Path) -> None:
    assert read(tmp_path, "10\xa0000 NUM\n\u3000 X\n").xs == [[("10\xa0000",), ("\u3000",)]]


@pytest.mark.parametrize("mark", ["-DOCSTART- -X- O", "-DOCSTART-", "-DOCSTART-\t-X-\tO\tO"])
def test_marks_of_documents_are_no_sentences(tmp_path: Path, mark: str) -> None:
    corpus = read(tmp_path, f"{mark}\n\na N X\n\n{mark}\n\nb N Y\n\n{mark}")
    assert (corpus.xs, corpus.ys) == ([[("a", "N")], [("b", "N")]], [["X"], ["Y"]])
    assert [origin.line(0) for origin in corpus.origins] == [3, 7]
    assert failure(tmp_path, f"{mark}\n\n").startswith("a.txt: no tokens; give one token a line")


def test_a_word_among_others_is_no_mark_of_documents(tmp_path: Path) -> None:
    assert read(tmp_path, "-DOCSTART- X\na X\n").xs == [[("-DOCSTART-",), ("a",)]]
    assert read(tmp_path, "a X\n-DOCSTART- X\n").xs == [[("a",), ("-DOCSTART-",)]]
    assert read(tmp_path, "-DOCSTART-s X\n").xs == [[("-DOCSTART-s",)]]


@pytest.mark.parametrize("labels", [None, [["X"]]])
def test_what_would_be_read_as_a_mark_is_not_written(labels: list[list[str]] | None) -> None:
    with pytest.raises(DataError, match="sentence 0 would be read as a mark of documents; leave it out"):
        write_columns([["-DOCSTART-"]], labels)
    assert write_columns([["-DOCSTART-", "a"]]) == "-DOCSTART-\na\n\n"


def test_ragged_lines_are_named(tmp_path: Path) -> None:
    assert failure(tmp_path, "\na b c X\n\nd e f X\ng h X\n") == (
        "a.txt:5: 3 columns where 4 were expected; give every token the 4 columns that line 2 has, separated by spaces"
    )
    assert failure(tmp_path, "a\tX\nb\n") == (
        "a.txt:2: 1 column where 2 were expected; give every token the 2 columns that line 1 has, separated by tabs"
    )


def test_other_bad_files(tmp_path: Path) -> None:
    for text in ("", "\n\n", " \t\r\n"):
        assert failure(tmp_path, text).startswith("a.txt: no tokens; give one token a line")
    assert failure(tmp_path, "a b X\n", label_column=3) == (
        "a.txt:1: label column 3 where the file has 3 columns; name a column from -3 to 2"
    )
    assert failure(tmp_path, "a\nb\n") == (
        "a.txt:1: 1 column, which leaves no input beside the label; "
        "add the columns that are missing; a file without labels is one to predict, or unlabelled"
    )
    assert failure(tmp_path, "a\tX\n\nb\tX\nc\t\nd\tX\n").startswith("a.txt:4: an empty label; write the label")
    with pytest.raises(DataError, match="an empty separator"):
        read(tmp_path, "a X", separator="")


def test_a_very_long_sentence(tmp_path: Path) -> None:
    corpus = read(tmp_path, "w N X\n" * 100_000)
    assert (len(corpus), len(corpus.xs[0]), corpus.origins[0].line(99_999)) == (1, 100_000, 100_000)


def calls_to_read(tmp_path: Path, sentences: int) -> int:
    """How many functions are called while a file is read."""
    text, calls, before = "word NN B-NP\nother NN I-NP\n\n" * sentences, 0, sys.getprofile()

    def counted(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    path = tmp_path / "a.txt"
    path.write_text(text)
    sys.setprofile(counted)
    try:
        read_columns(path)
    finally:
        sys.setprofile(before)
    return calls


def test_every_line_costs_the_same(tmp_path: Path) -> None:
    calls_to_read(tmp_path, 1)  # whatever is done once
    few, more, most = (calls_to_read(tmp_path, number) for number in (100, 200, 300))
    assert abs((most - more) - (more - few)) < 0.02 * most  # files are read in blocks
    assert (more - few) / 300 < 12  # calls a line, of which a third are blank


def test_equal_cells_are_one_string(tmp_path: Path) -> None:
    corpus = read(tmp_path, "word NN B-NP\nword VB B-NP\n\n" * 1000)
    assert corpus.ys is not None
    cells = [cell for x in corpus.xs for token in x for cell in token] + [label for y in corpus.ys for label in y]
    assert len({id(cell) for cell in cells}) == 4


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff"), max_size=4)
LABEL = CELL.filter(lambda cell: cell.strip(" "))


@settings(deadline=None)
@given(st.data(), st.integers(1, 3))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, width: int) -> None:
    token = st.tuples(st.tuples(*[CELL] * width), LABEL)
    sentences = data.draw(st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=4))
    xs = [[cells for cells, _ in sentence] for sentence in sentences]
    ys = [[label for _, label in sentence] for sentence in sentences]
    path = tmp_path_factory.mktemp("columns") / "a.txt"
    path.write_bytes(write_columns(xs, ys).encode())
    corpus = read_columns(path)
    assert (corpus.xs, corpus.ys) == (xs, ys)
    lines = path.read_bytes().decode().split("\n")
    for y, origin in zip(ys, corpus.origins):
        assert [lines[origin.line(t) - 1].split("\t")[-1] for t in range(len(y))] == y


def test_writing_without_labels(tmp_path: Path) -> None:
    assert write_columns([["a", "b"]]) == "a\nb\n\n"
    assert read(tmp_path, write_columns([["a", "b\xa0c"]]), label_column=None).xs == [[("a",), ("b\xa0c",)]]


@pytest.mark.parametrize(
    ("xs", "ys", "problem"),
    [
        ([["a"], []], [["X"], []], "sentence 1 has no tokens"),
        ([["a"]], [["X", "Y"]], "sentence 0 has 1 tokens but 2 labels"),
        ([["a"]], [["X"], ["Y"]], "1 inputs but 2 outputs"),
        ([["a", "b\tc"]], [["X", "X"]], "sentence 0, token 1: 'b\\tc' holds a tab or the end of a line"),
        ([["a"]], [["X\n"]], "sentence 0, token 0: 'X\\n' holds a tab"),
        ([[("a", 1)]], None, "sentence 0, token 0: 1 is not a string"),
        ([[("a", "b"), ("c",)]], None, "sentence 0, token 1: 1 columns where 2 were expected"),
        ([["a"]], [[""]], "sentence 0, token 0: an empty label"),
        ([["a b"]], None, "would not be read as one token"),
        ([[(" ", "")]], None, "would not be read as one token"),
        ([["\ufeff"]], None, "byte order mark"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(
    xs: list[list[str]], ys: list[list[str]] | None, problem: str
) -> None:
    with pytest.raises(DataError) as caught:
        write_columns(xs, ys)
    assert problem in str(caught.value)
    assert caught.value.remedy
