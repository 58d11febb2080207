"""Predictions of token labels for files of any size, piece by piece, in the order of the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.commands.shared.inputs import check_alike, check_fits, in_columns
from sidelight.commands.shared.outputs import note
from sidelight.core.collection import without_collection
from sidelight.core.journal import Position
from sidelight.data import Corpus
from sidelight.data.files import add_contents, shown_name
from sidelight.data.stored import corpus_of, file_pieces
from sidelight.data.text_pieces import TextPiece, placed
from sidelight.errors import DataError
from sidelight.parallel.place import Place, in_order


class LabelledPiece(NamedTuple):
    """A piece of a file, its inputs, and their predicted outputs."""

    piece: TextPiece
    corpus: Corpus
    predicted: list[Any]


PARTS = 4  # of a piece, for workers, so that all finish at about the same time
First = tuple[Any, Any]  # the first input of a file or a piece, and its place


@dataclass(frozen=True)
class Labelling:
    """How pieces of a file are read and written; `write` turns a labelled piece into text."""

    model: Any
    path: Path
    format: str | None
    label_column: int | None
    write: Callable[[LabelledPiece], str]

    def texts(
        self, place: Place, predict: Callable[[Sequence[Any]], list[Any]], after: Position, *, whole: bool
    ) -> Iterator[tuple[str, Position]]:
        """The output texts of all pieces from a position on, in order, each with its end position.

        With `whole`, workers get raw pieces and read them too; then `predict` is not used. Raises `DataError` like
        `load_corpus` and `check_fits`, with lines of the file.
        """
        first: First | None = None
        if place.remote and whole:
            pieces = self._pieces(after, parts=PARTS)
            for piece_first, text, last in pieces_there(place, _text_there, pieces, self, place.n_jobs):
                first = first or piece_first
                check_columns(first, piece_first)
                yield text, last
        else:
            for piece in self._pieces(after):
                labelled = self.labelled(piece, predict, first)
                first = first or _first(labelled.corpus)
                yield self.write(labelled), piece.last
        if first is None and not after.begin:  # the file is empty: raise the reader's error
            lines = next((one.lines for one in file_pieces(self.path, self.format)), [])
            self._read(TextPiece(shown_name(self.path), lines, 0, 0))

    @without_collection()
    def labelled(
        self, piece: TextPiece, predict: Callable[[Sequence[Any]], list[Any]], first: First | None = None
    ) -> LabelledPiece:
        """One piece, whose inputs must be like the first."""
        read = self._read(piece)
        corpus = Corpus([in_columns(x) for x in read.xs], read.ys, read.origins)
        with placed(piece):
            check_columns(first or _first(corpus), _first(corpus))
            check_fits(self.model, list(zip(corpus.xs, corpus.origins)))
        return LabelledPiece(piece, corpus, predict(corpus.xs))

    def _read(self, piece: TextPiece) -> Any:
        return corpus_of(piece, self.path, self.format, label_column=self.label_column)

    def _pieces(self, after: Position, *, parts: int = 1) -> Iterator[TextPiece]:
        pieces = file_pieces(self.path, self.format, after=after, parts=parts)
        return (piece for piece in pieces if not piece.is_blank)


def _text_there(piece: TextPiece, labelling: Labelling, n_jobs: int | None) -> tuple[First, str, Position]:
    """The first input of a piece, its output text, and its end position."""
    labelled = labelling.labelled(piece, lambda xs: list(labelling.model.predict(xs, n_jobs=n_jobs)))
    return _first(labelled.corpus), labelling.write(labelled), piece.last


def _first(corpus: Corpus) -> First:
    return corpus.xs[0], corpus.origins[0]


def pieces_there(
    place: Place, function: Callable[..., Any], pieces: Iterable[TextPiece], *common: Any
) -> Iterator[Any]:
    """function(piece, *common) for the pieces of a file in order, on workers, which read them.

    An error in the file is raised when its piece is next.
    """

    def packed() -> Iterator[Any]:
        try:
            for piece in pieces:
                yield replace(piece, lines=[]), "\n".join(piece.lines)
        except DataError as error:
            yield error, ""

    yield from in_order(place, _done_there, packed(), function, common)


def _done_there(item: tuple[Any, str], function: Callable[..., Any], common: tuple[Any, ...]) -> Any:
    piece, text = item
    if isinstance(piece, DataError):
        raise piece
    return function(replace(piece, lines=text.split("\n")), *common)


def check_columns(first: First, other: First) -> None:
    """Raise `DataError` if tokens have other columns than before."""
    if isinstance(other[0], list) and isinstance(other[0][0], tuple):
        check_alike([first, other])


def note_resumed(place: Position) -> None:
    """Print a note about the position from which a run continues."""
    if place.lines:
        note(f"going on after line {place.lines:,} of the input")


def run_mark(files: Iterable[Path], options: Any) -> str:
    """A fingerprint of a run: the contents of its input files, and its options."""
    digest = blake2b(json.dumps(options).encode(), digest_size=16)
    for path in files:
        add_contents(digest, path)
    return digest.hexdigest()
