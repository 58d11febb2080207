"""skweak's HMM over the votes of labelling functions, followed by a CRF of this library (Lison et al. 2021).

skweak works with spans: there are no votes for O, and tokens that no function covers are outside. With BIO labels,
spans are read from the votes, and the aggregated spans give labels for all tokens. With tags or fields, every vote is a
span of one token (with B- marks, which did better than none on development data), and tokens without a vote remain
open.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from sidelight.evidence import Partial, partial
from sidelight.experiments.strangers.corpora import StrangersCorpus
from sidelight.experiments.strangers.reading import Function, Votes, span_votes, words_of

OUTSIDE = "O"


def voted_spans(votes: Votes, *, marked: bool) -> list[tuple[int, int, str]]:
    """The spans of one function: (first, one past the last, type).

    >>> voted_spans([None, "B-LOC", "I-LOC", "O"], marked=True)
    [(1, 3, 'LOC')]
    >>> voted_spans(["NOUN", "NOUN"], marked=False)
    [(0, 1, 'NOUN'), (1, 2, 'NOUN')]
    """
    results: list[tuple[int, int, str]] = []
    for t, vote in enumerate(votes):
        if vote is None or vote == OUTSIDE:
            continue
        if not marked:
            results.append((t, t + 1, vote))
        elif vote.startswith("I-") and results and results[-1][1:] == (t, vote[2:]):
            results[-1] = (results[-1][0], t + 1, vote[2:])
        else:
            results.append((t, t + 1, vote[2:]))
    return results


def aggregated(corpus: StrangersCorpus, xs: Sequence[Any], functions: Sequence[Function]) -> list[Partial]:
    """The votes aggregated by skweak's HMM, as labels for some or all tokens."""
    from skweak.aggregation import HMM
    from spacy.tokens import Doc, Span
    from spacy.vocab import Vocab

    marked = OUTSIDE in corpus.labels
    types = sorted({label[2:] if marked else label for label in corpus.labels} - {""})
    vocabulary = Vocab()
    documents = []
    for x in xs:
        document = Doc(vocabulary, words=words_of(x))
        for function in functions:
            spans = voted_spans(function(x), marked=marked)
            document.spans[function.__name__] = [Span(document, a, b, label=kind) for a, b, kind in spans]
        documents.append(document)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HMM("together", types, prefixes="BIO")
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            done = list(model.fit_and_aggregate(documents))
    ys = []
    for x, document in zip(xs, done):
        spans = [(span.start, span.end, span.label_) for span in document.spans["together"]]
        if marked:
            ys.append([vote or OUTSIDE for vote in span_votes(x, spans)])
        else:
            ys.append(_token_labels(len(x), spans))
    return partial(xs, ys)


def _token_labels(length: int, spans: Sequence[tuple[int, int, str]]) -> list[str | None]:
    labels: list[str | None] = [None] * length
    for first, end, kind in spans:
        labels[first:end] = [kind] * (end - first)
    return labels
