"""One fit of variables: from evidence and settings to a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sidelight.data.checks import check_weight, trouble
from sidelight.errors import DataError
from sidelight.evidence import Companion, Evidence
from sidelight.features import Attributes, extractor_of
from sidelight.features.variables import VariableLayout, VariableRows
from sidelight.joint_model import JointModel
from sidelight.making.given import Given
from sidelight.making.learner import learner_of
from sidelight.records import Round
from sidelight.settings import Settings
from sidelight.structure import VariableStructure
from sidelight.structures.variables import VariableReader, encode_variables, pair_types, read_variables


class JointTraining:
    """Features, problem and learner, made when a fit begins."""

    def __init__(self, settings: Settings, evidence: Sequence[Any], reader: VariableReader) -> None:
        self.settings = settings
        xs = [piece.x for piece in evidence]
        types = pair_types(reader, xs)
        variables, called, attributes = read_variables(reader, xs, types)
        encoded = encode_variables(evidence, called, reader.choices)
        extractor = extractor_of(Attributes())
        rows = VariableRows(extractor.grow(attributes, n_jobs=settings.n_jobs), variables)
        kinds = tuple(len(names) for names in reader.labels.values())
        pairs = tuple((one, other) for _, one, other in types)
        layout = VariableLayout(kinds, pairs, extractor.n_attributes)
        self.structure = VariableStructure(reader, types, extractor, layout)
        self.learner = learner_of(Given(settings, evidence, rows, reader.choices, encoded, self.structure))

    def rounds(self) -> Iterator[Round]:
        """Train."""
        yield from self.learner.run()

    def model(self) -> JointModel:
        """The model that the learner has come to."""
        about: dict[str, Any] = {"learner": self.settings.learner.name, "rounds": self.learner.rounds}
        weights = self.learner.finish()
        own = self.structure
        return JointModel(own.reader.labels, own.types, own.extractor, own.layout, weights, about)


def check_pieces(evidence: Sequence[Any]) -> None:
    """Raise `DataError` at the first piece that cannot be used; outputs are looked at when they are encoded."""
    if not evidence:
        raise DataError("no evidence", remedy="give at least one example")
    for i, piece in enumerate(evidence):
        if not isinstance(piece, Evidence):
            remedy = "wrap the input in Gold, Partial, Candidates, Companion or Unlabeled, or give outputs too"
            raise DataError(f"evidence {i} is a {type(piece).__name__}", remedy=remedy)
        check_weight(piece, i)
        if isinstance(piece, Companion) and piece.z not in (1, -1):
            raise trouble(piece, i, problem=f"the answer {piece.z!r}", remedy="answer +1 or -1")
