"""`sidelight structures`: a list of the structures, with files and options."""

from __future__ import annotations

import textwrap
from dataclasses import MISSING, Field
from typing import Annotated, Any

import typer

from sidelight.commands.registry import LABELS, NAMES, entry_named
from sidelight.commands.registry.entry import StructureEntry
from sidelight.commands.shared.outputs import hanging, text_width, write
from sidelight.commands.shared.structured import chosen_entry, options_of
from sidelight.core.checks import VALUES

_LINES = {
    "chain": "Labels of tokens, or of whole inputs.",
    "segments": "Labels of whole segments of tokens (semi-Markov).",
}


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The structure whose files and options to show.")
    ] = None,
) -> None:
    """List the structures, or show the files and options of one."""
    width = text_width()
    if name is None:
        lines = {**_LINES, **{one: entry_named(one).line for one in NAMES}}
        longest = max(map(len, lines))
        wrapped = [hanging(f"{one:<{longest}}  ", line, width) for one, line in lines.items()]
        write("\n".join([*wrapped, "", "sidelight train --structure NAME learns one."]) + "\n", None)
    elif name in LABELS:
        how = "Files are columns, JSON lines or attributes; see sidelight train --help-all."
        write(f"{name}: {_LINES[name]}\n\n{how}\n", None)
    else:
        entry = chosen_entry(name)
        assert entry is not None
        write(_one(entry, width), None)


def _one(entry: StructureEntry, width: int) -> str:
    blocks = [textwrap.fill(f"{entry.name}: {entry.line}", width)]
    forms = [f"{name} ({', '.join(form.endings)})" for name, form in entry.formats.items()]
    measures = ", ".join(measure.name for measure in entry.measures(None))
    rows = {"files": ", ".join(forms), "e.g.": entry.example, "scores": measures}
    blocks.append("\n".join(hanging(f"{head:<9}", text, width) for head, text in rows.items()))
    options = [(name, _shown(one.default), _in_words(one)) for name, one in options_of(entry).items()]
    table = [("option", "default", "what it may be"), *options]
    widths = [max(len(row[k]) for row in table) for k in (0, 1)]
    blocks.append("\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in table))
    ending = next(iter(entry.formats.values())).endings[0]
    shell = f"sidelight train --structure {entry.name} --gold train{ending} --out model.sidelight"
    blocks.append(f"shell:  {shell}\npython: sl.Predictor({entry.structure.__name__}())")
    return "\n\n".join(blocks) + "\n"


def _shown(default: Any) -> str:
    """A default as typed on the command line.

    >>> _shown((3, 3)), _shown(()), _shown(True)
    ('3,3', 'none', 'true')
    """
    if default is MISSING:
        return "of the files"
    if isinstance(default, tuple):
        return ",".join(map(str, default)) or "none"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _in_words(option: Field[Any]) -> str:
    if VALUES in option.metadata:
        return " or ".join(map(repr, option.metadata[VALUES]))
    kind = str(option.type)
    words = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a text"}
    words |= {"tuple[int, int]": "two whole numbers, e.g. 2,2", "tuple[str, ...]": "names, e.g. a,b"}
    words |= {"Sequence[str]": "names, e.g. a,b"}
    return words.get(kind, kind)
