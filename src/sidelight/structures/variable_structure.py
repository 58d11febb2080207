"""Decisions that do not form a sequence: a label for every variable, scored one by one and in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids
from sidelight.core.file_contents import list_of, mapping_of, text_of
from sidelight.errors import DataError, ModelFileError
from sidelight.evidence import Evidence, Gold, Partial, Unlabeled
from sidelight.features import Attributes, Extractor, extractor_of
from sidelight.features.structured.variable_features import VariableLayout, VariableRows, variable_scores
from sidelight.inference.ruled_variables import RuledVariables, groups_of
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.variable_scorer import variable_batch
from sidelight.rules import Domain, Rule
from sidelight.rules.lowering.penalties import counted_penalties
from sidelight.structures.labels.encoding import Encoded
from sidelight.structures.labels.label_sets import LabelSet, check_same, read_labels, written_labels
from sidelight.structures.structure import VARIABLES, OutputKind, Prepared, State, Structure, unlike
from sidelight.structures.variables import (
    PairType,
    Variable,
    VariableReader,
    decode_variables,
    encode_variables,
    pair_types,
    read_variables,
)
from sidelight.structures.weight_names import VariableWeightNames

Scored = tuple[dict[str, dict[Any, Floats]], dict[tuple[Variable, Variable], Floats]]  # of variables, and of pairs


@dataclass(frozen=True, slots=True, eq=False)
class VariableStructure:
    """Variables read by a `VariableReader`, with weights for attributes and labels, and for types of pairs."""

    reader: VariableReader
    types: tuple[PairType, ...]
    extractor: Extractor
    layout: VariableLayout

    @property
    def outputs_are(self) -> str:
        return "variables"

    @property
    def labels(self) -> LabelSet:
        """All (kind, label)."""
        return self.reader.choices

    @property
    def size(self) -> int:
        return self.layout.size

    def rows(self, xs: Any, *, n_jobs: int | None = None) -> VariableRows:
        variables, called, attributes = read_variables(self.reader, xs, self.types)
        return VariableRows(self.extractor.rows(attributes, n_jobs=n_jobs), variables, tuple(map(tuple, called)))

    def batch(self, rows: VariableRows, *, n_jobs: int | None = None) -> Batch:
        return variable_batch(rows.attributes, rows.variables, self.layout, n_jobs=n_jobs)

    def moved(self, weights: Floats, before: Structure) -> Floats:
        if not isinstance(before, VariableStructure) or before.reader.labels != self.reader.labels:
            raise unlike()
        old, new, moved_weights = before.layout, self.layout, self.layout.zeros()
        if self.types[: len(before.types)] != before.types:
            raise unlike()
        moved_weights[: old.attributes_at] = weights[: old.attributes_at]  # new types follow the old ones
        new.attribute_weights(moved_weights)[: old.n_attributes] = old.attribute_weights(weights)
        return moved_weights

    def outputs(self, rows: VariableRows, choices: Ids) -> list[Any]:
        """{kind: {key: label}} of every input."""
        return decode_variables(rows.called, choices, self.labels)

    def choices(self, rows: VariableRows, ys: Any) -> Ids:
        return self._known(rows, ys, "outputs", [Gold(None, y) for y in ys]).targets

    def mask(self, rows: VariableRows, clamp: Any) -> Bytes:
        """The choices admitted by clamps: {kind: {key: label}} of every input, or None."""
        pieces = [Unlabeled(None) if y is None else Partial(None, y) for y in clamp]
        admitted = self._known(rows, clamp, "clamps", pieces).admitted
        return np.ones((int(rows.starts[-1]), len(self.labels)), dtype=np.uint8) if admitted is None else admitted

    def _known(self, rows: VariableRows, outputs: Any, what: str, pieces: Sequence[Evidence]) -> Encoded:
        if len(outputs) != len(rows):
            raise DataError(f"{len(rows)} inputs and {len(outputs)} {what}", remedy="give equal numbers of both")
        return encode_variables(pieces, rows.called, self.labels)

    def slots(self, rows: VariableRows) -> list[str]:
        """Kind and key of every variable."""
        return [f"{kind}[{key!r}]" for own in rows.called for kind, key in own]

    def choice_words(self, rows: Any, choices: Ids) -> list[Any]:
        return self.labels.decode(choices)

    def beliefs(self, rows: VariableRows, shares: Floats) -> list[Any]:
        """For every variable a dict from label to probability."""
        beliefs: list[dict[str, dict[Any, dict[Any, float]]]] = []
        lines = iter(shares.tolist())
        for own in rows.called:
            beliefs.append({})
            for kind, key in own:
                row = {label: share for (of, label), share in zip(self.labels.names, next(lines)) if of == kind}
                beliefs[-1].setdefault(kind, {})[key] = row
        return beliefs

    def check(self, evidence: Sequence[Evidence], rows: Any, encoded: Encoded, *, n_jobs: int | None) -> None:
        """Does nothing: labels of variables are independent, and every one has a candidate."""

    def read_rules(self, rules: Sequence[Rule], xs: Sequence[Any]) -> None:
        """Does nothing: the estimator reads rules in its constructor."""

    def ruled(
        self,
        xs: Sequence[Any],
        rules: Sequence[Rule],
        own: Sequence[Sequence[Any]] | None = None,
        *,
        places: Sequence[int] | None = None,
    ) -> RuledVariables:
        called = [self.reader.variables_of(x, i) for i, x in enumerate(xs)]
        domains = {kind: Domain(names) for kind, names in self.reader.labels.items()}
        return RuledVariables.of(xs, called, domains, rules, own, places=places)

    def counted(self, rules: Sequence[Rule], xs: Sequence[Any], ys: Sequence[Any]) -> list[float]:
        broken, variables = [0.0] * len(rules), 0
        for i, (x, y) in enumerate(zip(xs, ys)):
            known = groups_of({kind: y.get(kind, {}) for kind in self.reader.labels})
            variables += sum(len(members) for members in y.values())
            for k, rule in enumerate(rules):
                broken[k] += rule.violations(x, known, example=i) if rule.learned else 0
        return counted_penalties(rules, broken, float(variables))

    def facts(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def scored(self, xs: Sequence[Any], weights: Floats, clamp: Any = None) -> Iterator[Scored]:
        """The scores of every input's variables and pairs, in the form for `Joint.predict`; -inf for labels excluded by
        clamps.
        """
        rows = self.rows(xs)
        scores = variable_scores(rows.attributes, self.layout, weights)
        if clamp is not None:
            scores.slots[self.mask(rows, clamp) == 0] = -np.inf
        first, kinds = self.layout.first, {kind: k for k, kind in enumerate(self.reader.labels)}
        variables = rows.variables
        for i, own in enumerate(rows.called):
            slots = scores.slots[variables.starts[i] : variables.starts[i + 1]]
            alone: dict[str, dict[Any, Floats]] = {}
            for (kind, key), row in zip(own, slots):
                alone.setdefault(kind, {})[key] = row[first[kinds[kind]] : first[kinds[kind] + 1]]
            both: dict[tuple[Variable, Variable], Floats] = {}
            for sort, one, other in variables.pairs[variables.pair_starts[i] : variables.pair_starts[i + 1]].tolist():
                pair, table = (own[one], own[other]), scores.tables[sort]
                both[pair] = both[pair] + table if pair in both else table
            yield alone, both

    def weight_names(self) -> VariableWeightNames:
        return VariableWeightNames(self.labels, self.layout, self.extractor, [name for name, *_ in self.types])

    def state(self) -> State:
        layout = asdict(self.layout)
        values = {
            "labels": {kind: written_labels(names) for kind, names in self.reader.labels.items()},
            "types": [name for name, *_ in self.types],
            "layout": {name: layout[name] for name in ("kinds", "pairs", "n_attributes")},
        }
        return State(values, {}, 6)


def restored_variables(spec: Any, extractor: Extractor, reader: VariableReader | None) -> VariableStructure:
    """The structure in a file; raises `ModelFileError` if its parts do not fit each other."""
    layout = VariableLayout.stored(spec, "layout")
    labels = {kind: read_labels({"labels": names}) for kind, names in mapping_of(spec, "labels").items()}
    if tuple(len(names) for names in labels.values()) != layout.kinds:
        raise ModelFileError("its labels are not those of its weights")
    if reader is None:
        raise ModelFileError("it is the model of a Joint, without its functions", remedy="use Joint(…).load")
    if dict(reader.labels) != labels:
        raise ModelFileError("its labels are others", remedy="give Joint the labels it was trained with")
    names = [text_of({"types": name}, "types") for name in list_of(spec, "types", count=len(layout.pairs))]
    check_same("features", extractor.n_attributes, layout.n_attributes)
    types = tuple((name, *kinds) for name, kinds in zip(names, layout.pairs))
    return VariableStructure(reader, types, extractor, layout)


@dataclass(frozen=True, slots=True)
class Deciding:
    """Variables, in the form for `Joint`."""

    reader: VariableReader

    def kind(self, settings: Any) -> OutputKind:
        return VARIABLES

    def prepare(self, settings: Any, evidence: Sequence[Evidence], before: Structure | None) -> Prepared:
        xs = [piece.x for piece in evidence]
        if before is not None and not isinstance(before, VariableStructure):
            raise unlike()
        types = pair_types(self.reader, xs)
        if before is not None:
            known = {name for name, *_ in before.types}
            types = (*before.types, *(one for one in types if one[0] not in known))
        variables, called, attributes = read_variables(self.reader, xs, types)
        encoded = encode_variables(evidence, called, self.reader.choices)
        extractor = extractor_of(Attributes()) if before is None else before.extractor.copy()
        grow = before is None or not settings.freeze_vocabulary
        attribute_rows = (extractor.grow if grow else extractor.rows)(attributes, n_jobs=settings.n_jobs)
        kinds = tuple(len(names) for names in self.reader.labels.values())
        layout = VariableLayout(kinds, tuple((one, other) for _, one, other in types), extractor.n_attributes)
        rows = VariableRows(attribute_rows, variables, tuple(map(tuple, called)))
        return Prepared(VariableStructure(self.reader, types, extractor, layout), rows, encoded)
