"""Kinds of output: labels of sequences and of single inputs."""

from sidelight.structures.labels import LabelSet, StateSet, with_states
from sidelight.structures.schemes import allowed_transitions, bio_transitions

__all__ = ["LabelSet", "StateSet", "allowed_transitions", "bio_transitions", "with_states"]
