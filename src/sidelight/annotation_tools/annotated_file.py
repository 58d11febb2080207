"""An annotation file as evidence: Gold, Partial, Candidates or Unlabeled for every line of its texts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sidelight.annotation_tools.documents import Annotation, AnnotatorAnswer, Document, Labels, Misfit, fitted
from sidelight.core.checks import shown
from sidelight.data.relations import EntitySentence, Extraction, RelationCorpus
from sidelight.errors import DataError, LeftOut
from sidelight.evaluate.schemes import SchemeName
from sidelight.evidence import Candidates, Evidence, Gold, Partial, Unlabeled

SHOWN = 10  # maximum number of misfits in a warning


@dataclass(frozen=True, slots=True)
class AnnotatedFile:
    """Documents, the evidence of their lines in order, and annotations that did not fit."""

    documents: tuple[Document, ...]
    evidence: tuple[Evidence, ...]
    misfits: tuple[Misfit, ...]

    @property
    def inputs(self) -> list[list[str]]:
        """The tokens of every line of every document, in the order of `evidence`."""
        return [x for doc in self.documents for x in doc.inputs]

    def of_kind(self, kind: str) -> list[Evidence]:
        """The evidence of one kind: gold, partial, candidates or unlabeled."""
        return [piece for piece in self.evidence if piece.kind == kind]

    def counts(self) -> Counter[str]:
        """The number of pieces of evidence of each kind."""
        return Counter(piece.kind for piece in self.evidence)


def annotated(
    docs: Iterable[Document],
    *,
    scheme: SchemeName = "BIO",
    labels: Collection[str] | None = None,
    empty: Literal["unlabeled", "gold"] = "unlabeled",  # evidence for a document without annotations
) -> AnnotatedFile:
    """The evidence of documents; warns (`LeftOut`) about annotations that did not fit.

    A line on which all annotators agree is Gold, or Partial if an annotation does not fit the tokens that it touches.
    If annotators disagree, the line is Candidates: all labels that an annotator gave, and any label for tokens touched
    by an annotation that did not fit.
    """
    documents, evidence, misfits = tuple(docs), list[Evidence](), list[Misfit]()
    for doc in documents:
        rows: list[list[Labels]] = []  # of each annotator, of each line
        for answer in doc.answers:
            labelled, wrong = fitted(doc, answer, scheme=scheme, labels=labels)
            misfits += wrong
            if answer.annotations or empty == "gold":
                rows.append(labelled)
        for n, x in enumerate(doc.inputs):
            different = list(dict.fromkeys(tuple(row[n]) for row in rows))
            evidence.append(_piece(doc, n, x, different))
    if misfits:
        warnings.warn(LeftOut(warning_text(misfits)), stacklevel=3)
    return AnnotatedFile(documents, tuple(evidence), tuple(misfits))


def _piece(doc: Document, n: int, x: list[str], different: Sequence[tuple[str | None, ...]]) -> Evidence:
    origin = doc.origin(n)
    match different:
        case []:
            return Unlabeled(x, origin=origin)
        case [labels]:
            return (Partial if None in labels else Gold)(x, list(labels), origin=origin)
        case _:
            sets = [
                None if None in labels_given else tuple(dict.fromkeys(labels_given)) for labels_given in zip(*different)
            ]
            return Candidates(x, sets, origin=origin)


def warning_text(misfits: Sequence[Misfit]) -> str:
    """A line with the number of misfits, and one line for each of the first ones."""
    files = ", ".join(dict.fromkeys(one.file for one in misfits))
    first = [str(one) for one in misfits[:SHOWN]]
    rest = len(misfits) - len(first)
    more = [f"and {rest} more; .misfits of what sidelight.annotation_tools reads has all of them"] if rest else []
    return "\n".join([f"{files}: {len(misfits)} annotation{'s' * (len(misfits) > 1)} left out", *first, *more])


def extractions(file: AnnotatedFile) -> tuple[RelationCorpus, tuple[Misfit, ...]]:
    """Entities and relations of every line, in the form of `sidelight.data.relations`, and what did not fit.

    Here entities may overlap, and entities without a relation are kept. Only the first annotator of a document is used.
    Lines without entities are left out, as are documents without annotations.
    """
    if not isinstance(file, AnnotatedFile):
        raise DataError(f"the file is {shown(file)}", remedy="give what read() of a format makes of it")
    xs, ys, misfits = list[EntitySentence](), list[Extraction](), list[Misfit]()
    for doc in file.documents:
        for other in doc.answers[1:]:
            misfits += [doc.misfit("is of a second annotator", one) for one in other.annotations]
        answer = doc.answers[0] if doc.answers else AnnotatorAnswer()
        misfits += answer.misfits
        for n in range(len(doc.lines)):
            x, y = _extraction(doc, answer, n)
            if x.spans:
                xs.append(x)
                ys.append(y)
        misfits += _unread(doc, answer)
    return RelationCorpus(xs, ys), tuple(misfits)


def _entities(doc: Document, answer: AnnotatorAnswer, n: int) -> dict[str, tuple[Annotation, int, int]]:
    """The annotations that cover whole tokens of a line, by key, with their first token and one past the last."""
    line = doc.lines[n]
    starts = {a: t for t, (a, _) in enumerate(line)}
    ends = {b: t + 1 for t, (_, b) in enumerate(line)}
    entities = {}
    for number, one in enumerate(answer.annotations):
        text = doc.text[one.start : one.end]
        start, end = one.start + len(text) - len(text.lstrip()), one.end - len(text) + len(text.rstrip())
        if not one.problem and one.label and start in starts and end in ends:
            entities[one.key or f"#{number}"] = (one, starts[start], ends[end])
    return entities


def _extraction(doc: Document, answer: AnnotatorAnswer, n: int) -> tuple[EntitySentence, Extraction]:
    entities = _entities(doc, answer, n)
    order = sorted(entities, key=lambda key: entities[key][1:])
    place = {key: i for i, key in enumerate(order)}
    relations = sorted(
        (place[r.head], place[r.tail], r.name) for r in answer.relations if {r.head, r.tail} <= set(place)
    )
    x = EntitySentence(tuple(doc.inputs[n]), tuple(entities[key][1:] for key in order))
    return x, Extraction(tuple(entities[key][0].label for key in order), tuple(r for r in relations if r[0] != r[1]))


def _unread(doc: Document, answer: AnnotatorAnswer) -> list[Misfit]:
    """Annotations and relations that belong to no line."""
    lines = [set(_entities(doc, answer, n)) for n in range(len(doc.lines))]
    misfits = [
        doc.misfit(one.problem or "is not a span of whole tokens on one line", one)
        for number, one in enumerate(answer.annotations)
        if not any((one.key or f"#{number}") in line for line in lines)
    ]
    for one in answer.relations:
        ends = {one.head, one.tail}
        if len(ends) < 2 or not any(ends <= line for line in lines):
            misfits.append(doc.misfit(f"the relation {one.name} from {one.head} to {one.tail} is not within a line"))
    return misfits


def check_kind(file: AnnotatedFile, kind: str, name: str) -> list[Evidence]:
    """The evidence of a kind; raises `DataError` if there is none."""
    pieces = file.of_kind(kind)
    if not pieces:
        there = ", ".join(f"{count} {other}" for other, count in file.counts().items()) or "no text"
        raise DataError(f"no line of it is {kind}: {there}", file=name, remedy="name the file for a kind that it has")
    return pieces
