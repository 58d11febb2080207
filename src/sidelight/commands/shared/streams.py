"""Inputs of token labels piece by piece, with what a model says of them: in the order of the file, however large."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.commands.shared.inputs import check_alike, check_fits, in_columns
from sidelight.commands.shared.outputs import note
from sidelight.core.journal import Position
from sidelight.data import Corpus
from sidelight.data.files import add_contents, shown_name
from sidelight.data.stored import corpus_of, file_pieces
from sidelight.data.text_pieces import TextPiece, placed


class LabelledPiece(NamedTuple):
    """A piece of a file, its inputs, and their predicted outputs."""

    piece: TextPiece
    corpus: Corpus
    predicted: list[Any]


def labelled_pieces(
    model: Any,
    predict: Callable[[Sequence[Any]], list[Any]],
    path: Path,
    *,
    format: str | None,
    label_column: int | None,
    begin: int = 0,
    lines: int = 0,
) -> Iterator[LabelledPiece]:
    """All pieces from a place on; raises `DataError` as `load_corpus` and `check_fits` do, with lines of the file."""
    first: list[tuple[Any, Any]] = []
    blank: TextPiece | None = None
    for piece in file_pieces(path, format, begin=begin, first=lines):
        if piece.is_blank:
            blank = piece
            continue
        read = corpus_of(piece, path, format, label_column=label_column)
        corpus = Corpus([in_columns(x) for x in read.xs], read.ys, read.origins)
        first = first or [(corpus.xs[0], corpus.origins[0])]
        with placed(piece):
            if isinstance(corpus.xs[0], list) and isinstance(corpus.xs[0][0], tuple):
                check_alike([*first, (corpus.xs[0], corpus.origins[0])])
            check_fits(model, list(zip(corpus.xs, corpus.origins)))
        yield LabelledPiece(piece, corpus, predict(corpus.xs))
    if not first and not begin:  # there is nothing: say so in the words of the reader
        corpus_of(blank or TextPiece(shown_name(path), [], 0, 0), path, format, label_column=label_column)


def note_resumed(place: Position) -> None:
    """Say where a run goes on."""
    if place.lines:
        note(f"going on after line {place.lines:,} of the input")


def run_mark(files: Iterable[Path], told: Any) -> str:
    """What stands for a run: what is in the files that it reads, and what it was told."""
    digest = blake2b(json.dumps(told).encode(), digest_size=16)
    for path in files:
        add_contents(digest, path)
    return digest.hexdigest()
