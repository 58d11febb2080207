"""`sidelight weights`: the weights of a model, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sidelight.commands.shared import options
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.outputs import check_writable, note, write, write_json


def command(
    model: options.ModelFile,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many of the highest and lowest weights to show.")
    ] = 20,
    label: Annotated[str | None, typer.Option(help="Only the weights of this label.")] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write them to a JSON file.")] = None,
) -> None:
    """Show the highest and lowest weights of a model: features, transitions, first and last labels."""
    from sidelight.models.weights import shown_weights, weights
    from sidelight.structures.weight_names import FeatureWeightNames, label_words

    check_writable(json, reads=[model])
    loaded = load(model)
    classes = loaded.structure.weight_names().labels.classes
    selected = next((name for name in classes if label_words(name) == label), label)  # labels may be numbers
    both = {name: weights(loaded, top=top, label=selected, lowest=name == "lowest") for name in ("highest", "lowest")}
    write_json({name: [weight.as_dict() for weight in ones] for name, ones in both.items()}, json)
    names = loaded.structure.weight_names()
    if isinstance(names, FeatureWeightNames) and names.hashed:
        note("the features of this structure are hashed, and have numbers for names")
    write("\n\n".join(f"{name}\n{shown_weights(ones)}" for name, ones in both.items()) + "\n", None)
