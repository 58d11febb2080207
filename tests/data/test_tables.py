"""Tables of every library give the same inputs and outputs, and what has the wrong shape is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight.data import from_table, load_corpus, load_evidence, read_parquet
from sidelight.errors import DataError

NAMES = ["O", "B-PER", "B-LOC"]
rows = st.lists(
    st.lists(st.tuples(st.text(min_size=1, max_size=3), st.sampled_from(NAMES)), min_size=1, max_size=4),
    min_size=1,
    max_size=5,
)


def needed(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is in the extra interop")


def wide(kind: str, columns: dict[str, list[Any]]) -> Any:
    """A table of a library."""
    if kind == "pandas":
        return needed("pandas").DataFrame(columns)
    if kind == "polars":
        return needed("polars").DataFrame(columns)
    if kind == "arrow":
        return needed("pyarrow").table(columns)
    if kind == "batch":
        return needed("pyarrow").RecordBatch.from_pydict(columns)
    if kind == "stream":
        return Stream(needed("pyarrow").table(columns))
    if kind == "interchange":
        return Interchange(needed("pyarrow").table(columns))
    if kind == "datasets":
        return needed("datasets").Dataset.from_dict(columns)
    return columns


class Stream:
    """What offers the stream of Arrow and nothing else."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested)


class Interchange:
    """What offers the older protocol and nothing else."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self._table.__dataframe__(nan_as_null, allow_copy)


LISTS = ["dict", "pandas", "polars", "arrow", "batch", "stream", "datasets"]


@pytest.mark.parametrize("kind", LISTS)
@settings(max_examples=25)
@given(rows)
def test_a_sentence_a_row(kind: str, drawn: Any) -> None:
    xs = [[word for word, _ in row] for row in drawn]
    ys = [[label for _, label in row] for row in drawn]
    numbers = [[NAMES.index(label) for label in y] for y in ys]
    table = wide(kind, {"tokens": xs, "labels": ys, "ner_tags": numbers})
    found = from_table(table, labels="labels")
    assert (found.xs, found.ys) == (xs, ys) and [one.line(0) for one in found.origins] == list(range(len(xs)))
    assert from_table(table, labels="ner_tags", names=NAMES).ys == ys
    assert from_table(table, labels="ner_tags").ys == numbers
    assert from_table(table).ys is None
    assert from_table(table, tokens=["tokens", "labels"]).xs == [list(zip(x, y)) for x, y in zip(xs, ys)]


@pytest.mark.parametrize("kind", [*LISTS, "interchange"])
@settings(max_examples=25)
@given(rows)
def test_a_token_a_row(kind: str, drawn: Any) -> None:
    flat = [(f"s{s}", word, label) for s, row in enumerate(drawn) for word, label in row]
    of, words, labels = map(list, zip(*flat))
    found = from_table(wide(kind, {"of": of, "word": words, "tag": labels}), tokens="word", labels="tag", sentence="of")
    assert found.xs == [[word for word, _ in row] for row in drawn]
    assert found.ys == [[label for _, label in row] for row in drawn]
    assert found.origins[-1].line(0) == len(flat) - len(drawn[-1])


def test_sentences_that_are_named_in_their_first_row_only() -> None:
    frame = needed("pandas").DataFrame({"of": ["s1", np.nan, "s2"], "word": ["Ann", "left", "Oslo"]})
    assert from_table(frame, tokens="word", sentence="of").xs == [["Ann", "left"], ["Oslo"]]
    frame["of"] = [1.0, np.nan, 2.0]
    assert from_table(frame, tokens="word", sentence="of").xs == [["Ann", "left"], ["Oslo"]]
    frame["of"] = needed("pandas").array(["a", None, "b"], dtype="string")
    assert from_table(frame, tokens="word", sentence="of").xs == [["Ann", "left"], ["Oslo"]]


def test_class_labels_of_datasets_have_their_names(tmp_path: Path) -> None:
    datasets = needed("datasets")
    kind = {
        "tokens": datasets.List(datasets.Value("string")),
        "ner_tags": datasets.List(datasets.ClassLabel(names=NAMES)),
    }
    columns = {"tokens": [["Ann", "left"], ["Oslo"], ["in", "Rome"]], "ner_tags": [[1, 0], [-100], [-1, 2]]}
    data = datasets.Dataset.from_dict(columns, features=datasets.Features(kind))
    expected = [["B-PER", "O"], [None], [None, "B-LOC"]]
    assert from_table(data, labels="ner_tags").ys == expected
    assert from_table(data.with_format("numpy"), labels="ner_tags").ys == expected
    assert from_table(data.select([2, 0]), labels="ner_tags").ys == [expected[2], expected[0]]
    data.to_parquet(tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet", labels="ner_tags").ys == expected
    assert [piece.y for piece in load_evidence(tmp_path / "a.parquet", "partial")] == expected
    with pytest.raises(DataError, match="several tables: train, test; give one of them, such as table\\['train'\\]"):
        from_table(datasets.DatasetDict({"train": data, "test": data}))
    with pytest.raises(DataError, match="a stream of rows"):
        from_table(data.to_iterable_dataset())


def test_columns_can_be_given_as_they_are() -> None:
    xs, ys = [["Ann", "left"], ["Oslo", "left"]], [["B-PER", "O"], ["B-LOC", "O"]]
    told = []
    for kind in ("pandas", "polars", "arrow", "datasets"):
        table = wide(kind, {"tokens": xs, "tags": ys})
        tagger = sl.Tagger(learner="crf", n_jobs=1, max_rounds=3)
        for fitted in (tagger.fit(sl.gold(table["tokens"], table["tags"])), tagger.fit(table["tokens"], table["tags"])):
            told.append(fitted.predict(table["tokens"]))
        for refused in (
            lambda: sl.gold(table, ys),  # noqa: B023
            lambda: tagger.predict(table),  # noqa: B023
            lambda: tagger.fit(table, ys),  # noqa: B023
            lambda: tagger.fit(table),  # noqa: B023
        ):
            with pytest.raises(DataError, match=r"a table .*from_table"):
                refused()
    assert told == [ys] * 8


def test_parquet_files(tmp_path: Path) -> None:
    pyarrow = needed("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    table = pyarrow.table({"tokens": [["Ann", "left"]], "labels": [["B-PER", None]], "other": [1]})
    parquet.write_table(table, path)
    assert load_corpus(path).ys == [["B-PER", None]] and load_corpus(path, label_column=None).ys is None
    assert load_evidence(path, "partial")[0].y == ["B-PER", None]
    with pytest.raises(DataError, match=r"a\.parquet:0: token 1 has no label"):
        load_evidence(path, "gold")
    (tmp_path / "b.parquet").write_bytes(b"no parquet")
    with pytest.raises(DataError, match=r"b\.parquet: not a Parquet file"):
        load_corpus(tmp_path / "b.parquet")
    with pytest.raises(DataError, match="there is no such file"):
        load_corpus(tmp_path / "c.parquet")


class Odd:
    """No table at all."""


@pytest.mark.parametrize(
    ("table", "how", "problem"),
    [
        ({"words": [["a"]]}, {}, "no column 'tokens'; there are 'words'; name one of them"),
        ({"tokens": [["a"]]}, {"labels": "tags"}, "no column 'tags'"),
        ({"tokens": ["a b"]}, {}, "row 0: 'tokens' is 'a b', not a list; give lists; or name the column"),
        ({"tokens": [["a"], 3]}, {}, "row 1: 'tokens' is 3, not a list"),
        ({"tokens": [["a", 3]]}, {}, "row 0, token 1: 'tokens' is 3, not text"),
        ({"tokens": [[]]}, {}, "row 0 has no tokens"),
        ({"tokens": []}, {}, "no rows"),
        ({"tokens": "abc"}, {}, "the column 'tokens' is 'abc'"),
        ({"tokens": [["a"]], "y": [["X", "Y"]]}, {"labels": "y"}, "row 0: 1 tokens but 2 labels"),
        ({"tokens": [["a"]], "y": ["X"]}, {"labels": "y"}, "row 0: 'y' is 'X', not a list"),
        ({"tokens": [["a"]], "y": []}, {"labels": "y"}, "columns of different lengths: 'tokens' has 1, 'y' has 0"),
        ({"tokens": [["a"]], "y": [[7]]}, {"labels": "y", "names": ["O"]}, "the label 7, where there are 1 names"),
        ({"tokens": [["a"]], "y": [[2.5]]}, {"labels": "y"}, "row 0, token 0: the label 2.5"),
        ({"tokens": [["a"]], "y": [[True]]}, {"labels": "y"}, "row 0, token 0: the label True"),
        ({"tokens": [["a"]], "y": [[""]]}, {"labels": "y"}, "row 0, token 0: the label ''"),
        ({"tokens": [["a", "b"]], "pos": [["X"]]}, {"tokens": ["tokens", "pos"]}, "row 0: 2 tokens but 1 pos"),
        ({"tokens": [["a"]]}, {"tokens": []}, "no column of tokens"),
        ({"w": ["a", "b", "c"], "s": [1, 2, 1]}, {"tokens": "w", "sentence": "s"}, "row 2 is of the sentence 1, which"),
        ({"w": ["a"], "s": [None]}, {"tokens": "w", "sentence": "s"}, "'s' is empty in the first row"),
        ({"w": ["a", None], "s": [1, 1]}, {"tokens": "w", "sentence": "s"}, "row 1: 'w' is None, not text"),
        (Odd(), {}, "is not a table; give a Dataset"),
        ([["a"]], {}, "is not a table; give a Dataset"),
        (3, {}, "3 is not a table"),
    ],
)
def test_what_has_the_wrong_shape_is_refused(table: Any, how: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError) as caught:
        from_table(table, **how)
    assert problem in str(caught.value) and caught.value.remedy and "\n" not in str(caught.value)


def test_lazy_frames_are_refused() -> None:
    with pytest.raises(DataError, match="a lazy frame; collect it first"):
        from_table(needed("polars").LazyFrame({"tokens": [["a"]]}))


def test_no_library_of_tables_is_imported() -> None:
    said = "import sys, sidelight as sl; sl.data.from_table({'tokens': [['a']]}); import sidelight.annotation_tools; "
    said += "print(sorted({'pandas', 'polars', 'pyarrow', 'datasets'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True).stdout == "[]\n"
