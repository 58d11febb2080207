"""The weights of a model by name, with the strongest for and against each label first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.core import html
from sidelight.core.arrays import Ints
from sidelight.core.checks import arguments_checked, is_hashable
from sidelight.errors import DataError
from sidelight.structures.weight_names import label_words

if TYPE_CHECKING:
    from sidelight.structures import LabelSet


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight: of a feature with a label, of a label after another, or of a first or last label."""

    part: str  # "threshold", "start", "bias", "end", "transition", "dense", "feature", "segment feature", …
    name: str  # of the feature, the dense column, or the previous labels
    label: Any  # None for the threshold of companion decisions
    value: float

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return asdict(self)


class RankedWeights(list[Weight]):
    """Ordered weights; `str` and notebooks show them as a table."""

    def __str__(self) -> str:
        return shown_weights(self)

    def _repr_html_(self) -> str:
        labels = ["" if weight.label is None else label_words(weight.label) for weight in self]
        rows = [
            (f"{weight.value:+.4f}", weight.part, html.code(weight.name), label) for weight, label in zip(self, labels)
        ]
        return html.block("Weights", html.table(("weight", "of", "name", "for"), rows))


@arguments_checked
def weights(fitted: Any, *, top: int | None = 20, label: Any = None, lowest: bool = False) -> RankedWeights:
    """The highest or lowest nonzero weights, in order.

    `fitted` is any fitted estimator of labels or structures, or a model. `label` selects the weights of one label:
    those of its features, and of transitions to it; for `Joint`, labels are (kind, label). With hidden states, it
    selects the states of the label. Labels of a segmenter are those of segments (with BIO: X, not B-X). `top=None`
    gives all weights. Raises `DataError` if the model has no such label.

    >>> import sidelight as sl
    >>> tagger = sl.Tagger(learner="crf").fit([["a", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> [(weight.part, weight.label) for weight in sl.weights(tagger, label="N", top=1)]
    [('transition', 'N')]
    """
    from sidelight.models.model import model_of

    if top is not None and top < 1:
        raise ValueError(f"top is {top}; give at least 1, or None for all")
    model = model_of(fitted)
    names = model.structure.weight_names()
    places = np.flatnonzero(model.weights)
    if label is not None:
        places = places[np.isin(names.label_of()[places], _states(names.labels, label))]
    keys = model.weights[places] if lowest else -model.weights[places]
    if top is not None and top < len(places):
        nearest = np.flatnonzero(keys <= np.partition(keys, top - 1)[top - 1])  # including ties at the end
        places, keys = places[nearest], keys[nearest]
    order = places[np.argsort(keys, kind="stable")[:top]]
    return RankedWeights(Weight(*names.named(int(place)), float(model.weights[place])) for place in order)


def _states(labels: LabelSet, label: Any) -> Ints:
    """The numbers of a label's states; the label itself if it has none."""
    classes = list(labels.classes)
    if not is_hashable(label) or label not in classes:
        known = ", ".join(map(label_words, classes[:10])) + (", …" if len(classes) > 10 else "")
        raise DataError(f"the model has no label {label!r}", remedy=f"give one of {known}")
    return np.flatnonzero(labels.label_of == classes.index(label))


def shown_weights(weights: Sequence[Weight]) -> str:
    """Weights as a table.

    >>> print(shown_weights([Weight("feature", "word=dog", "N", 0.5), Weight("transition", "D", "N", 0.25)]))
      +0.5000  feature word=dog: N
      +0.2500  transition D → N
    """
    return "\n".join(f"  {weight.value:+.4f}  {_spoken(weight)}" for weight in weights)


def _spoken(weight: Weight) -> str:
    if weight.part == "threshold":
        return "threshold of yes/no answers"
    if weight.label is None:  # weights of structures, whose features belong to no label
        return f"{weight.part} {weight.name}"
    label = label_words(weight.label)
    if "transition" in weight.part:
        return f"{weight.part} {weight.name} → {label}"
    return f"{weight.part} {weight.name}: {label}" if weight.name else f"{weight.part}: {label}"
