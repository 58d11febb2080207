"""brat: texts (.txt), each with a file of annotations beside it (.ann).

    T1	PER 0 3	Ann
    T2	LOC 9 13	Oslo
    R1	lives_in Arg1:T1 Arg2:T2

Text-bound annotations (T) and relations between two of them (R) are read. Annotations in several pieces (0 3;9 13) do
not fit, nor do events, attributes, normalisations, notes and equivalences: these are reported. Positions count Unicode
characters from the beginning of the file, including line ends as they are in the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

from sidelight.annotation_tools.annotated_file import AnnotatedFile, annotated
from sidelight.annotation_tools.documents import (
    Annotation,
    AnnotatorAnswer,
    Document,
    Misfit,
    Relation,
    check_documents,
    lines_of,
    marked,
)
from sidelight.core.checks import arguments_checked, file_name
from sidelight.data.files import read_lines, read_text, shown_name, write_text_atomically
from sidelight.data.json_lines.lines import FileLine
from sidelight.errors import DataError
from sidelight.evaluate.spans import Scheme

_BOUND = re.compile(r"(T\d\S*)\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t(.*))?")
_RELATION = re.compile(r"R\d\S*\t(\S+) \S+?:(\S+) \S+?:(\S+)\s*")
_OTHERS = {"E": "an event", "A": "an attribute", "M": "an attribute", "N": "a normalisation", "*": "an equivalence"}
_REMEDY = "write T1, a tab, a type with start and end, a tab and the text, as brat does"


@arguments_checked
def read(
    path: str | Path,
    *,
    scheme: Literal["BIO", "IOB1", "BIOES", "BILOU"] = "BIO",
    labels: Collection[str] | None = None,
    empty: Literal["unlabeled", "gold"] = "unlabeled",
) -> AnnotatedFile:
    """The evidence of a text (.txt or .ann), or of all texts of a folder, and what did not fit.

    A text without an annotation file is Unlabeled. A text with an empty one is Unlabeled too, since brat creates empty
    files before annotation; with `empty="gold"` it is Gold without spans. Raises `DataError` for other files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("Ann left Oslo")
    ...     _ = Path(folder, "a.ann").write_text("T1\\tPER 0 3\\tAnn\\n")
    ...     read(folder).evidence
    (Gold(x=['Ann', 'left', 'Oslo'], weight=1.0, y=['B-PER', 'O', 'O']),)
    """
    place = Path(file_name(path))
    texts = [place]
    if place.is_dir():
        texts = sorted(one for one in place.rglob("*.txt") if one.is_file())
        if not texts:
            raise DataError("no .txt files", file=path, remedy="name a folder of brat, with texts and annotations")
    return annotated([_document(one) for one in texts], scheme=scheme, labels=labels, empty=empty)


def _document(path: Path) -> Document:
    text_file, marks_file = path.with_suffix(".txt"), path.with_suffix(".ann")
    if path.suffix not in (".txt", ".ann"):
        raise DataError("neither a .txt nor an .ann file", file=path, remedy="name the text, as brat has it")
    text = read_text(text_file, as_it_is=True)
    lines = lines_of(text)
    numbers = tuple(len(re.findall(r"\r\n?|\n", text[: line[0][0]])) + 1 for line in lines)
    bare = Document(path.stem, text, lines, (), shown_name(text_file), numbers)
    if not marks_file.exists():
        return bare
    answers = _said(bare, marks_file)
    return Document(path.stem, text, lines, (answers,), bare.file, numbers)


def _said(doc: Document, path: Path) -> AnnotatorAnswer:
    file = shown_name(path)
    annotations, relations, misfits = list[Annotation](), list[Relation](), list[Misfit]()
    for number, line in enumerate(read_lines(path), start=1):
        place = FileLine(file, number)
        if not line.strip():
            continue
        if bound := _BOUND.fullmatch(line):
            annotations.append(_annotation(doc, bound, place))
        elif related := _RELATION.fullmatch(line):
            relations.append(Relation(*related.groups()))
        elif line[0] == "#":
            misfits.append(Misfit(file, f"line {number}", "a note is not a label of tokens"))
        elif line[0] in _OTHERS and "\t" in line:
            misfits.append(Misfit(file, f"line {number}", f"{_OTHERS[line[0]]} is not a label of tokens"))
        else:
            place.fail(f"{line[:40]!r} is not an annotation", _REMEDY)
    keys = [one.key for one in annotations]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"the annotation {twice} is there twice", file=file, remedy="number them")
    return AnnotatorAnswer(tuple(annotations), tuple(relations), tuple(misfits))


def _annotation(doc: Document, bound: re.Match[str], place: FileLine) -> Annotation:
    key, label, pieces, text = bound.groups()
    ends = [tuple(map(int, piece.split(" "))) for piece in pieces.split(";")]
    start, end = ends[0][0], ends[-1][1]
    problem = ""
    if len(ends) > 1:
        problem = f"is in {len(ends)} pieces ({pieces})"
    elif text is not None and "".join(text.split()) != "".join(doc.text[start:end].split()):
        problem = f"says that its text is {text[:40]!r}"
    if any(a > b for a, b in ends):
        place.fail(f"{key} ends before it begins", _REMEDY)
    return Annotation(min(a for a, _ in ends), max(max(b for _, b in ends), end), label, key, problem)


def text_of(docs: Sequence[Document], outputs: Sequence[Sequence[str]], *, scheme: Scheme = "auto") -> str:
    """The annotation file of one document, from the labels of its lines; raises `DataError` for several documents."""
    check_documents(docs)
    if len(docs) != 1:
        raise DataError(f"{len(docs)} documents", remedy="write them with write, each to files of its own")
    rows = []
    for number, one in enumerate(marked(docs, outputs, scheme=scheme)[0], start=1):
        if not re.fullmatch(r"\S+", one.label):
            raise DataError(f"brat has no types such as {one.label!r}", remedy="use labels without white space")
        text = " ".join(docs[0].text[one.start : one.end].split("\n"))
        rows.append(f"T{number}\t{one.label} {one.start} {one.end}\t{text}\n")
    return "".join(rows)


def write(
    folder: str | Path, docs: Sequence[Document], outputs: Sequence[Sequence[str]], *, scheme: Scheme = "auto"
) -> None:
    """Write each document with a model's predictions to a folder, as NAME.txt and NAME.ann."""
    place, line = Path(file_name(folder)), 0
    check_documents(docs)
    if len({doc.name for doc in docs}) < len(docs):
        raise DataError("two documents have one name", remedy="give each a name of its own")
    marked(docs, outputs, scheme=scheme)  # checked before anything is written
    place.mkdir(parents=True, exist_ok=True)
    for doc in docs:
        own = outputs[line : line + len(doc.lines)]
        line += len(doc.lines)
        write_text_atomically(place / f"{doc.name}.txt", doc.text)
        write_text_atomically(place / f"{doc.name}.ann", text_of([doc], own, scheme=scheme))
