"""What outputs a model has and how they are scored, all but weights: the one seam between structures and the rest.

A structure makes the features of inputs (`rows`), which can be taken in parts, and of these a `Batch`; learners know no
more of it than that. Beside this it reads what users write (evidence, outputs, clamps, rules) and writes what they read
(outputs, probabilities, files); nobody else knows what an `x` and a `y` look like. Each structure is one file here.

`objective.structure` has the least that a structure of one's own must say; `own_structure` makes the rest of it.

What learners may ask of outputs, and which outputs have it, stands here too (`OutputKind`, `Need`).
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
    """Something that a learner asks for, in words."""

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
    """The outputs of a structure, in words, with what they have."""

    name: str  # plural
    has: frozenset[Need]
    instead: str  # learners that they have all for


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
    """The features of inputs, made once: slots of all inputs in a row, with offsets."""

    def take(self, which: Any) -> Self:
        """Those of some of the inputs."""
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
        """All there is, to tell batches apart by."""
        ...


class State(NamedTuple):
    """A structure as JSON values and arrays, and the oldest version of files that has it."""

    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    version: int


class Structure(Protocol):
    """Everything about one kind of output, as one fit has made it."""

    @property
    def outputs_are(self) -> str:
        """What outputs are, in a word for messages: "chains", "segments", "variables"."""
        ...

    @property
    def labels(self) -> LabelSet:
        """The choices of slots by their names."""
        ...

    @property
    def size(self) -> int:
        """How many weights there are."""
        ...

    def rows(self, xs: Any, *, n_jobs: int | None = None) -> Any:
        """The features of inputs (`InputRows`)."""
        ...

    def batch(self, rows: Any, *, n_jobs: int | None = None) -> Batch:
        """Features with the space of outputs."""
        ...

    def moved(self, weights: Floats, before: Structure) -> Floats:
        """The weights of a structure that had as many features or fewer; raises `DataError` for any other."""
        ...

    def outputs(self, rows: Any, choices: Ids) -> list[Any]:
        """The outputs of inputs as users read them."""
        ...

    def choices(self, rows: Any, ys: Any) -> Ids:
        """The choices of outputs as users write them; raises `DataError` where they do not fit the inputs. # [T]"""
        ...

    def mask(self, rows: Any, clamp: Any) -> Bytes:
        """Which choices are left where some are fixed; raises `DataError` where they do not fit the inputs. # [T, K]"""
        ...

    def slots(self, rows: Any) -> list[str]:
        """What the slots of inputs are called, for people."""
        ...

    def choice_words(self, rows: Any, choices: Ids) -> list[Any]:
        """What the choices of slots are called, for people."""
        ...

    def beliefs(self, rows: Any, shares: Floats) -> list[Any]:
        """Probabilities of choices [T, K], by their names, in the form of outputs."""
        ...

    def check(self, evidence: Sequence[Evidence], rows: Any, encoded: Encoded, *, n_jobs: int | None) -> None:
        """Raise at the first input that what is known of it leaves without an output."""
        ...

    def read_rules(self, rules: Sequence[Rule], xs: Sequence[Any]) -> None:
        """Read rules on some inputs, so that a mistake in one shows at once; raises `DataError` where one does."""
        ...

    def ruled(
        self,
        xs: Sequence[Any],
        rules: Sequence[Rule],
        own: Sequence[Sequence[Any]] | None = None,
        *,
        places: Sequence[int] | None = None,
    ) -> AnyRuled:
        """Inputs with rules about all of them, and rules of each; raises `Intractable` where there are no rules."""
        ...

    def counted(self, rules: Sequence[Rule], xs: Sequence[Any], ys: Sequence[Any]) -> list[float]:
        """The penalties of rules: their own, or as right outputs say of those that are learned."""
        ...

    def state(self) -> State:
        """For files."""
        ...

    def weight_names(self) -> WeightNames:
        """What its weights are called."""
        ...

    def told(self) -> dict[str, Any]:
        """What a model tells of it, for people."""
        ...


class Prepared(NamedTuple):
    """One fit's data as arrays, and the structure of its outputs."""

    structure: Structure
    rows: Any  # InputRows
    encoded: Encoded


class Declared(Protocol):
    """What outputs an estimator is for, before it has seen any evidence."""

    def kind(self, settings: Any) -> OutputKind:
        """What outputs are under the settings (`sidelight.specs.settings`), with what learners may ask of them."""
        ...

    def prepare(self, settings: Any, evidence: Sequence[Evidence], before: Structure | None) -> Prepared:
        """Labels, features and layout, as the settings or an earlier structure have them.

        Raises `DataError` where they do not fit the evidence.
        """
        ...


def unlike() -> DataError:
    """The error for evidence of another structure than that of a model."""
    return DataError("the new evidence does not fit the model", remedy="use the same labels and kind of features")
