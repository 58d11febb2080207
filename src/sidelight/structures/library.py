"""The structures of this library that `Predictor` takes, by the names that files have, with their settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from importlib import import_module
from typing import Any

from sidelight.errors import ModelFileError

LIBRARY = {  # class to module
    "DependencyTree": "trees",
    "SegmentAlignment": "alignments",
    "CharacterAlignment": "letters",
    "GraphAlignment": "graphs",
    "EntityRelation": "relations",
}
NO_SETTINGS = ("n_jobs", "names", "rules")  # of the machine; what files have besides; and what no file has


def settings_of(plain: Any) -> dict[str, Any] | None:
    """The fields of a structure that is a dataclass that are not as usual, as JSON has them; None where one is none.

    >>> from sidelight.structures.trees import DependencyTree
    >>> settings_of(DependencyTree(projective=False, relations=("obj",)))
    {'projective': False, 'relations': ['obj']}
    """
    settings: dict[str, Any] = {}
    for one in fields(plain):
        value = getattr(plain, one.name)
        if one.name in NO_SETTINGS or value == _usual(one):
            continue
        values = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(part, bool | int | float | str) for part in values):
            return None
        settings[one.name] = list(value) if isinstance(value, tuple) else value
    return settings


def _usual(one: Field[Any]) -> Any:
    """The default of a field; of names that must be given, none."""
    if one.default is not MISSING:
        return one.default
    return () if one.default_factory is MISSING else one.default_factory()


def library_structure(name: str, settings: Mapping[str, Any]) -> Any:
    """A structure by the name of its class; raises `ModelFileError` for settings that it does not have."""
    make = getattr(import_module(f"sidelight.structures.{LIBRARY[name]}"), name)
    known: dict[str, Field[Any]] = {one.name: one for one in fields(make) if one.name not in NO_SETTINGS}
    arguments: dict[str, Any] = {}
    for setting, value in settings.items():
        if setting not in known:
            raise ModelFileError(f"{name} has no setting {setting!r}", remedy="a newer version may have written it")
        usual = _usual(known[setting])
        value = tuple(value) if isinstance(usual, tuple) and isinstance(value, list) else value
        kinds = (int, float) if isinstance(usual, float) else type(usual)
        parts = value if isinstance(value, tuple) else ()
        alike = not any(isinstance(part, bool) or not isinstance(part, int | str) for part in parts)
        if not isinstance(value, kinds) or isinstance(value, bool) != isinstance(usual, bool) or not alike:
            raise ModelFileError(f"the setting {setting!r} of {name} is {value!r}")
        arguments[setting] = value
    try:
        return make(**arguments)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{name} cannot be made ({error})") from None
