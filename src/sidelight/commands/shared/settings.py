"""Converts typed options to parameters of estimators."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from sidelight import features as sets
from sidelight.commands.shared.options import DEFAULTS
from sidelight.errors import DataError
from sidelight.evidence import Evidence, error_at
from sidelight.features import FeatureSet
from sidelight.recipes import AUTO, LEARNERS, Recipe
from sidelight.specs.options import options_of
from sidelight.specs.settings import DEFAULT_PRICES
from sidelight.structures.labels.encoding import labels_in

READY: dict[str, Callable[..., FeatureSet]] = {
    "standard": sets.standard,
    "words": sets.words,
    "window": sets.window,
    "spelling": sets.spelling,
    "chunking": sets.chunking,
    "attributes": sets.attributes,
    "emissions": sets.emissions,
    "emissions_lower": partial(sets.emissions, True),
}


def choose_features(
    evidence: Sequence[Evidence],
    *,
    name: str | None,
    template: Path | None,
    min_count: int,
    hash_bits: int | None,
    learner: Recipe | None,
) -> FeatureSet | None:
    """The requested features; by default, those that suit the inputs and the learner.

    None leaves the choice to the estimator, for example if it also chooses the learner.
    """
    x = evidence[0].x
    named = isinstance(x, Mapping) or isinstance(x[0], Mapping)  # the tokens have attributes
    if template is not None and name is not None:
        raise ValueError("--features and --template are both given; give one of them")
    if name is not None and name not in READY:
        raise ValueError(f"--features is {name!r}; there are {', '.join(READY)}")
    if named and (template is not None or name not in (None, "attributes")):
        raise error_at(
            evidence[0].origin,
            "tokens by attributes, where templates look at words",
            remedy="use --features attributes",
        )
    if learner is None and (name, template, min_count, hash_bits) == (None, None, 1, None):
        return None
    if template is not None:
        return sets.read_templates(template, min_count=min_count, hash_bits=hash_bits)
    if name is None:
        named = named or isinstance(sets.features_for([piece.x for piece in evidence]), sets.Attributes)
        usual = "emissions" if learner is not None and learner.emits else "standard"
        name = "attributes" if named else usual
    if name == "standard":
        return sets.standard(len(x[0]), min_count=min_count, hash_bits=hash_bits)
    if name == "attributes":
        if hash_bits is not None:
            raise ValueError("--hash-bits goes with templates; leave it out for attributes")
        return sets.attributes(min_count=min_count)
    return READY[name](min_count=min_count, hash_bits=hash_bits)


def learner_options() -> dict[str, str]:
    """The options of every learner, with their defaults.

    >>> learner_options()["jlis"]
    'restarts=1'
    """
    texts_of = {}
    for name, learner in LEARNERS.items():
        texts = [one.name if one.default is None else f"{one.name}={one.default}" for one in options_of(learner)]
        if texts:
            texts_of[name] = ", ".join(texts)
    return texts_of


def choose_loss(loss: str | None, learner: Recipe | None) -> str:
    """The requested loss; raises ValueError if the learner would ignore it.

    >>> choose_loss(None, choose_learner("crf", []))
    'squared_hinge'
    """
    if loss is not None and learner is not None and "loss" not in learner.heeded():
        raise ValueError(f"--loss is {loss!r}, and {learner.name} has its own loss; leave it out")
    usual: str = DEFAULTS["loss"]
    return usual if loss is None else loss


def choose_learner(name: str, assignments: Sequence[str]) -> Recipe | None:
    """A learner by name, with typed options; None for "auto".

    >>> choose_learner("jlis", ["restarts=3"]).restarts, choose_learner("auto", [])
    (3, None)
    >>> choose_learner("codl", ["base=semi_crf", "beta=none"]).beta is None
    True
    """
    if name == AUTO:
        if assignments:
            raise ValueError(f"--set is {assignments[0]!r}, and {AUTO} has no options; name a learner with --learner")
        return None
    if name not in LEARNERS:
        raise ValueError(f"--learner is {name!r}; there are {AUTO}, {', '.join(LEARNERS)}")
    make = LEARNERS[name]
    types = {one.name: one.type for one in fields(make)}
    options: dict[str, Any] = {}
    for text in assignments:
        option, equals, value = text.partition("=")
        if option not in types:
            known = learner_options().get(name, "none")
            raise ValueError(f"--set is {text!r}, and {name} has no option {option!r}; its options are: {known}")
        if not equals:
            raise ValueError(f"--set is {text!r}, without a value; write --set {option}=VALUE")
        options[option] = typed(text, value, types[option])
    return make(**options)


def typed(text: str, value: str, kind: Any) -> Any:
    """The typed text, converted to the option's type.

    >>> typed("longest=2,1", "2,1", "tuple[int, int]"), typed("relations=none", "none", "tuple[str, ...]")
    ((2, 1), ())
    """
    kinds = [part.strip() for part in str(kind).split("|")]
    if "None" in kinds and value.lower() == "none":
        return None
    if "bool" in kinds and value.lower() in ("true", "false"):
        return value.lower() == "true"
    for one, read in _READ.items():
        if one in kinds:
            try:
                return read(value)
            except ValueError:
                continue
    raise ValueError(f"--set is {text!r}; give {' or '.join(_KINDS.get(one, one) for one in kinds)}")


def _two(value: str) -> tuple[int, int]:
    one, other = map(int, value.split(","))
    return one, other


def _names(value: str) -> tuple[str, ...]:
    return () if value.lower() == "none" else tuple(value.split(","))


_READ: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "tuple[int, int]": _two,
    "tuple[str, ...]": _names,
    "Sequence[str]": _names,
    "str": str,
}
_KINDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "tuple[int, int]": "two whole numbers with a comma between them",
    "str": "a word",
    "None": "none",
}


def choose_prices(*, c1: float | None, c2: float | None, others: Sequence[str]) -> dict[str, float]:
    """Prices by kind of evidence; missing kinds have the library's default.

    >>> choose_prices(c1=2.0, c2=None, others=["unlabeled=0.5"])
    {'gold': 2.0, 'unlabeled': 0.5}
    """
    prices: dict[str, float] = {}
    short_options = [("gold", c1)] * (c1 is not None) + [("companion", c2)] * (c2 is not None)
    for kind, price in [*short_options, *(_pair(text, "--price", "unlabeled=0.5") for text in others)]:
        if kind not in DEFAULT_PRICES:
            raise ValueError(f"--price names {kind!r}; there are {', '.join(DEFAULT_PRICES)}")
        if kind in prices:
            raise ValueError(f"the price of {kind} is given twice; give it once")
        prices[kind] = price  # type: ignore[assignment]
    return prices


def choose_class_weight(assignments: Sequence[str]) -> dict[str, float] | str | None:
    """None, "balanced", or the weights of labels.

    >>> choose_class_weight(["balanced"]), choose_class_weight(["title=2"])
    ('balanced', {'title': 2.0})
    """
    if list(assignments) == ["balanced"]:
        return "balanced"
    return dict(_pair(text, "--class-weight", "balanced, or title=2") for text in assignments) or None


def choose_labels(text: str | None) -> list[str] | None:
    """Labels separated by commas.

    >>> choose_labels("a,b")
    ['a', 'b']
    """
    if text is None:
        return None
    labels = [label.strip() for label in text.split(",")]
    if "" in labels or len(set(labels)) != len(labels):
        raise ValueError(f"--labels is {text!r}; give different labels with commas between them, e.g. a,b,c")
    return labels


def check_labels_are_named(evidence: Sequence[Evidence], labels: Sequence[str] | None) -> None:
    """Raise `DataError` if neither files nor --labels name any label."""
    if labels is None and not labels_in(evidence, sequences=sequences_in(evidence)):
        remedy = "give --labels A,B,C, or a file of --gold, --partial or --candidates"
        raise DataError("no file names a label", remedy=remedy)


def sequences_in(evidence: Sequence[Evidence]) -> bool:
    """Whether the inputs are sequences, not single sets of features."""
    return not isinstance(evidence[0].x, Mapping)


def _pair(text: str, option: str, example: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not name or math.isnan(number):
        raise ValueError(f"{option} is {text!r}; write e.g. {example}")
    return name, number
