"""`SequentialLearner`: sub-problems of a structured problem, learned alone, all at once, or one after another.

(Roth, Small and Titov, Sequential Learning of Classifiers for Structured Prediction Problems, AISTATS 2009.)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from sidelight.core.arrays import Floats, Ids
from sidelight.core.checks import amount, flag, is_among, is_listed, is_number, shown, whole
from sidelight.core.file_contents import list_of, mapping_of, reading, text_of
from sidelight.core.records import Callback, Round
from sidelight.data.checks import check_weight
from sidelight.errors import DataError, ModelFileError, NotFitted
from sidelight.estimators.base_estimator import Estimator, held_out, labelled
from sidelight.evidence import Gold, gold
from sidelight.models.model import Model
from sidelight.models.model_file import load_model, save_model
from sidelight.objective.scorers.variable_scorer import VariableScorer
from sidelight.rounds.sequential_learning import (
    Learned,
    LearnedPart,
    SubProblem,
    TiedExamples,
    learn_by_likelihood,
    learn_by_perceptron,
    learned_alone,
    learned_in_sequence,
    learned_together,
    set_aside,
    stored_step,
)
from sidelight.spaces.sub_problems.tied_space import TiedSpace
from sidelight.specs.settings import check_callbacks
from sidelight.structures.own_structure import Own, OwnRows, OwnStructure

METHODS = ("SL", "LO", "L+I", "IBT")
FORMS = ("perceptron", "log_linear")
ORDERS = ("updates", "held_out")


class SequentialLearner(Estimator):
    """Learns the sub-problems of a structure by one of four protocols.

    - structure: has `sub_problems` ({name: choices}) besides what `Predictor` needs: `structures.SubProblems` for your
      own decisions and rules, `structures.relations.EntityRelation`.
    - method: "LO" learns and predicts every sub-problem separately; "L+I" learns them separately, but predicts the best
      output under the rules; "IBT" learns all together, under the rules; "SL" learns one after another, with the
      earlier ones fixed and connected to the next by the rules.
    - form: "perceptron" (Figure 2 of the paper: averaged, with a thick margin) or "log_linear" (Figure 1: a likelihood
      that sums over the earlier sub-problems; `Intractable` if that is too expensive).
    - order, for SL: "updates" (next is the sub-problem with the fewest updates for its instances), "held_out" (the one
      with the smallest error on held-out examples), or a list of all names. None is "updates" for the perceptron,
      "held_out" for the log-linear form.
    - one_vs_all: treat every label as a sub-problem of its own, "kind label", against the others.
    - passes, margin: of the perceptron; one number, or {name: number}, where the name of a kind stands for its labels.
      A margin is measured in updates: 1 is the change of a variable's score in one update.
    - C: for the log-linear form, the price of a unit of loss relative to ½ ‖w‖².
    - bias: {(kind, label): number} to add to scores in prediction.
    - held_out: the share of examples that order="held_out" sets aside if `fit` gets no validation data.

    After `fit`: `order_`, `steps_` (a `LearnedPart` for every sub-problem), `rounds_`, `model_`.

    >>> from sidelight.rules import rule
    >>> from sidelight.structures.sub_problems import SubProblems
    >>> @rule
    ... def alike(x, y):
    ...     return y.first[0] == y.second[0]
    >>> labels = {"first": ["no", "yes"], "second": ["no", "yes"]}
    >>> tied = SubProblems(labels, [alike], variables=lambda x: {"first": [0], "second": [0]},
    ...                    features=lambda x, kind, key: [x[kind]])
    >>> xs = [{"first": a, "second": b} for a in ("sun", "rain") for b in ("day", "night")]
    >>> ys = [{"first": {0: said}, "second": {0: said}} for said in ("yes", "yes", "no", "no")]
    >>> learner = SequentialLearner(tied).fit(xs, ys)
    >>> learner.order_, learner.predict(xs) == ys
    (['first', 'second'], True)
    """

    structure: Any
    method: str
    form: str
    order: Any
    one_vs_all: bool
    passes: Any
    margin: Any
    C: float
    bias: Mapping[tuple[str, str], float] | None
    held_out: float
    seed: int
    callbacks: Sequence[Callback]

    def __init__(
        self,
        structure: Any,
        *,
        method: str = "SL",
        form: str = "perceptron",
        order: str | Sequence[str] | None = None,
        one_vs_all: bool = False,
        passes: int | Mapping[str, int] = 10,
        margin: float | Mapping[str, float] = 1.0,
        C: float = 1.0,
        bias: Mapping[tuple[str, str], float] | None = None,
        held_out: float = 0.2,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self._keep(locals())

    def fit(self, evidence: Any, y: Any = None, *, validation: Any = None) -> Self:
        """Learn from inputs and outputs, or from Gold; `validation` is only for order="held_out".

        Raises `DataError` for other evidence, `Intractable` if the log-linear form sums over too much.
        """
        self._check()
        pieces = _pieces(evidence, y)
        prepared = Own(self.structure).prepare(None, pieces, None)
        assert isinstance(prepared.structure, OwnStructure)
        data = _examples(prepared.rows.batch, prepared.encoded.targets, prepared.encoded.weights)
        self._structure = prepared.structure
        self._parts = self._named_parts(prepared.structure.plain)
        self._order_given()
        self.rounds_: list[Round] = []
        self.steps_: list[LearnedPart] = []
        self._began = time.perf_counter()
        weights = self._learned(data, self._validation(validation))
        self.order_ = [step.chosen for step in self.steps_]
        steps = [asdict(step) for step in self.steps_]
        about = {"sequential": {"method": self.method, "form": self.form, "order": list(self.order_), "steps": steps}}
        self.model_ = Model(prepared.structure, weights, about=about)
        return self

    def predict(self, xs: Any) -> list[Any]:
        """The best output of every input under the rules; with "LO", the best label of each variable separately."""
        rows = self.prepare(xs)
        return self._fitted().structure.outputs(rows, self.predict_choices(rows))

    def prepare(self, xs: Any) -> Any:
        """The features of inputs, for use more than once."""
        return xs if isinstance(xs, OwnRows) else self._fitted().structure.rows(_listed("xs", xs))

    def predict_choices(self, xs: Any) -> Ids:
        """The number of the choice of every variable, in the structure's numbering. # [T]"""
        model, batch = self._fitted(), self.prepare(xs).batch
        data = _examples(batch, np.zeros(int(batch.starts[-1]), np.int32), np.ones(len(batch)))
        scores = data.scores(model.weights)
        names = model.structure.plain.choice_names  # type: ignore[attr-defined]
        for choice, more in (self.bias or {}).items():
            if choice not in names:
                raise DataError(f"bias has {choice!r}", remedy=f"there are {', '.join(map(repr, names))}")
            scores[:, names.index(choice)] += float(more)
        space: TiedSpace = data.free if self.method == "LO" else data.space
        return space.best_each(np.where(space.there != 0, scores, -np.inf))[0]

    def score(self, xs: Any, y: Any = None) -> float:
        """The share of variables with a right label."""
        xs, ys = labelled(xs, y)
        rows, ys = self.prepare(xs), _listed("y", ys)
        if len(ys) != len(rows):
            raise DataError(f"{len(rows)} inputs and {len(ys)} outputs", remedy="give equal numbers of both")
        return float(np.mean(self._fitted().structure.choices(rows, ys) == self.predict_choices(rows)))

    def save(self, path: str | Path) -> None:
        """Write the model, its method and its order to a file."""
        save_model(self._fitted(), path)

    def load(self, path: str | Path) -> Self:
        """Load the model of a file; raises `ModelFileError` if it is not a model of a SequentialLearner."""
        model = load_model(path, structure=Own(self.structure).plain)
        if "sequential" not in model.about:
            raise ModelFileError("not the model of a SequentialLearner", file=path, remedy="use Predictor(…).load")
        with reading(path):
            record = mapping_of(model.about, "sequential")
            self.method = text_of(record, "method", among=METHODS)
            self.form = text_of(record, "form", among=FORMS)
            self.order_ = [text_of({"order": name}, "order") for name in list_of(record, "order")]
            self.steps_ = [stored_step(step) for step in list_of(record, "steps", count=len(self.order_))]
        self.model_ = model
        return self

    def report(self) -> str:
        """A report of the order, and of how hard each sub-problem seemed when it was chosen."""
        self._fitted()
        lines = [f"{self.method}, {self.form}"]
        for number, step in enumerate(self.steps_, 1):
            others = ", ".join(f"{name} {error:.4g}" for name, error in sorted(step.errors.items(), key=_by_error))
            lines.append(f"{number:>3}. {step.chosen}" + (f"  ({others})" if others else ""))
        return "\n".join(lines)

    def _learned(self, data: TiedExamples, validation: TiedExamples | None) -> Floats:
        """The weights learned by the method; stores the steps of SL."""
        parts, learn = self._parts, self._learn
        if self.method == "IBT":
            return learned_together(data, parts, learn)
        if self.method in ("LO", "L+I"):
            return learned_alone(data, parts, learn)
        order = None if isinstance(self._ordered, str) else self._ordered
        if self._ordered != "held_out":
            weights, self.steps_ = learned_in_sequence(data, parts, learn, order=order)
            return weights
        part, looked_at = (data, validation) if validation else set_aside(data, self.held_out, seed=self.seed)
        _, self.steps_ = learned_in_sequence(part, parts, learn, validation=looked_at)
        return learned_in_sequence(data, parts, learn, order=[step.chosen for step in self.steps_])[0]

    def _learn(
        self, data: TiedExamples, names: Sequence[str], earlier: Floats, done: Sequence[str], *, tied: bool
    ) -> Learned:
        """Learn some sub-problems at once, with the form's own options."""
        progress = partial(self._told, " ".join(names) if len(names) == 1 else "all")
        choices = np.concatenate([self._parts[name].choices for name in names])
        if self.form == "log_linear":
            learned = np.zeros(data.space.n_labels, dtype=np.uint8)
            for name in done:
                learned[self._parts[name].choices] = 1
            return learn_by_likelihood(data, choices, earlier, learned, tied=tied, C=float(self.C), report=progress)
        thick = np.zeros(data.space.n_labels)
        for name, part in self._parts.items():
            thick[part.choices] = self._number("margin", name)
        passes = max(int(self._number("passes", name)) for name in names)
        margins = data.margins(thick)
        return learn_by_perceptron(
            data, choices, earlier, tied=tied, margins=margins, passes=passes, seed=self.seed, report=progress
        )

    def _told(self, name: str, sweeps: int, updates: int, objective: float | None) -> None:
        seconds = time.perf_counter() - self._began
        number, title = len(self.rounds_) + 1, f"{self.method} {name}"
        record = Round(number, title, seconds, objective=objective, sweeps=sweeps, mistakes=updates)
        self.rounds_.append(record)
        for callback in self.callbacks:
            callback(record)

    def _named_parts(self, plain: Any) -> dict[str, SubProblem]:
        kinds = {name: np.array(choices, dtype=np.int64) for name, choices in plain.sub_problems.items()}
        if not self.one_vs_all:
            return {name: SubProblem(choices, name) for name, choices in kinds.items()}
        labels = plain.choice_names
        return {
            f"{kind} {labels[choice][1]}": SubProblem(np.array([choice]), kind)
            for kind, choices in kinds.items()
            for choice in choices.tolist()
        }

    def _order_given(self) -> None:
        if self.order is not None and self.method != "SL":
            raise ValueError(f"order is for the method SL, and this is {self.method}; leave it out")
        usual = "updates" if self.form == "perceptron" else "held_out"
        self._ordered: str | list[str] = usual if self.order is None else self.order
        if isinstance(self._ordered, str):
            if not is_among(self._ordered, ORDERS):
                raise ValueError(f"order is {shown(self.order)}; give 'updates', 'held_out' or a list of names")
            if self._ordered == "updates" and self.form != "perceptron":
                raise ValueError("updates are counted by the perceptron; give order='held_out' or a list of names")
            return
        if not is_listed(self._ordered) or sorted(map(str, self._ordered)) != sorted(self._parts):
            problem = f"order is {shown(self.order)}"
            raise DataError(problem, remedy=f"give every sub-problem once: {', '.join(self._parts)}")
        self._ordered = [str(name) for name in self._ordered]

    def _number(self, option: str, name: str) -> float:
        value, kind = getattr(self, option), self._parts[name].kind
        if not isinstance(value, Mapping):
            return float(value)
        if name not in value and kind not in value:
            raise DataError(f"{option} says nothing of {name}", remedy=f"give {{{name!r}: number}}, or one number")
        return float(value[name] if name in value else value[kind])

    def _validation(self, validation: Any) -> TiedExamples | None:
        if validation is None:
            return None
        if self.method != "SL" or self._ordered != "held_out":
            raise ValueError("validation is for order='held_out'; give that, or leave it out")
        xs, ys = held_out(validation, sequences=False)
        rows = self._structure.rows(_listed("validation", xs))
        return _examples(rows.batch, self._structure.choices(rows, ys), np.ones(len(rows)))

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFitted("this SequentialLearner has not been fitted; call fit first")
        return self.model_

    def _fit_in_words(self) -> list[tuple[str, str]]:
        if not hasattr(self, "model_"):
            return []
        return [("method", f"{self.method}, {self.form}"), ("order", ", ".join(self.order_) or "none")]

    def _check(self) -> None:
        for name, names in (("method", METHODS), ("form", FORMS)):
            if not is_among(getattr(self, name), names):
                raise ValueError(f"{name} is {shown(getattr(self, name))}; give one of {', '.join(names)}")
        if not hasattr(self.structure, "sub_problems") or isinstance(self.structure, type):
            remedy = "give EntityRelation(…), SubProblems(…), or a structure with sub_problems"
            raise DataError(f"the structure {shown(self.structure)} has no sub-problems", remedy=remedy)
        flag("one_vs_all", self.one_vs_all)
        for option, check in (("passes", lambda name, value: whole(name, value, least=1)), ("margin", amount)):
            setting = getattr(self, option)
            for name, value in setting.items() if isinstance(setting, Mapping) else [("", setting)]:
                check(f"{option}[{name!r}]" if name else option, value)
        if amount("C", self.C) <= 0:
            raise ValueError(f"C is {self.C}; give a number above 0")
        if not 0 < amount("held_out", self.held_out) < 1:
            raise ValueError(f"held_out is {self.held_out}; give a share between 0 and 1")
        whole("seed", self.seed, least=0)
        check_callbacks(self.callbacks)
        if self.bias is not None and (
            not isinstance(self.bias, Mapping) or not all(map(is_number, self.bias.values()))
        ):
            raise ValueError(f"bias is {shown(self.bias)}; give {{(kind, label): number}}")


def _pieces(evidence: Any, y: Any) -> list[Gold]:
    """Gold, from inputs and outputs or from evidence; raises `DataError` for anything else."""
    pieces = _listed("evidence", evidence)
    if y is not None:
        outputs = _listed("y", y)
        if len(outputs) != len(pieces):
            raise DataError(f"{len(pieces)} inputs and {len(outputs)} outputs", remedy="give equal numbers of both")
        pieces = list(gold(pieces, outputs))
    for i, piece in enumerate(pieces):
        if not isinstance(piece, Gold):
            problem = f"evidence {i} is {getattr(piece, 'kind', type(piece).__name__)}"
            raise DataError(problem, remedy="sequential learning takes Gold alone")
        check_weight(piece, i)
    if not pieces:
        raise DataError("no evidence", remedy="give at least one example")
    return pieces


def _listed(name: str, values: Any) -> list[Any]:
    if (
        isinstance(values, str | bytes | Mapping)
        or not isinstance(values, Iterable)
        or getattr(values, "shape", 1) == ()
    ):
        raise DataError(f"{name} is {shown(values)}", remedy="give a list")
    return list(values)


def _by_error(item: tuple[str, float]) -> float:
    return item[1]


def _examples(batch: Any, targets: Ids, importance: Floats) -> TiedExamples:
    """A batch in the form for sub-problems; raises `DataError` if the structure has other features or spaces."""
    if not isinstance(batch.scorer, VariableScorer) or not isinstance(batch.space, TiedSpace):
        name = type(batch.space).__name__
        raise DataError(f"{name} is not tied by slots", remedy="give a structure such as SubProblems or EntityRelation")
    return TiedExamples(batch.scorer.rows, batch.scorer.layout, batch.space, targets, importance)


__all__ = ["LearnedPart", "SequentialLearner"]
