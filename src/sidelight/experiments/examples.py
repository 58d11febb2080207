"""Example outputs as pictures of the report: outputs repaired by rules, links of aligners, entities and relations of
sentences.

Each row has the score of one input and a picture of it. Inputs come from the corpora if available, else from generated
data. They are selected to show an effect, and the notes say how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sidelight import recipes
from sidelight.corpus import FIELDS, references
from sidelight.corpus.facts import ARGUMENTS as FACT_ARGUMENTS
from sidelight.corpus.facts import facts
from sidelight.corpus.spellings import spellings, transliterations
from sidelight.data.links import GoldLinks
from sidelight.data.relations import Extraction
from sidelight.estimators.aligner import Aligner
from sidelight.estimators.predictor import Predictor
from sidelight.estimators.sequential_learner import SequentialLearner
from sidelight.estimators.taggers import Tagger
from sidelight.evaluate.alignments import score_alignments
from sidelight.evidence import Gold, gold
from sidelight.experiments.ccm.constrained_study import CHOSEN, Fit, load_citations, prepared
from sidelight.experiments.draws import folder_of
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.jlis.alignments import STRUCTURE, Word, read_words
from sidelight.experiments.sl.relations import ARGUMENTS, TYPES, read_examples
from sidelight.experiments.table import Row, row
from sidelight.experiments.uem.word_alignment import hansards
from sidelight.quickstart import RULES
from sidelight.report.pictures import grid_picture, links_picture, relations_picture
from sidelight.rules import read_rules
from sidelight.rules.gallery import argument_types
from sidelight.structures.alignments import links_of, pairs_of
from sidelight.structures.relations import ENTITY, RELATION, EntityRelation

LABELLED, SHOWN, LONGEST = 5, 3, 45  # references learned from, shown, and tokens of one that is shown
PAIRS, STEPS, WORDS = 1000, 5, (8, 14)  # sentence pairs learned from, agreement steps, words of a pair that is shown
SPELLED, LETTERS = 80, 9  # words learned from, and letters of one that is shown
SENTENCES, PASSES = 900, 20  # sentences learned from, and epochs
RELATIONS, MODERATE = 2, (12, 24)  # relations of a sentence that is shown, and its tokens

NOTES = (
    f"references: an HMM of {LABELLED} labelled ones; of the test references of at most {LONGEST} tokens those that "
    "rules repair most, and the one that they harm most, where they harm one",
    f"word alignment: learned from {PAIRS:,} sentence pairs and the text of the test pairs, agreement of both "
    f"directions, γ = 0.3; the first pairs of {WORDS[0]} to {WORDS[1]} words",
    f"letters and sounds: a structural SVM of {SPELLED} words; the first test words of {LETTERS} letters and more, one "
    "of them with an error, where there is one",
    f"entities and relations: perceptrons of {SENTENCES} sentences; test sentences with {RELATIONS} relations and more "
    f"and {MODERATE[0]} to {MODERATE[1]} tokens that rules about the types of arguments repair most",
)


def rows(
    data: Path, *, quick: bool, n_jobs: int, report: Callable[[str], None], save: Callable[[list[Row]], None]
) -> tuple[list[Row], Sequence[str]]:
    """Rows with pictures; a quick run has the same."""
    results: list[Row] = []
    for make in (_references, _bitexts, _spellings, _relations):
        report(make.__doc__ or "")
        results += make(data)
        save(results)
    return results, NOTES


def picture_row(setting: str, method: str, metric: str, value: float, picture: dict[str, Any]) -> Row:
    """A row of one input."""
    return {**row(setting, method, metric, [value]), "picture": picture}


def _references(data: Path) -> list[Row]:
    """References before and after the rules."""
    if (data / "citations").is_dir():
        source, study = "citations", load_citations(data)
        tagger, evidence = prepared(study, Fit(LABELLED, 0, "hmm", CHOSEN[LABELLED]))
        test = study.test
    else:
        source, sample = "generated references", references(200, seed=1)
        xs, ys = [list(one.tokens) for one in sample], [list(one.labels) for one in sample]
        tagger = Tagger(learner=recipes.hmm(transition_amount=0.1), rules=read_rules(RULES), labels=FIELDS, n_jobs=1)
        evidence, test = gold(xs[:LABELLED], ys[:LABELLED]), LabelledExamples(xs[LABELLED:], ys[LABELLED:])
    tagger.fit(evidence)
    short = [i for i, x in enumerate(test.xs) if len(x) <= LONGEST]
    xs, ys = [test.xs[i] for i in short], [test.ys[i] for i in short]
    before, after = tagger.predict(xs, rules=()), tagger.predict(xs)
    gains = [_right(b, y) - _right(a, y) for a, b, y in zip(before, after, ys)]
    order = np.argsort([-gain for gain in gains], kind="stable").tolist()
    shown = order[:SHOWN] + ([order[-1]] if gains[order[-1]] < 0 else [])
    results = []
    for number, i in enumerate(shown, start=1):
        for method, labels in (("before the rules", before[i]), ("after the rules", after[i])):
            picture = {"kind": "labels", "tokens": xs[i], "labels": list(labels), "right": ys[i]}
            share = 100.0 * _right(labels, ys[i]) / len(ys[i])
            results.append(picture_row(f"{source}, reference {number}", method, "tokens right", share, picture))
    return results


def _right(labels: Sequence[Any], truth: Sequence[Any]) -> int:
    return sum(a == b for a, b in zip(labels, truth))


def _bitexts(data: Path) -> list[Row]:
    """Words, or letters, that an aligner links."""
    if (data / "hansards").is_dir():
        corpus = hansards(data, PAIRS)
        source, pairs, truth = "hansards", list(corpus.pairs), corpus.test
        test = pairs[len(corpus.dev) : len(corpus.dev) + len(truth)]
    else:
        items = transliterations(PAIRS, seed=1)
        source, pairs = "generated names, letter by letter", [(list(one.x[0]), list(one.x[1])) for one in items]
        known = [frozenset((i, j) for i, j in one.output if j is not None) for one in items]
        test, truth = pairs, [GoldLinks(one, one) for one in known]
    low, high = WORDS
    which = [k for k, (one, other) in enumerate(test) if low <= len(one) <= high and low <= len(other) <= high][:SHOWN]
    which = which or sorted(range(len(test)), key=lambda k: -len(test[k][0]))[:SHOWN]
    aligner = Aligner(gamma=0.3, agreement=True, steps=STEPS, n_jobs=1).fit(pairs)
    results = []
    for number, (k, links) in enumerate(zip(which, aligner.align([test[k] for k in which])), start=1):
        picture = grid_picture(*test[k], links, truth[k].sure, truth[k].possible)
        error = 100.0 * score_alignments([truth[k]], [links]).aer
        results.append(picture_row(f"{source}, pair {number}", "γ = 0.3, agreement", "AER", error, picture))
    return results


def _spellings(data: Path) -> list[Row]:
    """Letters and their sounds."""
    if (data / "nettalk").is_dir():
        source, words = "nettalk", read_words(folder_of(data, "nettalk") / "nettalk.tsv")
    else:
        items = spellings(400, seed=1)
        source = "generated words"
        words = [Word(item.x, pairs_of((i, j) for i, j in item.output if j is not None)) for item in items]
    order = np.random.default_rng(0).permutation(len(words))[: 4 * SPELLED].tolist()
    train, test = [words[i] for i in order[:SPELLED]], [words[i] for i in order[SPELLED:]]
    structure = STRUCTURE
    model = Predictor(structure).fit([Gold(word.x, word.y) for word in train])
    test = [word for word in test if len(word.x[0]) >= LETTERS] or test
    predicted = model.predict([word.x for word in test])
    wrong = [k for k, word in enumerate(test) if links_of(predicted[k]) != links_of(word.y)][:1]
    which = [*[k for k in range(len(test)) if k not in wrong][: SHOWN - len(wrong)], *wrong]
    results = []
    for number, k in enumerate(which, start=1):
        word, links, truth = test[k], sorted(links_of(predicted[k])), sorted(links_of(test[k].y))
        source_text, target_text = word.x
        picture = links_picture(source_text, target_text, links, truth)
        scores = score_alignments([GoldLinks(frozenset(truth), frozenset(truth))], [set(links)])
        results.append(picture_row(f"{source}, word {number}", "structural SVM", "F1", 100.0 * scores.f1, picture))
    return results


def _relations(data: Path) -> list[Row]:
    """Entities and relations, each by itself and under rules."""
    if (data / "conll04").is_dir():
        source, types, arguments, examples = (
            "conll04",
            list(TYPES),
            ARGUMENTS,
            read_examples(folder_of(data, "conll04")),
        )
    else:
        source, arguments = "generated facts", FACT_ARGUMENTS
        examples = [(item.x, item.output) for item in facts(2 * SENTENCES, seed=1)]
        types = sorted({one for _, y in examples for one in y.types})
    order = np.random.default_rng(0).permutation(len(examples)).tolist()
    train, test = [examples[i] for i in order[:SENTENCES]], [examples[i] for i in order[SENTENCES:]]
    structure = EntityRelation(types, list(arguments), [argument_types(arguments)])
    margins = {ENTITY: 20.0, RELATION: 3.0}
    learner = SequentialLearner(structure, method="L+I", passes=PASSES, margin=margins)
    learner.fit([x for x, _ in train], [y for _, y in train])
    low, high = MODERATE
    test = [(x, y) for x, y in test if len(y.relations) >= RELATIONS and low <= len(x.tokens) <= high] or test
    xs = [x for x, _ in test]
    joint = learner.predict(xs)
    alone = learner.set_params(method="LO").predict(xs)
    merits = [(_agreed(b, y), _agreed(a, y)) for a, b, (_, y) in zip(alone, joint, test)]
    order = sorted(range(len(test)), key=lambda k: (merits[k][1] - merits[k][0], -merits[k][0] / len(test[k][1].types)))
    results = []
    for number, k in enumerate(order[:SHOWN], start=1):
        x, truth = test[k]
        for method, output in (("each by itself", alone[k]), ("together, under rules", joint[k])):
            picture = relations_picture(x, output, truth)
            share = 100.0 * _agreed(output, truth) / max(len(truth.types) + len(truth.relations), 1)
            results.append(picture_row(f"{source}, sentence {number}", method, "types and relations", share, picture))
    return results


def _agreed(output: Extraction, truth: Extraction) -> int:
    """Types and relations that are right, less relations that are not there."""
    ours, theirs = set(output.relations), set(truth.relations)
    return _right(output.types, truth.types) + len(ours & theirs) - len(ours - theirs)
