"""Sentences with dependency trees in CoNLL-U files: ten columns, a blank line after each sentence.

Comments of the form `# good = yes`, `# weight = 2` and `# group = q1` hold values that have no column. In partial
evidence a head or a relation may be `_`; in candidates `2|5` lists heads, `nsubj|obj` lists relations, and `_` means
any. Multi-word tokens and empty nodes are kept but ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.data.files import read_lines, shown_name
from sidelight.data.items import DIRECT, INPUTS, Item
from sidelight.data.json_lines.lines import FileLine
from sidelight.errors import DataError
from sidelight.evidence import Origin

FORM, UPOS, XPOS, HEAD, RELATION, ENHANCED, COLUMNS = 1, 3, 4, 6, 7, 8, 10
UNKNOWN = "_"
_NOTED = re.compile(r"#\s*(good|weight|group|score)\s*=\s*(.*?)\s*")
_WORD = re.compile(r"[0-9]+")
_OTHER = re.compile(r"[0-9]+[-.][0-9]+")
_UNWRITABLE = re.compile(r"[\t\n\r]")

Arc = tuple[Any, Any]  # a head and a relation; of partial evidence each may be None, of candidates each is a tuple


class Treebank(NamedTuple):
    """Sentences and their trees."""

    xs: list[list[tuple[str, str]]]  # form and tag of every token
    ys: list[list[tuple[int, str]]]  # head, 0 for the root, and relation of every token

    @property
    def heads(self) -> list[list[int]]:
        """The trees without relations."""
        return [[head for head, _ in y] for y in self.ys]


def read_treebank(path: Path, *, tags: int = UPOS) -> Treebank:
    """The sentences of a file, without multi-word tokens and empty nodes; raises `DataError` if one is not a tree."""
    items = read_sentences(path, "gold", tags=tags)
    return Treebank([list(item.x) for item in items], [list(item.output) for item in items])


def read_sentences(path: str | Path, kind: str = INPUTS, *, tags: int = UPOS) -> list[Item]:
    """The sentences of a file, with their trees read as a kind of evidence; raises `DataError` with the line."""
    file, items = shown_name(path), list[Item]()
    block: list[str] = []
    for number, line in enumerate([*read_lines(path), ""], start=1):
        if line.strip():
            block.append(line)
        elif block:
            items += _sentence(block, number - len(block), kind, file, tags)
            block = []
    if not items:
        raise DataError("no sentences", file=file, remedy="write a token a line, in the ten columns of CoNLL-U")
    return items


def write_sentences(items: Sequence[Item]) -> str:
    """The text of such a file: the lines that were read, with the given heads and relations.

    >>> write_sentences([Item((("lights", "NOUN"),), ((0, "root"),), good=True)]).splitlines()
    ['# good = yes', '1\\tlights\\t_\\tNOUN\\t_\\t_\\t0\\troot\\t_\\t_', '']
    """
    return "".join("\n".join(_block(number, item)) + "\n\n" for number, item in enumerate(items))


def _sentence(block: list[str], first: int, kind: str, file: str, tags: int) -> list[Item]:
    """The sentence of some lines, or none if they are only comments."""
    x: list[tuple[str, str]] = []
    cells: list[list[str]] = []
    lines: list[int] = []
    noted: dict[str, tuple[str, FileLine]] = {}
    for number, line in enumerate(block, start=first):
        place = FileLine(file, number)
        if line.startswith("#"):
            if match := _NOTED.fullmatch(line):
                noted[match[1]] = match[2], place
            continue
        own = line.split("\t")
        if _OTHER.fullmatch(own[0]):
            continue
        if len(own) != COLUMNS or not _WORD.fullmatch(own[0]):
            place.fail("not a token in 10 columns", "write the ten columns of CoNLL-U, with tabs between them")
        if int(own[0]) != len(x) + 1:
            place.fail(f"token {own[0]} where {len(x) + 1} was expected", "number the tokens of a sentence from 1 on")
        if not own[FORM]:
            place.fail(f"token {own[0]} has no form", "write it, or leave the token out")
        x.append((own[FORM], own[tags]))
        cells.append(own)
        lines.append(number)
    if not x:
        return []
    trees = _said(cells, lines, kind, file) if kind in DIRECT else None
    good, weight, group = _notes(noted)
    if good is None and kind == "companion":
        FileLine(file, lines[0]).fail("a sentence without an answer", "add a comment # good = yes, or # good = no")
    return [Item(tuple(x), trees, good, group, weight, origin=Origin(file, lines), source=tuple(block))]


def _said(cells: list[list[str]], lines: list[int], kind: str, file: str) -> tuple[Arc, ...]:
    arcs: list[Arc] = []
    for token, (own, number) in enumerate(zip(cells, lines), start=1):
        place = FileLine(file, number)
        heads = _heads(own[HEAD], kind, place)
        for head in heads or ():
            if head > len(cells) or head == token:
                problem = f"token {token} of a sentence of {len(cells)} has the head {head}"
                place.fail(problem, "give 0 for the root, or another token")
        relation: Any = own[RELATION]
        if kind != "gold" and relation == UNKNOWN:
            relation = None
        elif kind == "candidates":
            relation = tuple(dict.fromkeys(relation.split("|")))
        arcs.append((heads if kind == "candidates" or heads is None else heads[0], relation))
    if kind == "gold" and (token := _around([head for head, _ in arcs])):
        problem = f"the heads of token {token} lead back to it"
        FileLine(file, lines[token - 1]).fail(problem, "give heads that lead to the root, 0")
    return tuple(arcs)


def _heads(cell: str, kind: str, place: FileLine) -> tuple[int, ...] | None:
    """The heads in a cell, one unless the kind is candidates; None for any."""
    if cell == UNKNOWN and kind != "gold":
        return None
    parts = cell.split("|") if kind == "candidates" else [cell]
    if not all(_WORD.fullmatch(part) for part in parts):
        unknown = "" if kind == "gold" else ", or _ where it is not known"
        place.fail(f"the head of a token is {cell!r}", f"give its number, or 0 for the root{unknown}")
    return tuple(dict.fromkeys(map(int, parts)))


def _around(heads: list[int]) -> int:
    """The first token that is its own ancestor, from 1; 0 if there is none."""
    ends = [False] * (len(heads) + 1)  # whether a token is known to lead to the root
    ends[0] = True
    for token in range(1, len(heads) + 1):
        path: list[int] = []
        while not ends[token]:
            if token in path:
                return min(path[path.index(token) :])
            path.append(token)
            token = heads[token - 1]
        for one in path:
            ends[one] = True
    return 0


def _notes(noted: dict[str, tuple[str, FileLine]]) -> tuple[bool | None, float, str | None]:
    good, weight, group = None, 1.0, None
    if "good" in noted:
        text, place = noted["good"]
        good = {"yes": True, "true": True, "no": False, "false": False}.get(text.lower())
        if good is None:
            place.fail(f"good is {text!r}", "write yes or no")
    if "weight" in noted:
        text, place = noted["weight"]
        try:
            weight = float(text)
        except ValueError:
            weight = math.nan
        if not (math.isfinite(weight) and weight >= 0):
            place.fail(f"the weight is {text!r}", "give a number, 0 or more")
    if "group" in noted:
        group = noted["group"][0]
    return good, weight, group


def _block(number: int, item: Item) -> list[str]:
    block = list(item.source) if item.source else [_fresh(number, t, token) for t, token in enumerate(item.x, start=1)]
    notes = {
        "good": None if item.good is None else "yes" if item.good else "no",
        "weight": None if item.weight == 1.0 else f"{item.weight!r}",
        "group": item.group,
        "score": None if item.score is None else f"{item.score:.6g}",
    }
    rest = [line for line in block if not (line.startswith("#") and _NOTED.fullmatch(line))]
    comments = [f"# {name} = {text}" for name, text in notes.items() if text is not None]
    if any(_UNWRITABLE.search(comment) for comment in comments):
        raise DataError(f"sentence {number}: its group has the end of a line", remedy="change it")
    if item.output is not None:
        arcs = iter(item.output)
        rest = [_filled(line, next(arcs)) if _WORD.fullmatch(line.split("\t")[0]) else line for line in rest]
    return comments + rest


def _fresh(number: int, t: int, token: tuple[str, str]) -> str:
    form, tag = token
    if not form or _UNWRITABLE.search(form) or _UNWRITABLE.search(tag):
        raise DataError(f"sentence {number}, token {t}: not a form and a tag", remedy="change them")
    return "\t".join([str(t), form, UNKNOWN, tag or UNKNOWN, *[UNKNOWN] * 6])


def _filled(line: str, arc: Arc) -> str:
    """The line of a token with its head and relation; enhanced dependencies are dropped, since they belong to another
    tree.
    """
    cells = line.split("\t")
    head, relation = arc
    cells[HEAD] = UNKNOWN if head is None else "|".join(map(str, head)) if isinstance(head, tuple) else str(head)
    cells[RELATION] = relation if isinstance(relation, str) else "|".join(relation or (UNKNOWN,))
    cells[ENHANCED] = UNKNOWN
    return "\t".join(cells)
