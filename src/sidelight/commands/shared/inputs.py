"""Files that commands read: evidence of all kinds, and inputs that fit a model."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sidelight.annotation_tools import read as read_annotated
from sidelight.annotation_tools import tool_of
from sidelight.annotation_tools.annotated_file import AnnotatedFile, check_kind
from sidelight.commands.shared.notes import warnings_noted
from sidelight.data import Corpus, load_corpus, load_evidence
from sidelight.data.load import format_of
from sidelight.errors import DataError, LeftOut
from sidelight.evidence import Companion, Evidence, Gold, Origin, error_at, shuffled
from sidelight.features.attributes.attributes import AttributeExtractor
from sidelight.models.model import Model

_WITH_LABELS = ("gold", "partial", "candidates")


@dataclass(frozen=True, slots=True)
class EvidenceFiles:
    """The files of each kind of evidence, and how to read them."""

    files: Mapping[str, Sequence[Path] | None]  # by the kinds of `load_evidence`
    shuffle_good: int = 0
    format: str | None = None
    label_column: int = -1
    seed: int = 0

    def read(self, say: Callable[[str], None] = lambda text: None) -> list[Evidence]:
        """All evidence, kind by kind; raises `DataError` if a file cannot be used."""
        evidence: list[Evidence] = []
        marked: dict[Path, AnnotatedFile] = {}  # files of annotation tools; each is read once for all kinds
        for kind, paths in self.files.items():
            for path in paths or ():
                say(f"reading {path}")
                if (tool := tool_of(path, self.format)) is not None:
                    if path not in marked:
                        kinds = [one for one, named in self.files.items() if path in (named or ())]
                        marked[path] = _read_marked(path, tool, kinds)
                    evidence += _of_kind(marked[path], kind, path)
                    continue
                column: int | Literal["auto"] = self.label_column if kind in _WITH_LABELS else "auto"
                evidence += load_evidence(path, kind, format=self.format, label_column=column)
        if not evidence:
            raise DataError("no evidence", remedy="name at least one file, e.g. --gold FILE")
        evidence = [piece_in_columns(piece) for piece in evidence]
        check_alike([(piece.x, piece.origin) for piece in evidence])
        return evidence + self._shuffled(evidence)

    def _shuffled(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        if self.shuffle_good < 0:
            raise ValueError(f"--shuffle-good is {self.shuffle_good}; give 0 or more")
        if self.shuffle_good == 0:
            return []
        good = [piece for piece in evidence if isinstance(piece, Companion) and piece.z == 1]
        if not good:
            raise ValueError("--shuffle-good has nothing to shuffle; name a file with --good")
        if isinstance(good[0].x, Mapping):
            raise ValueError("--shuffle-good needs sequences; these inputs have no order")
        copies = shuffled([piece.x for piece in good], seed=self.seed, copies=self.shuffle_good)
        return [
            Companion(x, -1, weight=piece.weight, origin=_first_line(piece.origin))
            for x, piece in zip(copies, good * self.shuffle_good)
        ]


def read_labelled(path: Path, *, format: str | None, label_column: int = -1) -> list[Gold]:
    """Inputs with all their labels."""
    if (tool := tool_of(path, format)) is not None:
        labelled = _of_kind(_read_marked(path, tool, ["gold"]), "gold", path)
        return [piece_in_columns(piece) for piece in labelled]
    pieces = load_evidence(path, "gold", format=format, label_column=label_column)
    return [piece_in_columns(piece) for piece in pieces if isinstance(piece, Gold)]


def read_inputs(path: Path, *, format: str | None, label_column: int | None) -> Corpus:
    """The inputs of a file; a label column is removed from the inputs and becomes the outputs."""
    if (tool := tool_of(path, format)) is not None:
        file = read_unmarked(path, tool)
        origins = [piece.origin or Origin(str(path), (1,)) for piece in file.evidence]
        return Corpus([in_columns(x) for x in file.inputs], None, origins)
    corpus = load_corpus(path, format=format, label_column=label_column)
    return Corpus([in_columns(x) for x in corpus.xs], corpus.ys, corpus.origins)


def label_position(path: Path, *, format: str | None, labelled: bool, label_column: int | None) -> int | None:
    """The label column of inputs; JSON lines need none."""
    if tool_of(path, format) is None and (format or format_of(path)) in ("jsonl", "parquet"):
        return None
    return -1 if labelled and label_column is None else label_column


def is_jsonl(path: Path, format: str | None) -> bool:
    """Whether a file has one input per line, as JSON."""
    return (format or format_of(path)) == "jsonl" and tool_of(path, format) is None


def read_unmarked(path: Path, tool: str) -> AnnotatedFile:
    """A file of an annotation tool, with or without annotations; raises `DataError` if it has no text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOut)
        file = read_annotated(path, tool)
    if not file.evidence:
        raise DataError("no text", file=path, remedy="give documents with words in them")
    return file


def _read_marked(path: Path, tool: str, kinds: Sequence[str]) -> AnnotatedFile:
    """A file of an annotation tool, with notes about left-out parts, including evidence of kinds other than `kinds`."""
    with warnings_noted():
        file = read_annotated(path, tool)
        counts = file.counts()
        left = [f"{count} {kind}" for kind, count in counts.items() if kind not in kinds]
        if left and any(kind in counts for kind in kinds):
            warnings.warn(LeftOut(f"{path}: {', '.join(left)} left out of {len(file.evidence)} lines"), stacklevel=2)
    return file


def _of_kind(file: AnnotatedFile, kind: str, path: Path) -> list[Any]:
    if kind in ("good", "bad"):
        z = 1 if kind == "good" else -1
        return [Companion(piece.x, z, origin=piece.origin) for piece in file.evidence]
    return check_kind(file, kind, str(path))


def in_columns(x: Any) -> Any:
    """Tokens as tuples of columns, for any format.

    >>> in_columns(["Lights", "on"])
    [('Lights',), ('on',)]
    """
    return [(token,) for token in x] if isinstance(x, list) and isinstance(x[0], str) else x


def check_alike(inputs: Sequence[tuple[Any, Origin | None]]) -> None:
    """Raise `DataError` for the first input of another kind than the first one."""
    first, at = inputs[0]
    for x, origin in inputs:
        if _sort(x) != _sort(first):
            problem = f"{_sort(x)} where {_place(at)} has {_sort(first)}"
            raise error_at(origin, problem, remedy="give all inputs in the same form")


def check_fits(model: Model, inputs: Sequence[tuple[Any, Origin | None]]) -> None:
    """Raise `DataError` for the first input that does not fit the model."""
    named = isinstance(model.extractor, AttributeExtractor)
    only_dicts = isinstance(model.extractor, AttributeExtractor) and model.extractor.trained == {"dicts"}
    for x, origin in inputs:
        if model.sequences and isinstance(x, Mapping):
            raise error_at(origin, "one set of features where the model tags sequences", remedy='give "tokens"')
        if not model.sequences and not isinstance(x, Mapping):
            raise error_at(origin, "a sequence where the model classifies single inputs", remedy='give "features"')
        if model.sequences and not named and isinstance(x[0], Mapping):
            raise error_at(origin, "tokens by attributes where the model looks at words", remedy="give columns")
        if model.sequences and only_dicts and not isinstance(x[0], Mapping):
            remedy = "give attributes, as in training (--format attributes, or JSON lines with dicts)"
            raise error_at(origin, "columns where the model looks at attributes", remedy=remedy)


def piece_in_columns(piece: Any) -> Any:
    """Evidence with tokens as tuples of columns."""
    x = in_columns(piece.x)
    return piece if x is piece.x else replace(piece, x=x)


def _sort(x: Any) -> str:
    if isinstance(x, Mapping):
        return "one set of features"
    if isinstance(x[0], Mapping):
        return "tokens by attributes"
    return f"tokens of {len(x[0])} column{'s' * (len(x[0]) != 1)}"


def _first_line(origin: Origin | None) -> Origin | None:
    return None if origin is None else Origin(origin.file, [origin.line(0)])


def _place(origin: Origin | None) -> str:
    return "the first one" if origin is None else f"{origin.file}:{origin.line(0)}"


@contextmanager
def read_twice(path: Path) -> Iterator[None]:
    """Allows standard input to be read twice: to detect its format, and to read its contents."""
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
    """Bytes that restart each time they are read to the end."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.seek(0)
        return data
