"""Links between the words of sentence pairs: gold files, and the formats of Pharaoh and Giza.

A link is (source position, target position), both from 0. Files of gold links count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidelight.data.files import read_lines, shown_name
from sidelight.data.json_lines.lines import FileLine
from sidelight.errors import DataError

Link = tuple[int, int]
Links = frozenset[Link]
Pairs = Sequence[tuple[Sequence[str], Sequence[str]]]  # the words of both sentences

_GIZA_HEAD = re.compile(r"# Sentence pair \((\d+)\) source length (\d+) target length (\d+)")
_GIZA_WORD = re.compile(r"(\S+) \(\{([\d ]*)\}\) ?")


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """The gold links of one pair: the sure ones, and the possible ones (which include the sure ones)."""

    sure: Links
    possible: Links


def read_gold(path: str | Path, *, pairs: Pairs | None = None, count: int | None = None) -> list[GoldLinks]:
    """Read a gold file: sentence number, source position, target position, and S or P (without this mark a link is
    sure).

    The list has an entry for every sentence up to the last one in the file, or for `count` sentences, or for each of
    `pairs`; then positions are checked against their lengths. Raises `DataError` for a line of another form, and for a
    sentence or a position that does not exist.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "gold.wa").write_text("1 1 1 S\\n1 2 1 P\\n")
    ...     gold = read_gold(Path(folder, "gold.wa"))
    >>> sorted(gold[0].sure), sorted(gold[0].possible)
    ([(0, 0)], [(0, 0), (1, 0)])
    """
    file = shown_name(path)
    sure: dict[int, set[Link]] = {}
    possible: dict[int, set[Link]] = {}
    for number, line in enumerate(read_lines(path), 1):
        cells = line.split()
        if not cells:
            continue
        if len(cells) not in (3, 4) or not all(map(_is_whole, cells[:3])) or cells[3:] not in ([], ["S"], ["P"]):
            remedy = "write: sentence, source position, target position (from 1), and S or P"
            FileLine(file, number).fail(f"not a link: {line.strip()!r}", remedy)
        sentence, i, j = (int(cell) for cell in cells[:3])
        if problem := _misplaced(sentence, i, j, pairs, count):
            FileLine(file, number).fail(problem, "check that text and gold belong together")
        possible.setdefault(sentence, set()).add((i - 1, j - 1))
        if cells[3:] != ["P"]:
            sure.setdefault(sentence, set()).add((i - 1, j - 1))
    if not possible:
        raise DataError("no links", file=file, remedy="write one link a line")
    if count is None:
        count = max(possible) if pairs is None else len(pairs)
    return [GoldLinks(frozenset(sure.get(n, ())), frozenset(possible.get(n, ()))) for n in range(1, count + 1)]


def pharaoh_line(links: Iterable[Link]) -> str:
    """The links of one pair in the format of Pharaoh and Moses.

    >>> pharaoh_line({(1, 2), (0, 0)})
    '0-0 1-2'
    """
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def read_pharaoh(path: str | Path) -> list[Links]:
    """Links from a file with a line per pair; raises `DataError` for what is not a link.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "links").write_text("0-0 1-2\\n\\n")
    ...     [sorted(links) for links in read_pharaoh(Path(folder, "links"))]
    [[(0, 0), (1, 2)], []]
    """
    alignments: list[Links] = []
    for number, line in enumerate(read_lines(path), 1):
        links = set()
        for cell in line.split():
            i, dash, j = cell.partition("-")
            if not dash or not _is_whole(i) or not _is_whole(j):
                FileLine(shown_name(path), number).fail(f"not a link: {cell!r}", "write links as 0-0 1-2")
            links.add((int(i), int(j)))
        alignments.append(frozenset(links))
    return alignments


def giza_entry(
    number: int, source: Sequence[str], target: Sequence[str], links: Iterable[Link], *, score: float = 1.0
) -> str:
    """The three lines of one pair in Giza's A3 format; positions of target words count from 1.

    >>> print(giza_entry(1, ["light", "on"], ["allumée", "!"], [(1, 0)]))
    # Sentence pair (1) source length 2 target length 2 alignment score : 1
    allumée !
    NULL ({ 2 }) light ({ }) on ({ 1 })
    """
    of_source: list[list[int]] = [[] for _ in source]
    free = set(range(len(target)))
    for i, j in sorted(links):
        of_source[i].append(j + 1)
        free.discard(j)
    cells = [("NULL", [j + 1 for j in sorted(free)]), *zip(source, of_source)]
    words = " ".join(f"{word} ({{ {''.join(f'{j} ' for j in places)}}})" for word, places in cells)
    head = f"# Sentence pair ({number}) source length {len(source)} target length {len(target)}"
    return f"{head} alignment score : {score:g}\n{' '.join(target)}\n{words}"


def read_giza(path: str | Path) -> list[Links]:
    """Links from a file in Giza's A3 format, by the numbers of its entries; raises `DataError` for other files.

    Pairs without an entry, such as those that Giza leaves out, have no links.
    """
    lines = read_lines(path)
    file = shown_name(path)
    alignments: dict[int, Links] = {}
    for at in range(0, len(lines), 3):
        head = _GIZA_HEAD.match(lines[at])
        words = list(_GIZA_WORD.finditer(lines[at + 2])) if at + 2 < len(lines) else []
        if head is None or len(words) != int(head[2]) + 1:
            FileLine(file, at + 1).fail("not an entry of three lines", "give a Giza A3 file")
        number = int(head[1])
        if number < 1 or number in alignments:
            problem = f"sentence pair {number} for a second time" if number else "sentence pairs count from 1"
            FileLine(file, at + 1).fail(problem, "give a Giza A3 file")
        alignments[number] = frozenset((i, int(j) - 1) for i, word in enumerate(words[1:]) for j in word[2].split())
    return [alignments.get(number, frozenset()) for number in range(1, max(alignments, default=0) + 1)]


def _is_whole(cell: str) -> bool:
    return cell.isascii() and cell.isdigit()


def _misplaced(sentence: int, i: int, j: int, pairs: Pairs | None, count: int | None) -> str | None:
    """The problem with the numbers of a link, if any."""
    if min(sentence, i, j) < 1:
        return "sentences and positions count from 1"
    if sentence > (count := len(pairs) if pairs is not None else sentence if count is None else count):
        return f"sentence {sentence} where there are {count}"
    if pairs is not None and (i > len(pairs[sentence - 1][0]) or j > len(pairs[sentence - 1][1])):
        source, target = pairs[sentence - 1]
        return f"link {i} {j} in a pair of {len(source)} and {len(target)} words"
    return None
