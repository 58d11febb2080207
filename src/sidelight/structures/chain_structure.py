"""Labels of tokens, in chains of first or second order; an input of a classifier is a single token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats
from sidelight.core.file_contents import array_of, flag_of, list_of, whole_of
from sidelight.data.checks import trouble
from sidelight.errors import DataError, Infeasible, ModelFileError
from sidelight.evidence import Evidence
from sidelight.features import Extractor, MatrixSequence
from sidelight.features.inputs import as_sequences
from sidelight.features.layout import Layout
from sidelight.features.rows import Rows
from sidelight.objective.batch import Batch
from sidelight.objective.candidates import inside_of
from sidelight.objective.scorers.chain_scorer import chain_batch
from sidelight.spaces import ChainSpace, Transitions
from sidelight.spaces.parts import Parts
from sidelight.structures.labels.encoding import RESTRICTED, Encoded, encode
from sidelight.structures.labels.label_sets import (
    LabelSet,
    StateSet,
    check_memory,
    check_same,
    read_labels,
    with_states,
    written_labels,
)
from sidelight.structures.labels.schemes import allowed_transitions, scheme_transitions
from sidelight.structures.labels.token_labels import TokenLabels, label_names_of, token_rows
from sidelight.structures.structure import CHAINS, CLASSES, SECOND_ORDER, OutputKind, Prepared, State, Structure, unlike
from sidelight.structures.weight_names import TokenWeightNames


@dataclass(frozen=True, slots=True, eq=False)
class ChainStructure(TokenLabels):
    """Chains with weights for two or three labels in a row, or labels of single inputs."""

    labels: LabelSet
    extractor: Extractor
    layout: Layout
    sequences: bool = True
    allowed: Transitions | None = None

    @property
    def outputs_are(self) -> str:
        return "chains" if self.sequences else "classes"

    @property
    def size(self) -> int:
        return self.layout.size

    def rows(self, xs: Any, *, n_jobs: int | None = None) -> Rows:
        return self.extractor.rows(as_sequences(xs, sequences=self.sequences), n_jobs=n_jobs)

    def batch(self, rows: Rows, *, n_jobs: int | None = None) -> Batch:
        return chain_batch(rows, self.layout, allowed=self.allowed, n_jobs=n_jobs)

    def moved(self, weights: Floats, before: Structure) -> Floats:
        if not isinstance(before, ChainStructure) or before.layout.grown(self.layout.n_attributes) != self.layout:
            raise unlike()
        moved_weights = self.layout.zeros()
        moved_weights[: len(weights)] = weights
        return moved_weights

    def check(self, evidence: Sequence[Evidence], rows: Rows, encoded: Encoded, *, n_jobs: int | None) -> None:
        """Raise `Infeasible` for the first input whose labels cannot follow each other; Gold was checked before."""
        if self.allowed is None or encoded.admitted is None:
            return
        chunks = encoded.chunks
        which = np.arange(len(rows)) if chunks else encoded.of_kind(*RESTRICTED)
        own, admitted = rows.take(which), encoded.admitted[rows.tokens_of(which)]
        space = inside_of(
            ChainSpace(own.starts, len(self.labels), self.allowed), Parts.of(admitted, chunks) if chunks else admitted
        )
        closed = np.flatnonzero(~space.feasible(n_jobs=n_jobs))
        if len(closed):
            i, (first, last) = int(which[closed[0]]), own.starts[closed[0] : closed[0] + 2]
            problem = "the allowed transitions leave no output that has its labels"
            remedy = "correct or add candidates, or leave scheme and allowed out"
            token = _first_closed(admitted[first:last], self.allowed)
            raise Infeasible(str(trouble(evidence[i], i, problem=problem, remedy=remedy, token=token)), example=i)

    def weight_names(self) -> TokenWeightNames:
        return TokenWeightNames(self.labels, self.layout, self.extractor, self.sequences)

    def state(self) -> State:
        layout = {name: value for name, value in asdict(self.layout).items() if name != "order" or value != 1}
        values = {"labels": written_labels(self.labels.classes), "layout": layout, "sequences": self.sequences}
        version = self.layout.order
        if isinstance(self.labels, StateSet):
            values["states"], version = list(self.labels.counts), 3
        parts = () if self.allowed is None else ("between", "start", "end")
        return State(values, {f"allowed.{part}": getattr(self.allowed, part) for part in parts}, version)


def restored_chain(spec: Any, arrays: Any, extractor: Extractor) -> ChainStructure:
    """The structure in a file; raises `ModelFileError` if its parts do not fit each other."""
    layout = Layout.stored(spec, "layout")
    labels = LabelSet(read_labels(spec))
    if "states" in spec:
        counts = list_of(spec, "states", count=len(labels))
        each = [whole_of({"states": count}, "states", low=1, high=layout.n_labels) for count in counts]
        check_same("labels and their states", sum(each), layout.n_labels)
        labels = with_states(labels, dict(zip(labels.names, each)))
    sequences = flag_of(spec, "sequences")
    check_same("labels", len(labels), layout.n_labels)
    check_same("features", extractor.n_attributes, layout.n_attributes)
    check_same("dense features", extractor.n_dense, layout.n_dense)
    if layout.chain != (sequences and extractor.transitions) or layout.null_label != (
        not sequences and layout.n_labels == 2
    ):
        raise ModelFileError("the layout of its weights is not that of such labels and features")
    allowed = None
    if sequences and "allowed.between" in arrays:
        size = layout.n_labels
        shapes = {"between": [size, size], "start": [size], "end": [size]}
        allowed = Transitions(*(array_of(arrays, f"allowed.{part}", np.uint8, shapes[part]) for part in shapes))
    return ChainStructure(labels, extractor, layout, sequences, allowed)


class Chains:
    """Chains or single classes, according to the settings of an estimator."""

    def kind(self, settings: Any) -> OutputKind:
        if not settings.sequences:
            return CLASSES
        return SECOND_ORDER if settings.order == 2 else CHAINS

    def prepare(self, settings: Any, evidence: Sequence[Evidence], before: Structure | None) -> Prepared:
        xs = [piece.x for piece in evidence]
        xs = xs if settings.sequences or isinstance(xs[0], MatrixSequence) else [[x] for x in xs]
        if before is None:
            labels = label_set(settings, label_names_of(settings, evidence))
        else:
            labels = before.labels
            if with_states(LabelSet(labels.classes), settings.states) != labels:
                raise DataError("the labels of the model have other states", remedy="use the same states, or fit again")
        extractor, rows = token_rows(settings, xs, before)
        encoded = encode(evidence, labels, rows.starts, sequences=settings.sequences)
        structure = chain_structure(settings, labels, extractor, before)
        if structure.allowed is not None:
            check_gold(evidence, rows, encoded, labels, structure.allowed)
        return Prepared(structure, rows, encoded)


def label_set(settings: Any, names: Sequence[Any]) -> LabelSet:
    """The labels of a fit and their states: as set, or the labels in the evidence, sorted."""
    labels = LabelSet.of(names) if settings.labels is None else LabelSet(tuple(names))
    return with_states(labels, settings.states)


def chain_structure(
    settings: Any, labels: LabelSet, extractor: Extractor, before: Structure | None = None
) -> ChainStructure:
    """The structure of a fit; raises `DataError` if its parts do not fit each other, or do not fit into memory."""
    if settings.order == 2 and not extractor.transitions:
        raise DataError("order is 2, and the features have no transitions", remedy="add a B template, or leave it")
    layout = Layout(
        len(labels),
        extractor.n_attributes,
        extractor.n_dense,
        chain=settings.sequences and extractor.transitions,
        bias=settings.bias,
        null_label=not settings.sequences and len(labels) == 2,
        order=settings.order,
    )
    allowed = _allowed(settings, labels, before)
    if settings.labels is None and before is None:
        check_memory(layout.size, layout.n_labels, layout.n_attributes)
    return ChainStructure(labels, extractor, layout, settings.sequences, allowed)


def _allowed(settings: Any, labels: LabelSet, before: Structure | None) -> Transitions | None:
    """The allowed transitions of the settings; without a setting, those of the earlier structure."""
    if not settings.sequences:
        return None
    silent = settings.allowed is None and settings.scheme is None
    if silent and isinstance(before, ChainStructure):
        return before.allowed
    if settings.allowed is not None:
        return allowed_transitions(labels, settings.allowed)
    return None if settings.scheme is None else scheme_transitions(labels, settings.scheme)


def check_gold(
    evidence: Sequence[Evidence], rows: Rows, encoded: Encoded, labels: LabelSet, allowed: Transitions
) -> None:
    """Raise `DataError` for the first Gold that violates the allowed transitions."""
    gold = encoded.of_kind("gold")
    tokens, starts = rows.tokens_of(gold), rows.take(gold).starts
    space = ChainSpace(starts, len(labels), allowed)
    if labels.hidden and encoded.admitted is not None:
        fits = space.inside(encoded.admitted[tokens]).feasible()
    else:
        fits = space.admits(encoded.targets[tokens]) != 0
    bad = np.flatnonzero(~fits)
    if len(bad):
        i, first, last = int(gold[bad[0]]), int(starts[bad[0]]), int(starts[bad[0] + 1])
        token, fault = _first_fault(allowed, labels, encoded.targets[tokens][first:last].tolist())
        remedy = "correct the labels, or leave scheme and allowed out"
        problem = f"its labels use a transition that is not allowed{fault}"
        raise trouble(evidence[i], i, problem=problem, remedy=remedy, token=token)


def first_closed_step(structure: ChainStructure, rows: Rows, encoded: Encoded) -> tuple[int, str] | None:
    """The first input whose known labels occur in no allowed labeling, and the problem; None if there is none."""
    allowed, labels = structure.allowed, structure.labels
    space = ChainSpace(rows.starts, len(labels), allowed)
    gold = encoded.admitted is None and bool(np.all(encoded.targets >= 0))
    if gold:
        fits = space.admits(encoded.targets) != 0
    else:
        fits = (space if encoded.admitted is None else space.inside(encoded.admitted)).feasible()
    bad = np.flatnonzero(~fits)
    if not len(bad):
        return None
    first, last = rows.starts[bad[0] : bad[0] + 2]
    assert allowed is not None
    problem = _first_fault(allowed, labels, encoded.targets[first:last].tolist())[1] if gold else ""
    return int(bad[0]), f"its labels use a transition that is not allowed{problem}"


def _first_fault(allowed: Transitions, labels: LabelSet, path: Sequence[int]) -> tuple[int | None, str]:
    """The first token whose label is not allowed, and why; None if labels have hidden states."""
    if labels.hidden:
        return None, ""
    for t, label in enumerate(path):
        if t == 0 and not allowed.start[label]:
            return t, f": {labels.names[label]} begins it"
        if t > 0 and not allowed.between[path[t - 1], label]:
            return t, f": {labels.names[label]} after {labels.names[path[t - 1]]}"
    return len(path) - 1, f": {labels.names[path[-1]]} ends it"


def _first_closed(admitted: Bytes, allowed: Transitions) -> int | None:
    """The first token that no labeling of the previous tokens can reach; None if the end or a chunk is the problem.

    >>> alternating = Transitions(np.eye(2, dtype=np.uint8)[::-1], np.ones(2, np.uint8), np.ones(2, np.uint8))
    >>> _first_closed(np.array([[1, 0], [1, 0]], dtype=np.uint8), alternating)
    1
    """
    reached = (admitted[0] != 0) & (allowed.start != 0)
    for t, labels in enumerate(admitted):
        if t > 0:
            reached = (labels != 0) & (allowed.between[reached] != 0).any(axis=0)
        if not reached.any():
            return t
    return None
