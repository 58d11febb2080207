"""Kinds of output: labels of sequences and of single inputs."""

from sidelight.structures.labels import LabelSet
from sidelight.structures.schemes import allowed_transitions, bio_transitions

__all__ = ["LabelSet", "allowed_transitions", "bio_transitions"]
