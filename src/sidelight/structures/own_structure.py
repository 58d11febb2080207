"""A user's structure (`objective.structure`), converted to one that models store.

Its vocabulary `names` (`FeatureNames`) grows during a fit and is closed afterwards; existing weights keep their
positions. `admitted(x, y)` returns the choices that partial outputs and candidates admit [slots, K].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import MISSING, Field, dataclass, fields, replace
from importlib import import_module
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.checks import shown
from sidelight.core.file_contents import list_of, mapping_of, part_of, text_of, whole_of
from sidelight.data.checks import trouble
from sidelight.errors import DataError, Infeasible, Intractable, ModelFileError
from sidelight.evidence import Candidates, Companion, Evidence, Gold, Partial, Unlabeled
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.slot_scorer import FeatureNames
from sidelight.objective.structure import Described, Worded, sizes_of
from sidelight.rules import Rule
from sidelight.structures.labels.encoding import RESTRICTED, Encoded
from sidelight.structures.labels.label_sets import LabelSet
from sidelight.structures.structure import VARIABLES, OutputKind, Prepared, State, Structure, unlike
from sidelight.structures.weight_names import ChoiceWeightNames, FeatureWeightNames

KINDS = (Gold, Partial, Candidates, Companion, Unlabeled)


@dataclass(frozen=True, slots=True, eq=False)
class OwnRows:
    """Inputs with their batch."""

    xs: tuple[Any, ...]
    batch: Batch
    sizes: Floats  # [N] κ(x) of companion decisions, unless the settings say another

    def __len__(self) -> int:
        return len(self.xs)

    @property
    def starts(self) -> Ints:
        return self.batch.starts

    @property
    def lengths(self) -> Ints:
        return self.batch.lengths

    @property
    def n_tokens(self) -> int:
        return int(self.batch.starts[-1])

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The offsets, and the scores of random outputs under random weights, which differ for other features."""
        rng = np.random.default_rng(0)
        outputs = self.batch.space.random(rng)
        return self.starts, outputs, self.batch.score(rng.normal(size=self.batch.scorer.size), outputs)

    def take(self, which: Any) -> OwnRows:
        """Some of the inputs."""
        some = np.asarray(which, dtype=np.int64)
        return OwnRows(tuple(self.xs[i] for i in some.tolist()), self.batch.take(some), self.sizes[some])

    def tokens_of(self, which: Any) -> Ints:
        """The numbers of the slots of some of the inputs, in order."""
        return self.batch.slots_of(np.asarray(which, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class OwnStructure:
    """A fit's copy of a user's structure, with a closed vocabulary."""

    plain: Any  # PlainStructure
    n_choices: int  # of the training inputs; others may have more, or fewer
    size: int

    @property
    def outputs_are(self) -> str:
        return type(self.plain).__name__

    @property
    def labels(self) -> LabelSet:
        """The choices, by the structure's names (`choice_names`), or by number."""
        return LabelSet(tuple(getattr(self.plain, "choice_names", range(self.n_choices))))

    def rows(self, xs: Any, *, n_jobs: int | None = None) -> OwnRows:
        every = tuple(xs)
        batch = self.plain.batch(every)
        if batch.scorer.size != self.size:
            problem = f"the batch of new inputs has {batch.scorer.size:,} weights, and the model {self.size:,}"
            remedy = "let batch(xs) make as many for all inputs; FeatureNames called names are closed by fit"
            raise DataError(problem, remedy=remedy)
        return OwnRows(every, batch, sizes_of(self.plain, every, batch))

    def batch(self, rows: OwnRows, *, n_jobs: int | None = None) -> Batch:
        return replace(rows.batch, n_jobs=n_jobs)

    def moved(self, weights: Floats, before: Structure) -> Floats:
        if not isinstance(before, OwnStructure) or before.size > self.size:
            raise unlike()
        return np.concatenate([weights, np.zeros(self.size - before.size)])

    def outputs(self, rows: OwnRows, choices: Ids) -> list[Any]:
        bounds = pairwise(rows.starts.tolist())
        return [self.plain.decode(x, choices[a:b]) for x, (a, b) in zip(rows.xs, bounds)]

    def choices(self, rows: OwnRows, ys: Any) -> Ids:
        return _encoded([Gold(x, y) for x, y in zip(rows.xs, ys, strict=True)], rows, self.plain).targets

    def mask(self, rows: OwnRows, clamp: Any) -> Bytes:
        pieces = [Unlabeled(x) if y is None else Partial(x, y) for x, y in zip(rows.xs, clamp, strict=True)]
        admitted = _encoded(pieces, rows, self.plain).admitted
        return np.ones((rows.n_tokens, rows.batch.space.n_labels), dtype=np.uint8) if admitted is None else admitted

    def slots(self, rows: OwnRows) -> list[str]:
        """The structure's names of slots, or their numbers."""
        if isinstance(self.plain, Worded):
            return [name for x in rows.xs for name in self.plain.slot_words(x)]
        return [f"slot {t}" for length in rows.lengths.tolist() for t in range(length)]

    def choice_words(self, rows: OwnRows, choices: Ids) -> list[Any]:
        """The structure's names of choices, or their numbers."""
        if not isinstance(self.plain, Worded):
            return [int(choice) for choice in choices]
        bounds = zip(rows.xs, pairwise(rows.starts.tolist()))
        return [name for x, (a, b) in bounds for name in self.plain.choice_words(x, choices[a:b])]

    def beliefs(self, rows: OwnRows, shares: Floats) -> list[Any]:
        """Probabilities of choices, of every input. # [slots, choices]"""
        return [shares[a:b] for a, b in pairwise(rows.starts.tolist())]

    def check(self, evidence: Sequence[Evidence], rows: OwnRows, encoded: Encoded, *, n_jobs: int | None) -> None:
        """Raise `Infeasible` for the first input whose evidence admits no output."""
        which = encoded.of_kind(*RESTRICTED, "unlabeled")
        own = None if encoded.admitted is None else encoded.admitted[rows.tokens_of(which)]
        closed = np.flatnonzero(~rows.batch.take(which).inside(own).space.feasible())
        if len(closed):
            i = int(which[closed[0]])
            problem, remedy = "no output has choices that all slots admit", "correct it, or admit more"
            raise Infeasible(str(trouble(evidence[i], i, problem=problem, remedy=remedy)), example=i)

    def read_rules(self, rules: Sequence[Rule], xs: Sequence[Any]) -> None:
        if rules:
            self.ruled(xs, rules)

    def ruled(
        self,
        xs: Sequence[Any],
        rules: Sequence[Rule],
        own: Sequence[Sequence[Any]] | None = None,
        *,
        places: Sequence[int] | None = None,
    ) -> NoReturn:
        raise Intractable(f"{self.outputs_are} has no rules about its outputs; leave rules out, or use jlis")

    def counted(self, rules: Sequence[Rule], xs: Sequence[Any], ys: Sequence[Any]) -> list[float]:
        return []

    def facts(self) -> dict[str, Any]:
        rules = [rule.name for rule in getattr(self.plain, "rules", ()) if isinstance(rule, Rule)]
        return {"structure": type(self.plain).__name__, **({"rules": rules} if rules else {})}

    def weight_names(self) -> FeatureWeightNames | ChoiceWeightNames:
        names = _names(self.plain)
        if names is not None and hasattr(self.plain, "choice_names"):
            return ChoiceWeightNames(self.labels, list(names.places))
        return FeatureWeightNames(self.labels, self.size, [] if names is None else list(names.places))

    def state(self) -> State:
        """The names of features, or the result of the user's `state()`: JSON values and arrays.

        A frozen dataclass, which has learned nothing but weights, needs neither.
        """
        values: dict[str, Any] = {"own": type(self.plain).__name__, "n_choices": self.n_choices, "size": self.size}
        names = _names(self.plain)
        settings = settings_of(self.plain) if type(self.plain).__name__ in LIBRARY else None
        values |= {} if settings is None else {"settings": settings}
        if names is not None:
            return State({**values, "names": list(names.places)}, {}, 6)
        if hasattr(self.plain, "state"):
            spec, arrays = self.plain.state()
            return State({**values, "state": spec}, {f"own.{name}": array for name, array in arrays.items()}, 6)
        if not _is_frozen(self.plain):
            remedy = "keep its features in FeatureNames called names, or give it state() and restored(values, arrays)"
            raise ModelFileError(f"{type(self.plain).__name__} does not say what a file should hold", remedy=remedy)
        return State(values, {}, 6)


def restored_own(spec: Any, arrays: Any, plain: Any) -> OwnStructure:
    """The structure in a file, restored from an unfitted one; raises `ModelFileError`.

    Structures of this library need not be passed: a file has their settings.
    """
    called = text_of(spec, "own")
    if plain is None and called in LIBRARY and "settings" in spec:
        plain = library_structure(called, mapping_of(spec, "settings"))
    if plain is None or isinstance(plain, type) or type(plain).__name__ != called:
        raise ModelFileError(f"the model of a {called}", remedy=f"use Predictor({called}(…)).load")
    own = deepcopy(plain)
    names = _names(own)
    if names is not None:
        known = [text_of({"names": name}, "names") for name in list_of(spec, "names")]
        names.places, names.closed = {name: 1 + k for k, name in enumerate(known)}, True
    elif hasattr(own, "restored"):
        own = own.restored(mapping_of(spec, "state"), part_of(arrays, "own."))
    return OwnStructure(own, whole_of(spec, "n_choices", low=1), whole_of(spec, "size", low=1))


@dataclass(frozen=True, slots=True, eq=False)
class Own:
    """A user's structure, in the form for `Predictor`."""

    plain: Any  # PlainStructure

    def kind(self, settings: Any) -> OutputKind:
        return replace(VARIABLES, name=f"outputs of {type(self.plain).__name__}")

    def prepare(self, settings: Any, evidence: Sequence[Evidence], before: Structure | None) -> Prepared:
        if before is not None and not isinstance(before, OwnStructure):
            raise unlike()
        own = deepcopy(self.plain if before is None else before.plain)
        names = _names(own)
        if names is not None:
            names.closed = before is not None and settings.freeze_vocabulary
        xs = tuple(piece.x for piece in evidence)
        batch = own.batch(xs)
        rows = OwnRows(xs, batch, sizes_of(own, xs, batch))
        if names is not None:
            names.closed = True
        structure = OwnStructure(own, rows.batch.space.n_labels, rows.batch.scorer.size)
        return Prepared(structure, rows, _encoded(evidence, rows, own))


def _names(plain: Any) -> FeatureNames | None:
    names = getattr(plain, "names", None)
    return names if isinstance(names, FeatureNames) else None


def _is_frozen(plain: Any) -> bool:
    return bool(getattr(getattr(plain, "__dataclass_params__", None), "frozen", False))


def _encoded(evidence: Sequence[Evidence], rows: OwnRows, plain: Any) -> Encoded:
    """The evidence about outputs, as arrays; raises `DataError` with the piece of evidence."""
    starts, size = rows.starts, rows.batch.space.n_labels
    targets = np.full(rows.n_tokens, -1, dtype=np.int32)
    admitted = np.ones((rows.n_tokens, size), dtype=np.uint8)
    for i, (piece, first, last) in enumerate(zip(evidence, starts[:-1].tolist(), starts[1:].tolist())):
        if not isinstance(piece, KINDS):
            problem = f"{type(plain).__name__} does not say what {piece.kind} of its outputs are"
            raise trouble(piece, i, problem=problem, remedy="give evidence of another kind")
        if first == last:
            raise trouble(piece, i, problem="the input has no slots", remedy="leave it out")
        known = piece.candidates if isinstance(piece, Companion) else getattr(piece, "y", None)
        if isinstance(piece, Gold):
            targets[first:last] = _gold(piece, i, plain, rows)
        elif known is not None:
            admitted[first:last] = _admitted(piece, i, plain, known, (last - first, size))
            one = first + np.flatnonzero(admitted[first:last].sum(axis=1) == 1)
            targets[one] = admitted[one].argmax(axis=1)
    return Encoded.of(evidence, starts, targets, None if np.all(admitted) else admitted)


def _gold(piece: Gold, i: int, plain: Any, rows: OwnRows) -> Ids:
    try:
        choices = np.asarray(plain.encode(piece.x, piece.y), dtype=np.int32)
    except DataError as error:
        raise _placed(error, piece, i) from None
    slots, size = int(rows.lengths[i]), rows.batch.space.n_labels
    if choices.shape != (slots,) or np.any((choices < 0) | (choices >= size)):
        problem = f"encode gave {choices.tolist()} for {slots} slots with {size} choices"
        raise trouble(piece, i, problem=problem, remedy="give the choice of every slot, from 0 on")
    if not rows.batch.space.take(np.array([i])).admits(choices)[0]:
        remedy = plain.legal if isinstance(plain, Described) else "correct it"
        raise trouble(piece, i, problem=f"{shown(piece.y)} is not an output of the space", remedy=remedy)
    return choices


def _admitted(piece: Evidence, i: int, plain: Any, known: Any, shape: tuple[int, int]) -> Bytes:
    if not hasattr(plain, "admitted"):
        remedy = "give it a method admitted(x, y), or give evidence of another kind"
        raise DataError(f"{type(plain).__name__} does not say which choices labels admit", remedy=remedy)
    try:
        mask = np.asarray(plain.admitted(piece.x, known), dtype=np.uint8)
    except DataError as error:
        raise _placed(error, piece, i) from None
    if mask.ndim != 2 or len(mask) != shape[0] or mask.shape[1] > shape[1]:
        problem = f"admitted gave an array of shape {mask.shape} and not {shape}"
        raise trouble(piece, i, problem=problem, remedy="give [slots, choices]")
    return np.pad(mask, ((0, 0), (0, shape[1] - mask.shape[1])))  # choices of other inputs


def _placed(error: DataError, piece: Evidence, i: int) -> DataError:
    """An error of a structure about an output, with its piece of evidence."""
    return trouble(piece, i, problem=error.problem, remedy=error.remedy or "correct it")


LIBRARY = {  # class to module
    "DependencyTree": "trees",
    "SegmentAlignment": "alignments",
    "CharacterAlignment": "letters",
    "GraphAlignment": "graphs",
    "EntityRelation": "relations",
}
NO_SETTINGS = ("n_jobs", "names", "rules")  # not stored as settings: of the machine, stored separately, never stored


def settings_of(plain: Any) -> dict[str, Any] | None:
    """The nondefault fields of a dataclass structure, as JSON values; None if this is impossible.

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
    """The default of a field; none for required fields."""
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
