"""`sidelight generate`: example files of a structure, for trying commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.registry import CHAIN, LABELS, NAMES
from sidelight.commands.shared import options
from sidelight.commands.shared.options import at_least
from sidelight.commands.shared.structured import chosen_entry
from sidelight.data import write_columns, write_text_atomically
from sidelight.data.items import Item
from sidelight.errors import DataError

PARTS = ("gold", "test", "good")  # with different inputs; bad ones are made from the good ones


def command(
    structure: Annotated[
        str, typer.Argument(metavar="|".join((CHAIN, *NAMES)), help="The structure to generate examples for.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write to.")],
    count: Annotated[
        int, typer.Option("--count", callback=at_least("--count", 1), help="The number of inputs per file.")
    ] = 100,
    seed: options.Seed = options.DEFAULTS["seed"],
) -> None:
    """Generate example files: gold, test, good and bad inputs, and answers for ranking."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"the folder cannot be made ({error.strerror})"
        raise DataError(problem, file=out, remedy="name another folder with --out") from None
    texts = _labels(count, seed) if structure in LABELS else _structures(structure, count, seed)
    for name, text in texts.items():
        if (out / name).exists() and (out / name).read_bytes() != text.encode():
            problem = "there is a file of this name with other content"
            raise DataError(problem, file=out / name, remedy="name another folder with --out, or remove the file")
    for name, text in texts.items():
        write_text_atomically(out / name, text)
    typer.echo(" ".join(str(out / name) for name in texts))


def _structures(name: str, count: int, seed: int) -> dict[str, str]:
    entry = chosen_entry(name)
    assert entry is not None
    items = entry.generate(len(PARTS) * count, seed)
    parts = {part: items[k * count : (k + 1) * count] for k, part in enumerate(PARTS)}
    good = [replace(item, output=None) for item in parts["good"]]
    bad = [Item(x) for x in entry.spoil([item.x for item in good], seed)]
    answers = [*(replace(item, good=True) for item in good), *(replace(item, good=False) for item in bad)]
    files = {**parts, "good": good, "bad": bad, "answers": answers}
    form = next(iter(entry.formats.values()))
    texts = {f"{part}{form.endings[0]}": form.write(own) for part, own in files.items()}
    return texts if entry.rules_text is None else {**texts, "rules.py": entry.rules_text}


def _labels(count: int, seed: int) -> dict[str, str]:
    from sidelight.corpus import references
    from sidelight.evidence import shuffled

    texts = list({one.text: one for one in references(2 * len(PARTS) * count, seed=seed)}.values())
    parts = [texts[k * count : (k + 1) * count] for k in range(len(PARTS))]
    tokens = [[list(one.tokens) for one in part] for part in parts]
    labels = [[list(one.labels) for one in part] for part in parts]
    files = {f"{name}.txt": write_columns(tokens[k], labels[k]) for k, name in enumerate(PARTS[:2])}
    return {**files, "good.txt": write_columns(tokens[2]), "bad.txt": write_columns(shuffled(tokens[2], seed=seed))}
