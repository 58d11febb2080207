"""`sidelight explain`: why this output and not the second best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sidelight.commands.registry import entry_of
from sidelight.commands.shared import options
from sidelight.commands.shared import progress_display as showing
from sidelight.commands.shared.inputs import check_fits, in_columns, label_position, read_inputs
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.outputs import check_writable, write, write_json
from sidelight.commands.shared.plain_text import document_of
from sidelight.commands.shared.rule_options import (
    Inference,
    RulesFiles,
    check_inference,
    constrained,
    note_missing_rules,
)
from sidelight.commands.shared.structured import limited, read_items, refuse, under_rules
from sidelight.data.text import tokens_in
from sidelight.errors import DataError
from sidelight.models.model import Model


def command(
    model: options.ModelFile,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A file with the input to explain.")] = None,
    text: Annotated[str | None, typer.Option(help="The input as plain text.")] = None,
    index: Annotated[int, typer.Option(help="The input to explain, counted from 0.")] = 0,
    json: options.JsonFile = None,
    format: options.Format = None,
    label_column: options.InputLabelColumn = None,
    labelled: options.Labelled = False,
    rules: RulesFiles = None,
    inference: Inference = options.DEFAULTS["inference"],
    seconds: options.Seconds = None,
) -> None:
    """Explain the prediction for one input: the runner-up, and the weights that decide between the two.

    With --rules, also shows the labels under rules, how each rule was applied, which rules the prediction without rules
    breaks, and what they change. The weights explain the prediction without rules.
    """
    from sidelight.models.explain import explain

    if (file is None) == (text is None):
        raise ValueError('one input is needed; give --text "tokens …" or a FILE')
    check_writable(json, reads=[model, file, *(rules or ())])
    check_inference(inference, rules)
    loaded = limited(load(model), seconds)
    if (entry := entry_of(loaded)) is not None:
        others = {"--text": file is None, "--labelled": labelled, "--label-column": label_column is not None}
        refuse(entry.name, others)
        assert file is not None
        loaded, rules = under_rules(loaded, entry, rules), None  # already applied
        x = _listed(file, index, [item.x for item in read_items(entry, file, format)])
    elif file is None:
        x = _typed(text or "", loaded)
    else:
        column = label_position(file, format=format, labelled=labelled, label_column=label_column)
        x = _chosen(file, index, loaded, format, column)
    with showing.shown():
        effects = None if not rules else constrained(loaded, rules, inference).explain_rules(x)
        explanation = explain(loaded, x)
    more = {} if effects is None else {"under_rules": list(effects.labels)}
    write_json({**explanation.as_dict(), **more}, json)
    shown = [explanation.shown(None if effects is None else effects.labels)]
    if effects is not None:
        shown.append(str(effects))
    write("\n\n".join(shown) + "\n", None)
    if not rules and entry is None:
        note_missing_rules(loaded)


def _typed(text: str, model: Model) -> Any:
    tokens = tokens_in(text)
    if not tokens:
        raise ValueError("--text has no tokens; give at least one word")
    if model.sequences:
        return in_columns(tokens)
    return document_of(tokens, model)


def _chosen(file: Path, index: int, model: Model, format: str | None, label_column: int | None) -> Any:
    corpus = read_inputs(file, format=format, label_column=label_column)
    x = _listed(file, index, corpus.xs)
    check_fits(model, [(x, corpus.origins[index])])
    return x


def _listed(file: Path, index: int, xs: list[Any]) -> Any:
    if not 0 <= index < len(xs):
        remedy = f"give --index from 0 to {len(xs) - 1}"
        raise DataError(f"there is no input {index}", file=file, remedy=remedy)
    return xs[index]
