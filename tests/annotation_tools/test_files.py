"""Label Studio, doccano and brat: what was written reads as the same spans, and no annotation is lost in silence."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drawing_documents import labelled
from hypothesis import given
from hypothesis import strategies as st

from sidelight.annotation_tools import brat, doccano, document, extractions, label_studio
from sidelight.data.relations import EntitySentence, Extraction
from sidelight.errors import DataError, LeftOut
from sidelight.evidence import Candidates, Gold, Partial, Unlabeled

TEXT = "Ann 🙂 left New-York.\nBob sleeps."


def region(start: int, end: int, *labels: str, **more: Any) -> dict[str, Any]:
    return {"type": "labels", "value": {"start": start, "end": end, "labels": list(labels), **more}}


def task(*annotations: list[dict[str, Any]], text: str = TEXT, **more: Any) -> dict[str, Any]:
    return {"id": 7, "data": {"text": text}, "annotations": [{"result": results} for results in annotations], **more}


@pytest.fixture
def studio(tmp_path: Path) -> Callable[..., Any]:
    def read(*tasks: Any, **how: Any) -> Any:
        path = tmp_path / "export.json"
        path.write_text(json.dumps(list(tasks), indent=1), encoding="utf-8")
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            return label_studio.read(path, **how)

    return read


def rows_of(file: Any) -> list[list[str]]:
    return [piece.y if isinstance(piece, Gold) else ["O"] * len(piece.x) for piece in file.evidence]


@given(labelled(), st.sampled_from(["characters", "utf16"]))
def test_predictions_for_label_studio_come_back(drawn: Any, offsets: Any) -> None:
    docs, rows = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.json")
        sure = [[0.25 + 0.5 * (t == 0) for t, _ in enumerate(row)] for row in rows]
        label_studio.write(path, docs, rows, offsets=offsets, confidence=sure)
        for how in (offsets, "auto"):
            back = label_studio.read(path, take="predictions", offsets=how)
            assert rows_of(back) == rows and not back.misfits
            assert [doc.text for doc in back.documents] == [doc.text for doc in docs]
        bare = label_studio.read(path)
    assert {type(piece) for piece in bare.evidence} <= {Unlabeled}


@given(labelled(), st.booleans())
def test_files_of_doccano_come_back(drawn: Any, entities: bool) -> None:
    docs, rows = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        if entities:
            lines = [json.dumps({"text": doc.text, "entities": []}) for doc in docs]
            path.write_text("\n".join(lines))
            docs = list(doccano.read(path).documents)
        doccano.write(path, docs, rows)
        back = doccano.read(path, empty="gold")
        assert rows_of(back) == rows and not back.misfits
        assert ('"entities"' in path.read_text()) is entities


@given(labelled())
def test_files_of_brat_come_back(drawn: Any) -> None:
    docs, rows = drawn
    with tempfile.TemporaryDirectory() as folder:
        brat.write(folder, docs, rows)
        back = brat.read(folder, empty="gold")
        assert [doc.text for doc in back.documents] == [doc.text for doc in docs]  # \r\n and all
        assert rows_of(back) == rows and not back.misfits


def test_kinds_of_evidence(studio: Any) -> None:
    agreed = [region(0, 3, "PER")]
    file = studio(
        task(agreed, agreed),
        task([]),
        task(),
        task([region(0, 3, "PER")], [region(0, 3, "ORG")]),
        task([region(11, 14, "LOC")]),
        task(agreed, [], annotations=[{"result": agreed, "ground_truth": True}, {"result": []}]),
        task(annotations=[{"result": [], "was_cancelled": True}]),
    )
    kinds = [piece.kind for piece in file.evidence]
    twice = [
        kind for kind in ["gold", "gold", "unlabeled", "candidates", "partial", "gold", "unlabeled"] for _ in range(2)
    ]
    twice[7] = twice[9] = "gold"  # the second line of a text is in order where the first is not
    assert kinds == twice and sum(file.counts().values()) == len(kinds)
    assert file.of_kind("candidates") == [
        Candidates(["Ann", "🙂", "left", "New-York", "."], [("B-PER", "B-ORG"), ("O",), ("O",), ("O",), ("O",)])
    ]
    assert file.of_kind("partial") == [Partial(["Ann", "🙂", "left", "New-York", "."], ["O", "O", "O", None, "O"])]
    assert [str(one) for one in file.misfits] == [
        f"{file.documents[0].file}, task 7, characters 11 to 14 ('New', LOC): ends inside the token 'New-York'",
        f"{file.documents[0].file}, task 7: has annotations beside one that is marked as ground truth",
    ]


@pytest.mark.parametrize("text", [True, False])
def test_utf16_is_told_by_the_texts_of_annotations(studio: Any, text: bool) -> None:
    said = {"text": "left"} if text else {}
    file = studio(task([region(7, 11, "V", **said), region(22, 25, "PER")]))  # 6 and 21 in characters
    if text:
        assert [piece.y for piece in file.evidence] == [["O", "O", "B-V", "O", "O"], ["B-PER", "O", "O"]]
    else:  # nothing tells, and characters are counted: the places do not fit
        assert [one.problem[:12] for one in file.misfits] == ["begins insid", "begins insid"]
    told = studio(task([region(7, 11, "V"), region(22, 25, "PER")]), offsets="utf16")
    assert [piece.y for piece in told.evidence] == [["O", "O", "B-V", "O", "O"], ["B-PER", "O", "O"]]
    assert "in UTF-16" in studio(task([region(5, 11, "V")]), offsets="utf16").misfits[0].problem


def test_what_label_studio_has_besides_labels_is_reported(studio: Any) -> None:
    results = [
        {"type": "choices", "value": {"choices": ["spam"]}},
        region(0, 3),
        region(0, 3, "PER", text="Ann"),
        region(6, 10, "V", text="right"),
        {"type": "hypertextlabels", "value": {"start": "/p[1]", "end": "/p[1]", "hypertextlabels": ["PER"]}},
        region(21, 24, "PER", "ORG", text="Bob"),
    ]
    file = studio(task(results))
    assert sorted(one.problem for one in file.misfits) == [
        "a result has no whole numbers for start and end, but '/p[1]'",
        "a result of type 'choices' is not a label of a span of text",
        "has no label",
        "overlaps 'Bob' (PER)",
        "says that its text is 'right'",
    ]
    assert [piece.y for piece in file.evidence] == [["B-PER", "O", None, "O", "O"], ["B-PER", "O", "O"]]


def test_a_warning_counts_and_names_what_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "New-York", "label": [[0, 3, "X"]] * 12}))
    with pytest.warns(LeftOut) as told:
        file = doccano.read(tmp_path / "a.jsonl")
    lines = str(told[0].message).splitlines()
    assert lines[0].endswith("a.jsonl: 12 annotations left out") and lines[-1].startswith("and 2 more;")
    assert lines[1].endswith("line 1, characters 0 to 3 ('New', X): ends inside the token 'New-York'")
    assert len(lines) == 12 and len(file.misfits) == 12


def test_predictions_keep_the_task_and_its_names(tmp_path: Path) -> None:
    named = {"from_name": "ner", "to_name": "words", **region(0, 3, "PER")}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([task([named], meta={"who": 1})]))
    file = label_studio.read(path)
    found = json.loads(label_studio.text_of(file.documents, [["B-LOC", "O", "O", "O", "O"], ["O"] * 3]))
    assert found[0]["meta"] == {"who": 1} and found[0]["annotations"] and found[0]["id"] == 7
    (one,) = found[0]["predictions"][0]["result"]
    assert (one["from_name"], one["to_name"]) == ("ner", "words") and "score" not in one
    assert one["value"] == {"start": 0, "end": 3, "text": "Ann", "labels": ["LOC"]}
    sure = [[0.5, 1, 1, 0.25, 1], [1, 1, 1]]
    scored = json.loads(
        label_studio.text_of(file.documents, [["B-A", "I-A", "O", "O", "O"], ["O"] * 3], confidence=sure)
    )
    assert scored[0]["predictions"][0]["score"] == 0.25
    assert [one["score"] for one in scored[0]["predictions"][0]["result"]] == [0.5]


def test_doccano_keeps_other_keys_and_reads_both_forms(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"id": 4, "text": "Ann left Oslo", "label": [[0, 3, "PER"]], "Comments": []}\n'
        '{"text": "Ann left Oslo", "entities": [{"id": 9, "label": "PER", "start_offset": 0, "end_offset": 3}], '
        '"relations": []}\n{"text": "Ann"}\n{"text": "Ann", "labels": []}\n'
    )
    file = doccano.read(path)
    assert [piece.kind for piece in file.evidence] == ["gold", "gold", "unlabeled", "unlabeled"]
    assert [piece.kind for piece in doccano.read(path, empty="gold").evidence] == ["gold", "gold", "unlabeled", "gold"]
    assert [piece.origin.line(0) for piece in file.evidence] == [1, 2, 3, 4]
    lines = doccano.text_of(file.documents, [["O", "O", "B-LOC"], ["O", "O", "B-LOC"], ["O"], ["B-PER"]]).splitlines()
    assert json.loads(lines[0]) == {"id": 4, "Comments": [], "text": "Ann left Oslo", "label": [[9, 13, "LOC"]]}
    entity = {"id": 1, "label": "LOC", "start_offset": 9, "end_offset": 13}
    assert json.loads(lines[1]) == {"text": "Ann left Oslo", "entities": [entity], "relations": []}
    assert json.loads(lines[3]) == {"text": "Ann", "labels": [[0, 3, "PER"]]}
    path.write_text('{"text": "🙂 Ann", "label": [[3, 6, "PER"]]}')
    assert doccano.read(path, offsets="utf16").evidence[0].y == ["O", "B-PER"]


def test_what_brat_has_besides_text_bound_annotations_is_reported(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_bytes(b"Ann met Bob\r\nin Oslo.")
    bound = ["T1\tPER 0 3\tAnn", "T2\tPER 8 11\tBob", "T3\tLOC 0 3;16 20\tAnn Oslo", "T4\tLOC 16 20\tRome"]
    others = ["R1\tmet Arg1:T1 Arg2:T2\t", "E1\tMeet:T1 Who:T2", "A1\tSure T1", "#1\tAnnotatorNotes T1\tgood"]
    others += ["*\tEquiv T1 T2", "N1\tReference T1 Wiki:1\tAnn", ""]
    (tmp_path / "n.ann").write_text("\n".join([*bound, *others]))
    with pytest.warns(LeftOut):
        file = brat.read(tmp_path / "n.ann")
    assert sorted(one.problem for one in file.misfits) == [
        "a normalisation is not a label of tokens",
        "a note is not a label of tokens",
        "an attribute is not a label of tokens",
        "an equivalence is not a label of tokens",
        "an event is not a label of tokens",
        "is in 2 pieces (0 3;16 20)",
        "says that its text is 'Rome'",
    ]
    assert [piece.y for piece in file.evidence] == [["B-PER", None, "B-PER"], [None, None, "O"]]
    assert [piece.origin.line(0) for piece in file.evidence] == [1, 2]


def test_entities_and_relations(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("Ann met Bob\nin Oslo Fjord.")
    (tmp_path / "n.ann").write_text(
        "T1\tPER 8 11\tBob\nT2\tPER 0 3\tAnn\nT3\tLOC 15 19\tOslo\nT4\tLOC 15 25\tOslo Fjord\nT5\tLOC 15 18\tOsl\n"
        "R1\tmet Arg1:T2 Arg2:T1\nR2\tin Arg1:T1 Arg2:T4\nR3\tof Arg1:T4 Arg2:T3\n"
    )
    with pytest.warns(LeftOut):
        file = brat.read(tmp_path / "n.txt")
    corpus, misfits = extractions(file)
    assert corpus.xs == [
        EntitySentence(("Ann", "met", "Bob"), ((0, 1), (2, 3))),
        EntitySentence(("in", "Oslo", "Fjord", "."), ((1, 2), (1, 3))),
    ]
    assert corpus.ys == [Extraction(("PER", "PER"), ((0, 1, "met"),)), Extraction(("LOC", "LOC"), ((1, 0, "of"),))]
    assert [one.problem for one in misfits] == [
        "is not a span of whole tokens on one line",
        "the relation in from T1 to T4 is not within a line",
    ]


STUDIO: list[tuple[str, str]] = [
    ("{}", "not a list of tasks"),
    ("", "not a list of tasks"),
    ("[{]", "not JSON"),
    ('[{"data": {"text": "a"}} 3]', "not JSON"),
    ('[{"data": {"text": "a"}}] 3', "there is text after"),
    ("[3]", "a task is not a JSON object"),
    ("[" * 9 + "{}", "a task is not a JSON object|not JSON|cannot be used"),
    ('[{"id": 1, "text": "a", "label": []}]', 'task 1 has no "data"'),
    ('[{"data": {"a": "x", "b": "y"}}]', "no text 'text', but 'a', 'b'"),
    ('[{"data": {"a": 3}}]', "has no text 'text', but no text"),
    ('[{"data": {"text": "\\ud83d"}}]', "half of a surrogate pair"),
    ('[{"data": {"text": "a"}, "annotations": 3}]', "are not a list of objects"),
    ('[{"data": {"text": "a"}, "annotations": [{"result": {}}]}]', '"result" of an annotation of task 1 is not a list'),
    (
        '[{"data": {"text": "a"}, "annotations": [{"result": [{"type": "labels", "value": '
        '{"start": 0, "end": 1, "labels": "X"}}]}]}]',
        "are not a list of names",
    ),
]
DOCCANO: list[tuple[str, str]] = [
    ("", "no texts"),
    ("[]", "not a JSON object"),
    ('{"tokens": ["a"]}', 'no "text"'),
    ('{"text": "a", "label": ["spam"]}', "not a list of"),
    ('{"text": "a", "label": 3}', "not a list of"),
    ('{"text": "a", "label": [[0, "1", "X"]]}', 'an annotation from 0 to "1"'),
    ('{"text": "a", "label": [[0, 1, 4]]}', "the label 4"),
    ('{"text": "a", "label": [], "labels": []}', '"label" beside "labels"'),
    ('{"text": "a", "entities": [3]}', '"entities" is not a list of objects'),
    ('{"text": "a", "entities": [{"id": 1}]}', "an annotation from null to null"),
    ('{"text": "a", "entities": [], "relations": {"a": 1}}', '"relations" is not a list of objects'),
    ('{"text": "a", "annotations": [{"label": 1}]}', "with numbers for labels"),
]
BRAT: list[tuple[str, str]] = [
    ("T1 PER 0 3 Ann\n", "is not an annotation"),
    ("T1\tPER 0\tAnn\n", "is not an annotation"),
    ("T1\tPER 3 0\tAnn\n", "T1 ends before it begins"),
    ("T1\tPER 0 3\tAnn\nT1\tPER 0 3\tAnn\n", "the annotation T1 is there twice"),
    ("nonsense\n", "is not an annotation"),
]


@pytest.mark.parametrize(
    ("name", "read", "text", "problem"),
    [
        *(("a.json", label_studio.read, *case) for case in STUDIO),
        *(("a.jsonl", doccano.read, *case) for case in DOCCANO),
        *(("a.ann", brat.read, *case) for case in BRAT),
    ],
)
def test_malformed_files_are_refused_in_one_line(name: str, read: Any, text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann left")
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=problem) as caught:
        read(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value) and caught.value.remedy


def test_files_of_brat_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no \.txt files"):
        brat.read(tmp_path)
    (tmp_path / "a.ann").write_text("")
    with pytest.raises(DataError, match="there is no such file"):
        brat.read(tmp_path / "a.ann")
    with pytest.raises(DataError, match=r"neither a \.txt nor an \.ann"):
        brat.read(tmp_path / "a.json")
    with pytest.raises(DataError, match="brat has no types such as 'a b'"):
        brat.text_of([document("x")], [["B-a b"]])
    with pytest.raises(DataError, match="two documents have one name"):
        brat.write(tmp_path, [document("x"), document("y")], [["O"], ["O"]])
    with pytest.raises(DataError, match="2 documents"):
        brat.text_of([document("x"), document("y")], [["O"], ["O"]])


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of everything inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inside for place in nodes(one, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """The value with something else at a place."""
    copy = json.loads(json.dumps(value))
    if not path:
        return by
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = by
    return copy


RELATED = {"type": "relation", "from_id": "r", "to_id": "s", "labels": ["met"]}
FULL = task([region(0, 3, "PER", text="Ann"), RELATED], [{"type": "choices", "value": {}}], meta={"a": [1]})
LINE = {
    "text": "Ann left",
    "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3}],
    "relations": [{"id": 1, "from_id": 1, "to_id": 1, "type": "met"}],
}
ODD: list[Any] = [None, 3, -1, 10**30, 2.5, True, "", "x", [], [[]], {}, {"a": 1}, [None], ["x"]]
CASES = [("a.json", label_studio.read, FULL), ("a.jsonl", doccano.read, LINE)]
CASES.append(("a.jsonl", doccano.read, {"text": "Ann left", "label": [[0, 3, "PER"]]}))


@pytest.mark.filterwarnings("ignore::sidelight.errors.LeftOut")
@pytest.mark.parametrize(("name", "read", "whole"), CASES)
def test_odd_values_anywhere_are_read_or_refused(name: str, read: Any, whole: Any, tmp_path: Path) -> None:
    path = tmp_path / name
    refused = 0
    for place in nodes(whole):
        for odd in ODD:
            value = replaced(whole, place, odd)
            path.write_text(json.dumps([value] if name.endswith(".json") else value))
            try:
                file = read(path)
            except DataError as error:
                refused += 1
                assert str(error).startswith(str(path)) and "\n" not in str(error)
            else:
                assert extractions(file) and len(file.evidence) == len(file.inputs)
    assert refused > 50


@pytest.mark.filterwarnings("ignore::sidelight.errors.LeftOut")
@given(st.lists(st.text(alphabet="T1R\t 03;4#*E:A\r", max_size=14), max_size=3))
def test_lines_of_brat_are_read_or_refused(lines: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.txt").write_text("Ann left")
        Path(folder, "a.ann").write_bytes("\n".join(lines).encode())
        try:
            file = brat.read(folder)
        except DataError as error:
            assert error.file and error.file.endswith("a.ann") and "\n" not in str(error)
        else:
            assert extractions(file)
