"""Every public entry point with a call that is right, for tests that give it one wrong thing after another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sidelight as sl
from sidelight import data, features
from sidelight.rules import Rule, gallery, one_of, read_rules, rule

Entry = tuple[Callable[..., Any], dict[str, Any]]  # what to call, and what to give by name
XS = [["Anna", "visits", "Rome"], ["Paul", "is", "in", "Oslo"], ["Rome", "is", "old"], ["Anna", "sees", "Paul"]]
YS = [["PER", "O", "LOC"], ["PER", "O", "O", "LOC"], ["LOC", "O", "O"], ["PER", "O", "PER"]]
SETS = [[{y, "O"} for y in ys] for ys in YS]
ROWS = [{"a": 1.0}, {"b": 1.0}, {"a": 1.0, "b": 2.0}]
CLASSES = ["x", "y", "x"]
PAIRS = [(["a", "green", "house"], ["une", "maison", "verte"]), (["green"], ["verte"]), (["a"], ["une"])]
SCORES = [{"e": {0: [1.0, 0.0]}}]
FEW: dict[str, Any] = {"n_jobs": 1, "max_rounds": 2, "features": features.words()}
WORDS = features.words()


def votes_of(x: Any) -> Any:
    """What a labelling function says."""
    return ["LOC" if word == "Rome" else None for word in x]


def _first(x: Any) -> Any:
    return x


def learning() -> dict[str, Entry]:
    """What makes evidence, and learns from it."""
    mixed = [*sl.gold(XS, YS), *sl.unlabeled(XS[:1])]

    def fitted(**given: Any) -> Any:
        return sl.Tagger(learner="jlis", labels=["PER", "LOC", "O"], **FEW).fit([*sl.gold(XS, YS), *given["evidence"]])

    def by(kind: Any) -> Callable[..., Any]:
        def made(**given: Any) -> Any:
            weak = sl.recipes.partial_crf() if kind is sl.Candidates else "jlis"
            return sl.Tagger(learner=weak, labels=["PER", "LOC", "O"], **FEW).fit([*sl.gold(XS, YS), kind(**given)])

        return made

    def voted(**given: Any) -> Any:
        return sl.Tagger(learner="voted_crf", **FEW).fit([*sl.gold(XS, YS), sl.Voted(**given)])

    def listed(maker: Any) -> Callable[..., Any]:
        return lambda **given: fitted(evidence=maker(**given))

    tagger: dict[str, Any] = {"learner": "crf", **FEW}
    return {
        "gold": (listed(sl.gold), {"xs": XS, "ys": YS, "weight": 1.0}),
        "partial": (listed(sl.partial), {"xs": XS, "ys": YS, "weight": 1.0}),
        "candidates": (listed(sl.candidates), {"xs": XS, "ys": SETS, "weight": 1.0}),
        "companion": (listed(sl.companion), {"xs": XS, "z": 1, "candidates": SETS, "weight": 1.0}),
        "unlabeled": (listed(sl.unlabeled), {"xs": XS, "rules": (), "weight": 1.0}),
        "shuffled": (sl.shuffled, {"xs": XS, "seed": 0, "copies": 1}),
        "Gold": (by(sl.Gold), {"x": XS[0], "y": YS[0], "weight": 1.0, "origin": None}),
        "Partial": (by(sl.Partial), {"x": XS[0], "y": YS[0], "weight": 1.0}),
        "Candidates": (
            by(sl.Candidates),
            {"x": XS[0], "y": SETS[0], "weight": 1.0, "known": YS[0], "initial": YS[0], "chunks": ()},
        ),
        "Companion": (by(sl.Companion), {"x": XS[0], "z": 1, "weight": 1.0, "candidates": SETS[0]}),
        "Unlabeled": (by(sl.Unlabeled), {"x": XS[0], "weight": 1.0, "rules": ()}),
        "Voted": (voted, {"x": XS[0], "votes": {"f": YS[0]}, "weight": 1.0}),
        "votes": (
            sl.votes,
            {"xs": XS, "functions": [votes_of], "gold": None, "scheme": None, "outside": "O", "single": False},
        ),
        "labelling_function": (
            lambda **given: sl.votes(XS, [sl.labelling_function(votes_of, **given)]),
            {"name": "f", "returns": "auto", "scheme": None, "outside": None},
        ),
        "Tagger.fit": (
            lambda **given: sl.Tagger(**tagger).fit(given.pop("evidence"), given.pop("y"), **given),
            {"evidence": XS, "y": YS, "sample_weight": None, "validation": (XS, YS)},
        ),
        "Tagger.partial_fit": (
            lambda **given: sl.Tagger(learner="jlis", **FEW).partial_fit(**given),
            {"evidence": XS, "y": YS, "sample_weight": None},
        ),
        "Classifier.fit": (
            lambda **given: sl.Classifier(n_jobs=1, max_rounds=2).fit(given.pop("evidence"), given.pop("y"), **given),
            {"evidence": ROWS, "y": CLASSES, "sample_weight": None, "validation": (ROWS, CLASSES)},
        ),
        "SegmentTagger.fit": (
            lambda **given: sl.SegmentTagger(**FEW).fit(given.pop("evidence"), given.pop("y"), **given),
            {"evidence": XS, "y": YS, "sample_weight": None},
        ),
        "Aligner.fit": (
            lambda **given: sl.Aligner(n_jobs=1, hmm_iterations=1).fit(**given),
            {"pairs": [source for source, _ in PAIRS], "targets": [target for _, target in PAIRS]},
        ),
        "CoTraining.fit": (
            lambda **given: sl.CoTraining(
                sl.Tagger(**tagger), sl.Tagger(**tagger), views=(_first, _first), max_rounds=1
            ).fit(**given),
            {"evidence": mixed, "y": None},
        ),
        "describe": (sl.describe, {"evidence": mixed}),
        "worth": (sl.worth, {"evidence": sl.gold(XS, YS), "estimator": sl.Tagger(**tagger), "n_jobs": 1}),
        "GoldFolds": (
            lambda **given: list(sl.GoldFolds(**given).split(mixed)),
            {"n_splits": 2, "seed": 0, "repeats": 1},
        ),
        "GoldFolds.split": (lambda **given: list(sl.GoldFolds(2).split(**given)), {"evidence": mixed}),
    }


def estimators() -> dict[str, Entry]:
    """What is made with parameters; these are read by `fit`."""

    def of(kind: Any, *data_: Any) -> Callable[..., Any]:
        return lambda **given: kind(**given).fit(*data_).predict(data_[0])

    few: dict[str, Any] = {**FEW, "learner": "crf"}
    more = dict.fromkeys(("features", "callbacks", "checkpoint", "rules", "seed", "verbose", "learner", "n_jobs"), None)
    tagger = {**_defaults(sl.Tagger), **few}
    assert set(more) <= set(tagger)
    pair = {"first": sl.Tagger(**few), "second": sl.Tagger(**few), "views": (_first, _first), "max_rounds": 1}
    mixed = [*sl.gold(XS, YS), *sl.unlabeled(XS[:1])]
    return {
        "Tagger": (of(sl.Tagger, XS, YS), tagger),
        "Classifier": (
            of(sl.Classifier, ROWS, CLASSES),
            {**_defaults(sl.Classifier), "learner": "crf", "n_jobs": 1, "max_rounds": 2},
        ),
        "SegmentTagger": (of(sl.SegmentTagger, XS, YS), {**_defaults(sl.SegmentTagger), **FEW}),
        "Aligner": (of(sl.Aligner, PAIRS), {**_defaults(sl.Aligner), "hmm_iterations": 1, "n_jobs": 1}),
        "CoTraining": (
            lambda **given: sl.CoTraining(given.pop("first"), given.pop("second"), **given).fit(mixed).predict(XS),
            {**_defaults(sl.CoTraining), **pair},
        ),
    }


def _defaults(kind: Any) -> dict[str, Any]:
    import inspect

    return {name: one.default for name, one in inspect.signature(kind).parameters.items()}


def asking(folder: Path) -> dict[str, Entry]:
    """What is asked of fitted estimators."""
    tagger = sl.Tagger(learner="crf", **FEW).fit(XS, YS)
    classifier = sl.Classifier(n_jobs=1, max_rounds=2).fit(ROWS, CLASSES)
    rows = sl.Classifier(n_jobs=1, max_rounds=2).fit(np.eye(3), CLASSES)
    segments = sl.SegmentTagger(**FEW).fit(XS, YS)
    aligner = sl.Aligner(n_jobs=1, hmm_iterations=1).fit(PAIRS)
    out: dict[str, Entry] = {}
    for name, model, xs, ys in (
        ("Tagger", tagger, XS, YS),
        ("Classifier", classifier, ROWS, CLASSES),
        ("Classifier of rows", rows, np.eye(3), CLASSES),
        ("SegmentTagger", segments, XS, YS),
    ):
        model.save(folder / name)
        settings: dict[str, dict[str, Any]] = {
            "predict": {"xs": xs, "clamp": None, "rules": None, **({} if model is segments else {"by": "path"})},
            "predict_marginals": {"xs": xs, "clamp": None},
            "log_probability": {"xs": xs, "ys": ys, "clamp": None},
            "log_partition": {"xs": xs, "clamp": None},
            "k_best": {"xs": xs, "k": 2, "clamp": None},
            "sample": {"xs": xs, "seed": 0, "clamp": None},
            "solutions": {"xs": xs, "clamp": None, "rules": None},
            "explain_rules": {"x": xs[0], "rules": None},
            "score": {"xs": xs, "y": ys, "sample_weight": None},
            "prepare": {"xs": xs},
            "judge": {"xs": xs},
            "predict_segments": {"xs": xs, "clamp": None, "rules": None},
            "predict_proba": {"xs": xs},
            "decision_function": {"xs": xs},
            "save": {"path": folder / "saved"},
            "load": {"path": folder / name, "rules": ()},
        }
        for method, given in settings.items():
            if hasattr(model, method):
                out[f"{name}.{method}"] = getattr(model, method), given
        out[f"explain a {name}"] = sl.explain, {"fitted": model, "x": xs[0]}
        if name in ("Tagger", "Classifier"):
            told = {"gamma": 1.0, "tolerance": 0.1, "max_rounds": 5, "n_jobs": 1}
            out[f"agree with a {name}"] = sl.agree, {"first": model, "second": model, "xs": xs, **told}
        out[f"weights of a {name}"] = sl.weights, {"fitted": model, "top": 20, "label": None, "lowest": False}
    aligner.save(folder / "aligner")
    tagged = sl.Constrained(tagger, [gallery.at_most(1, "PER")])
    return out | {
        "Aligner.align": (aligner.align, {"pairs": PAIRS, "targets": None}),
        "Aligner.score": (aligner.score, {"pairs": PAIRS, "gold": [[(0, 0)], [(0, 0)], [(0, 0)]]}),
        "Aligner.translations": (aligner.translations, {"word": "green", "count": 3}),
        "Aligner.load": (sl.Aligner.load, {"path": folder / "aligner"}),
        "Aligner.save": (aligner.save, {"path": folder / "saved"}),
        "load_model": (sl.load_model, {"path": folder / "Tagger"}),
        "save_model": (sl.save_model, {"model": tagger.model_, "path": folder / "saved"}),
        "Constrained": (
            lambda **given: sl.Constrained(given.pop("scorer"), given.pop("rules"), **given).predict(XS),
            {"scorer": tagger, "rules": [], "penalties": None, "method": "auto", "beam_width": 32, "n_jobs": 1},
        ),
        "Constrained.predict": (tagged.predict, {"xs": XS, "clamp": None}),
        "Constrained.score": (tagged.score, {"xs": XS, "ys": YS}),
        "Constrained.violations": (tagged.violations, {"xs": XS, "ys": YS}),
        "Constrained.learn_penalties": (tagged.learn_penalties, {"xs": XS, "ys": YS, "smoothing": 1.0}),
    }


def structures(folder: Path) -> dict[str, Entry]:
    """Joint decisions, rules, features, files and scores."""
    joint = sl.Joint({"e": ["a", "b"]}, [])

    def ruled(made: Callable[..., Rule]) -> Callable[..., Any]:
        return lambda **given: sl.Tagger(rules=[made(**given)], learner="crf", **FEW).fit(XS, YS).predict(XS)

    def made_rule(**given: Any) -> Rule:
        return rule(**given)  # type: ignore[return-value]

    def says(x: Any, y: Any) -> Any:
        return one_of(y[0], ["PER", "LOC"])

    def featured(made: Callable[..., Any]) -> Callable[..., Any]:
        return lambda **given: sl.Tagger(**{**FEW, "features": made(**given)}, learner="crf").fit(XS, YS).predict(XS)

    def segmented(**given: Any) -> Any:
        return sl.SegmentTagger(**FEW, segment_features=sl.SegmentFeatures(**given)).fit(XS, YS).predict(XS)

    def handed(**given: Any) -> Any:
        return sl.Constrained(sl.HandedScores(**given), []).predict(XS[:1])

    def matrix(**given: Any) -> Any:
        return sl.Tagger(learner="crf", n_jobs=1, max_rounds=2).fit(sl.Matrix(**given), [["a", "b"], ["a"]])

    def dense(**given: Any) -> Any:
        return sl.Tagger(learner="crf", n_jobs=1, max_rounds=2).fit([sl.WithDense(**given)], [["a", "b"]])

    written = folder / "columns.txt"
    written.write_text("a X\nb Y\n\n")
    plain, templates, said = folder / "lines.jsonl", folder / "templates", folder / "rules.py"
    plain.write_text('{"tokens": ["a"], "labels": ["X"]}\n')
    templates.write_text("U00:%x[0,0]\n")
    said.write_text("from sidelight.rules import gallery\nrules = [gallery.few_changes(2)]\n")
    few: dict[str, Any] = {"min_count": 1, "hash_bits": None}
    return {
        "Joint": (
            lambda **given: sl.Joint(given.pop("labels"), given.pop("rules"), **given).predict(["x"], SCORES),
            {"labels": {"e": ["a", "b"]}, "rules": (), "inference": "auto"},
        ),
        "Joint.predict": (joint.predict, {"xs": ["x"], "scores": SCORES, "pairs": None}),
        "Joint.solutions": (joint.solutions, {"xs": ["x"], "scores": SCORES, "pairs": None}),
        "Joint.violations": (joint.violations, {"xs": ["x"], "ys": [{"e": {0: "a"}}]}),
        "Joint.learn_penalties": (joint.learn_penalties, {"xs": ["x"], "ys": [{"e": {0: "a"}}], "smoothing": 1.0}),
        "Joint.explain_rules": (joint.explain_rules, {"x": "x", "scores": SCORES[0], "pairs": None}),
        "HandedScores": (
            handed,
            {
                "labels": ["a", "b"],
                "tokens": lambda x: np.ones((len(x), 2)),
                "transition": None,
                "start": None,
                "end": None,
            },
        ),
        "rule": (ruled(made_rule), {"says": says, "name": "n", "sentence": "s", "penalty": 1.0}),
        "at_most": (ruled(gallery.at_most), {"most": 1, "label": "PER", "name": "n"}),
        "at_least": (ruled(gallery.at_least), {"least": 0, "label": "PER", "name": "n"}),
        "few_changes": (ruled(gallery.few_changes), {"most": 5, "name": "n"}),
        "minimum_length": (ruled(gallery.minimum_length), {"tokens": 1, "labels": ["PER"], "name": "n"}),
        "appears_once": (ruled(gallery.appears_once), {"labels": ["PER"], "name": "n"}),
        "excludes": (ruled(gallery.excludes), {"label": "PER", "other": "LOC", "name": "n"}),
        "requires": (ruled(gallery.requires), {"label": "PER", "other": "O", "name": "n"}),
        "lexicon": (ruled(gallery.lexicon), {"entries": {"Rome": "LOC"}, "name": "n"}),
        "changes_after_punctuation": (
            ruled(gallery.changes_after_punctuation),
            {"marks": [","], "name": "n", "also": None},
        ),
        "pattern_is": (
            ruled(lambda pattern, label, name: gallery.pattern_is(pattern, label, name=name)),
            {"pattern": "R.*", "label": "LOC", "name": "n"},
        ),
        "words_are": (
            ruled(lambda words, label, **given: gallery.words_are(words, label, **given)),
            {"words": ["Rome"], "label": "LOC", "name": "n", "case": False},
        ),
        "starts_with": (
            ruled(lambda label, name: gallery.starts_with(label, "PER", name=name)),
            {"label": "LOC", "name": "n"},
        ),
        "words": (featured(features.words), {"before": 0, **few}),
        "spelling": (featured(features.spelling), few),
        "standard": (featured(features.standard), {"columns": 1, "without": (), **few}),
        "window": (featured(features.window), {"size": 1, **few}),
        "emissions": (featured(features.emissions), {"lower": False, "classes": None, **few}),
        "attributes": (
            lambda **given: sl.Classifier(features=features.attributes(**given), n_jobs=1, max_rounds=2).fit(
                ROWS, CLASSES
            ),
            {"min_count": 1, "transitions": True},
        ),
        "features_for": (features.features_for, {"xs": XS, **few}),
        "parse_templates": (
            featured(features.parse_templates),
            {"text": "U00:%x[0,0]", "boundary": "symbol", **few, "classes": None, "file": None},
        ),
        "read_templates": (featured(features.read_templates), {"path": templates, **few}),
        "word_classes": (
            sl.word_classes,
            {"sentences": XS, "sizes": (2,), "min_count": 1, "contexts": 5, "dimensions": 2, "seed": 0},
        ),
        "with_classes": (
            featured(features.with_classes),
            {"templates": WORDS, "classes": features.word_classes(XS, min_count=1, sizes=(2,))},
        ),
        "SegmentFeatures": (segmented, _defaults(sl.SegmentFeatures)),
        "Matrix": (matrix, {"sparse": None, "dense": np.eye(3), "lengths": [2, 1]}),
        "WithDense": (dense, {"tokens": ["a", "b"], "dense": np.eye(2)}),
        "evaluate": (sl.evaluate, {"gold": YS, "predicted": YS, "scheme": "auto"}),
        "compare": (
            sl.compare,
            {
                "gold": YS,
                "predicted_a": YS,
                "predicted_b": YS,
                "metric": "accuracy",
                "rounds": 9,
                "seed": 0,
                "scheme": "auto",
            },
        ),
        "convert": (evaluate_module().convert, {"labels": [["B-X", "O"]], "to": "BIOES", "scheme": "auto"}),
        "spans": (evaluate_module().spans, {"labels": YS, "scheme": "auto"}),
        "span_counts": (evaluate_module().span_counts, {"predicted": YS, "right": YS, "scheme": "auto"}),
        "span_f1": (evaluate_module().span_f1, {"counts": np.array([1, 1, 1])}),
        "scheme_of": (evaluate_module().scheme_of, {"labels": ["B-X"]}),
        "paired_t": (evaluate_module().paired_t, {"values_a": [1.0, 2.0, 3.0], "values_b": [1.0, 0.0, 1.0]}),
        "read_columns": (data.read_columns, {"path": written, "label_column": -1, "separator": None}),
        "read_attributes": (data.read_attributes, {"path": written, "labelled": True}),
        "read_jsonl": (data.read_jsonl, {"path": plain}),
        "load_corpus": (data.load_corpus, {"path": written, "format": None, "label_column": -1}),
        "load_evidence": (
            data.load_evidence,
            {"path": written, "kind": "gold", "format": None, "label_column": "auto", "weight": 1.0},
        ),
        "write_columns": (data.write_columns, {"xs": XS, "ys": YS}),
        "read_rules": (read_rules, {"path": said}),
    }


def other_files(folder: Path) -> dict[str, Entry]:
    """Tables, and files of annotation tools."""
    from sidelight.annotation_tools import brat, doccano, extractions, label_studio, of_tokens

    docs, rows = [of_tokens(["Ann", "left"])], [["B-PER", "O"]]
    studio, lines = folder / "export.json", folder / "export.jsonl"
    label_studio.write(studio, docs, rows)
    doccano.write(lines, docs, rows)
    brat.write(folder / "brat", docs, rows)
    told: dict[str, Any] = {"docs": docs, "outputs": rows, "scheme": "auto"}
    read: dict[str, Any] = {"scheme": "BIO", "labels": None}
    table = {"tokens": [["a", "b"]], "labels": [["X", "Y"]]}
    more = {"text": None, "offsets": "auto", "take": "annotations"}
    sure = {"confidence": [[0.5, 1.0]], "offsets": "characters", "names": None, "version": "v"}
    return {
        "from_table": (
            data.from_table,
            {"table": table, "tokens": "tokens", "labels": "labels", "sentence": None, "names": None, "file": "t"},
        ),
        "label_studio.read": (label_studio.read, {"path": studio, **read, **more}),
        "doccano.read": (doccano.read, {"path": lines, **read, "offsets": "characters", "empty": "gold"}),
        "brat.read": (brat.read, {"path": folder / "brat", **read, "empty": "gold"}),
        "label_studio.text_of": (label_studio.text_of, {**told, **sure}),
        "doccano.text_of": (doccano.text_of, told),
        "brat.text_of": (brat.text_of, told),
        "brat.write": (brat.write, {"folder": folder / "out", **told}),
        "extractions": (extractions, {"file": brat.read(folder / "brat")}),
    }


def tied(folder: Path) -> dict[str, Entry]:
    """Entities and relations, and sequential learning."""
    from sidelight.data.relations import EntitySentence, Extraction, read_relations, write_relations
    from sidelight.evaluate.relations import score_relations
    from sidelight.structures.relations import EntityRelation
    from sidelight.structures.sub_problems import SubProblems

    xs = [EntitySentence(("Ann", "left", "Rome"), ((0, 1), (2, 3))), EntitySentence(("Rome",), ((0, 1),))]
    ys = [Extraction(("Peop", "Loc"), ((0, 1, "Left"),)), Extraction(("Loc",))]
    both: dict[str, Any] = {"types": ["Peop", "Loc"], "relations": ["Left"], "rules": (), "features": "paper"}
    structure = EntityRelation(["Peop", "Loc"], ["Left"])
    kinds: dict[str, Any] = {"labels": {"e": ["a", "b"]}, "rules": (), "variables": lambda x: {"e": [0]}}
    kinds["features"] = lambda x, kind, key: ["f"]
    fitted = sl.SequentialLearner(structure, passes=2).fit(xs, ys)
    fitted.save(folder / "sequential")
    write_relations(folder / "relations.jsonl", xs, ys)

    def extracted(**given: Any) -> Any:
        return sl.SequentialLearner(EntityRelation(**given), passes=1).fit(xs, ys).predict(xs)

    def decided(**given: Any) -> Any:
        outputs = [{"e": {0: "a"}}]
        return sl.SequentialLearner(SubProblems(**given), passes=1).fit(["x"], outputs).predict(["x"])

    def sequential(**given: Any) -> Any:
        return sl.SequentialLearner(**given).fit(xs, ys).predict(xs)

    def ruled(**given: Any) -> Any:
        return extracted(**{**both, "rules": [gallery.argument_types(**given)]})

    defaults = {**_defaults(sl.SequentialLearner), "structure": structure, "passes": 2}
    return {
        "EntityRelation": (extracted, {**both, "lists": {"cities": ["Rome"]}}),
        "SubProblems": (decided, kinds),
        "argument_types": (ruled, {"arguments": {"Left": ("Peop", ["Loc"])}, "name": "n"}),
        "SequentialLearner": (sequential, defaults),
        "SequentialLearner.fit": (
            lambda **given: sl.SequentialLearner(structure, passes=1, order="held_out").fit(**given),
            {"evidence": xs, "y": ys, "validation": (xs, ys)},
        ),
        "SequentialLearner.predict": (fitted.predict, {"xs": xs}),
        "SequentialLearner.score": (fitted.score, {"xs": xs, "y": ys}),
        "SequentialLearner.save": (fitted.save, {"path": folder / "saved"}),
        "SequentialLearner.load": (sl.SequentialLearner(structure).load, {"path": folder / "sequential"}),
        "read_relations": (read_relations, {"path": folder / "relations.jsonl"}),
        "write_relations": (write_relations, {"path": folder / "out.jsonl", "xs": xs, "ys": ys}),
        "score_relations": (score_relations, {"gold": ys, "predicted": ys, "other": ()}),
    }


def evaluate_module() -> Any:
    """The module, which a function of the same name hides."""
    import importlib

    return importlib.import_module("sidelight.evaluate")
