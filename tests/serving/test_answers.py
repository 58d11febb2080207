"""What a server answers is what the model says."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import sidelight as sl
from sidelight.commands.registry import NAMES, entry_named
from sidelight.commands.serving.answers import ServedModel
from sidelight.commands.serving.limits import Limits
from sidelight.estimators.constrained import Constrained
from sidelight.rules import gallery


def test_health_and_description(ask):
    assert ask("/health").json == {"status": "ok", "model": "<b>names", "version": sl.__version__}
    told = ask("/model").json
    assert told["kind"] == "chain" and told["labels"] == ["B-LOC", "B-PER", "I-PER", "O"] and told["scheme"] == "BIO"
    assert told["evidence"] == {"gold": 3} and told["limits"]["tokens"] == 50


def test_labels_spans_probabilities_and_margins_are_the_models(ask, tagger):
    (found,) = ask.predict(text="Eve Holt lives in Rome", probabilities=True, explain=True).json["predictions"]
    words = ["Eve", "Holt", "lives", "in", "Rome"]
    assert found["tokens"] == words and found["labels"] == tagger.predict([words])[0]
    assert found["spans"][0] == {"first": 0, "last": 1, "label": "PER", "text": "Eve Holt"}
    for told, own in zip(found["probabilities"], tagger.predict_marginals([words])[0]):
        assert told == pytest.approx(own, abs=1e-6)
    why = sl.explain(tagger, words)
    assert found["margin"] == pytest.approx(why.margin) and found["runner_up"] == why.runner_up
    parts = sum(one["amount"] for one in found["explanation"]) + found["smaller"]["amount"]
    assert parts == pytest.approx(why.margin)


def test_text_and_tokens_are_the_same_question(ask):
    by_text = ask.predict(text="Ann met Bob.\n\nit is in Oslo").json
    tokens = [["Ann", "met", "Bob", "."], ["it", "is", "in", "Oslo"]]
    assert by_text == ask.predict(inputs=tokens).json == ask.predict(inputs=[{"tokens": one} for one in tokens]).json
    assert "probabilities" not in by_text["predictions"][0] and "margin" not in by_text["predictions"][0]
    assert ask.predict(text="Ann met Bob.", spaces=True).json["predictions"][0]["tokens"] == ["Ann", "met", "Bob."]


def test_many_at_a_time_get_their_own_answers(ask, tagger):
    asked = [["Ann", *["met"] * k, "Bob"] for k in range(16)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda words: ask.predict(inputs=[words]).json["predictions"][0], asked))
    assert [one["tokens"] for one in found] == asked
    assert [one["labels"] for one in found] == tagger.predict(asked)


def test_segments_and_classes(serve, sentences):
    xs, ys = sentences
    segmenter = sl.SegmentTagger(scheme="BIO", max_rounds=20).fit(xs, ys)
    with serve(ServedModel(name="s", model=segmenter.model_), Limits(max_seconds=600.0)) as ask:
        assert ask("/model").json["kind"] == "segments"
        (found,) = ask.predict(text="Eve Holt lives in Rome", margins=True).json["predictions"]
        own = segmenter.predict_segments([found["tokens"]])[0]
        assert [(s["first"], s["last"], s["label"]) for s in found["spans"]] == [s for s in own if s[2] != "O"]
        assert found["margin"] > 0 and "<mark" in ask("/?text=Eve+Holt").text
    classifier = sl.Classifier(learner="crf").fit([{"sun": 1.0}, {"rain": 1.0}, {"snow": 1.0}], ["good", "bad", "bad"])
    with serve(ServedModel(name="c", model=classifier.model_), Limits(max_seconds=600.0)) as ask:
        asked = {"probabilities": True, "explain": True}
        (found,) = ask.predict(inputs=[{"features": {"sun": 1}}], **asked).json["predictions"]
        assert found["label"] == "good" and found["runner_up"] == "bad" and sum(found["probabilities"].values()) == 1
        assert ask.predict(text="rain snow").json["predictions"] == [{"label": "bad"}]
        assert "bad" in ask("/?text=rain").text
        assert ask.predict(inputs=[["sun"]]).status == 422


def test_rules_bear_on_answers_and_are_explained(serve, chain):
    under = Constrained(chain.model, [gallery.at_most(0, "B-LOC", name="no_place")])
    with serve(ServedModel(name="r", model=chain.model, under=under), Limits(max_seconds=600.0)) as ask:
        assert ask("/model").json["rules"] == ["no_place"]
        (found,) = ask.predict(text="Ann lives in Oslo", explain=True).json["predictions"]
        assert found["without_rules"][3] == "B-LOC" and "B-LOC" not in found["labels"]
        (rule,) = found["rules"]
        assert rule["penalty"] is None and rule["broken_without_rules"] == 1 and rule["broken"] == 0
        assert "no_place" in ask("/?text=Ann+lives+in+Oslo").text.partition("broken with rules")[2]
        obeyed = ask("/?text=Ann+lives").text
        assert "the labels obey all rules" in obeyed and "broken with rules" not in obeyed
    impossible = Constrained(chain.model, [gallery.at_most(0, "O"), gallery.at_least(1, "O", name="some")])
    with serve(ServedModel(name="r", model=chain.model, under=impossible), Limits(max_seconds=600.0)) as ask:
        refused = ask.predict(text="Ann lives in Oslo")
        assert refused.status == 422 and "some" in refused.json["error"]


@pytest.mark.parametrize("name", NAMES)
def test_other_structures_by_files_and_json(serve, name):
    entry = entry_named(name)
    items = entry.generate(8, 0)
    structure = entry.structure(**entry.from_data(items))
    gold = [sl.Gold(item.x, entry.output(structure, item, "gold")) for item in items]
    fitted = sl.Predictor(structure, learner="perceptron", max_rounds=2).fit(gold)
    served = ServedModel(name=name, model=fitted.model_, entry=entry)
    served.warm_up()
    format = next(iter(entry.formats))
    text = entry.formats[format].write(items[:2])
    with serve(served, Limits(max_tokens=500, max_seconds=600.0)) as ask:
        assert ask("/model").json["formats"] == list(entry.formats)
        found = ask.predict(text=text).json
        assert len(found["predictions"]) == 2 and all("score" in one for one in found["predictions"])
        own = [entry.item_output(y) for y in fitted.predict([item.x for item in items[:2]])]
        from dataclasses import replace

        proven = [one.get("proven") for one in found["predictions"]]
        told = [replace(item, output=said, proven=p) for item, said, p in zip(items, own, proven)]
        assert found["text"] == entry.formats[format].write(told)
        if "jsonl" in entry.formats:
            objects = [json.loads(line) for line in entry.formats["jsonl"].write(items[:2]).splitlines()]
            assert len(ask.predict(inputs=objects).json["predictions"]) == 2
        else:
            assert ask.predict(inputs=[{}]).status == 422
        assert ask.predict(text=text, probabilities=True).status == 422
        assert ask.predict(text=" \n").status == 422 and ask.predict(text=text, format="png").status == 422
        from urllib.parse import urlencode

        assert "<pre>" in ask("/", urlencode({"text": text}).encode()).text
