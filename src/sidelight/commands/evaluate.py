"""`sidelight evaluate`: how good a model is, and whether it is better than another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import check_fits, read_labelled
from sidelight.commands.shared.notes import warnings_noted
from sidelight.commands.shared.outputs import check_writable, write, write_json
from sidelight.commands.shared.rule_options import Inference, RulesFiles, check_inference, predictor
from sidelight.evidence import Gold


def command(
    model: options.ModelFile,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Inputs with all their labels; - is the standard input.")
    ],
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER_MODEL",
            help="Another model to compare with, and how sure one can be; the same model compares without rules.",
        ),
    ] = None,
    metric: Annotated[Literal["accuracy", "f1"], typer.Option(help="What the comparison is about.")] = "accuracy",
    scheme: Annotated[
        Literal["auto", "bio", "IOB1", "BIOES", "BILOU", "runs"],
        typer.Option(
            case_sensitive=False,  # "BIO" is what train calls it
            help="How spans are read: off labels such as B-X in any scheme (bio) or in one that is checked, or as runs "
            "of equal labels; auto looks at the labels.",
        ),
    ] = "auto",
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write everything to a JSON file too.")] = None,
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    rules: RulesFiles = None,
    inference: Inference = options.DEFAULTS["inference"],
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
) -> None:
    """Compare a model's labels with the right ones: token accuracy, and precision, recall and F1 of spans."""
    from sidelight.evaluate import compare, evaluate

    check_writable(json, reads=[model, file, against, *(rules or ())])
    check_inference(inference, rules)
    pieces = read_labelled(file, format=format, label_column=label_column)
    truth = [piece.y for piece in pieces]
    guesses = _predictions(model, pieces, rules, inference, jobs)
    first = evaluate(truth, guesses, scheme=scheme)
    found: dict[str, Any] = {"model": str(model), **first.as_dict()}
    text = f"{first}\n"
    if against is not None:
        same = against == model
        name = "" if same else "the other model"
        others = _predictions(against, pieces, None if same else rules, inference, jobs, name=name)
        second = evaluate(truth, others, scheme=scheme)
        comparison = compare(truth, guesses, others, metric=metric, scheme=scheme)
        text = f"{model}\n{first}\n\n{against}\n{second}\n\n{comparison}\n"
        found["against"] = {"model": str(against), **second.as_dict()}
        found["comparison"] = {
            "metric": comparison.metric,
            "difference": comparison.difference,
            "p_value": comparison.p_value,
            "rounds": comparison.rounds,
        }
    write_json(found, json)
    write(text, None)


def _predictions(
    path: Path, pieces: list[Gold], rules: list[Path] | None, inference: str, jobs: int, *, name: str = "the model"
) -> list[Any]:
    """Outputs with labels as text, which is what files hold."""
    model, predict = predictor(path, rules, inference, name=name)
    check_fits(model, [(piece.x, piece.origin) for piece in pieces])
    with warnings_noted():
        outputs = predict([piece.x for piece in pieces], jobs)
    return [[str(label) for label in output] if model.sequences else str(output) for output in outputs]
