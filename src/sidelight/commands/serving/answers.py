"""Answers of a model as JSON: outputs, spans, probabilities, margins, decisive weights, rules."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

import sidelight
from sidelight.commands.registry.entry import StructureEntry
from sidelight.commands.serving.limits import UNUSABLE, Limits, RequestError
from sidelight.commands.serving.questions import ServedInputs, Wishes
from sidelight.commands.shared.inputs import in_columns
from sidelight.commands.shared.structured import answers_of, filled
from sidelight.errors import DataError, Infeasible, Intractable
from sidelight.estimators.constrained import Constrained
from sidelight.evaluate.schemes import scheme_of
from sidelight.evaluate.spans import spans
from sidelight.features.attributes.attributes import AttributeExtractor
from sidelight.models import probabilities
from sidelight.models.explain import SHOWN, explain, shown_tokens
from sidelight.models.model import Model
from sidelight.structures.segment_structure import SegmentStructure

PROBABILITIES = (
    "the model's own where it was learned by likelihood; of margin learners they rank, and are not calibrated"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model with its name, its registry entry (for structures other than labels), and its rules."""

    name: str
    model: Model
    entry: StructureEntry | None = None
    under: Constrained | None = None
    jobs: int = -1

    @property
    def kind(self) -> str:
        """ "chain", "segments", "classes", or the name of another structure."""
        if self.entry is not None:
            return self.entry.name
        if not self.model.sequences:
            return "classes"
        return "segments" if isinstance(self.model.structure, SegmentStructure) else "chain"

    def description(self, limits: Limits) -> dict[str, Any]:
        """A description of the model and of the allowed requests."""
        about = self.model.about
        facts: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind,
            "version": sidelight.__version__,
            "learner": about.get("learner"),
            "evidence": about.get("evidence") or {},
            "rules_in_training": about.get("rules") or [],
            "rules": [] if self.under is None else [rule.name for rule in self.under.rules],
            "weights": len(self.model.weights),
            "nonzero_weights": int(np.count_nonzero(self.model.weights)),
            "probabilities": PROBABILITIES,
            "limits": {
                "bytes": limits.max_bytes,
                "tokens": limits.max_tokens,
                "seconds": limits.max_seconds,
                "waiting": limits.max_waiting,
            },
        }
        if self.entry is None:
            facts["labels"] = [_plain(one) for one in self.model.labels.classes]
            facts["scheme"] = scheme_of(self.model.labels.classes) if self.model.sequences else None
        else:
            facts["formats"] = list(self.entry.formats)
            facts["finds"] = self.entry.line
        return facts

    def answer(self, question: ServedInputs) -> dict[str, Any]:
        """Predictions with the requested details; raises `RequestError` if there are none for the inputs."""
        with warnings.catch_warnings(record=True) as notes:  # all requests are answered in one thread
            warnings.simplefilter("always")
            try:
                response = self._labels(question) if self.entry is None else self._structures(question, self.entry)
            except (DataError, Infeasible, Intractable) as error:
                raise RequestError(UNUSABLE, str(error)) from None
        return {**response, "notes": list(dict.fromkeys(str(one.message) for one in notes))}

    def warm_up(self) -> None:
        """Compile the kernels for answers, so that the first request need not wait."""
        if self.entry is not None:
            items = self.entry.generate(1, 0)
            question = ServedInputs([item.x for item in items], Wishes(), items, next(iter(self.entry.formats)))
        else:
            named = isinstance(self.model.extractor, AttributeExtractor)
            x: Any = {"": 1.0} if named else "a"
            every = Wishes(probabilities=True, margins=True, explain=True)
            question = ServedInputs([in_columns([x, x]) if self.model.sequences else x if named else [x]], every)
        with suppress(RequestError):  # rules may leave no output, and the made-up input may be invalid for the model
            self.answer(question)

    def _labels(self, question: ServedInputs) -> dict[str, Any]:
        xs, wishes, sequences = question.xs, question.wishes, self.model.sequences
        outputs = self.model.predict(xs, n_jobs=self.jobs) if self.under is None else self.under.predict(xs)
        shares = None
        if wishes.probabilities:
            shares = probabilities.named_marginals(self.model, xs, n_jobs=self.jobs)
        predictions: list[dict[str, Any]] = []
        for i, (x, output) in enumerate(zip(xs, outputs)):
            one: dict[str, Any] = {}
            if sequences:
                tokens = shown_tokens(x, len(output))
                one |= {"tokens": tokens, "labels": [_plain(label) for label in output]}
                one["spans"] = [
                    {"first": a, "last": b, "label": label, "text": " ".join(tokens[a : b + 1])}
                    for a, b, label in self.spans_in(output)
                ]
            else:
                one["label"] = _plain(output)
            if shares is not None:
                one["probabilities"] = list(map(_rounded, shares[i])) if sequences else _rounded(shares[i])
            if wishes.margins or wishes.explain:
                one |= self._margin(x, wishes.explain)
            if wishes.explain and self.under is not None:
                one["rules"] = self._rules(self.under, x)
            predictions.append(one)
        return {"predictions": predictions}

    def spans_in(self, labels: Sequence[Any]) -> list[tuple[int, int, str]]:
        """Spans as (first token, last token, label), without tokens outside spans."""
        if isinstance(self.model.structure, SegmentStructure):
            try:
                tiles = self.model.segmental.scheme.spans_of([labels])[0]
            except DataError:  # labels under rules may not be a segmentation of the model
                tiles = None
            if tiles is not None:
                return [(a, b, str(label)) for a, b, label in tiles if label != "O"]
        chunks = scheme_of(self.model.labels.classes) is not None
        segments = spans([[str(label) for label in labels]], scheme="bio" if chunks else "runs")
        return [(start, end - 1, kind) for _, start, end, kind in segments]

    def _margin(self, x: Any, whole: bool) -> dict[str, Any]:
        """The margin to the runner-up; None if there is only one output."""
        try:
            why = explain(self.model, x)
        except DataError:
            return {"score": None, "margin": None, "runner_up": None, **({"explanation": []} if whole else {})}
        runner_up = [_plain(label) for label in why.runner_up]
        reasons: dict[str, Any] = {"score": why.score, "margin": why.margin}
        reasons["runner_up"] = runner_up if self.model.sequences else runner_up[0]
        if self.under is not None:
            alone = [_plain(label) for label in why.predicted]
            reasons["without_rules"] = alone if self.model.sequences else alone[0]
        if whole:
            parts = why.as_dict()["contributions"]
            reasons["explanation"] = parts[:SHOWN]
            reasons["smaller"] = {"count": len(parts[SHOWN:]), "amount": sum(one["amount"] for one in parts[SHOWN:])}
        return reasons

    def _rules(self, under: Constrained, x: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": one.name,
                "penalty": None if math.isinf(one.penalty) else one.penalty,  # None: hard
                "broken_without_rules": one.before,
                "broken": one.after,
                "changes": [
                    {"token": change.token, "from": _plain(change.without), "to": _plain(change.label)}
                    for change in one.changes
                ],
            }
            for one in under.explain_rules(x).rules
        ]

    def _structures(self, question: ServedInputs, entry: StructureEntry) -> dict[str, Any]:
        """Structures in the form of their files: the text of a file, and objects if it is JSON lines."""
        wishes = question.wishes
        if wishes.probabilities:
            raise RequestError(UNUSABLE, f"probabilities are of labels, and {entry.name} has none; leave them out")
        answers = answers_of(self.model, question.xs, jobs=self.jobs)
        assert question.format is not None
        items = filled(entry, question.items, answers)
        text = entry.formats[question.format].write(items)
        predictions: list[dict[str, Any]] = [
            {"score": float(score), **({} if proven is None else {"proven": proven})}
            for score, proven in zip(answers.scores, answers.proven)
        ]
        if question.format == "jsonl":
            for one, line in zip(predictions, text.splitlines()):
                one["output"] = json.loads(line)
        if wishes.margins or wishes.explain:
            for one, x in zip(predictions, question.xs):
                why = explain(self.model, x)
                one["margin"] = why.margin
                if wishes.explain:
                    one["explanation"] = why.as_dict()["contributions"][:SHOWN]
        return {"predictions": predictions, "text": text, "format": question.format}


def _plain(label: Any) -> Any:
    """A label as a JSON value."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if isinstance(plain, str | int | float | bool) else str(plain)


def _rounded(shares: dict[Any, float]) -> dict[str, float]:
    return {str(label): round(float(share), 6) for label, share in shares.items()}
