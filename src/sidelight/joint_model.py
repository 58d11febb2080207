"""A trained predictor of variables: labels by kind, types of pairs, features and weights; and its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sidelight.arrays import Floats
from sidelight.errors import ModelFileError
from sidelight.features import Extractor, restore
from sidelight.features.variables import VariableLayout, variable_scores
from sidelight.files import read_tensors, write_tensors
from sidelight.model_file import about_in, check_same, label_names, stored_weights, weight_tensors
from sidelight.objective.batch import Batch
from sidelight.stored import list_of, mapping_of, part_of, reading, text_of
from sidelight.structure import VariableStructure
from sidelight.structures.labels import plain_label
from sidelight.structures.variables import PairType, Variable, VariableReader, read_variables

KIND = "sidelight joint model"
VERSION = 1
Scored = tuple[dict[str, dict[Any, Floats]], dict[tuple[Variable, Variable], Floats]]  # of variables, and of pairs


@dataclass(frozen=True, slots=True, eq=False)
class JointModel:
    """Scores the labels of variables, and pairs of labels."""

    labels: Mapping[str, tuple[Any, ...]]
    types: tuple[PairType, ...]
    extractor: Extractor
    layout: VariableLayout
    weights: Floats
    about: dict[str, Any] = field(default_factory=dict)  # how it was trained, for people

    def batch(self, reader: VariableReader, xs: Sequence[Any]) -> tuple[Batch, list[list[Variable]]]:
        """Inputs with the space of their outputs, and what their variables are called."""
        structure = VariableStructure(reader, self.types, self.extractor, self.layout)
        called = [reader.variables_of(x, i) for i, x in enumerate(xs)]
        return structure.batch(structure.rows(xs)), called

    def scores(self, reader: VariableReader, xs: Sequence[Any]) -> list[Scored]:
        """The scores of every input's variables and pairs, as `Joint.predict` takes them."""
        variables, called, attributes = read_variables(reader, xs, self.types)
        found = variable_scores(self.extractor.rows(attributes), self.layout, self.weights)
        first, kinds = self.layout.first, {kind: k for k, kind in enumerate(self.labels)}
        scored: list[Scored] = []
        for i, own in enumerate(called):
            slots = found.slots[variables.starts[i] : variables.starts[i + 1]]
            alone: dict[str, dict[Any, Floats]] = {}
            for (kind, key), row in zip(own, slots):
                alone.setdefault(kind, {})[key] = row[first[kinds[kind]] : first[kinds[kind] + 1]]
            both: dict[tuple[Variable, Variable], Floats] = {}
            for sort, one, other in variables.pairs[variables.pair_starts[i] : variables.pair_starts[i + 1]].tolist():
                pair, table = (own[one], own[other]), found.tables[sort]
                both[pair] = both[pair] + table if pair in both else table
            scored.append((alone, both))
        return scored


def save_joint(model: JointModel, path: str | Path) -> None:
    """Write a model; functions of the input are no part of a file."""
    spec, tensors = model.extractor.state()
    tensors = {**{f"features.{name}": array for name, array in tensors.items()}, **weight_tensors(model.weights)}
    layout = asdict(model.layout)
    description = {
        "labels": {kind: [plain_label(name) for name in names] for kind, names in model.labels.items()},
        "types": [name for name, *_ in model.types],
        "layout": {name: layout[name] for name in ("kinds", "pairs", "n_attributes")},
        "features": spec,
        "about": model.about,
    }
    write_tensors(path, tensors, kind=KIND, version=VERSION, spec=description)


def load_joint(path: str | Path) -> JointModel:
    """Read a model; raises `ModelFileError` in one line where the file is damaged, foreign or newer."""
    with reading(path):
        spec, tensors = read_tensors(path, kind=KIND, version=VERSION)
        layout = VariableLayout.stored(spec, "layout")
        given = mapping_of(spec, "labels")
        labels = {kind: label_names({"labels": names}) for kind, names in given.items()}
        if tuple(len(names) for names in labels.values()) != layout.kinds:
            raise ModelFileError("its labels are not those of its weights")
        names = [text_of({"types": name}, "types") for name in list_of(spec, "types", count=len(layout.pairs))]
        extractor = restore(mapping_of(spec, "features"), part_of(tensors, "features."))
        check_same("features", extractor.n_attributes, layout.n_attributes)
        types = tuple((name, *kinds) for name, kinds in zip(names, layout.pairs))
        return JointModel(labels, types, extractor, layout, stored_weights(tensors, layout.size), about_in(spec))
