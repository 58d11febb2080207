"""Labelling functions: votes of plain functions as evidence, with a table of their coverage and accuracy."""

from sidelight.voting.functions import LabellingFunction, labelling_function
from sidelight.voting.votes import Votes, votes

__all__ = ["LabellingFunction", "Votes", "labelling_function", "votes"]
