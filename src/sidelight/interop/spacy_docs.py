"""spaCy Docs as inputs, and their annotations as evidence.

Entities or tags of a Doc may be set or missing for each token. So a Doc is Gold, Partial or Unlabeled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sidelight.core.checks import is_among, is_listed, shown
from sidelight.errors import DataError
from sidelight.evaluate.schemes import SCHEMES, SchemeName, written
from sidelight.evidence import Evidence, Gold, Partial, Unlabeled

EXTENSION = "_."  # prefix of token attributes registered by the user
PLACES = "give 'ents', 'tag', 'pos', or '_.name' for an attribute that tokens have as an extension"
MISSING = 0  # of token.ent_iob


class DocTokens(list[Any]):
    """The tokens of a Doc as an input: strings, or tuples of columns; `doc` is the Doc.

    Labelling functions of `span_functions` and rules of `span_rule` use the Doc itself.
    """

    __slots__ = ("doc",)

    def __init__(self, doc: Any, columns: Sequence[str] = ("text",)) -> None:
        read = [[_text(token, column) for token in doc] for column in columns]
        super().__init__(read[0] if len(read) == 1 else zip(*read))
        self.doc = doc


def doc_inputs(docs: Any, *, columns: Sequence[str] = ("text",), vocab: Any = None) -> list[DocTokens]:
    """The tokens of Docs, as inputs of a `Tagger` or a `SegmentTagger`.

    `columns` are attributes of tokens: with one column a token is a string, with more a tuple. `docs` may be a DocBin;
    its Docs are created with `vocab`. Raises `DataError` for attributes that tokens do not have.
    """
    return [DocTokens(doc, checked_columns(columns)) for doc in _listed(docs, vocab)]


def doc_evidence(
    docs: Any,
    *,
    labels: str = "ents",
    columns: Sequence[str] = ("text",),
    scheme: SchemeName = "BIO",
    vocab: Any = None,
) -> list[Evidence]:
    """Evidence from the annotations of Docs: Gold if all tokens are annotated, Partial if some are, else Unlabeled.

    `labels` are "ents" (entities, written in `scheme`), "tag", "pos", or "_.name" for an extension of tokens. Docs
    without tokens are left out. The rest is as for `doc_inputs`.
    """
    check_place(labels)
    if not is_among(scheme, SCHEMES):
        raise ValueError(f"scheme is {shown(scheme)}; give one of {', '.join(SCHEMES)}")
    return [_evidence(x, labels_of(x.doc, labels, scheme)) for x in doc_inputs(docs, columns=columns, vocab=vocab) if x]


def labels_of(doc: Any, place: str, scheme: SchemeName) -> list[Any]:
    """The label of each token, None if it is missing."""
    if place == "ents":
        chunks = written([(one.start, one.end, one.label_) for one in doc.ents], len(doc), scheme)
        return [None if token.ent_iob == MISSING else label for token, label in zip(doc, chunks)]
    if place.startswith(EXTENSION):
        return [getattr(token._, place.removeprefix(EXTENSION)) for token in doc]
    return [getattr(token, f"{place}_") or None for token in doc]


def check_place(place: Any) -> None:
    """Raise `ValueError` if labels cannot be stored there in a Doc."""
    named = isinstance(place, str) and place.startswith(EXTENSION) and place.removeprefix(EXTENSION).isidentifier()
    if not named and not is_among(place, ("ents", "tag", "pos")):
        raise ValueError(f"labels cannot be in {shown(place)}; {PLACES}")


def checked_columns(columns: Sequence[str]) -> list[str]:
    """Names of attributes of tokens; raises `ValueError` if this is not a list of names."""
    names = [] if isinstance(columns, str) or not is_listed(columns) else list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"columns is {shown(columns)}; give a list of attributes of tokens, such as ['text', 'tag_']")
    return names


def _evidence(x: DocTokens, labels: list[Any]) -> Evidence:
    known = sum(label is not None for label in labels)
    if not known:
        return Unlabeled(x)
    return Gold(x, labels) if known == len(labels) else Partial(x, labels)


def _listed(docs: Any, vocab: Any) -> Iterable[Any]:
    """Docs one by one; raises `DataError` for other values."""
    if hasattr(docs, "get_docs"):
        if vocab is None:
            raise DataError("a DocBin has no vocabulary", remedy="give vocab=nlp.vocab")
        return docs.get_docs(vocab)  # type: ignore[no-any-return]
    listed = docs if isinstance(docs, Iterable) and not hasattr(docs, "ents") else None
    if listed is None or isinstance(docs, str):
        raise DataError(f"{type(docs).__name__} instead of Docs", remedy="give a list of Docs, or a DocBin")
    return _checked(listed)


def _checked(docs: Iterable[Any]) -> Iterable[Any]:
    for i, doc in enumerate(docs):
        if not hasattr(doc, "ents") or not hasattr(doc, "vocab"):
            raise DataError(f"document {i} is a {type(doc).__name__}", remedy="give Docs: nlp(text) or nlp.pipe(texts)")
        yield doc


def _text(token: Any, column: str) -> str:
    held, _, name = column.rpartition(".")
    value = getattr(token._ if held == "_" else token, name, None) if held in ("", "_") else None
    if not isinstance(value, str):
        problem = f"tokens have no text {column!r}" if value is None else f"{column!r} of tokens is {shown(value)}"
        raise DataError(problem, remedy="name attributes with texts: 'text', 'tag_', 'pos_', 'lemma_', '_.name'")
    return value
