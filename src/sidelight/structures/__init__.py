"""Kinds of output: labels of sequences and of single inputs."""

from sidelight.structures.labels.label_sets import LabelSet, StateSet, with_states
from sidelight.structures.labels.schemes import allowed_transitions, scheme_transitions

__all__ = ["LabelSet", "StateSet", "allowed_transitions", "scheme_transitions", "with_states"]
