"""`sidelight predict`: label new inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sidelight.annotation_tools import tool_of
from sidelight.commands.registry import entry_of
from sidelight.commands.registry.entry import StructureEntry
from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import label_position
from sidelight.commands.shared.notes import warnings_noted
from sidelight.commands.shared.outputs import check_writable, write
from sidelight.commands.shared.plain_text import inputs_of, read_plain, written
from sidelight.commands.shared.predictions_for_tools import predicted_text, texts_in
from sidelight.commands.shared.rule_options import (
    Inference,
    RulesFiles,
    check_inference,
    note_missing_rules,
    predictor,
)
from sidelight.commands.shared.streams import LabelledPiece, Labelling, note_resumed, run_mark
from sidelight.commands.shared.structured import (
    answers_of,
    filled,
    limited,
    note_unproven,
    read_items,
    refuse,
    under_rules,
)
from sidelight.core.atomic_files import write_atomically
from sidelight.core.journal import START, Position
from sidelight.core.resumable_file import ResumableFile
from sidelight.data import Corpus, write_columns
from sidelight.data.files import STDIN, encoded
from sidelight.data.load import format_of
from sidelight.data.text_pieces import placed
from sidelight.errors import DataError
from sidelight.models.model import Model
from sidelight.parallel import place_of


def command(
    model: options.ModelFile,
    input: Annotated[Path | None, typer.Argument(metavar="INPUT", help="The inputs to label; - reads stdin.")] = None,
    text: Annotated[
        bool, typer.Option("--text", help="The input is plain text, one sentence per line; stdin by default.")
    ] = False,
    out: options.OutFile = None,
    inline: Annotated[
        bool, typer.Option("--inline", help="With --text: write one sentence per line, as word/label word/label.")
    ] = False,
    spaces: Annotated[
        bool, typer.Option("--spaces", help="With --text: split tokens at spaces only, not at punctuation.")
    ] = False,
    to: Annotated[
        Literal["label-studio", "doccano", "brat"] | None,
        typer.Option("--to", help="Write for this annotation tool; by default the one INPUT comes from, if any."),
    ] = None,
    format: options.Format = None,
    label_column: options.InputLabelColumn = None,
    labelled: options.Labelled = False,
    rules: RulesFiles = None,
    inference: Inference = options.DEFAULTS["inference"],
    seconds: options.Seconds = None,
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
    place: options.PlaceName = None,
    resume: options.Resume = False,
) -> None:
    """Label inputs with a model.

    Column files get one more column (tab-separated, without -DOCSTART- lines), JSON lines a key "predicted". For
    attribute files the output is one label per line, after the gold label with --labelled. With --text, words are
    written as columns, or one sentence per line with --inline; punctuation at the edges of words is split off. Files
    of structures are written with the predicted structures, files of annotation tools with predictions: Label Studio
    tasks with "predictions" and scores, doccano lines with labels, brat texts as .ann files.
    """
    check_writable(out, reads=[model, input, *(rules or ())])
    check_inference(inference, rules)
    if resume and (out is None or input is None or text or str(input) == STDIN):
        raise ValueError("--resume goes from a file to a file; name INPUT and --out, without --text")
    if out is not None and format_of(out) == "parquet":
        raise ValueError(f"--out is {out}, and rows of Parquet come back as JSON lines; name it .jsonl")
    _check_form(input, text, {"--inline": inline, "--spaces": spaces}, format, labelled, label_column)
    loaded, predict = predictor(model, rules, inference)
    if (entry := entry_of(loaded)) is not None:
        others = {"--text": text, "--labelled": labelled, "--label-column": label_column is not None, "--to": bool(to)}
        refuse(entry.name, {**others, "--resume": resume})
        assert input is not None
        limited_model = under_rules(limited(loaded, seconds), entry, rules)
        write(_structures(entry, limited_model, input, format, jobs, place), out)
        return
    limited(loaded, seconds)
    tool = to or (None if text or input is None else tool_of(input, format))
    if tool is not None:
        if resume:
            raise ValueError("--resume is for columns, JSON lines and Parquet; leave it out")
        if inline:
            raise ValueError("--inline is for words with labels; leave it out, or leave out --to")
        how: dict[str, Any] = {"format": format, "labelled": labelled, "label_column": label_column}
        documents = texts_in(input or Path(STDIN), loaded, tool, plain=text, spaces=spaces, **how)
        write(predicted_text(loaded, predict, documents, tool, jobs, place), out)
        return
    if text or input is None:
        lines = read_plain(input or Path(STDIN), spaces=spaces)
        predicted = predict(inputs_of(lines, loaded), jobs, place)
        write(written(lines, predicted, sequences=loaded.sequences, inline=inline), out)
        return
    column = label_position(input, format=format, labelled=labelled, label_column=label_column)

    labelling = Labelling(loaded, input, format, column, partial(_written, _form_of(input, format), column))

    def texts(after: Position) -> Iterator[tuple[str, Position]]:
        where = place_of(place, jobs)
        if where.remote and not rules:
            note_missing_rules(loaded)
        return labelling.texts(where, lambda xs: predict(xs, jobs, place), after, whole=not rules)

    with warnings_noted(), _text_in_mind():
        if resume:
            assert out is not None
            _write_resumably(out, texts, run_mark([input, model, *(rules or ())], [format, column, inference]))
        elif out is None:
            for text_out, _ in texts(START):
                write(text_out, None)
        else:
            write_atomically(out, (encoded(out, text_out) for text_out, _ in texts(START)))


def _write_resumably(out: Path, texts: Callable[[Position], Iterator[tuple[str, Position]]], mark: str) -> None:
    """Write the missing part of an output that an earlier run may have begun."""
    file = ResumableFile(out, mark)
    with file.alone():
        place = file.begin()
        if place is None:
            return
        note_resumed(place)
        with file.writing():
            for text, after in texts(place):
                file.add(encoded(out, text), after)
                place = after
        file.end(place)


def _form_of(input: Path, format: str | None) -> str:
    form = format or format_of(input)
    return "jsonl" if form == "parquet" else form


def _written(format: str, column: int | None, labelled: LabelledPiece) -> str:
    """A piece of the input with its labels, in the form of the input."""
    piece, corpus, predicted = labelled
    match format:
        case "jsonl":
            return _with_predicted(piece.lines, predicted)
        case "attributes":
            return _labels_alone(corpus, predicted)
        case _:
            with placed(piece):
                return write_columns(_all_columns(corpus, column), [list(map(str, labels)) for labels in predicted])


def _structures(
    entry: StructureEntry, model: Model, input: Path, format: str | None, jobs: int, place: str | None
) -> str:
    items = read_items(entry, input, format)
    answers = answers_of(model, [item.x for item in items], jobs=jobs, place=place)
    note_unproven(answers)
    return entry.format_of(input, format).write(filled(entry, items, answers))


def _check_form(
    input: Path | None,
    text: bool,
    about_text: Mapping[str, bool],
    format: str | None,
    labelled: bool,
    label_column: int | None,
) -> None:
    """Raises ValueError for options that cannot be combined."""
    if not text:
        if input is None:
            raise ValueError("there is no INPUT; name a file, - for the standard input, or give --text")
        for name, value in about_text.items():
            if value:
                raise ValueError(f"{name} goes with --text; leave it out, or add --text")
    others = {"--format": format is not None, "--labelled": labelled, "--label-column": label_column is not None}
    for name, value in others.items():
        if text and value:
            raise ValueError(f"{name} does not go with --text, which has words alone; leave one of them out")


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
    """The tokens as in the file, with the right label back in its column."""
    if corpus.ys is None or label_column is None:
        return corpus.xs
    width = len(corpus.xs[0][0]) + 1
    at = label_column % width
    return [[(*x[:at], y, *x[at:]) for x, y in zip(tokens, labels)] for tokens, labels in zip(corpus.xs, corpus.ys)]


@contextmanager
def _text_in_mind() -> Iterator[None]:
    """Context manager: if rows have different lengths, the error suggests that the file may contain sentences."""
    try:
        yield
    except DataError as error:
        if " where " not in error.problem or "column" not in error.problem:
            raise
        remedy = f"{error.remedy}; if it is plain text, add --text"
        raise DataError(error.problem, file=error.file, line=error.line, remedy=remedy) from None
