"""`sidelight reproduce` of decisions about pairs of sentences, on corpora that are made here."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from sidelight.errors import DataError
from sidelight.experiments import reproduce
from sidelight.experiments.lclr import entailment, paraphrase, sentence_pairs
from sidelight.experiments.lclr.sentence_graphs import reader
from sidelight.experiments.lclr.word_vectors import WordSimilarity, word_vectors
from sidelight.structures.graphs import Graph

NOUNS, VERBS = ("cat", "dog", "cow", "fox", "hen"), ("sees", "hears", "likes", "bites", "finds")


def sentence(rng: np.random.Generator) -> list[str]:
    subject, verb, thing = rng.choice(NOUNS), rng.choice(VERBS), rng.choice(NOUNS)
    return ["the", str(subject), str(verb), "the", str(thing)]


def write_treebank(folder: Path) -> None:
    rng = np.random.default_rng(0)
    tags, heads, names = ("DET", "NOUN", "VERB", "DET", "NOUN"), (2, 3, 0, 5, 3), ("det", "nsubj", "root", "det", "obj")
    lines = []
    for _ in range(30):
        for t, word in enumerate(sentence(rng)):
            lines.append(f"{t + 1}\t{word}\t{word}\t{tags[t]}\t_\t_\t{heads[t]}\t{names[t]}\t_\t_")
        lines.append("")
    folder.mkdir()
    with gzip.open(folder / "train.conllu.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def pairs(count: int, rng: np.random.Generator) -> list[tuple[int, str, str]]:
    """Good pairs are the same, but for a word at their end; bad ones are any two."""
    found = []
    for number in range(count):
        one, other = sentence(rng), sentence(rng)
        same = number % 2
        found.append((same, " ".join(one), " ".join([*one, "again"] if same else other)))
    return found


@pytest.fixture
def corpora(tmp_path):
    rng = np.random.default_rng(1)
    write_treebank(tmp_path / "ud_english_ewt")
    (tmp_path / "msrp").mkdir()
    (tmp_path / "rte").mkdir()
    for name, count in ((paraphrase.FILES["train"], 80), (paraphrase.FILES["test"], 30)):
        text = "head\t1\t2\t3\t4\n" + "".join(f"{z}\t1\t2\t{a}\t{b}\n" for z, a, b in pairs(count, rng))
        opened = gzip.open if name.endswith("gz") else open
        with opened(tmp_path / "msrp" / name, "wt", encoding="utf-8") as file:
            file.write(text)
    lines = ["set\tid\ttask\tlabel\ttext\thypothesis"]
    for number in (1, 2, 3):
        for part, count in (("dev", 30), ("test", 10)):
            lines += [f"rte{number}_{part}\t1\tIE\t{z}\t{b}\t{a}" for z, a, b in pairs(count, rng)]
    with gzip.open(tmp_path / "rte" / "rte123.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize(("name", "module"), [("lclr-paraphrase", paraphrase), ("lclr-entailment", entailment)])
def test_pairs_of_sentences(corpora, monkeypatch, name, module):
    monkeypatch.setattr(module, "QUICK_SIZE", 50)
    monkeypatch.setattr(sentence_pairs, "DEV", 20)
    told: list[str] = []
    rows = reproduce(name, data=corpora, json_path=corpora / "rows.json", quick=True, n_jobs=1, report=told.append)
    by = {(row["method"], row["metric"]): row for row in rows}
    assert all(by[method, "accuracy"]["value"] > 80.0 for method in ("Alignment+Learning", "LCLR"))
    assert ("Algorithm 12", "accuracy") in by
    assert by["LCLR - Alignment+Learning", "difference"]["draws"] == 2
    assert 0.0 <= by["LCLR - Alignment+Learning", "p-value"]["value"] <= 1.0
    assert (corpora / "rows.json").exists() and told


def test_unknown_parts_are_refused_before_anything_is_read(corpora):
    for name, part, problem in (
        ("lclr-paraphrase", {"definitions": "+ null"}, "definitions has no '\\+ null'; choose definitions=none;words;"),
        ("lclr-entailment", {"sets": "RTE-4"}, "sets has no 'RTE-4'; choose sets=RTE-1 to RTE-3;RTE-5"),
        ("lclr-entailment", {"draws": "0"}, "draws is '0'; give a whole number from 1 on"),
        ("lclr-entailment", {"years": "5"}, "there is no choice 'years'; choose sets, draws"),
    ):
        with pytest.raises(DataError, match=problem):
            reproduce(name, data=corpora, n_jobs=1, report=lambda line: None, choose=part)


def test_definitions_are_compared_on_all_pairs_by_exchanging_answers():
    rng = np.random.default_rng(0)
    outcomes = [sentence_pairs.PairOutcome(1.0, rng.random(300) < share) for share in (0.6, 0.9)]
    gain, p = sentence_pairs.difference_rows("all", "gain", outcomes[:1], outcomes[1:], paper=3.0)
    assert gain["value"] == pytest.approx(outcomes[1].accuracy - outcomes[0].accuracy) and gain["paper"] == 3.0
    assert p["value"] < 0.01 and p["draws"] == 1


def test_texts_become_graphs_by_sentence(corpora):
    graph = reader(corpora).graphs(["the cat sees the dog. The hen bites the fox"])[0]
    assert graph.words[:3] == (("the", "DET"), ("cat", "NOUN"), ("sees", "VERB"))
    assert graph.edges[:2] == ((1, 0, "det"), (2, 1, "nsubj"))
    assert all((head < 6) == (word < 6) for head, word, _ in graph.edges)  # no edge from one sentence to the other


def test_words_in_the_same_places_are_similar():
    rng = np.random.default_rng(0)
    vectors = word_vectors([sentence(rng) for _ in range(300)])
    one = Graph((("cat", "NOUN"), ("7", "NUM"), ("unknown", "NOUN")))
    two = Graph((("dog", "NOUN"), ("sees", "VERB"), ("Cat", "NOUN"), ("8", "NUM")))
    near, rare, digits = np.moveaxis(WordSimilarity(vectors)(one, two), 2, 0)
    assert near[0, 0] > near[0, 1] and abs(near[0, 2] - 1.0) < 1e-12 and near[2].max() == 0.0
    assert rare[0, 2] > 0.0 and np.count_nonzero(rare) == 1 and digits[1, 3] == 1.0 and digits.sum() == 1.0


def test_a_line_that_is_no_pair(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("head\t1\t2\t3\t4\n1\tonly\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs.txt.*2.*not a pair in 5 columns"):
        paraphrase.read_pairs(path, None)
