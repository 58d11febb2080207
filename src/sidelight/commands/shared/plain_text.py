"""Plain text in, labels out: one sentence, or one document, per line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from sidelight.commands.shared.inputs import in_columns
from sidelight.data import read_lines, write_columns
from sidelight.data.files import shown_name
from sidelight.data.text import tokens_in
from sidelight.errors import DataError
from sidelight.features.attributes.attributes import AttributeExtractor
from sidelight.models.model import Model


def read_plain(path: Path, *, spaces: bool) -> list[list[str]]:
    """The tokens of every line, none for an empty one; raises `DataError` if there are none at all."""
    lines = [line.split() if spaces else tokens_in(line) for line in read_lines(path)]
    if not any(lines):
        raise DataError("no text", file=shown_name(path), remedy="give a sentence a line")
    return lines


def inputs_of(lines: list[list[str]], model: Model) -> list[Any]:
    """Inputs for the model from nonempty lines; raises `DataError` if the model needs more than words."""
    if model.sequences:
        if isinstance(model.extractor, AttributeExtractor):
            remedy = "give them as JSON lines or attributes, without --text"
            raise DataError("the model looks at attributes of tokens, and text has none", remedy=remedy)
        templates = getattr(model.extractor, "templates", None)
        if templates is None:
            remedy = "use it from Python, with rows"
            raise DataError("the model looks at rows of numbers, and text has none", remedy=remedy)
        most = max((column for _, column in templates.views), default=0)
        if most:
            remedy = "give them as columns, without --text"
            raise DataError(
                f"the model looks at {most + 1} columns of a token, and text has its word alone", remedy=remedy
            )
    return [in_columns(line) if model.sequences else document_of(line, model) for line in lines if line]


def document_of(tokens: list[str], model: Model) -> Any:
    """A document in the form for the model: its words, or their counts."""
    of_dicts = isinstance(model.extractor, AttributeExtractor) and "dicts" in model.extractor.trained
    return {name: float(count) for name, count in Counter(tokens).items()} if of_dicts else tokens


def written(lines: list[list[str]], predicted: list[Any], *, sequences: bool, inline: bool) -> str:
    """Tokens with their labels: one per line, with blank lines between sentences, or one sentence per line.

    Documents begin with their label and a tab.

    >>> written([["Ann", "sleeps"]], [["PER", "O"]], sequences=True, inline=True)
    'Ann/PER sleeps/O\\n'
    """
    full = [line for line in lines if line]
    if sequences and not inline:
        return write_columns([in_columns(line) for line in full], [list(map(str, labels)) for labels in predicted])
    outputs = iter(predicted)
    shown = [_line(line, next(outputs), sequences) if line else "" for line in lines]
    return "".join(f"{line}\n" for line in shown)


def _line(tokens: list[str], output: Any, sequences: bool) -> str:
    if not sequences:
        return f"{output}\t{' '.join(tokens)}"
    return " ".join(f"{token}/{label}" for token, label in zip(tokens, output))
