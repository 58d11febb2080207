"""`sidelight evaluate`: scores of a model, and a comparison with another model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sidelight.annotation_tools import tool_of
from sidelight.commands.registry import entry_of
from sidelight.commands.registry.asking import ANSWERS, AskedModel, known_answers, ranked, score_groups
from sidelight.commands.registry.entry import StructureEntry
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
from sidelight.commands.shared.structured import answers_of, limited, note_unproven, read_items, refuse, under_rules
from sidelight.core.collection import without_collection
from sidelight.core.file_contents import mapping_of, reading
from sidelight.core.journal import REMEDY, START, Journal, Position
from sidelight.data.files import STDIN
from sidelight.data.items import Item
from sidelight.data.stored import StoredCorpus, file_pieces
from sidelight.data.text_pieces import TextPiece, placed
from sidelight.errors import ModelFileError
from sidelight.evaluate.paired import Comparison
from sidelight.evaluate.parts import compare_parts, score_parts
from sidelight.evaluate.ranking import RankingScores
from sidelight.evidence import Evidence, Gold
from sidelight.models.model import Model
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
            help="What to score: labels or structures; yes/no answers; or the ranking of candidates (top-1, mean "
            "reciprocal rank)."
        ),
    ] = "outputs",
    every: options.AllPairs = False,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER_MODEL",
            help="Another model to compare with, with a significance test; the same model means without rules.",
        ),
    ] = None,
    metric: Annotated[Literal["accuracy", "f1"], typer.Option(help="The score to compare.")] = "accuracy",
    scheme: Annotated[
        Literal["auto", "bio", "IOB1", "BIOES", "BILOU", "runs"],
        typer.Option(
            case_sensitive=False,  # train has "BIO"
            help="How to read spans: from labels such as B-X in any scheme (bio) or a given one, or as runs of equal "
            "labels; auto decides by the labels.",
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
    """Score a model on labelled inputs: token accuracy, and precision, recall and F1 of spans.

    Other structures have other scores: precision, recall and F1 of links, attachment scores of trees.
    """
    from sidelight.evaluate import compare, evaluate

    check_writable(json, reads=[model, file, against, *(rules or ())])
    check_inference(inference, rules)
    if every and by != "ranking":
        raise ValueError("--all is about candidates; add --by ranking, or leave it out")
    if resume and (json is None or str(file) == STDIN or against is not None or by != "outputs"):
        raise ValueError("--resume goes from a file to the --json of one model; name both, without --against and --by")
    if by != "outputs":
        model_asked, other = (
            None if path is None else AskedModel.loaded(path, seconds=seconds, rules=rules, jobs=jobs, place=place)
            for path in (model, against)
        )
        assert model_asked is not None
        decided = DecisionScores(model_asked, other, (str(model), str(against)), file, format)
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
        scored = Scored(entry, read_items(entry, file, format, "gold"), seconds, jobs, place)
        text, values = scored.report(str(model), under_rules(loaded, entry, rules), against)
        write_json(values, json)
        write(text, None)
        return
    limited(loaded, seconds)
    if against is None and tool_of(file, format) is None:
        reads, reading = [file, model, *(rules or ())], [format, label_column, scheme, inference]
        journal = Journal(json.with_name(json.name + ".journal"), run_mark(reads, reading)) if resume and json else None
        with nullcontext() if journal is None or json is None else journal.alone(json):
            tally = _tally(model, file, format, label_column, scheme, journal, rules, inference, jobs, place)
            first = tally.evaluation()
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
        values["comparison"] = comparison_values(comparison)
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
    """The scores of a file, read piece by piece; with a journal, continues an earlier run."""
    from sidelight.evaluate.tally import Tally

    model, predict = predictor(path, rules, inference)
    corpus = StoredCorpus({"gold": (file,)}, Path(), format, label_column)
    after, tally = START, Tally(scheme)
    if journal is not None:
        with reading(journal.path, remedy=REMEDY):
            if (entry := journal.last_entry()) is not None:
                after, tally = entry[0], Tally.of_dict(mapping_of(entry[1], "tally"))
        note_resumed(after)

    def record(last: Position) -> None:
        if journal is not None:
            journal.tell(last, tally=tally.as_dict())

    where = place_of(place, jobs)
    with warnings_noted():
        if where.remote and not rules:
            note_missing_rules(model)
            for last, tally_of_piece in _tallies_there(where, model, corpus, file, after, scheme):
                tally = tally.together(tally_of_piece)
                record(last)
        else:
            for piece, evidence in corpus.pieces("gold", file, after=after):
                tally = _counted(piece, evidence, model, lambda xs: predict(xs, jobs, place), tally)
                record(piece.last)
    return tally


def _tallies_there(
    place: Place, model: Any, corpus: StoredCorpus, file: Path, after: Position, scheme: Scheme
) -> Iterator[tuple[Position, Tally]]:
    """The end of each piece of a file, and its scores, computed by workers."""
    first: Any = None
    pieces = file_pieces(file, corpus.format, after=after, parts=PARTS)
    full = (piece for piece in pieces if not piece.is_blank)
    for piece_first, last, tally in pieces_there(
        place, _tallied_there, full, model, corpus, file, scheme, place.n_jobs
    ):
        first = first or piece_first
        check_columns(first, piece_first)
        yield last, tally
    if first is None and not after.begin:  # the file is empty: raise the reader's error
        next(corpus.pieces("gold", file))


def _tallied_there(
    piece: TextPiece, model: Any, corpus: StoredCorpus, file: Path, scheme: Scheme, n_jobs: int | None
) -> tuple[Any, Position, Tally]:
    """The first input of a piece, the end of the piece, and its scores."""
    from sidelight.evaluate.tally import Tally

    evidence = corpus.evidence("gold", file, piece)
    tally = _counted(piece, evidence, model, lambda xs: list(model.predict(xs, n_jobs=n_jobs)), Tally(scheme))
    return (in_columns(evidence[0].x), evidence[0].origin), piece.last, tally


@without_collection()
def _counted(
    piece: TextPiece, evidence: list[Evidence], model: Any, predict: Callable[[list[Any]], list[Any]], tally: Tally
) -> Tally:
    """The tally with the scores of one piece added."""
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


@dataclass(frozen=True, slots=True)
class Scored:
    """Items with right outputs, and the models to score on them."""

    entry: StructureEntry
    items: Sequence[Item]
    seconds: float | None
    jobs: int
    place: str | None

    def report(self, name: str, model: Model, against: Path | None) -> tuple[str, dict[str, Any]]:
        """The scores as text and as JSON values, with those of another model if one is given."""
        structure: Any = model.structure
        measures = self.entry.measures(structure.plain)
        gold = [self.entry.output(structure.plain, item, "gold") for item in self.items]
        outputs = self._outputs(model)
        first = score_parts(measures, gold, outputs)
        values: dict[str, Any] = {"model": name, **first.as_dict()}
        if against is None:
            return f"{first}\n", values
        other = load(against)
        if entry_of(other) is not self.entry:
            raise ModelFileError(
                f"no model of {self.entry.name}", file=against, remedy="compare models of one structure"
            )
        others = self._outputs(other)
        second, comparison = score_parts(measures, gold, others), compare_parts(measures[0], gold, outputs, others)
        values["against"] = {"model": str(against), **second.as_dict()}
        values["comparison"] = comparison_values(comparison)
        return f"{name}\n{first}\n\n{against}\n{second}\n\n{comparison}\n", values

    def _outputs(self, model: Model) -> list[Any]:
        xs = [item.x for item in self.items]
        answers = answers_of(limited(model, self.seconds), xs, jobs=self.jobs, place=self.place)
        note_unproven(answers)
        return answers.outputs


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON values."""
    names = ("metric", "difference", "p_value", "rounds")
    return {name: getattr(comparison, name) for name in names}


@dataclass(frozen=True, slots=True)
class DecisionScores:
    """A model, optionally another one, and a file with right answers or with candidates."""

    asked: AskedModel
    other: AskedModel | None
    names: tuple[str, str]
    file: Path
    format: str | None

    def answers(self) -> tuple[str, dict[str, Any]]:
        """The accuracy of answers, and precision, recall and F1 of "yes", as text and as JSON values."""
        items = self.asked.read(self.file, self.format)
        gold = known_answers(items, self.file)
        judgements = [[item.good for item in model.judged(items)] for model in self._models()]
        scores = [score_parts(ANSWERS, gold, answers, whole=False) for answers in judgements]
        text, record = self._beside([str(one) for one in scores], [one.as_dict() for one in scores])
        if len(judgements) == 2:
            comparison = compare_parts(ANSWERS[0], gold, *judgements)
            text, record = f"{text}\n{comparison}\n", {**record, "comparison": comparison_values(comparison)}
        return text, record

    def ranking(self, *, every: bool) -> tuple[str, dict[str, Any]]:
        """Top-1 and mean reciprocal rank."""
        groups = self.asked.groups(self.asked.read(self.file, self.format), every=every)
        rankings = [score_groups(ranked(model, groups), self.file) for model in self._models()]
        lines = [_ranking_text(one, count) for one, count in rankings]
        values = [{**{name: 100 * value for name, value in one._asdict().items()}, "queries": n} for one, n in rankings]
        return self._beside(lines, values)

    def _models(self) -> list[AskedModel]:
        return [self.asked] if self.other is None else [self.asked, self.other]

    def _beside(self, texts: list[str], values: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        record: dict[str, Any] = {"model": self.names[0], **values[0]}
        if self.other is None:
            return f"{texts[0]}\n", record
        text = "\n\n".join(f"{name}\n{words}" for name, words in zip(self.names, texts))
        return f"{text}\n", {**record, "against": {"model": self.names[1], **values[1]}}


def _ranking_text(scores: RankingScores, count: int) -> str:
    rank = f"mean reciprocal rank: {100 * scores.mean_reciprocal_rank:.2f}%"
    return f"top-1: {100 * scores.top_1:.2f}%\n{rank}\nqueries: {count:,}"
