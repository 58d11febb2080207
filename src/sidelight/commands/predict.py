"""`sidelight predict`: label new inputs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sidelight.commands import options
from sidelight.commands.inputs import check_fits, label_position, read_inputs
from sidelight.commands.outputs import check_writable, write
from sidelight.commands.ruling import Inference, RulesFiles, check_inference, predictor
from sidelight.data import Corpus, read_lines, write_columns
from sidelight.data.load import format_of


def command(
    model: options.ModelFile,
    input: Annotated[Path, typer.Argument(metavar="INPUT", help="Inputs to label; - is the standard input.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write; the standard output by default.")
    ] = None,
    format: options.Format = None,
    label_column: options.InputLabelColumn = None,
    labelled: options.Labelled = False,
    rules: RulesFiles = None,
    inference: Inference = options.DEFAULTS["inference"],
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
) -> None:
    """Write the inputs with the labels that the model gives them.

    Column files come back with tabs and one more column (and without -DOCSTART- lines), JSON lines with "predicted" in
    each object; for attribute files one label a line is written, after the right one if --labelled is given.
    """
    check_writable(out, reads=[model, input, *(rules or ())])
    check_inference(inference, rules)
    loaded, predict = predictor(model, rules, inference)
    column = label_position(input, format=format, labelled=labelled, label_column=label_column)
    with _twice(input):
        corpus = read_inputs(input, format=format, label_column=column)
        objects = read_lines(input) if (format or format_of(input)) == "jsonl" else []
    check_fits(loaded, list(zip(corpus.xs, corpus.origins)))
    predicted = predict(corpus.xs, jobs)
    match format or format_of(input):
        case "jsonl":
            text = _with_predicted(objects, predicted)
        case "attributes":
            text = _labels_alone(corpus, predicted)
        case _:
            text = write_columns(_all_columns(corpus, column), [list(map(str, labels)) for labels in predicted])
    write(text, out)


def _with_predicted(lines: list[str], predicted: list[Any]) -> str:
    objects = [json.loads(line) for line in lines if line.strip()]
    return "".join(
        json.dumps({**entry, "predicted": output}, ensure_ascii=False) + "\n"
        for entry, output in zip(objects, predicted)
    )


def _labels_alone(corpus: Corpus, predicted: list[Any]) -> str:
    blocks = []
    for s, labels in enumerate(predicted):
        right = None if corpus.ys is None else corpus.ys[s]
        rows = map(str, labels) if right is None else (f"{a}\t{b}" for a, b in zip(right, labels))
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


def _all_columns(corpus: Corpus, label_column: int | None) -> list[list[tuple[str, ...]]]:
    """The tokens as they stood in the file, the right label back in its place."""
    if corpus.ys is None or label_column is None:
        return corpus.xs
    width = len(corpus.xs[0][0]) + 1
    at = label_column % width
    return [[(*x[:at], y, *x[at:]) for x, y in zip(tokens, labels)] for tokens, labels in zip(corpus.xs, corpus.ys)]


@contextmanager
def _twice(path: Path) -> Iterator[None]:
    """Lets the standard input be read twice: for what it means, and for what it says."""
    if str(path) != "-":
        yield
        return
    before, data = sys.stdin, sys.stdin.buffer.read()
    sys.stdin = io.TextIOWrapper(_Again(data), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


class _Again(io.BytesIO):
    """Bytes that begin anew each time they are read to the end."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.seek(0)
        return data
