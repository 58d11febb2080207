"""The scikit-learn interface of all estimators: parameters by name, and accuracy on known outputs."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, Self

import numpy as np

from sidelight.core import html
from sidelight.core.arrays import Floats
from sidelight.core.checks import real_numbers
from sidelight.errors import DataError
from sidelight.evaluate import scheme_of, span_counts, span_f1

A_LABEL_A_TOKEN = "give a list with one label per token"


class Estimator:
    """Parameters are those of the constructor, stored unchanged and checked when `fit` begins."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters, as scikit-learn expects them; if `deep`, also those of nested estimators."""
        own = {name: getattr(self, name) for name in self._parameters()}
        if deep:
            inner = [(name, value) for name, value in own.items() if isinstance(value, Estimator)]
            own |= {f"{name}__{key}": value for name, one in inner for key, value in one.get_params().items()}
        return own

    def _keep(self, arguments: Mapping[str, Any]) -> None:
        """Store the constructor's parameters unchanged: a constructor only calls `self._keep(locals())`."""
        for name in self._parameters():
            setattr(self, name, arguments[name])

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; `prices__gold=2.0` sets one price, `first__loss="hinge"` one of an estimator."""
        known = self._parameters()
        for name, value in params.items():
            head, _, key = name.partition("__")
            if head not in known:
                raise ValueError(f"unknown parameter {head!r}; there are {', '.join(known)}")
            inner = getattr(self, head)
            if not key:
                setattr(self, head, value)
            elif isinstance(inner, Estimator):
                inner.set_params(**{key: value})
            elif inner is None or isinstance(inner, Mapping):
                setattr(self, head, {**(inner or {}), key: value})
            else:
                raise ValueError(f"{name}: {head} is {inner!r}, without parameters to set; set {head} itself instead")
        return self

    def __repr__(self) -> str:
        parameters = [f"{name}={value!r}" for name, value in self._given()]
        return f"{type(self).__name__}({', '.join(parameters)})"

    def _repr_html_(self) -> str:
        """For notebooks: the parameters that differ from the defaults, and the result of the last fit."""
        fitted = self._fit_in_words()
        parameters = [(name, html.code(_cut(_shown(value)))) for name, value in self._given()]
        title = html.Html(f"{html.escape(type(self).__name__)} {html.muted('fitted' if fitted else 'not fitted').text}")
        return html.block(
            title, html.pairs(parameters) if parameters else html.muted("default parameters"), html.pairs(fitted)
        )

    def _given(self) -> list[tuple[str, Any]]:
        """The parameters that differ from the defaults."""
        signature = inspect.signature(type(self).__init__).parameters
        return [(k, value) for k, value in self.get_params(deep=False).items() if value is not signature[k].default]

    def _fit_in_words(self) -> list[tuple[str, str]]:
        """The results of the last fit by name; empty before a fit."""
        return []

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, sparse=True),
        )

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


def _shown(value: Any) -> str:
    """A parameter for display: templates by their number, rules and functions by their names."""
    if hasattr(value, "templates"):
        return f"{len(value.templates)} templates"
    if isinstance(value, list | tuple) and value and all(hasattr(one, "name") for one in value):
        return ", ".join(str(one.name) for one in value)
    return getattr(value, "__name__", None) or repr(value)


def _cut(text: str, most: int = 120) -> str:
    """A text, shortened if it is too long.

    >>> _cut("a" * 9, most=5)
    'aaaa…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def labelled(xs: Any, y: Any) -> tuple[Any, Sequence[Any]]:
    """Inputs and outputs as given, or those of the Gold in evidence."""
    if y is not None:
        return xs, y
    pieces = [piece for piece in xs if getattr(piece, "kind", "") == "gold"] if _can_be_read(xs) else []
    if not pieces:
        raise DataError("nothing to score", remedy="give outputs, or evidence with Gold")
    return [piece.x for piece in pieces], [piece.y for piece in pieces]


def _can_be_read(xs: Any) -> bool:
    return isinstance(xs, Iterable) and getattr(xs, "shape", None) != ()


def held_out(validation: Any, *, sequences: bool) -> tuple[Any, Sequence[Any]]:
    """Inputs and outputs for validation: a pair of both, or evidence with Gold; raises `DataError` for other values.

    >>> held_out(([["light", "on"]], [["N", "P"]]), sequences=True)
    ([['light', 'on']], [['N', 'P']])
    """
    pair = isinstance(validation, tuple) and len(validation) == 2 and not hasattr(validation[0], "kind")
    if not pair and not isinstance(validation, list | tuple):
        kind = type(validation).__name__
        raise DataError(f"validation is a {kind}", remedy="give (inputs, outputs), or a list of Gold")
    xs, ys = validation if pair else labelled(validation, None)
    xs = xs if hasattr(xs, "__len__") else list(xs)
    if not hasattr(ys, "__len__") or not len(ys):
        raise DataError("validation has no outputs", remedy="give at least one input with its output")
    if len(xs) != len(ys):
        problem = f"validation has {len(xs)} inputs but {len(ys)} outputs"
        raise DataError(problem, remedy="give one output for each input")
    for i, (x, y) in enumerate(zip(xs, ys) if sequences else ()):
        if isinstance(y, str) or not hasattr(y, "__len__") or len(x) != len(y):
            raise DataError(f"input {i} of validation has {len(x)} tokens, and other labels", remedy=A_LABEL_A_TOKEN)
    return xs, ys


def metric_of(requested: str | None, labels: Iterable[Any], *, sequences: bool = True) -> str:
    """The metric for outputs: the requested one, else span F1 if labels follow a scheme, else accuracy.

    >>> metric_of(None, ["B-NP", "I-NP", "O"]), metric_of(None, ["N", "V"]), metric_of("accuracy", ["B-NP", "O"])
    ('span_f1', 'accuracy', 'accuracy')
    """
    if requested is not None:
        return requested
    return "span_f1" if sequences and scheme_of(labels) is not None else "accuracy"


def measured(metric: str, guesses: Sequence[Any], right: Sequence[Any], *, sequences: bool = True) -> float:
    """Accuracy, or span F1, between 0 and 1; `metric` is that of `metric_of`.

    >>> measured("span_f1", [["B-NP", "O"]], [["B-NP", "I-NP"]])
    0.0
    """
    if metric == "accuracy":
        return accuracy(guesses, right, sequences=sequences)
    return span_f1(span_counts(guesses, right))


def accuracy(
    guesses: Sequence[Any], right: Sequence[Any], *, sequences: bool = True, sample_weight: Any = None
) -> float:
    """The share of right tokens (for classes: of inputs), between 0 and 1.

    Raises `DataError` if there are none, or if outputs or weights do not fit the guesses.

    >>> accuracy([["a", "b"], ["a"]], [["a", "a"], ["a"]]), accuracy(["x"], ["y"], sequences=False)
    (0.6666666666666666, 0.0)
    """
    try:
        weights = np.ones(len(guesses)) if sample_weight is None else real_numbers("sample_weight", sample_weight)
    except (TypeError, ValueError):
        raise DataError(f"the weights {sample_weight!r}", remedy="give one number for each input") from None
    _check_fit(guesses, right, weights, sequences)
    hits = total = 0.0
    for guess, truth, weight in zip(guesses, right, weights):
        pairs = list(zip(guess, truth, strict=True)) if sequences else [(guess, truth)]
        hits += weight * sum(a == b for a, b in pairs)
        total += weight * len(pairs)
    return float(hits / total) if total else 0.0


def _check_fit(guesses: Sequence[Any], right: Sequence[Any], weights: Floats, sequences: bool) -> None:
    if not len(guesses):
        raise DataError("nothing to score", remedy="give at least one input with its output")
    if isinstance(right, str) or not isinstance(right, Sized) or getattr(right, "shape", None) == ():
        raise DataError(f"the outputs are a {type(right).__name__}", remedy="give a list, one output for each input")
    if len(right) != len(guesses):
        raise DataError(f"{len(guesses)} inputs but {len(right)} outputs", remedy="give one output for each input")
    if weights.shape != (len(guesses),):
        problem = f"{len(guesses)} inputs but weights of shape {weights.shape}"
        raise DataError(problem, remedy="give one weight for each input")
    for i, (guess, truth) in enumerate(zip(guesses, right) if sequences else ()):
        if isinstance(truth, str) or not hasattr(truth, "__len__") or len(truth) != len(guess):
            shown = len(truth) if hasattr(truth, "__len__") and not isinstance(truth, str) else "no list"
            raise DataError(
                f"input {i} has {len(guess)} tokens but labels for {shown}", remedy="give one label a token"
            )
