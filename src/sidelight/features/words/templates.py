"""Feature templates in the syntax of CRF++, and in that of Wapiti.

`U00:%x[-1,0]/%x[0,0]` is a feature of the previous and the current token's first column; `B` alone adds transition
weights, and `*` alone adds these and a feature of every token; `#` begins a comment. Besides `%x` there are macros for
part of a string, such as `%suffix3[0,0]` (see `transforms`), and those of Wapiti: `%X` in lower case,
`%t[0,0,"expression"]` (whether a regular expression matches in the token), `%m[0,0,"expression"]` (the match), and `%M`
(the match in lower case) (see `wapiti_patterns`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from sidelight.core.arrays import Ints
from sidelight.core.checks import arguments_checked, check_fields, file_name, shown
from sidelight.errors import DataError
from sidelight.features.transforms import Classes, transform

_PLACE = r"\[ *([+-]?\d+) *, *(\d+) *"
_MACRO = re.compile(rf"""%(?:((?![tm]\[)[a-z]+[0-9]?|X){_PLACE}\]|([tTmM]){_PLACE}, *"((?:[^"\\]|\\.)*)" *\])""")
_ELSEWHERE = re.compile(r"%[xXtTmM]\[ *[@*]")  # Wapiti: counted from an end, or by a column
_OF_WAPITI = {"x": "x", "X": "lower", "t": "test", "T": "test", "m": "match", "M": "lowermatch"}
_COMMENT = re.compile(r"\s#.*")
FARTHEST = 8  # how many tokens away a template may look


class Slot(NamedTuple):
    """One macro: a named function of a column, some tokens away."""

    transform: str
    offset: int
    column: int


@dataclass(frozen=True, slots=True)
class Template:
    """One line of a template file; `text` has `{}` instead of each macro."""

    text: str
    slots: tuple[Slot, ...]
    written: str = field(default="", compare=False, repr=False)  # the line it was read from, and where that is

    def name(self, values: Iterable[str]) -> str:
        """The name of the feature with these values in its slots."""
        return self.text.format(*values)


@dataclass(frozen=True, slots=True)
class Templates:
    """A set of templates, and how their features are numbered.

    `boundary`: what a macro sees beyond the ends of a sequence: "symbol" (`_B-1`, `_B+1`, as CRF++) or "skip" (no
    feature, as in CRFsuite's tutorial). `min_count`: features seen less often are dropped. `hash_bits`: instead of a
    vocabulary, hash features into 2**hash_bits attributes. `classes`: those of words, for the macros `%class1[0,0]` on.
    """

    templates: tuple[Template, ...]
    transitions: bool = True
    boundary: Literal["symbol", "skip"] = "symbol"
    min_count: int = 1
    hash_bits: int | None = None
    classes: Classes | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.min_count < 1:
            raise ValueError(f"min_count is {self.min_count}; give 1 or more")
        if self.hash_bits is not None and not 4 <= self.hash_bits <= 28:
            raise ValueError(f"hash_bits is {self.hash_bits}; give 4 to 28")
        if self.boundary not in ("symbol", "skip"):
            raise ValueError(f"boundary is {shown(self.boundary)}; give 'symbol' or 'skip'")
        if self.classes is not None and not hasattr(self.classes, "levels"):
            raise ValueError(f"classes is {shown(self.classes)}; give what features.word_classes makes")
        for name, _ in self.views if self.classes is None else ():
            transform(name, self.classes)

    @property
    def views(self) -> list[tuple[str, int]]:
        """The distinct (transform, column) pairs that the templates look at."""
        return sorted({(slot.transform, slot.column) for template in self.templates for slot in template.slots})


@dataclass(frozen=True, slots=True)
class TemplateProgram:
    """The slots of all templates, one after another, as kernels read them."""

    slot_ptr: Ints  # [M + 1]
    slot_view: Ints  # [slots] which (transform, column)
    slot_offset: Ints  # [slots]


def program(templates: Templates) -> TemplateProgram:
    """The flat form of a set of templates."""
    views = {view: i for i, view in enumerate(templates.views)}
    slots = [slot for template in templates.templates for slot in template.slots]
    return TemplateProgram(
        np.cumsum([0, *(len(template.slots) for template in templates.templates)]).astype(np.int64),
        np.array([views[slot.transform, slot.column] for slot in slots], dtype=np.int64),
        np.array([slot.offset for slot in slots], dtype=np.int64),
    )


@arguments_checked
def parse_templates(
    text: str,
    *,
    boundary: Literal["symbol", "skip"] = "symbol",
    min_count: int = 1,
    hash_bits: int | None = None,
    classes: Classes | None = None,
    file: str | Path | None = None,
) -> Templates:
    """Templates from the text of a template file of CRF++, or of a pattern file of Wapiti.

    >>> [t.text for t in parse_templates("U00:%x[-1,0]/%x[0,0]\\nB").templates]
    ['U00:{}/{}']
    """
    if not isinstance(text, str):
        raise DataError(f"the templates are a {type(text).__name__}", remedy="give their text, a line for each")
    templates: list[Template] = []
    seen: dict[str, int] = {}
    transitions = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub("", f" {raw}").strip()
        if not line:
            continue
        if line in seen:
            raise DataError(
                f"template {line!r} was given on line {seen[line]} already", file=file, line=number, remedy="remove one"
            )
        seen[line] = number
        kind = line[0].upper()
        if kind not in "UB*":
            raise DataError(
                f"template {line!r} begins with neither U nor B",
                file=file,
                line=number,
                remedy="write U..:%x[row,column] or B",
            )
        if kind != "U" and "%" in line:
            remedy = "use B alone for transitions" + (", and a line with U for the token" if kind == "*" else "")
            raise DataError(f"bigram template {line!r} has macros", file=file, line=number, remedy=remedy)
        transitions = transitions or kind != "U"
        if kind != "B":
            templates.append(_template(line, file, number, classes))
    if not templates:
        raise DataError("no unigram template", file=file, remedy="give at least one line such as U00:%x[0,0]")
    return Templates(tuple(templates), transitions, boundary, min_count, hash_bits, classes)


def with_classes(templates: Templates, classes: Classes) -> Templates:
    """The same templates, and the classes of the word (see `word_classes`)."""
    if not isinstance(templates, Templates):
        raise ValueError(f"templates is {shown(templates)}; give templates, as features.standard() makes them")
    if not hasattr(classes, "levels"):
        raise ValueError(f"classes is {shown(classes)}; give what features.word_classes makes")
    levels = range(1, classes.levels + 1)
    added = [Template(f"class{level}={{}}", (Slot(f"class{level}", 0, 0),)) for level in levels]
    return replace(templates, templates=(*templates.templates, *added), classes=classes)


def _template(line: str, file: str | Path | None, number: int, classes: Classes | None) -> Template:
    slots = [_slot(*macro.groups()) for macro in _MACRO.finditer(line)]
    bare = _MACRO.sub("\0", line)
    if _ELSEWHERE.search(bare):
        problem = f"{line!r} counts tokens from an end of the sentence, or by a column"
        raise DataError(problem, file=file, line=number, remedy="count from the token: %x[-1,0] is the one before")
    if "%" in bare:
        raise DataError(f"cannot read {line!r}", file=file, line=number, remedy="write macros as %x[row,column]")
    for slot in slots:
        try:
            transform(slot.transform, classes)
        except DataError as error:
            raise DataError(error.problem, file=file, line=number, remedy=error.remedy) from None
        if abs(slot.offset) > FARTHEST:
            raise DataError(
                f"{line!r} looks {abs(slot.offset)} tokens away", file=file, line=number, remedy=f"at most {FARTHEST}"
            )
    text = bare.replace("{", "{{").replace("}", "}}").replace("\0", "{}")
    return Template(text, tuple(slots), f"{'line' if file is None else file}:{number} ({line})")


def _slot(
    name: str, offset: str, column: str, tested: str, test_offset: str, test_column: str, expression: str
) -> Slot:
    """One macro as the groups of `_MACRO` have it: a plain one, or one with a regular expression."""
    if tested:
        return Slot(f"{_OF_WAPITI[tested]}:{expression}", int(test_offset), int(test_column))
    return Slot(_OF_WAPITI.get(name, name), int(offset), int(column))


@arguments_checked
def read_templates(path: str | Path, *, min_count: int = 1, hash_bits: int | None = None) -> Templates:
    """Templates from a template file of CRF++ or a pattern file of Wapiti."""
    try:
        text = Path(file_name(path)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read templates: {error}", file=path, remedy="give a UTF-8 text file") from None
    return parse_templates(text, min_count=min_count, hash_bits=hash_bits, file=path)
