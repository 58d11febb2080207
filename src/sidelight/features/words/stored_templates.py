"""Templates in model files."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.core.file_contents import array_of, flag_of, list_of, mapping_of, text_of, whole_of
from sidelight.errors import ModelFileError
from sidelight.features.strings import pack_strings, stored_strings
from sidelight.features.transforms import transform
from sidelight.features.words.distributional import WordClasses
from sidelight.features.words.templates import FARTHEST, Slot, Template, Templates


def to_json(templates: Templates) -> dict[str, Any]:
    """JSON values that `from_json` reads."""
    return {
        "templates": [[template.text, [list(slot) for slot in template.slots]] for template in templates.templates],
        "transitions": templates.transitions,
        "boundary": templates.boundary,
        "min_count": templates.min_count,
        "hash_bits": templates.hash_bits,
    }


def class_tensors(templates: Templates) -> dict[str, NDArray[Any]]:
    """The classes of words, where there are some, for a model file."""
    if not isinstance(templates.classes, WordClasses):
        return {}
    text, offsets = pack_strings(templates.classes.words)
    return {"classes.text": text, "classes.offsets": offsets, "classes.numbers": templates.classes.classes}


def _stored_classes(tensors: Mapping[str, NDArray[Any]]) -> WordClasses | None:
    if "classes.text" not in tensors:
        return None
    words = tuple(stored_strings(tensors, "classes"))
    return WordClasses(words, array_of(tensors, "classes.numbers", np.int32, [len(words), None]))


def from_json(spec: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Templates:
    """The templates again, with the classes of words that `class_tensors` made; raises `ModelFileError` for what cannot
    be templates."""
    value, classes = mapping_of(spec, "templates"), _stored_classes(tensors)
    return Templates(
        tuple(_template(one, classes) for one in list_of(value, "templates")),
        flag_of(value, "transitions"),
        text_of(value, "boundary", among=("symbol", "skip")),  # type: ignore[arg-type]
        whole_of(value, "min_count", low=1),
        None if value.get("hash_bits", 0) is None else whole_of(value, "hash_bits", low=4, high=28),
        classes,
    )


def _template(value: Any, classes: WordClasses | None) -> Template:
    """One template of a file: a text with as many empty braces as there are slots."""
    text, slots = list_of({"template": value}, "template", count=2)
    named = {"text": text, "slots": slots}
    own_slots = tuple(_slot(one, classes) for one in list_of(named, "slots"))
    fields = [field for field in Formatter().parse(text_of(named, "text")) if field[1] is not None]
    if len(fields) != len(own_slots) or any(field[1:] != ("", "", None) for field in fields):
        raise ModelFileError(f"the template {text[:40]!r} does not fit its slots")
    return Template(text, own_slots)


def _slot(value: Any, classes: WordClasses | None) -> Slot:
    named = dict(zip(Slot._fields, list_of({"slot": value}, "slot", count=3)))
    name = text_of(named, "transform")
    transform(name, classes)
    return Slot(name, whole_of(named, "offset", low=-FARTHEST, high=FARTHEST), whole_of(named, "column", high=2**31))
