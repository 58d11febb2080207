"""Predictions in files of annotation tools, from such files, plain text, or tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.annotation_tools import TOOLS, Document, document, of_tokens, tool_of
from sidelight.commands.shared.inputs import check_fits, label_position, read_inputs, read_unmarked
from sidelight.commands.shared.notes import warnings_noted
from sidelight.commands.shared.plain_text import inputs_of
from sidelight.data import read_text
from sidelight.data.files import shown_name
from sidelight.errors import DataError, Intractable
from sidelight.evaluate.schemes import scheme_of
from sidelight.models import probabilities
from sidelight.models.model import Model


@dataclass(frozen=True, slots=True)
class Texts:
    """Documents, and their lines as inputs of a model."""

    documents: Sequence[Document]
    inputs: list[Any]


def texts_in(
    path: Path,
    model: Model,
    tool: str,
    *,
    plain: bool,
    spaces: bool,
    format: str | None,
    labelled: bool,
    label_column: int | None,
) -> Texts:
    """The texts of a file to be labelled for a tool; raises `DataError` for texts that the model or the tool cannot
    take.
    """
    if not model.sequences:
        raise DataError("the model labels whole inputs, and annotation tools mark stretches", remedy="leave --to out")
    own = None if plain else tool_of(path, format)
    if own is None and not plain:
        column = label_position(path, format=format, labelled=labelled, label_column=label_column)
        return _of_tokens(path, format, tool, column)
    if labelled or label_column is not None:
        raise ValueError("--labelled and --label-column are for columns of labels; leave them out")
    docs: Sequence[Document] = read_unmarked(path, own).documents if own else _plain(path, tool, spaces)
    if tool == "brat" and len(docs) != 1:
        problem = f"{len(docs)} texts, and brat has a file for each"
        raise DataError(problem, file=shown_name(path), remedy="name one text, or write for another tool")
    return Texts(docs, inputs_of([x for doc in docs for x in doc.inputs], model))


def _plain(path: Path, tool: str, spaces: bool) -> list[Document]:
    """Plain text: one document for brat, which reads the same file, and one document per line for other tools."""
    if tool == "brat":
        docs = [document(read_text(path, as_it_is=True), path.stem, spaces=spaces)]
    else:
        lines = [line for line in read_text(path).split("\n") if line.strip()]
        docs = [document(line, f"line {number}", spaces=spaces) for number, line in enumerate(lines, start=1)]
    if not any(doc.lines for doc in docs):
        raise DataError("no text", file=shown_name(path), remedy="give a sentence a line")
    return docs


def _of_tokens(path: Path, format: str | None, tool: str, column: int | None) -> Texts:
    """Tokenised inputs, with spaces between words."""
    if tool == "brat":
        problem = "brat marks characters of a text, and these are tokens"
        raise DataError(problem, file=shown_name(path), remedy="give plain text with --text, or write for another tool")
    corpus = read_inputs(path, format=format, label_column=column)
    docs = []
    for number, (x, origin) in enumerate(zip(corpus.xs, corpus.origins), start=1):
        words = [token[0] if isinstance(token, tuple) else token for token in x]
        if not all(isinstance(word, str) and word and not word.isspace() for word in words):
            remedy = "give words, as columns or JSON lines"
            raise DataError("tokens without words", file=origin.file, line=origin.line(0), remedy=remedy)
        docs.append(of_tokens(words, f"input {number}"))
    return Texts(docs, corpus.xs)


def predicted_text(
    model: Model, predict: Callable[..., Any], texts: Texts, tool: str, jobs: int, place: str | None
) -> str:
    """The text of a file for the tool, with the labels of `predict`, and for Label Studio with confidences."""
    check_fits(model, [(x, None) for x in texts.inputs])
    with warnings_noted():
        outputs = [[str(label) for label in output] for output in predict(texts.inputs, jobs, place)]
    more: dict[str, Any] = {}
    if tool == "label-studio":
        with suppress(Intractable):
            shares = probabilities.named_marginals(model, texts.inputs, n_jobs=jobs)
            named = [[{str(label): p for label, p in token.items()} for token in x] for x in shares]
            more["confidence"] = [[p[y] for p, y in zip(x, output)] for x, output in zip(named, outputs)]
    scheme = "runs" if scheme_of(model.labels.classes) is None else "bio"
    text: str = TOOLS[tool].text_of(texts.documents, outputs, scheme=scheme, **more)
    return text
