"""Templates as flat arrays that kernels read, and their place in model files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.arrays import Ints
from sidelight.features.distributional import WordClasses
from sidelight.features.strings import pack_strings, unpack_strings
from sidelight.features.templates import Slot, Template, Templates


@dataclass(frozen=True, slots=True)
class Program:
    """The slots of all templates, one after another."""

    slot_ptr: Ints  # [M + 1]
    slot_view: Ints  # [slots] which (transform, column)
    slot_offset: Ints  # [slots]


def program(templates: Templates) -> Program:
    """The flat form of a set of templates."""
    views = {view: i for i, view in enumerate(templates.views)}
    slots = [slot for template in templates.templates for slot in template.slots]
    return Program(
        np.cumsum([0, *(len(template.slots) for template in templates.templates)]).astype(np.int64),
        np.array([views[slot.transform, slot.column] for slot in slots], dtype=np.int64),
        np.array([slot.offset for slot in slots], dtype=np.int64),
    )


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


def from_json(value: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Templates:
    """The templates again, with the classes of words that `class_tensors` made."""
    classes = None
    if "classes.text" in tensors:
        words = unpack_strings(tensors["classes.text"], tensors["classes.offsets"])
        classes = WordClasses(tuple(words), tensors["classes.numbers"])
    return Templates(
        tuple(Template(text, tuple(Slot(*slot) for slot in slots)) for text, slots in value["templates"]),
        value["transitions"],
        value["boundary"],
        value["min_count"],
        value["hash_bits"],
        classes,
    )
