"""What is known about an input, as frozen values.

Evidence admits a set of outputs: `Gold` exactly one, `Partial` and `Candidates` a product of label sets, `Unlabeled`
all of them. `Companion` says whether the input has a good output at all, `Voted` holds the votes of fallible functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight.core.checks import by_position, generator, is_number, is_table, real_numbers, whole
from sidelight.errors import DataError
from sidelight.rules import Rule
from sidelight.rules.rule import checked_rules

MOST_COPIES = 10**6
TABLE_REMEDY = "take its columns: sidelight.data.from_table(table, tokens=…, labels=…) has them as .xs and .ys"
Input = Any  # a sentence: tokens as strings, tuples of columns, attribute dicts, or a row view; a document for classes


class Origin(NamedTuple):
    """Where a piece of evidence was read: the file, and the line of each token (or one line for all of them)."""

    file: str
    lines: Sequence[int]

    def line(self, token: int) -> int:
        """The line of a token.

        >>> Origin("a.txt", [4, 5]).line(1), Origin("a.jsonl", [9]).line(1)
        (5, 9)
        """
        return self.lines[min(token, len(self.lines) - 1)]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One input and its weight; the subclasses say what is known about its output."""

    kind: ClassVar[str] = "evidence"
    x: Input
    weight: float = field(default=1.0, kw_only=True)
    origin: Origin | None = field(default=None, kw_only=True, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Gold(Evidence):
    """The complete, correct output.

    >>> Gold(["Lights", "on"], ["NOUN", "ADP"]).weight
    1.0
    """

    kind: ClassVar[str] = "gold"
    y: Any


@dataclass(frozen=True, slots=True)
class Partial(Evidence):
    """Labels for some tokens, and `None` for unknown ones. For single labels: the label, or `None`."""

    kind: ClassVar[str] = "partial"
    y: Any  # a label or None for each token


class Chunk(NamedTuple):
    """Several tokens from `first` on, and the labelings they can have together, all of the same length.

    >>> Chunk(1, [("B", "I"), ("O", "O")]).length
    2
    """

    first: int
    labelings: Sequence[Sequence[Any]]

    @property
    def length(self) -> int:
        return len(self.labelings[0])


@dataclass(frozen=True, slots=True)
class Candidates(Evidence):
    """A set of possible labels for each token, or `None` for any label. The outputs admitted are their product.

    For single labels, `y` is the set of labels, alone or in a list: {"spam", "ham"} or [{"spam", "ham"}].

    `chunks` are parts larger than one token: their tokens have `None` in `y`, and the labelings of the chunk instead.
    `known` gives the right labels of some tokens, if these are known too; they must be among the candidates. `initial`
    gives the labels to start from (learners that start from labels otherwise draw them at random).
    """

    kind: ClassVar[str] = "candidates"
    y: Any  # a collection of labels, or None, for each token
    known: Sequence[Any | None] | None = field(default=None, kw_only=True)
    initial: Sequence[Any | None] | None = field(default=None, kw_only=True)
    chunks: Sequence[Chunk] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Companion(Evidence):
    """The answer yes (+1) or no (-1) to the question: does this input have a good structure?

    `candidates` limits the labels of the tokens, as in `Candidates`.
    """

    kind: ClassVar[str] = "companion"
    z: int
    candidates: Sequence[Collection[Any] | None] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Unlabeled(Evidence):
    """An input without labels; `rules` are rules that its output obeys (`sidelight.rules`)."""

    kind: ClassVar[str] = "unlabeled"
    rules: tuple[Rule, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", checked_rules(self.rules))


@dataclass(frozen=True, slots=True)
class Voted(Evidence):
    """The votes of named functions on an input: for each name a vote per token, or `None` for no votes at all.

    A vote is a label, a set of labels one of which is right, or `None`. For single labels it is one vote, alone or in a
    list. Votes may be wrong and may contradict each other. `sidelight.votes` collects them from functions. If an input
    is also Gold, its votes show how reliable the functions are.

    >>> Voted(["Lights", "on"], {"suffix": ["NOUN", None], "words": [None, {"ADP", "ADV"}]}).kind
    'votes'
    """

    kind: ClassVar[str] = "votes"
    votes: Mapping[str, Any]


KINDS: tuple[type[Evidence], ...] = (Gold, Partial, Candidates, Companion, Unlabeled, Voted)


def voted_labels(vote: Any) -> tuple[Any, ...]:
    """The labels that a vote is for.

    >>> voted_labels("ADP"), voted_labels({"ADP"}), voted_labels(None)
    (('ADP',), ('ADP',), ())
    """
    if vote is None:
        return ()
    return tuple(vote) if isinstance(vote, Set) else (vote,)


def _weights(weight: float | Iterable[float], count: int) -> Iterator[float]:
    if isinstance(weight, (int, float, np.floating, np.integer)):
        return iter([float(weight)] * count)
    remedy = "give one number or one per input"
    try:
        numbers = real_numbers("weight", weight if hasattr(weight, "__len__") else list(weight)).tolist()
        if not isinstance(numbers, list) or not all(isinstance(value, float) for value in numbers):
            raise TypeError
    except (TypeError, ValueError):
        raise DataError(f"the weight {weight!r}", remedy=remedy) from None
    if len(numbers) != count:
        raise DataError(f"{len(numbers)} weights for {count} inputs", remedy=remedy)
    return iter(numbers)


def _inputs(xs: Any) -> Sequence[Any]:
    """The inputs as a sequence: a sparse matrix has no length, and its rows are inputs."""
    if hasattr(xs, "tocsr"):
        rows = xs.tocsr()
        return [rows[i : i + 1] for i in range(rows.shape[0])]
    xs = by_position(xs)
    _check_listed(xs, "inputs")
    return xs  # type: ignore[no-any-return]


def _same_length(xs: Sequence[Input], ys: Sequence[Any]) -> None:
    _check_listed(ys, "outputs")
    if len(xs) != len(ys):
        raise DataError(f"{len(xs)} inputs but {len(ys)} outputs", remedy="give one output per input")


def _check_listed(values: Any, what: str) -> None:
    if is_table(values):
        raise DataError(f"the {what} are a table ({type(values).__name__})", remedy=TABLE_REMEDY)
    if not hasattr(values, "__len__") or isinstance(values, Set | Mapping) or getattr(values, "shape", None) == ():
        raise DataError(f"the {what} are a {type(values).__name__}", remedy="give a list with one element per input")


def gold(xs: Sequence[Input], ys: Sequence[Any], *, weight: float | Iterable[float] = 1.0) -> list[Gold]:
    """One `Gold` per input and output.

    >>> len(gold([["a"], ["b", "c"]], [["X"], ["X", "Y"]]))
    2
    """
    xs, ys = _inputs(xs), by_position(ys)
    _same_length(xs, ys)
    return [Gold(x, y, weight=w) for x, y, w in zip(xs, ys, _weights(weight, len(xs)))]


def partial(xs: Sequence[Input], ys: Sequence[Any], *, weight: float | Iterable[float] = 1.0) -> list[Partial]:
    """One `Partial` per input; `None` marks a token whose label is unknown."""
    xs, ys = _inputs(xs), by_position(ys)
    _same_length(xs, ys)
    return [Partial(x, y, weight=w) for x, y, w in zip(xs, ys, _weights(weight, len(xs)))]


def candidates(xs: Sequence[Input], ys: Sequence[Any], *, weight: float | Iterable[float] = 1.0) -> list[Candidates]:
    """One `Candidates` per input: a set of labels or `None` per token (for single labels: one set)."""
    xs, ys = _inputs(xs), by_position(ys)
    _same_length(xs, ys)
    return [Candidates(x, y, weight=w) for x, y, w in zip(xs, ys, _weights(weight, len(xs)))]


def companion(
    xs: Sequence[Input],
    z: int,
    *,
    candidates: Sequence[Sequence[Collection[Any] | None]] | None = None,
    weight: float | Iterable[float] = 1.0,
) -> list[Companion]:
    """One `Companion` per input, all with the answer `z`, +1 or -1; `candidates` limits the labels of their tokens."""
    if not is_number(z) or z not in (1, -1):
        raise DataError(f"a companion answer is +1 or -1, not {z!r}", remedy="answer one of them")
    xs = _inputs(xs)
    if candidates is not None:
        _same_length(xs, candidates)
    limits = [None] * len(xs) if candidates is None else candidates
    return [Companion(x, z, candidates=c, weight=w) for x, c, w in zip(xs, limits, _weights(weight, len(xs)))]


def unlabeled(
    xs: Sequence[Input], *, rules: Iterable[Rule] | None = (), weight: float | Iterable[float] = 1.0
) -> list[Unlabeled]:
    """One `Unlabeled` per input; `rules` describe their outputs, for learners that use rules.

    Raises `DataError` if `rules` is not a list of rules.
    """
    obeyed = checked_rules(rules)
    xs = _inputs(xs)
    return [Unlabeled(x, rules=obeyed, weight=w) for x, w in zip(xs, _weights(weight, len(xs)))]


def shuffled(xs: Sequence[Sequence[Any]], *, seed: int | np.random.Generator = 0, copies: int = 1) -> list[list[Any]]:
    """The inputs with their tokens in random order, `copies` times: ready-made bad inputs.

    >>> sorted(shuffled([["a", "b", "c"]], seed=1)[0])
    ['a', 'b', 'c']
    """
    _check_listed(xs, "inputs")
    for i, x in enumerate(xs):
        if not hasattr(x, "__len__") or isinstance(x, Set | Mapping) or getattr(x, "shape", None) == ():
            raise DataError(
                f"input {i} is not a sequence of tokens ({type(x).__name__})", remedy="give lists of tokens"
            )
    if whole("copies", copies, least=0) > MOST_COPIES:
        raise ValueError(f"copies is {copies}; give at most {MOST_COPIES:,}")
    xs = [by_position(x) for x in xs]
    rng = generator(seed)
    return [[x[i] for i in rng.permutation(len(x))] for _ in range(copies) for x in xs]


def trouble(piece: Evidence, index: int | None, *, problem: str, remedy: str, token: int | None = None) -> DataError:
    """An error that names a piece of evidence, one of its tokens, and the file and line if known.

    If `index` is None, the caller must name the piece.
    """
    where = [] if index is None else [f"evidence {index} ({type(piece).__name__})"]
    where += [] if token is None else [f"token {token}"]
    place = f"{', '.join(where)}: " if where else ""
    return error_at(piece.origin, f"{place}{problem}", remedy=remedy, token=token or 0)


def error_at(origin: Origin | None, problem: str, *, remedy: str, token: int = 0) -> DataError:
    """An error that names the file and the line of a token, if known."""
    if origin is None:
        return DataError(problem, remedy=remedy)
    line = origin.line(token) if len(origin.lines) else None
    return DataError(problem, file=origin.file, line=line, remedy=remedy)
