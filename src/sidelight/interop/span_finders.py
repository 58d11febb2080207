"""Components that find spans in spaCy Docs, as labelling functions and as rules.

A finder is a Matcher or a PhraseMatcher, a pipeline component that sets entities or spans (EntityRuler, SpanRuler, an
annotator of skweak), the name of an existing span group, or a function of a Doc. It is applied to the Doc of an input,
or to a Doc made of its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from sidelight.core.checks import is_among, is_listed, shown
from sidelight.errors import DataError
from sidelight.evaluate.schemes import SchemeName, written
from sidelight.interop.spacy_docs import DocTokens
from sidelight.rules import Labels, Rule, Sentence, every
from sidelight.rules.expr import Expr
from sidelight.voting import LabellingFunction

Chunk = tuple[int, int, str]  # first token, one past the last, label
FINDERS = "give a Matcher, an EntityRuler, an annotator of skweak, or a function of a Doc"
RULE_SCHEMES = ("BIO", "BIOES", "BILOU")  # in IOB1 the labels of a chunk depend on the previous chunk


def span_functions(finders: Any, *, vocab: Any = None, single: bool = False) -> list[LabellingFunction]:
    """Labelling functions for `sidelight.votes`, one for each finder.

    `finders` is a list of finders with names, or {name: finder}; a combination of several annotators of skweak is split
    up. Spans vote with their labels; of two overlapping spans the longer one votes. `vocab` is used to create Docs for
    inputs that are lists of words, if the finder has no vocabulary. With `single`, a finder votes on the whole input,
    by the label of its only span, which may cover part of the Doc.
    """
    return [
        LabellingFunction(
            partial(_whole_label if single else _inclusive, partial(chunks_of, finder=finder, vocab=vocab)),
            name,
            "auto" if single else "spans",
        )
        for name, finder in _named(finders)
    ]


def span_rule(finder: Any, *, name: str | None = None, scheme: SchemeName | None = "BIO", vocab: Any = None) -> Rule:
    """The rule that each span of a finder is a chunk with its label: these tokens, and no others.

    `scheme` is the scheme of the model's labels; None if a chunk is a run of one label. The rule is hard by default;
    `span_rule(ruler).soft(2.0)` costs 2 for every label that differs. It raises `DataError` for a label that the model
    does not have.
    """
    if scheme is not None and not is_among(scheme, RULE_SCHEMES):
        raise ValueError(f"scheme is {shown(scheme)}; give one of {', '.join(RULE_SCHEMES)}, or None")
    title = _name_of(finder) if name is None else name
    says = partial(_are_chunks, find=partial(chunks_of, finder=finder, vocab=vocab), scheme=scheme)
    return Rule(says, title, sentence=f"What {title} finds is a chunk of its label")


def chunks_of(x: Any, *, finder: Any, vocab: Any = None) -> list[Chunk]:
    """The spans of a finder in an input, in order and without overlaps."""
    from spacy.tokens import Span
    from spacy.util import filter_spans

    doc = _doc_of(x, finder, vocab)
    spans = [one if isinstance(one, Span) else Span(doc, *one) for one in _found(finder, doc)]
    return [(span.start, span.end, span.label_) for span in filter_spans(spans)]


def _found(finder: Any, doc: Any) -> Iterable[Any]:
    from spacy.matcher import Matcher, PhraseMatcher
    from spacy.tokens import Doc

    if isinstance(finder, Matcher | PhraseMatcher):
        return finder(doc, as_spans=True)  # type: ignore[no-any-return]
    if isinstance(finder, str):
        return doc.spans.get(finder, ())  # type: ignore[no-any-return]
    own = doc.copy()  # a component writes to its Doc
    own.ents = ()
    spans = finder(own)
    if not isinstance(spans, Doc):
        return spans  # type: ignore[no-any-return]
    group = getattr(finder, "key", None) or getattr(finder, "name", None)
    return list(spans.spans.get(group, spans.ents))  # a span group lives as long as its Doc


def _doc_of(x: Any, finder: Any, vocab: Any) -> Any:
    from spacy.tokens import Doc

    x = x.tokens if isinstance(x, Sentence) else x
    if isinstance(x, Doc):
        return x
    if isinstance(x, DocTokens):
        return x.doc
    own = vocab or getattr(finder, "vocab", None) or getattr(getattr(finder, "nlp", None), "vocab", None)
    if own is None:
        raise DataError("the input has words and no Doc", remedy="give vocab=nlp.vocab, or inputs of doc_inputs")
    return Doc(own, words=Sentence(x).words)


def _inclusive(find: Callable[[Any], list[Chunk]], x: Any) -> list[tuple[int, int, str]]:
    """Spans as labelling functions return them, the last token included."""
    return [(first, stop - 1, label) for first, stop, label in find(x)]


def _whole_label(find: Callable[[Any], list[Chunk]], x: Any) -> str | None:
    """The common label of all spans; None if there are no spans, or if their labels differ."""
    labels = {label for _, _, label in find(x)}
    return labels.pop() if len(labels) == 1 else None


def _are_chunks(x: Sentence, y: Labels, *, find: Callable[[Any], list[Chunk]], scheme: SchemeName | None) -> Expr:
    return every(condition for chunk in find(x) for condition in chunk_told(y, chunk, scheme))


def chunk_told(y: Labels, chunk: Chunk, scheme: SchemeName | None) -> list[Any]:
    """The condition that tokens are a chunk: the labels that they have, and those that the neighbouring tokens do not
    have.
    """
    first, stop, label = chunk
    conditions = [y[first + t] == one for t, one in enumerate(chunk_labels(chunk, scheme))]
    goes_on = label if scheme is None else f"I-{label}"
    beside = [t for t in (first - 1, stop) if 0 <= t < len(y)] if scheme is None else range(stop, min(stop + 1, len(y)))
    return conditions + [y[t] != goes_on for t in beside if scheme in ("BIO", None) and goes_on in _labels(y[t])]


def chunk_labels(chunk: Chunk, scheme: SchemeName | None) -> list[str]:
    """The labels of a chunk's tokens."""
    first, stop, label = chunk
    return [label] * (stop - first) if scheme is None else written([(0, stop - first, label)], stop - first, scheme)


def _labels(label: Any) -> Sequence[Any]:
    """The possible labels of a token whose label is open; else its own label."""
    domain = getattr(label, "domain", None)
    return (label,) if domain is None else domain.labels


def _named(finders: Any) -> list[tuple[str, Any]]:
    """Finders by name, with combined finders split up."""
    if isinstance(finders, Mapping):
        return list(finders.items())
    if not is_listed(finders):
        raise DataError(f"{type(finders).__name__} instead of finders", remedy=f"{FINDERS}, each in a list")
    parts = [part for finder in finders for part in getattr(finder, "annotators", [finder])]
    return [(_name_of(part), part) for part in parts]


def _name_of(finder: Any) -> str:
    if isinstance(finder, str):
        return finder
    if not callable(finder):
        raise DataError(f"{shown(finder)} finds no spans", remedy=FINDERS)
    name = getattr(finder, "name", None) or getattr(finder, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        kind = type(finder).__name__
        raise DataError(f"a {kind} has no name", remedy="give {name: finder} to span_functions, name=… to span_rule")
    return name
