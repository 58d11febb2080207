"""`sidelight evaluate`: how good a model is, and whether it is better than another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sidelight.annotation_tools import tool_of
from sidelight.commands.registry import entry_of
from sidelight.commands.registry.asking import AskedModel
from sidelight.commands.shared import options
from sidelight.commands.shared.inputs import check_fits, in_columns, read_labelled
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.notes import warnings_noted
from sidelight.commands.shared.outputs import check_writable, write, write_json
from sidelight.commands.shared.rule_options import (
    Inference,
    RulesFiles,
    check_inference,
    note_missing_rules,
    predictor,
)
from sidelight.commands.shared.streams import PARTS, check_columns, note_resumed, pieces_there, run_mark
from sidelight.commands.shared.structure_scores import DecisionScores, Scored, told_comparison
from sidelight.commands.shared.structured import limited, read_items, refuse, under_rules
from sidelight.core.file_contents import mapping_of, reading
from sidelight.core.journal import REMEDY, START, Journal, Position
from sidelight.data.files import STDIN
from sidelight.data.stored import StoredCorpus, file_pieces
from sidelight.data.text_pieces import TextPiece, placed
from sidelight.evidence import Evidence, Gold
from sidelight.parallel import place_of
from sidelight.parallel.place import Place

if TYPE_CHECKING:
    from sidelight.evaluate.spans import Scheme
    from sidelight.evaluate.tally import Tally


def command(
    model: options.ModelFile,
    file: options.LabelledFile,
    by: Annotated[
        Literal["outputs", "answers", "ranking"],
        typer.Option(
            help="What is compared: labels or structures; answers whether there is a good one; or the order of "
            "candidates (top-1, mean reciprocal rank)."
        ),
    ] = "outputs",
    every: options.AllPairs = False,
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
    json: options.JsonFile = None,
    format: options.Format = None,
    label_column: options.LabelColumn = -1,
    rules: RulesFiles = None,
    inference: Inference = options.DEFAULTS["inference"],
    seconds: options.Seconds = None,
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
    place: options.PlaceName = None,
    resume: options.Resume = False,
) -> None:
    """Compare a model's labels with the right ones: token accuracy, and precision, recall and F1 of spans.

    Structures have scores of their own: precision, recall and F1 of links, attachment scores of trees.
    """
    from sidelight.evaluate import compare, evaluate

    check_writable(json, reads=[model, file, against, *(rules or ())])
    check_inference(inference, rules)
    if every and by != "ranking":
        raise ValueError("--all is about candidates; add --by ranking, or leave it out")
    if resume and (json is None or str(file) == STDIN or against is not None or by != "outputs"):
        raise ValueError("--resume goes from a file to the --json of one model; name both, without --against and --by")
    if by != "outputs":
        asked, other = (
            None if path is None else AskedModel.loaded(path, seconds=seconds, rules=rules, jobs=jobs)
            for path in (model, against)
        )
        assert asked is not None
        decided = DecisionScores(asked, other, (str(model), str(against)), file, format)
        text, values = decided.answers() if by == "answers" else decided.ranking(every=every)
        write_json(values, json)
        write(text, None)
        return
    if (entry := entry_of(loaded := load(model))) is not None:
        without_meaning = {
            "--metric": metric != "accuracy",
            "--scheme": scheme != "auto",
            "--label-column": label_column != -1,
            "--resume": resume,
        }
        refuse(entry.name, without_meaning)
        scored = Scored(entry, read_items(entry, file, format, "gold"), seconds, jobs)
        text, values = scored.told(str(model), under_rules(loaded, entry, rules), against)
        write_json(values, json)
        write(text, None)
        return
    limited(loaded, seconds)
    if against is None and tool_of(file, format) is None:
        reads, told = [file, model, *(rules or ())], [format, label_column, scheme, inference]
        journal = Journal(json.with_name(json.name + ".journal"), run_mark(reads, told)) if resume and json else None
        first = _tally(model, file, format, label_column, scheme, journal, rules, inference, jobs, place).evaluation()
        write_json({"model": str(model), **first.as_dict()}, json)
        write(f"{first}\n", None)
        if journal is not None:
            journal.end()
        return
    if resume:
        raise ValueError("--resume is for columns, attributes, JSON lines and Parquet; leave it out")
    pieces = read_labelled(file, format=format, label_column=label_column)
    truth = [piece.y for piece in pieces]
    guesses = _predictions(model, pieces, rules, inference, jobs, place)
    first = evaluate(truth, guesses, scheme=scheme)
    values = {"model": str(model), **first.as_dict()}
    text = f"{first}\n"
    if against is not None:
        same = against == model
        name = "" if same else "the other model"
        others = _predictions(against, pieces, None if same else rules, inference, jobs, place, name=name)
        second = evaluate(truth, others, scheme=scheme)
        comparison = compare(truth, guesses, others, metric=metric, scheme=scheme)
        text = f"{model}\n{first}\n\n{against}\n{second}\n\n{comparison}\n"
        values["against"] = {"model": str(against), **second.as_dict()}
        values["comparison"] = told_comparison(comparison)
    write_json(values, json)
    write(text, None)


def _tally(
    path: Path,
    file: Path,
    format: str | None,
    label_column: int,
    scheme: Scheme,
    journal: Journal | None,
    rules: list[Path] | None,
    inference: str,
    jobs: int,
    place: str | None,
) -> Tally:
    """The scores of a file, which is read some at a time; with a journal, from where an earlier run was stopped."""
    from sidelight.evaluate.tally import Tally

    model, predict = predictor(path, rules, inference)
    corpus = StoredCorpus({"gold": (file,)}, Path(), format, label_column)
    after, tally = START, Tally(scheme)
    if journal is not None:
        with reading(journal.path, remedy=REMEDY):
            if (said := journal.said()) is not None:
                after, tally = said[0], Tally.of_dict(mapping_of(said[1], "tally"))
        note_resumed(after)

    def told(last: Position) -> None:
        if journal is not None:
            journal.tell(last, tally=tally.as_dict())

    where = place_of(place, jobs)
    with warnings_noted():
        if where.remote and not rules:
            note_missing_rules(model)
            for last, found in _tallies_there(where, model, corpus, file, after, scheme):
                tally = tally.together(found)
                told(last)
        else:
            for piece, evidence in corpus.pieces("gold", file, after=after):
                tally = _counted(piece, evidence, model, lambda xs: predict(xs, jobs, place), tally)
                told(piece.last)
    return tally


def _tallies_there(
    place: Place, model: Any, corpus: StoredCorpus, file: Path, after: Position, scheme: Scheme
) -> Iterator[tuple[Position, Tally]]:
    """Where each piece of a file ends, and its scores, by workers."""
    first: Any = None
    pieces = file_pieces(file, corpus.format, after=after, parts=PARTS)
    full = (piece for piece in pieces if not piece.is_blank)
    for told, last, found in pieces_there(place, _tallied_there, full, model, corpus, file, scheme, place.n_jobs):
        first = first or told
        check_columns(first, told)
        yield last, found
    if first is None and not after.begin:  # there is nothing: say so in the words of the reader
        next(corpus.pieces("gold", file))


def _tallied_there(
    piece: TextPiece, model: Any, corpus: StoredCorpus, file: Path, scheme: Scheme, n_jobs: int | None
) -> tuple[Any, Position, Tally]:
    """The first input of a piece, where it ends, and its scores."""
    from sidelight.evaluate.tally import Tally

    evidence = corpus.evidence("gold", file, piece)
    found = _counted(piece, evidence, model, lambda xs: list(model.predict(xs, n_jobs=n_jobs)), Tally(scheme))
    return (in_columns(evidence[0].x), evidence[0].origin), piece.last, found


def _counted(
    piece: TextPiece, evidence: list[Evidence], model: Any, predict: Callable[[list[Any]], list[Any]], tally: Tally
) -> Tally:
    """With the scores of one piece."""
    xs = [in_columns(one.x) for one in evidence]
    with placed(piece):
        check_fits(model, [(x, one.origin) for x, one in zip(xs, evidence)])
    return tally.plus([one.y for one in evidence if isinstance(one, Gold)], _as_text(model, predict(xs)))


def _as_text(model: Any, outputs: list[Any]) -> list[Any]:
    """Outputs with labels as text, which is what files hold."""
    return [[str(label) for label in output] if model.sequences else str(output) for output in outputs]


def _predictions(
    path: Path,
    pieces: list[Gold],
    rules: list[Path] | None,
    inference: str,
    jobs: int,
    place: str | None,
    *,
    name: str = "the model",
) -> list[Any]:
    """Outputs with labels as text, which is what files hold."""
    model, predict = predictor(path, rules, inference, name=name)
    check_fits(model, [(piece.x, piece.origin) for piece in pieces])
    with warnings_noted():
        outputs = predict([piece.x for piece in pieces], jobs, place)
    return _as_text(model, outputs)
