"""Mistakes with structures: one line that names the place and the remedy, exit code 2, and no file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TRAIN = ("train", "--out", "m", "--structure")
GRAPH = {"words": ["a"], "edges": []}
TREE = "1\ta\t_\tN\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tN\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture(autouse=True)
def files() -> None:
    Path("gold.tsv").write_text("shi\tSI\t0-0 1-0 2-1\n")
    Path("good.tsv").write_text("shi\tSI\n")
    Path("cross.tsv").write_text("shi\tSI\t0-1 2-0\n")
    Path("gap.tsv").write_text("shi\tSIS\t0-0 0-2\n")
    Path("shared.tsv").write_text("shi\tSI\t0-0 2-0\n")
    Path("long.tsv").write_text("shish\tSI\t0-0 1-0 2-0 3-0\n")
    Path("missing.jsonl").write_text(json.dumps({"first": {"words": ["a"], "edges": [[0, 4]]}, "second": GRAPH}))
    Path("graph.jsonl").write_text(json.dumps({"first": GRAPH, "second": GRAPH, "links": [[0, 0]]}))
    typed = {"tokens": ["Ann"], "entities": [{"type": "P", "start": 0, "end": 1}]}
    Path("types.jsonl").write_text(json.dumps({**typed, "relations": []}))
    Path("itself.jsonl").write_text(json.dumps({**typed, "relations": [{"type": "R", "head": 0, "tail": 0}]}))
    Path("gold.conllu").write_text(TREE)
    Path("cross.conllu").write_text(
        "".join(f"{t}\tw\t_\tN\t_\t_\t{head}\tx\t_\t_\n" for t, head in enumerate((3, 4, 0, 3), start=1)) + "\n"
    )
    Path("strange.conllu").write_text(TREE.replace("root", "top"))
    Path("sets.jsonl").write_text('{"left": "ab", "right": "x", "candidates": [[5], null]}')
    Path("none.jsonl").write_text('{"left": "ab", "right": "x", "candidates": [[], null]}')


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("poem", "--gold", "gold.tsv"), "--structure is 'poem'; there are chain, segments, alignment"),
        (("alignment",), "no evidence; name at least one file"),
        (("alignment", "--gold", "good.tsv"), "good.tsv:1: no links; add them after a tab"),
        (("alignment", "--gold", "cross.tsv"), "cross.tsv:1: the pair ((2, 3), (0, 1)) begins before the end of"),
        (("alignment", "--gold", "gap.tsv"), "gap.tsv:1: left symbol 0 is linked with 0, 2, which do not follow"),
        (("alignment", "--gold", "shared.tsv"), "shared.tsv:1: left symbols 0 to 0 and 2 share right symbols, and"),
        (("alignment", "--gold", "long.tsv"), "long.tsv:1: the pair ((0, 4), (0, 1)) covers 4 left symbols; cover 3"),
        (("letters", "--gold", "gold.tsv"), "gold.tsv:1: right symbol 0 is linked twice; link symbols one to one"),
        (("letters", "--candidates", "sets.jsonl"), "sets.jsonl:1: symbol 0 has the candidate 5; give a list of right"),
        (("letters", "--candidates", "none.jsonl"), "none.jsonl:1: symbol 0 has no list of candidates; give some"),
        (("alignment", "--candidates", "sets.jsonl"), "sets.jsonl:1: symbol 0 has the candidate 5; write [[first"),
        (("alignment", "--gold", "gold.tsv", "--format", "conllu"), "alignment has no files of format 'conllu'; give"),
        (("alignment", "--gold", "gold.tsv", "--set", "depth=3"), "--set is 'depth=3'; alignment has the options"),
        (("alignment", "--gold", "gold.tsv", "--set", "bits"), "--set is 'bits', without a value; write --set bits="),
        (("alignment", "--gold", "gold.tsv", "--set", "bits=40"), "bits is 40; give a number from 1 to 30"),
        (("alignment", "--gold", "gold.tsv", "--set", "longest=3"), "--set is 'longest=3'; give two whole numbers"),
        (("alignment", "--gold", "gold.tsv", "--features", "words"), "--features is about labels of tokens, and there"),
        (("alignment", "--gold", "gold.tsv", "--order", "2"), "--order is about labels of tokens, and there are none"),
        (("alignment", "--gold", "gold.tsv", "--labels", "a"), "--labels is about labels of tokens"),
        (("alignment", "--votes", "gold.tsv"), "--votes is about labels of tokens, and alignment has none"),
        (("alignment", "--gold", "gold.tsv", "--learner", "hmm"), "hmm needs a generative model"),
        (("alignment", "--gold", "gold.tsv", "--learner", "lclr"), "gold.tsv:1: evidence 0 (Gold): the learner lclr"),
        (("alignment", "--good", "good.tsv"), "no bad inputs; give inputs that are good, and some that are bad"),
        (("alignment", "--gold", "gold.tsv", "--shuffle-good", "1"), "--shuffle-good has nothing to shuffle"),
        (("tree", "--gold", "gold.conllu", "--start", "gold.tsv"), "--start is a table of letters, and tree has no"),
        (("chain", "--gold", "gold.tsv", "--start", "good.tsv"), "--start is a table of letters; leave it out"),
        (("graph", "--good", "missing.jsonl"), "missing.jsonl:1: the first graph has an edge (0, 4), and no word 4"),
        (("graph", "--gold", "graph.jsonl", "--learner", "crf"),
         "GraphSpace has no beliefs about parts: sums over alignments of graphs are not tractable; use a"),
        (("letters", "--gold", "cross.tsv", "--learner", "crf", "--set", "crossing=true"),
         "MatchingSpace has no beliefs about parts: sums over matchings, which may cross, are"),
        (("relations", "--gold", "types.jsonl"), "relations has no names; give at least one, or evidence that names"),
        (("relations", "--gold", "itself.jsonl"), "itself.jsonl:1: the relation R is between entity 0 and itself; "),
        (("tree", "--gold", "gold.conllu", "--set", "relations=det"),
         "gold.conllu:1: token 2 has the relation 'root'; there are det"),
        (("tree", "--gold", "cross.conllu"), "no evidence is left; not projective, or with several roots"),
    ],
)  # fmt: skip
def test_training(run: Run, arguments: tuple[str, ...], problem: str) -> None:
    found = run(*TRAIN, *arguments, code=2)
    assert found.err.startswith(f"error: {problem}") and found.err.count("\n") == 1, found.err
    assert "; " in found.err and found.out == "" and not Path("m").exists()


def test_trees_that_are_left_out_are_counted(run: Run) -> None:
    files = ("--gold", "gold.conllu", "--gold", "cross.conllu", "--set", "bits=8")
    told = run(*TRAIN, "tree", *files)
    assert told.err.startswith("note: 1 of 2 in --gold are left out: not projective, or with several roots: --set ")
    assert run(*TRAIN, "tree", *files, "--quiet").err == ""
    assert run(*TRAIN, "tree", *files, "--set", "projective=false").err == ""
    assert "note: 1 of 2" in run("describe", "--structure", "tree", *files[:4]).err


def test_asking(run: Run) -> None:
    run(*TRAIN, "alignment", "--gold", "gold.tsv", "--set", "bits=8")
    for arguments, problem in (
        (("predict", "m", "gold.tsv", "--text"), "--text is about labels of tokens"),
        (("predict", "m", "gold.tsv", "--seconds", "1"), "--seconds is for structures that a program finds"),
        (("predict", "m", "gold.tsv", "--seconds", "-1"), "--seconds is -1.0; give a number from 0 on"),
        (("predict", "m", "gold.conllu"), "gold.conllu:1: 'N' after the pair"),
        (("evaluate", "m", "good.tsv"), "good.tsv:1: no links"),
        (("evaluate", "m", "gold.tsv", "--scheme", "bio"), "--scheme is about labels of tokens"),
        (("evaluate", "m", "gold.tsv", "--by", "answers"), "gold.tsv:1: an input without an answer; say yes or no"),
        (("evaluate", "m", "gold.tsv", "--all"), "--all is about candidates; add --by ranking"),
        (("explain", "m", "gold.tsv", "--index", "1"), "gold.tsv: there is no input 1; give --index from 0 to 0"),
        (("explain", "m", "--text", "a"), "--text is about labels of tokens"),
        (("rank", "m", "gold.tsv", "--top", "0"), "--top is 0; give a number from 1 on"),
        (("generate", "poem", "--out", "d"), "--structure is 'poem'; there are chain"),
    ):
        assert run(*arguments, code=2).err.startswith(f"error: {problem}"), arguments
    run(*TRAIN, "letters", "--gold", "cross.tsv", "--set", "crossing=true", "--set", "bits=8", "--out", "n")
    refused = run("evaluate", "m", "gold.tsv", "--against", "n", code=2).err
    assert refused == "error: n: no model of alignment; compare models of one structure\n"


def test_an_empty_string_in_a_longer_file(run: Run) -> None:
    Path("bad.tsv").write_text("shi\tSI\t0-0\n\nshi\t\t0-0\n")
    found = run(*TRAIN, "alignment", "--gold", "bad.tsv", code=2)
    assert found.err == "error: bad.tsv:3: the right string is empty; leave the pair out\n"
    found = run("describe", "--structure", "alignment", "--gold", "bad.tsv", code=2)
    assert found.err == "error: bad.tsv:3: the right string is empty; leave the pair out\n"


def test_examples_do_not_replace_other_files(run: Run) -> None:
    run("generate", "tree", "--out", "t", "--count", 3)
    run("generate", "tree", "--out", "t", "--count", 3)  # the same again
    before = {path.name: path.read_bytes() for path in Path("t").iterdir()}
    Path("t/gold.conllu").write_text("mine\n")
    found = run("generate", "tree", "--out", "t", "--count", 3, code=2)
    assert found.err.startswith("error: t/gold.conllu: there is a file of this name with other content")
    assert run("generate", "tree", "--out", "t", "--count", 4, code=2).err.startswith("error: t/")
    assert {path.name: path.read_bytes() for path in Path("t").iterdir()} == {**before, "gold.conllu": b"mine\n"}
