"""Human knowledge about names in biology: rules, and twelve labelling functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sidelight.experiments.strangers.reading import Function, Votes, labelled, listed, matched, span_votes, words_of
from sidelight.experiments.strangers.tasks.marks import (
    marked,
    marks_agree,
    spans_do_not_end,
    words_inside,
    words_outside,
)
from sidelight.experiments.strangers.tasks.word_lists import BE, HAVE, MODALS, PREPOSITIONS, word_set
from sidelight.rules import Rule, gallery

TYPES = ("DNA", "RNA", "cell_line", "cell_type", "protein")
SMALL = PREPOSITIONS | BE | HAVE | MODALS | word_set("the a an this these that which we not also both but as or")
LINES = word_set("jurkat hela u937 u-937 hl-60 hl60 k562 thp-1 nb4 daudi raji cem molt-4 namalwa")
CELLS = word_set(
    "monocytes lymphocytes macrophages neutrophils eosinophils thymocytes fibroblasts leukocytes granulocytes pbmc "
    "pbmcs platelets basophils erythrocytes keratinocytes"
)
DNA_HEADS = word_set("gene genes promoter promoters enhancer element elements site sites motif region cdna ltr")
PROTEIN_HEADS = word_set(
    "receptor receptors factor factors protein proteins kinase kinases antibody antibodies complex molecule "
    "cytokine cytokines"
)
RNA_HEADS = word_set("mrna mrnas rna transcript transcripts")
PROCESSES = word_set(
    "expression activation activity production transcription proliferation differentiation apoptosis effect effects "
    "role results study studies patients response levels level analysis induction inhibition function treatment"
)
MADE_UP = r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z][A-Za-z0-9/]*-?[A-Za-z0-9/]+"  # IL-2, CD28, p65
GREEK = re.compile(
    ".*-(alpha|beta|gamma|kappa|kappaB)|NF-.*|IL-[0-9]+|CD[0-9]+|STAT[0-9].*|AP-1|TNF.*|IFN.*|c-[a-z]{3}"
)


def rules() -> tuple[Rule, ...]:
    """Fifteen rules; all but the first are soft, with learned penalties."""
    return (
        marks_agree(TYPES),
        gallery.words_are(SMALL - {"of", "for", "to"}, "O", name="SmallWords").soft(),
        words_outside(r"[.;:?%]|[0-9.]+%?", name="Punctuation").soft(),
        words_outside("[a-z]+(ed|ly|ize|izes|ate|ates)", name="Verbs").soft(),
        gallery.words_are(PROCESSES - {"transcription"}, "O", name="Processes").soft(),
        words_inside(GREEK.pattern, TYPES, name="Symbols").soft(),
        words_inside(MADE_UP, TYPES, name="MadeUp").soft(),
        gallery.words_are(LINES, *marked("cell_line"), name="Lines").soft(),
        gallery.words_are(CELLS, *marked("cell_type", "cell_line"), name="Cells").soft(),
        gallery.words_are(RNA_HEADS, "B-RNA", "I-RNA", name="RNA").soft(),
        gallery.words_are(DNA_HEADS - {"complex"}, "I-DNA", "B-DNA", name="DNA").soft(),
        gallery.words_are(PROTEIN_HEADS - {"complex"}, "I-protein", "B-protein", name="Proteins").soft(),
        gallery.words_are(("cells",), *marked("cell_type", "cell_line"), name="CellHeads").soft(),
        words_outside("[a-z]+(tion|sis|ity|ness|ment|ance|ence|ing)s?", name="AbstractNouns").soft(),
        spans_do_not_end(SMALL | {"and", "(", ","}, TYPES, name="SpanEnds").soft(),
    )


def small_words(x: Sequence[Any]) -> Votes:
    return listed(x, SMALL, "O")


def marks(x: Sequence[Any]) -> Votes:
    return matched(x, r"[.,;:?%()\[\]]|[0-9.]+", "O")


def verbs(x: Sequence[Any]) -> Votes:
    return matched(x, "[a-z]+(ed|ly|ing|ize|izes|ates|ate)", "O")


def processes(x: Sequence[Any]) -> Votes:
    return listed(x, PROCESSES, "O")


def abstract_nouns(x: Sequence[Any]) -> Votes:
    return matched(x, "[a-z]+(tion|sis|ity|ness|ment|ments|tions|ism|ance|ence)", "O")


def symbols(x: Sequence[Any]) -> Votes:
    """Names with Greek letters, and well-known families."""
    return labelled(x, GREEK.fullmatch, "B-protein")


def made_up(x: Sequence[Any]) -> Votes:
    """Letters with digits are proteins, cell lines aside."""
    read = re.compile(MADE_UP)
    return labelled(x, lambda word: word.lower() not in LINES and read.fullmatch(word), "B-protein")


def lines(x: Sequence[Any]) -> Votes:
    """A well-known line, with "cell line" or "cells" after it."""
    return _headed(x, {"cells", "cell", "line", "lines"}, "cell_line", first=LINES)


def cells(x: Sequence[Any]) -> Votes:
    """T cells, B lymphocytes, monocytes."""
    votes = listed(x, CELLS, "B-cell_type")
    words = words_of(x)
    for t in range(1, len(words)):
        if words[t].lower() in CELLS | {"cells"} and words[t - 1] in ("T", "B", "NK", "endothelial", "mononuclear"):
            votes[t - 1 : t + 1] = ["B-cell_type", "I-cell_type"]
    return votes


def genes(x: Sequence[Any]) -> Votes:
    """A symbol or two before "gene", "promoter" and the like."""
    return _before(x, DNA_HEADS, "DNA")


def proteins(x: Sequence[Any]) -> Votes:
    """What stands before "receptor", "kinase" and the like."""
    return _before(x, PROTEIN_HEADS, "protein")


def messengers(x: Sequence[Any]) -> Votes:
    return _before(x, RNA_HEADS, "RNA")


def _before(x: Sequence[Any], heads: frozenset[str], kind: str) -> Votes:
    """A head and the word before it, unless that is a small one."""
    words = words_of(x)
    results = [
        (t - 1, t + 1, kind)
        for t in range(1, len(words))
        if words[t].lower() in heads and words[t - 1].lower() not in SMALL and words[t - 1][-1:].isalnum()
    ]
    return span_votes(x, results)


def _headed(x: Sequence[Any], heads: set[str], kind: str, *, first: frozenset[str]) -> Votes:
    """A word of a list and the heads that follow it."""
    words = words_of(x)
    results = []
    for t, word in enumerate(words):
        if word.lower() in first:
            end = t + 1
            while end < len(words) and words[end].lower() in heads:
                end += 1
            results.append((t, end, kind))
    return span_votes(x, results)


FUNCTIONS: tuple[Function, ...] = (
    small_words,
    marks,
    verbs,
    processes,
    abstract_nouns,
    symbols,
    made_up,
    lines,
    cells,
    genes,
    proteins,
    messengers,
)
