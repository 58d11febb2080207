"""From evidence and settings to a segmenter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sidelight.evidence import Evidence
from sidelight.making import segment_driven
from sidelight.making.segment_given import prepare
from sidelight.making.segments import learn
from sidelight.recipe_kinds import Driven
from sidelight.records import Callback
from sidelight.segment_model import SegmentModel
from sidelight.segment_settings import SegmentSettings


class TrainedSegmenter(NamedTuple):
    """What training came to."""

    model: SegmentModel
    penalties: list[float]  # of the rules of the settings: as given, as counted on Gold, or as codl left them


def train_segmenter(settings: SegmentSettings, evidence: Sequence[Evidence], report: Callback) -> TrainedSegmenter:
    """Learn from evidence; raises `DataError` where it cannot be used."""
    given = prepare(settings, evidence)
    recipe = settings.recipe
    if isinstance(recipe, Driven):
        learner = segment_driven.make(given, recipe)
        for record in learner.run():
            report(record)
        weights = learner.finish()
        penalties = [learner.penalties[learner.inputs.rules.index(rule)] for rule in settings.rules]
    else:
        penalties = given.penalties
        weights = learn(recipe, given.known(), options=settings.options, report=report)
    about = {**settings.about(), "max_length": given.segments.max_length}
    learned = {rule.name: price for rule, price in zip(settings.rules, penalties) if rule.learned}
    if settings.rules:
        about["rules"] = [rule.name for rule in settings.rules]
    if learned:
        about["penalties"] = learned
    model = SegmentModel(given.scheme, given.extractor, given.segments, given.layout, weights, about)
    return TrainedSegmenter(model, penalties)
