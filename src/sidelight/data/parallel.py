"""Parallel text: two files, line i of one the translation of line i of the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidelight.data.files import read_lines, shown_name
from sidelight.errors import DataError

# White space for `str.split`, but not for other aligners: a no-break space is part of its word.
_ODD_SPACES = "".join(c for c in map(chr, range(0x3001)) if c.isspace() and c not in " \t")

Sentence = list[str]


@dataclass(frozen=True, slots=True)
class ParallelText:
    """Sentence pairs as lists of words, and their lines."""

    sources: list[Sentence]
    targets: list[Sentence]
    lines: list[int]  # of every pair, from 1
    count: int  # lines of each file, including skipped ones

    @property
    def pairs(self) -> list[tuple[Sentence, Sentence]]:
        """The sentence pairs, each a tuple."""
        return list(zip(self.sources, self.targets))

    @property
    def skipped(self) -> list[int]:
        """Lines left out because a sentence is empty."""
        return sorted(set(range(1, self.count + 1)).difference(self.lines))

    def on_all_lines(self, values: Sequence[str]) -> list[str]:
        """One value per line of the files: the values of the pairs, and "" for skipped lines.

        >>> ParallelText([["a"]], [["b"]], [2], 3).on_all_lines(["0-0"])
        ['', '0-0', '']
        """
        out = [""] * self.count
        for line, value in zip(self.lines, values):
            out[line - 1] = value
        return out


def read_parallel(source: str | Path, target: str | Path, *, skip_empty: bool = False) -> ParallelText:
    """Read two files of tokenised sentences, one per line, with spaces between words; `.gz` is decompressed.

    Raises `DataError` for files with different numbers of lines, for text that is not UTF-8, for files without a pair,
    and for a line without words in either file, unless `skip_empty` is set, which skips such pairs.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.en").write_text("light on\\n\\n")
    ...     _ = Path(folder, "a.fr").write_text("lumière allumée\\nbon\\n", encoding="utf-8")
    ...     text = read_parallel(Path(folder, "a.en"), Path(folder, "a.fr"), skip_empty=True)
    >>> text.pairs, text.skipped
    ([(['light', 'on'], ['lumière', 'allumée'])], [2])
    """
    left, right = read_lines(source), read_lines(target)
    if len(left) != len(right):
        raise DataError(
            f"{len(right):,} lines where {shown_name(source)} has {len(left):,}",
            file=shown_name(target),
            remedy="give two files that are translations of each other line by line",
        )
    split_left, split_right = _splitter(left), _splitter(right)
    shared = dict[str, str]().setdefault  # one object per distinct word
    sources: list[Sentence] = []
    targets: list[Sentence] = []
    lines: list[int] = []
    for number, (a, b) in enumerate(zip(left, right), 1):
        x, y = split_left(a), split_right(b)
        if x and y:
            sources.append([shared(word, word) for word in x])
            targets.append([shared(word, word) for word in y])
            lines.append(number)
        elif not skip_empty:
            raise DataError(
                "an empty sentence",
                file=shown_name(target if x else source),
                line=number,
                remedy="remove the line from both files, or skip empty sentences (--skip-empty)",
            )
    if not lines:
        raise DataError("no sentence pairs", file=shown_name(source), remedy="give one sentence a line")
    return ParallelText(sources, targets, lines, len(left))


def _splitter(lines: Sequence[str]) -> Callable[[str], list[str]]:
    text = "".join(lines)
    if any(space in text for space in _ODD_SPACES):
        return lambda line: [word for word in line.replace("\t", " ").split(" ") if word]
    return str.split
