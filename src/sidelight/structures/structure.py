"""The protocol of structures: the outputs of a model and how they are scored, without weights.

A structure computes the features of inputs (`rows`), of which parts can be selected, and from these a `Batch`; learners
use nothing else. It also reads users' data (evidence, outputs, clamps, rules) and writes results (outputs,
probabilities, files); no other code knows what an `x` and a `y` look like. Each structure is one file here.
`objective.structure` has the minimal protocol of a user's structure; `own_structure` derives the rest.

The operations that learners may need of outputs, and the outputs that have them, are defined here too (`OutputKind`,
`Need`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from numpy.typing import NDArray

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.errors import DataError
from sidelight.evidence import Evidence
from sidelight.inference.ruled_inputs import AnyRuled
from sidelight.objective.batch import Batch
from sidelight.rules import Rule
from sidelight.structures.labels.encoding import Encoded
from sidelight.structures.labels.label_sets import LabelSet
from sidelight.structures.weight_names import WeightNames


class Need(Enum):
    """An operation on outputs that a learner may need, in words."""

    BEST = "the best output"
    SUMS = "sums over outputs"
    TIES = "random ties"
    TOKENS = "labels of single tokens"
    TOKEN_MARGINS = "the best outputs of every label of a token"
    LISTS = "a list of all candidate outputs"
    NEIGHBOURS = "neighbours of an output"
    SWAPS = "sums over swapped tokens"
    GENERATIVE = "a generative model"
    COMPLETION = "completion under rules"
    BELIEFS = "beliefs under rules"
    SEGMENTS = "segments"


@dataclass(frozen=True, slots=True)
class OutputKind:
    """A kind of outputs, in words, with the operations that it supports."""

    name: str  # plural
    has: frozenset[Need]
    instead: str  # learners whose needs it meets


_ALL = frozenset(Need) - {Need.SEGMENTS}
_FEW = frozenset({Need.BEST, Need.SUMS})

CHAINS = OutputKind("chains", _ALL, "crf or jlis")
SECOND_ORDER = OutputKind(
    "chains of order 2",
    _ALL - {Need.TOKENS, Need.TOKEN_MARGINS, Need.SWAPS, Need.BELIEFS},
    "jlis or structural_svm",
)
CLASSES = OutputKind("classes", _ALL - {Need.GENERATIVE}, "crf or jlis")
SEGMENTS = OutputKind("segments", _FEW | {Need.COMPLETION, Need.SEGMENTS}, "semi_crf or semi_svm")
VARIABLES = OutputKind(
    "variables",
    _FEW | {Need.TIES, Need.COMPLETION},
    "jlis, structural_svm, latent_svm, transductive_svm, cllp, mms, perceptron, crf or partial_crf",
)


@runtime_checkable
class InputRows(Protocol):
    """The features of inputs, computed once: the slots of all inputs in a row, with offsets."""

    def take(self, which: Any) -> Self:
        """The features of some of the inputs."""
        ...

    def tokens_of(self, which: Any) -> Ints:
        """The numbers of the slots of some of the inputs, in order."""
        ...

    def __len__(self) -> int: ...

    @property
    def starts(self) -> Ints: ...

    @property
    def lengths(self) -> Ints: ...

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays, to distinguish batches."""
        ...


class State(NamedTuple):
    """A structure as JSON values and arrays, and the oldest file version that supports it."""

    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    version: int


class Structure(Protocol):
    """Everything about one kind of output, as created by a fit."""

    @property
    def outputs_are(self) -> str:
        """The name of outputs in messages: "chains", "segments", "variables"."""
        ...

    @property
    def labels(self) -> LabelSet:
        """The names of choices."""
        ...

    @property
    def size(self) -> int:
        """The number of weights."""
        ...

    def rows(self, xs: Any, *, n_jobs: int | None = None) -> Any:
        """The features of inputs (`InputRows`)."""
        ...

    def batch(self, rows: Any, *, n_jobs: int | None = None) -> Batch:
        """Features with the space of outputs."""
        ...

    def moved(self, weights: Floats, before: Structure) -> Floats:
        """The weights of an earlier structure with at most as many features, in this layout; raises `DataError` for
        others.
        """
        ...

    def outputs(self, rows: Any, choices: Ids) -> list[Any]:
        """The outputs of inputs, in the users' form."""
        ...

    def choices(self, rows: Any, ys: Any) -> Ids:
        """The choices of outputs in the users' form; raises `DataError` if they do not fit the inputs. # [T]"""
        ...

    def mask(self, rows: Any, clamp: Any) -> Bytes:
        """The choices admitted by clamps; raises `DataError` if clamps do not fit the inputs. # [T, K]"""
        ...

    def slots(self, rows: Any) -> list[str]:
        """The names of the slots of inputs, for display."""
        ...

    def choice_words(self, rows: Any, choices: Ids) -> list[Any]:
        """The names of the choices of slots, for display."""
        ...

    def beliefs(self, rows: Any, shares: Floats) -> list[Any]:
        """Probabilities of choices [T, K], by their names, in the form of outputs."""
        ...

    def check(self, evidence: Sequence[Evidence], rows: Any, encoded: Encoded, *, n_jobs: int | None) -> None:
        """Raise an error for the first input whose evidence admits no output."""
        ...

    def read_rules(self, rules: Sequence[Rule], xs: Sequence[Any]) -> None:
        """Read rules on some inputs to find mistakes early; raises `DataError` for a mistake."""
        ...

    def ruled(
        self,
        xs: Sequence[Any],
        rules: Sequence[Rule],
        own: Sequence[Sequence[Any]] | None = None,
        *,
        places: Sequence[int] | None = None,
    ) -> AnyRuled:
        """Inputs with common rules and their own rules; raises `Intractable` if rules are not supported."""
        ...

    def counted(self, rules: Sequence[Rule], xs: Sequence[Any], ys: Sequence[Any]) -> list[float]:
        """The penalties of rules: their own, or learned from right outputs."""
        ...

    def state(self) -> State:
        """The state for files."""
        ...

    def weight_names(self) -> WeightNames:
        """The names of the weights."""
        ...

    def facts(self) -> dict[str, Any]:
        """A description for models, for display."""
        ...


class Prepared(NamedTuple):
    """One fit's data as arrays, and the structure of its outputs."""

    structure: Structure
    rows: Any  # InputRows
    encoded: Encoded


class Declared(Protocol):
    """The kind of outputs of an estimator, before it has seen evidence."""

    def kind(self, settings: Any) -> OutputKind:
        """The kind of outputs under the settings (`sidelight.specs.settings`), with the operations that it supports."""
        ...

    def prepare(self, settings: Any, evidence: Sequence[Evidence], before: Structure | None) -> Prepared:
        """Labels, features and layout, from the settings or an earlier structure.

        Raises `DataError` if they do not fit the evidence.
        """
        ...


def unlike() -> DataError:
    """The error for evidence of another structure than that of a model."""
    return DataError("the new evidence does not fit the model", remedy="use the same labels and kind of features")
