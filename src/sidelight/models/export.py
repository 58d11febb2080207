"""Exports a model for other programs, as plain JSON or ONNX: chains of order 1, and classes.

JSON holds the names and weights of all features, so a program of fifty lines can label words (docs/how_to/export.md
has one). ONNX holds only the weights: features are passed by number (`models.onnx_graph`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.atomic_files import write_atomically
from sidelight.core.checks import is_among, shown
from sidelight.errors import DataError
from sidelight.features.attributes.attributes import AttributeExtractor
from sidelight.features.extractor import Extractor
from sidelight.features.vocabulary import TemplateExtractor
from sidelight.features.words.distributional import WordClasses
from sidelight.features.words.lexicon import RESERVED
from sidelight.features.words.templates import FARTHEST
from sidelight.models.model import Model, model_of
from sidelight.structures.chain_structure import ChainStructure
from sidelight.structures.labels.label_sets import written_labels

FORMATS = ("json", "onnx")
VERSION = 1
UNREADABLE = re.compile(r"signature|ending\d")  # macros of HMMs
CLASS = re.compile(r"class\d")
NEVER = -1e300  # a label or a transition that is not allowed; JSON has no −inf


def export(fitted: Any, path: str | Path, *, to: str = "json") -> None:
    """Export the model of a `Tagger` or `Classifier` for other programs; `to` is "json" or "onnx".

    Rules are not exported. Raises `DataError` for models that a format cannot hold: other structures and order 2; in
    JSON also hashed features, matrices, dense rows, and the macros %signature and %ending1 to 9.

    >>> import tempfile
    >>> from sidelight import Tagger
    >>> tagger = Tagger(learner="crf").fit([["light", "on"]], [["N", "P"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(tagger, f"{folder}/model.json")
    ...     json.loads(Path(folder, "model.json").read_text())["labels"]
    ['N', 'P']
    """
    if not is_among(to, FORMATS):
        raise ValueError(f"to is {shown(to)}; give one of {', '.join(FORMATS)}")
    model = model_of(fitted)
    if to == "onnx":
        from sidelight.models.onnx_graph import onnx_bytes

        write_atomically(path, onnx_bytes(model))
    else:
        write_atomically(path, (json.dumps(json_values(model), ensure_ascii=False) + "\n").encode())


def json_values(model: Model) -> dict[str, Any]:
    """A model as JSON values; raises `DataError` if this is impossible.

    Weights of a feature are pairs of a label's position and a number. The name of a template's feature is the list of
    its slots' values, as JSON without blanks: strings, or −1, −2, … before the first token and 1, 2, … after the last.
    If templates use word classes, these are listed for every lower-case word, coarse first.
    """
    structure = plain_structure(model)
    start, transition, end = chain_weights(model)
    return {
        "format": "sidelight export",
        "version": VERSION,
        "task": "tokens" if structure.sequences else "classes",
        "labels": label_texts(model),
        "start": _numbers(start),
        "transitions": [_numbers(row) for row in transition],
        "end": _numbers(end),
        "features": _features(structure.extractor, emission_weights(model)),
    }


def plain_structure(model: Model) -> ChainStructure:
    """The structure of an exportable model; raises `DataError`, by name, for other structures."""
    structure = model.structure
    if not isinstance(structure, ChainStructure):
        raise _not_exported(f"a model of {structure.outputs_are}", "export that of a Tagger or a Classifier")
    if structure.layout.order != 1:
        raise _not_exported("a model of order 2", "train with order=1")
    return structure


def label_texts(model: Model) -> list[Any]:
    """The label of every number; with hidden states, the label of every state."""
    classes = written_labels(model.labels.classes)
    return [classes[place] for place in model.labels.label_of.tolist()]


def chain_weights(model: Model) -> tuple[Floats, Floats, Floats]:
    """Weights of first labels [L], of transitions [L, L] and of last labels [L]; −inf if not allowed."""
    structure = plain_structure(model)
    layout = structure.layout
    start, transition, end = layout.start(model.weights), layout.transition(model.weights), layout.end(model.weights)
    if structure.allowed is not None:
        transition, start, end = structure.allowed.masked(transition, start, end)
    return start, transition, end


def emission_weights(model: Model) -> Floats:
    """Weights of features; with two classes, the first has zeros. # [A, L]"""
    layout = plain_structure(model).layout
    return _all_labels(layout.attribute_weights(model.weights), layout.n_labels)


def dense_weights(model: Model) -> Floats:
    """Weights of dense columns. # [D, L]"""
    layout = plain_structure(model).layout
    return _all_labels(layout.dense_weights(model.weights), layout.n_labels)


def _all_labels(weights: Floats, n_labels: int) -> Floats:
    return np.hstack([np.zeros((len(weights), n_labels - weights.shape[1])), weights])


def _features(extractor: Extractor, weights: Floats) -> dict[str, Any]:
    if extractor.n_dense:
        raise _not_exported("dense rows", 'use to="onnx", or train without them')
    if isinstance(extractor, AttributeExtractor):
        named = ((name, _pairs(row)) for name, row in zip(extractor.names, weights))
        return {"kind": "attributes", "weights": {name: pairs for name, pairs in named if pairs}}
    if not isinstance(extractor, TemplateExtractor):
        hashed = hasattr(extractor, "bits")
        what, remedy = ("hashed features", "train without hash_bits") if hashed else ("rows of a matrix", "use ONNX")
        raise _not_exported(what, f'{remedy}, or to="onnx"' if hashed else 'use to="onnx"')
    templates = extractor.templates.templates
    held: dict[str, Any] = {"kind": "templates"}
    held["templates"] = [_template(extractor, m, weights) for m in range(len(templates))]
    known = extractor.templates.classes
    if isinstance(known, WordClasses) and any(CLASS.fullmatch(slot[0]) for one in templates for slot in one.slots):
        own = ([str(number) for number in row] for row in known.classes.tolist())
        held["classes"] = dict(zip(known.words, own))
    return held


def _template(extractor: TemplateExtractor, m: int, weights: Floats) -> dict[str, Any]:
    template, known = extractor.templates.templates[m], extractor.known[m]
    for macro, _, _ in template.slots:
        if UNREADABLE.fullmatch(macro):
            raise _not_exported(f"the macro %{macro}", 'train with other templates, or use to="onnx"')
    first = int(extractor.program.slot_ptr[m])
    lexicons = [extractor.lexicons[extractor.program.slot_view[first + s]] for s in range(len(template.slots))]
    named = {}
    for parts, attribute in zip(known.parts.tolist(), known.attributes.tolist()):
        if pairs := _pairs(weights[attribute]):
            values = [_value(lexicon.strings, part) for lexicon, part in zip(lexicons, parts)]
            named[json.dumps(values, separators=(",", ":"), ensure_ascii=False)] = pairs
    return {"name": template.text, "slots": [list(slot) for slot in template.slots], "weights": named}


def _value(strings: Sequence[str], number: int) -> str | int:
    if number >= RESERVED:
        return strings[number - RESERVED]
    return -1 - number if number < FARTHEST else number - FARTHEST + 1


def _pairs(row: Floats) -> list[list[float | int]]:
    return [[int(label), float(row[label])] for label in np.flatnonzero(row)]


def _numbers(values: Floats) -> list[float]:
    return [float(value) for value in np.maximum(values, NEVER)]


def _not_exported(what: str, remedy: str) -> DataError:
    return DataError(f"{what} cannot be exported in this form", remedy=remedy)


__all__ = ["export"]
