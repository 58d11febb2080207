"""Labelling functions: what plain functions say of inputs, as evidence, with a table of how they get on."""

from sidelight.voting.functions import LabellingFunction, labelling_function
from sidelight.voting.votes import Votes, votes

__all__ = ["LabellingFunction", "Votes", "labelling_function", "votes"]
