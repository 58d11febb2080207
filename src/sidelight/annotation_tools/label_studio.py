"""Label Studio: reads JSON exports with one object per task, and writes predictions for pre-annotation.

A task has its text in "data", and the spans of each annotator in "annotations": characters from "start" to "end". Since
about 2022, when its frontend was fixed for emoji, Label Studio counts Unicode characters (code points); before, it
counted UTF-16 units, like JavaScript. "auto" finds out from the text stored in an annotation; without it, from the
other annotations of the task; otherwise it assumes characters.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sidelight.annotation_tools.annotated_file import AnnotatedFile, annotated
from sidelight.annotation_tools.documents import (
    Annotation,
    AnnotatorAnswer,
    Document,
    Misfit,
    Relation,
    from_utf16,
    is_list,
    lines_of,
    marked,
    utf16_places,
)
from sidelight.core.checks import arguments_checked, is_number, is_whole, shown
from sidelight.data.files import read_text, shown_name, write_text_atomically
from sidelight.data.json_lines.lines import FileLine
from sidelight.errors import DataError
from sidelight.evaluate.spans import Scheme

REMEDY = 'export from Label Studio as "JSON"'
_LABELLED = ("labels", "hypertextlabels", "paragraphlabels")


@arguments_checked
def read(
    path: str | Path,
    *,
    text: str | None = None,
    scheme: Literal["BIO", "IOB1", "BIOES", "BILOU"] = "BIO",
    labels: Collection[str] | None = None,
    offsets: Literal["auto", "characters", "utf16"] = "auto",
    take: Literal["annotations", "predictions"] = "annotations",
) -> AnnotatedFile:
    """The evidence of an export, and what did not fit.

    `text` is the key of the text in "data"; by default "text", or the only string in it. A task without annotations is
    Unlabeled; a task with an empty annotation is Gold without spans. If one of several annotations is marked as ground
    truth, only this one is used. Cancelled annotations are ignored. With `take="predictions"`, predictions are read
    instead of annotations. Raises `DataError` if the file is not an export.

    >>> import tempfile
    >>> marks = [{"type": "labels", "value": {"start": 9, "end": 13, "labels": ["LOC"]}}]
    >>> task = {"id": 1, "data": {"text": "Ann left Oslo"}, "annotations": [{"result": marks}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.json").write_text(json.dumps([task]))
    ...     read(Path(folder, "a.json")).evidence
    (Gold(x=['Ann', 'left', 'Oslo'], weight=1.0, y=['O', 'O', 'B-LOC']),)
    """
    docs = [
        _document(task, number, place, text, offsets, take)
        for number, (task, place) in enumerate(_tasks(read_text(path), shown_name(path)), start=1)
    ]
    return annotated(docs, scheme=scheme, labels=labels, empty="gold")


def _tasks(text: str, file: str) -> Iterator[tuple[dict[str, Any], FileLine]]:
    """The tasks of an export, each with its first line."""
    decoder, at, line = json.JSONDecoder(), 0, 1

    def skip(marks: str) -> None:
        nonlocal at, line
        while at < len(text) and text[at] in " \n\t\r" + marks:
            line += text[at] == "\n"
            at += 1

    skip("")
    if text[at : at + 1] != "[":
        FileLine(file, line).fail("not a list of tasks", REMEDY)
    at += 1
    skip("")
    while text[at : at + 1] != "]":
        place = FileLine(file, line)
        try:
            task, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            FileLine(file, error.lineno).fail(f"not JSON ({error.msg} at column {error.colno})", REMEDY)
        except (ValueError, RecursionError) as error:
            place.fail(f"JSON that cannot be used ({error})", REMEDY)
        if not isinstance(task, dict):
            place.fail("a task is not a JSON object", REMEDY)
        yield task, place
        line += text.count("\n", at, end)
        at = end
        skip("")
        if text[at : at + 1] not in (",", "]"):
            FileLine(file, line).fail("not JSON (a task ends without a comma or a bracket)", REMEDY)
        skip(",")
    if text[at + 1 :].strip():
        FileLine(file, line).fail("there is text after the list of tasks", REMEDY)


def _document(
    task: Mapping[str, Any], number: int, place: FileLine, key: str | None, offsets: str, take: str
) -> Document:
    name = f"task {task.get('id', number)}"
    text = _text(task.get("data"), key, place, name)
    done = task.get(take, task.get("completions", []) if take == "annotations" else [])
    if not isinstance(done, list) or not all(isinstance(one, dict) for one in done):
        place.fail(f'the "{take}" of {name} are not a list of objects', REMEDY)
    bare = Document(name, text, lines_of(text), (), place.file, (place.line,), dict(task))
    answers, dropped = [], list[Misfit]()
    for one in done:
        results = one.get("result", [])
        if not isinstance(results, list) or not all(isinstance(part, dict) for part in results):
            place.fail(f'the "result" of an annotation of {name} is not a list of objects', REMEDY)
        if one.get("was_cancelled"):
            dropped += [bare.misfit("is in an annotation that was cancelled")] * bool(results)
        else:
            answers.append((bool(one.get("ground_truth")), results))
    sure = [results for truth, results in answers if truth]
    if sure and len(sure) < len(answers):
        dropped.append(bare.misfit("has annotations beside one that is marked as ground truth"))
    readings = [_said(bare, results, place, offsets) for results in sure or [results for _, results in answers]]
    if dropped and readings:
        readings[0] = AnnotatorAnswer(readings[0].annotations, readings[0].relations, (*dropped, *readings[0].misfits))
    return Document(name, text, bare.lines, tuple(readings), place.file, bare.numbers, bare.source)


def _text(data: Any, key: str | None, place: FileLine, name: str) -> str:
    if not isinstance(data, dict):
        place.fail(f'{name} has no "data"', f"{REMEDY}, not JSON-MIN")
    texts = [one for one, value in data.items() if isinstance(value, str)]
    field = key or ("text" if "text" in texts or len(texts) != 1 else texts[0])
    if field not in texts:
        there = ", ".join(map(repr, texts)) or "no text"
        place.fail(f'the "data" of {name} has no text {field!r}, but {there}', "say which one by text=")
    text: str = data[field]
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        place.fail(f"the text of {name} has half of a surrogate pair", "write the character itself, or both halves")
    return text


def _said(doc: Document, results: Sequence[Mapping[str, Any]], place: FileLine, offsets: str) -> AnnotatorAnswer:
    regions, relations, misfits = [], list[Relation](), list[Misfit]()
    for one in results:
        kind, value = one.get("type"), one.get("value")
        if kind == "relation":
            names = _named(one.get("labels"), doc, place) or ["related"]
            relations += [Relation(name, str(one.get("from_id")), str(one.get("to_id"))) for name in names]
        elif kind not in _LABELLED or not isinstance(value, dict):
            misfits.append(doc.misfit(f"a result of type {kind!r} is not a label of a span of text"))
        elif not all(is_whole(value.get(end)) for end in ("start", "end")):
            misfits.append(doc.misfit(f"a result has no whole numbers for start and end, but {value.get('start')!r}"))
        else:
            regions.append((one, value))
    counted = _counted(doc, [value for _, value in regions], offsets)
    annotations = []
    for (one, value), (start, end, problem) in zip(regions, counted):
        for name in _named(value.get(one["type"], value.get("labels")), doc, place) or [""]:
            annotations.append(Annotation(start, end, name, str(one.get("id", "")), problem))
    return AnnotatorAnswer(tuple(annotations), tuple(relations), tuple(misfits))


def _named(labels: Any, doc: Document, place: FileLine) -> list[str]:
    """The labels of a result."""
    if labels is not None and not (isinstance(labels, list) and all(isinstance(name, str) for name in labels)):
        place.fail(f"the labels of a result of {doc.name} are not a list of names", REMEDY)
    return labels or []


def _counted(doc: Document, values: Sequence[Mapping[str, Any]], offsets: str) -> list[tuple[int, int, str]]:
    """Positions in characters, and the problem with each, if any."""
    units = utf16_places(doc.text)
    plain = [(value["start"], value["end"]) for value in values]
    if units[-1] == len(doc.text) or offsets == "characters":
        return [(a, b, _other_text(doc, a, b, value)) for (a, b), value in zip(plain, values)]
    narrow = [(from_utf16(units, a), from_utf16(units, b)) for a, b in plain]
    fit_plain = [b <= len(doc.text) and not _other_text(doc, a, b, value) for (a, b), value in zip(plain, values)]
    fit_narrow = [
        a is not None and b is not None and not _other_text(doc, a, b, value) for (a, b), value in zip(narrow, values)
    ]
    shown = any(there and not here for there, here in zip(fit_narrow, fit_plain))  # by a text
    counts = []
    for (a, b), (c, d), here, there, value in zip(plain, narrow, fit_plain, fit_narrow, values):
        if offsets != "utf16" and not (there and (shown or not here)):
            counts.append((a, b, _other_text(doc, a, b, value)))
        elif c is None or d is None:
            counts.append((a, b, "begins or ends inside a character, or outside of the text, in UTF-16"))
        else:
            counts.append((c, d, _other_text(doc, c, d, value)))
    return counts


def _other_text(doc: Document, start: int, end: int, value: Mapping[str, Any]) -> str:
    """The problem if the text stored in an annotation differs from the document; white space is ignored."""
    stored = value.get("text")
    if not isinstance(stored, str) or "".join(stored.replace("\\n", "\n").split()) == "".join(
        doc.text[start:end].split()
    ):
        return ""
    return f"says that its text is {stored[:40]!r}"


@arguments_checked
def text_of(
    docs: Sequence[Document],
    outputs: Sequence[Sequence[str]],
    *,
    confidence: Sequence[Sequence[float]] | None = None,
    scheme: Scheme = "auto",
    offsets: Literal["characters", "utf16"] = "characters",
    names: tuple[str, str] | None = None,
    version: str = "sidelight",
) -> str:
    """Tasks with a model's "predictions", as JSON for import into Label Studio.

    `outputs` has the labels of every line of every document (`AnnotatedFile.inputs`), and `confidence` has the model's
    confidence for each label. The score of a region, and of a task, is that of its least certain token. `names` are the
    names of the labels and of the text in the labelling interface; by default those in the annotations of a task, or
    "label" and "text".
    """
    tasks, line = [], 0
    spans_of = marked(docs, outputs, scheme=scheme)
    if confidence is not None and not _is_for_each(confidence, outputs):
        raise DataError("confidence is not a number for every label", remedy="give it in the form of outputs")
    if names is not None and not (isinstance(names, tuple) and list(map(type, names)) == [str, str]):
        raise DataError(f"names is {shown(names)}", remedy='give two, such as ("label", "text")')
    for doc, spans in zip(docs, spans_of):
        sure = None
        if confidence is not None:
            rows = confidence[line : line + len(doc.lines)]
            sure = {a: float(c) for own, row in zip(doc.lines, rows) for (a, _), c in zip(own, row)}
        line += len(doc.lines)
        units = utf16_places(doc.text) if offsets == "utf16" else range(len(doc.text) + 1)
        label, text = names or _names_in(doc.source)
        results = []
        for number, one in enumerate(spans, start=1):
            value = {"start": units[one.start], "end": units[one.end], "text": doc.text[one.start : one.end]}
            region: dict[str, Any] = {"id": f"p{number}", "from_name": label, "to_name": text, "type": "labels"}
            region["value"] = {**value, "labels": [one.label]}
            if sure is not None:
                region["score"] = round(min(c for a, c in sure.items() if one.start <= a < one.end), 6)
            results.append(region)
        prediction: dict[str, Any] = {"model_version": version, "result": results}
        if sure:
            prediction["score"] = round(min(sure.values()), 6)
        task = dict(doc.source) if _is_task(doc.source) else {"data": {"text": doc.text}}
        tasks.append({**task, "predictions": [prediction]})
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def write(path: str | Path, docs: Sequence[Document], outputs: Sequence[Sequence[str]], **how: Any) -> None:
    """Write the result of `text_of` to a file."""
    write_text_atomically(path, text_of(docs, outputs, **how))


def _is_for_each(confidence: Any, outputs: Sequence[Sequence[str]]) -> bool:
    """Whether there is a number for every label."""
    if not is_list(confidence) or not all(map(is_list, confidence)):
        return False
    same = list(map(len, confidence)) == list(map(len, outputs))
    return same and all(is_number(value) for row in confidence for value in row)


def _is_task(source: Any) -> bool:
    return isinstance(source, dict) and isinstance(source.get("data"), dict)


def _names_in(source: Any) -> tuple[str, str]:
    """The names of the labels and of the text in the annotations of a task."""
    for one in source.get("annotations", []) if _is_task(source) else []:
        for region in one.get("result", []):
            if region.get("type") in _LABELLED and isinstance(region.get("from_name"), str):
                return region["from_name"], str(region.get("to_name", "text"))
    return "label", "text"
