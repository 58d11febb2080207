"""Every structure from the shell: files are made, learned from, predicted, scored, explained, judged and ranked."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sidelight as sl
from sidelight.commands.registry import NAMES, entry_named, entry_of
from sidelight.models.model_file import load_model

Run = Callable[..., Any]
FEW = {"alignment": ("--set", "bits=12"), "letters": ("--set", "bits=12"), "graph": ("--set", "bits=10"),
       "tree": ("--set", "bits=14"), "relations": ("--set", "features=rich")}  # fmt: skip
KEYS = {"tokens", "good", "predicted", "score"}  # of labels that were judged
LEAST = {
    "alignment": 80.0,
    "letters": 80.0,
    "graph": 90.0,
    "tree": 75.0,
    "relations": 40.0,
}  # of the first score, in percent


def ending(name: str) -> str:
    return next(iter(entry_named(name).formats.values())).endings[0]


@pytest.fixture
def made(run: Run) -> Callable[..., str]:
    """Makes the files of a structure, and gives the name of one of them."""

    def made(name: str, count: int = 25) -> Callable[[str], str]:
        run("generate", name, "--out", name, "--count", count, "--seed", 1)
        return lambda part: f"{name}/{part}{ending(name)}"

    return made  # type: ignore[return-value]


@pytest.mark.parametrize("name", NAMES)
def test_end_to_end(run: Run, made: Any, name: str, tmp_path: Path) -> None:
    file, model, entry = made(name), "model.sidelight", entry_named(name)
    told = run("train", "--structure", name, "--gold", file("gold"), *FEW[name], "--out", model)
    assert re.search(r"^evidence +25 gold$", told.out, re.M) and told.err == ""
    assert re.search(rf"^structure +{entry.structure.__name__}$", told.out, re.M)

    scored = run("evaluate", model, file("test"), "--json", "scores.json")
    first = float(re.findall(r"(?:F1|UAS:) ([\d.]+)%", scored.out)[0])
    assert first >= LEAST[name]
    assert json.loads(Path("scores.json").read_text())["outputs"] == 25

    form = next(iter(entry.formats.values()))
    run("predict", model, file("test"), "--out", f"answers{ending(name)}.gz")
    loaded = load_model(model)
    items = form.read(file("test"), "gold")
    outputs = loaded.predict([item.x for item in items])
    found = form.read(f"answers{ending(name)}.gz", "gold")
    assert [item.x for item in found] == [item.x for item in items]
    assert [entry.output(loaded.structure.plain, item, "gold") for item in found] == outputs
    piped = run("predict", model, "-", input=Path(file("test")).read_text(encoding="utf-8"))
    assert piped.out == gzip.decompress(Path(f"answers{ending(name)}.gz").read_bytes()).decode("utf-8")
    again = run("evaluate", model, f"answers{ending(name)}.gz")
    assert "whole outputs right: 100.00% (25 of 25)" in again.out

    why = run("explain", model, file("test"), "--index", 2, "--json", "why.json")
    assert "margin over the runner-up" in why.out and "slot" not in why.out
    told = json.loads(Path("why.json").read_text())
    assert sum(one["amount"] for one in told["contributions"]) == pytest.approx(told["margin"])
    assert re.search(r"^  \+[\d.]+  ", run("weights", model, "--top", 2).out, re.M)
    described = run("describe", "--structure", name, "--gold", file("gold"), "--good", file("good"))
    assert re.search(r"^gold +25 ", described.out, re.M) and "25 good, 0 bad" in described.out


@pytest.mark.parametrize("name", NAMES)
def test_the_command_learns_what_the_library_learns(run: Run, made: Any, name: str) -> None:
    file, entry = made(name, 8), entry_named(name)
    kinds = ("--gold", file("gold"), "--good", file("good"), "--bad", file("bad"))
    told = ("--c1", 2, "--c2", 0.5, "--price", "unlabeled=0.1", "--seed", 3, *FEW[name])
    run("train", "--structure", name, *kinds, "--unlabeled", file("test"), *told, "--out", "m")
    read = next(iter(entry.formats.values())).read
    model = load_model("m")
    plain = model.structure.plain
    assert entry_of(model) is entry
    evidence = [sl.Gold(item.x, entry.output(plain, item, "gold")) for item in read(file("gold"), "gold")]
    evidence += sl.companion([item.x for item in read(file("good"), "good")], +1)
    evidence += sl.companion([item.x for item in read(file("bad"), "bad")], -1)
    evidence += sl.unlabeled([item.x for item in read(file("test"), "unlabeled")])
    prices = {"gold": 2.0, "companion": 0.5, "unlabeled": 0.1}
    fitted = sl.Predictor(plain, prices=prices, seed=3).fit(evidence)
    assert np.array_equal(model.weights, fitted.model_.weights)


@pytest.mark.parametrize("name", ["alignment", "letters", "tree"])
def test_yes_and_no_alone(run: Run, made: Any, name: str) -> None:
    file = made(name, 30)
    told = run("train", "--structure", name, "--good", file("good"), "--bad", file("bad"), *FEW[name], "--out", "m")
    assert re.search(r"^learner +lclr$", told.out, re.M)
    run("train", "--structure", name, "--companion", file("answers"), "--learner", "lclr", *FEW[name], "--out", "n")
    assert np.array_equal(load_model("m").weights, load_model("n").weights)
    scored = run("evaluate", "m", file("answers"), "--by", "answers", "--json", "s.json")
    assert float(re.findall(r"answers: ([\d.]+)%", scored.out)[0]) > 90
    report = json.loads(Path("s.json").read_text())
    assert report["answers"] > 90 and report["yes"]["gold"] == 30
    judged = run("judge", "m", file("answers"), "--out", f"judged{ending(name)}")
    assert judged.err == ""
    form = next(iter(entry_named(name).formats.values()))
    items = form.read(f"judged{ending(name)}", "inputs")
    scores = load_model("m").judge([item.x for item in items])
    assert [item.good for item in items] == (scores >= 0).tolist()
    entry, plain = entry_named(name), load_model("m").structure.plain
    outputs = [entry.output(plain, item, "gold") for item in form.read(f"judged{ending(name)}", "gold")]
    assert outputs == load_model("m").predict([item.x for item in items])


@pytest.mark.parametrize("name", ["alignment", "letters"])
def test_rankings(run: Run, made: Any, name: str) -> None:
    file = made(name, 40)
    companions = ("--good", file("good"), "--shuffle-good", 3)
    run("train", "--structure", name, "--gold", file("gold"), *companions, *FEW[name], "--out", "m")
    scored = run("evaluate", "m", file("test"), "--by", "ranking", "--all", "--json", "s.json")
    report = json.loads(Path("s.json").read_text())
    assert report["queries"] == 40 and report["mean_reciprocal_rank"] >= report["top_1"] > 60
    assert f"top-1: {report['top_1']:.2f}%" in scored.out
    lines = [line.split("\t") for line in run("rank", "m", file("test"), "--all", "--top", 3).out.splitlines()]
    assert len(lines) == 120
    queries = [lines[k : k + 3] for k in range(0, 120, 3)]
    assert all(len({line[0] for line in query}) == 1 for query in queries)
    assert all(float(a[4]) >= float(b[4]) for query in queries for a, b in pairwise(query))
    first = sum(query[0][3] == "yes" for query in queries)
    assert 100 * first / 40 == pytest.approx(report["top_1"], abs=2.6)  # ties count half
    one = run("evaluate", "m", file("test"), "--by", "ranking", "--all", "--against", "m").out
    assert one.count(f"top-1: {report['top_1']:.2f}%") == 2
    bare = run("evaluate", "m", file("good"), "--by", "ranking", code=2).err
    assert bare.startswith(f"error: {file('good')}: no candidate is marked as right; mark right ones")


def test_groups_of_candidates(run: Run, made: Any) -> None:
    file = made("tree", 12)
    run("train", "--structure", "tree", "--good", file("good"), "--bad", file("bad"), *FEW["tree"], "--out", "m")
    text = Path(file("answers")).read_text().split("\n\n")[:-1]
    grouped = [f"# group = {k % 12}\n{block}" for k, block in enumerate(text)]
    Path("groups.conllu").write_text("\n\n".join(grouped) + "\n\n")
    out = run("evaluate", "m", "groups.conllu", "--by", "ranking").out
    assert "queries: 12" in out and "top-1: 100.00%" in out
    ranked = run("rank", "m", "groups.conllu").out.split("\n\n")[:-1]
    assert [re.findall("# group = (.*)", block)[0] for block in ranked] == [str(k // 2) for k in range(24)]
    assert [re.findall("# good = (.*)", block)[0] for block in ranked] == ["yes", "no"] * 12
    refused = run("rank", "m", "groups.conllu", "--all", code=2).err
    assert refused == "error: --all pairs the two sides of inputs, and these have none; give them groups instead\n"


def test_judging_labels(run: Run) -> None:
    run("generate", "chain", "--out", "c", "--count", 15)
    files = ("--gold", "c/gold.txt", "--good", "c/good.txt", "--bad", "c/bad.txt")
    run("train", *files, "--learner", "jlis", "--max-rounds", 30, "--out", "m")
    lines = [line.split("\t") for line in run("judge", "m", "c/good.txt").out.splitlines()]
    assert len(lines) == 15 and all(line[0] == ("yes" if float(line[1]) >= 0 else "no") for line in lines)
    tokens, labels = zip(*(cell.rpartition("/")[::2] for cell in lines[0][2].split()))
    assert list(labels) == load_model("m").predict([[(token,) for token in tokens]])[0]
    Path("two.jsonl").write_text('{"tokens": ["a", "."], "good": true, "id": 7}\n{"tokens": ["b"], "good": false}\n')
    found = [json.loads(line) for line in run("judge", "m", "two.jsonl").out.splitlines()]
    assert [set(one) for one in found] == [{*KEYS, "id"}, KEYS]
    assert "of 2)" in run("evaluate", "m", "two.jsonl", "--by", "answers").out
    assert "queries: 1" in run("evaluate", "m", "two.jsonl", "--by", "ranking").out
    run("train", "--good", "c/good.txt", "--bad", "c/bad.txt", "--labels", "a,b", "--learner", "lclr", "--out", "n")
    assert len(run("judge", "n", "c/bad.txt").out.splitlines()) == 15


def test_a_model_without_answers_says_so(run: Run, made: Any) -> None:
    file = made("letters", 5)
    run("train", "--structure", "letters", "--gold", file("gold"), *FEW["letters"], "--out", "m")
    assert run("judge", "m", file("test")).err.startswith("note: the model has not learned from good and bad inputs")
    companions = ("--good", file("good"), "--bad", file("bad"), "--max-rounds", 2)
    run("train", "--structure", "letters", "--gold", file("gold"), *companions, *FEW["letters"], "--out", "n")
    told = run("judge", "n", file("test")).err
    assert told.startswith("note: training ended before it used good and bad inputs, so its answers mean little")


def test_a_table_of_letters_is_where_learning_begins(run: Run, made: Any) -> None:
    file = made("letters", 10)
    Path("table.tsv").write_text("b\tב\nd\tד\t2\n\n", encoding="utf-8")
    companions = ("--good", file("good"), "--bad", file("bad"), *FEW["letters"])
    run("train", "--structure", "letters", *companions, "--start", "table.tsv", "--out", "m")
    plain = load_model("m").structure.plain
    read = next(iter(entry_named("letters").formats.values())).read
    xs = [item.x for part in ("good", "bad") for item in read(file(part), "inputs")]
    start = plain.weights({("b", "ב"): 1.0, ("d", "ד"): 2.0})
    fitted = sl.LatentClassifier(plain, start=start, C=1.0).fit(xs, [1] * 10 + [-1] * (len(xs) - 10))
    assert np.allclose(fitted.weights_, load_model("m").weights, atol=1e-6)
    Path("bad.tsv").write_text("b\n")
    failed = run("train", "--structure", "letters", *companions, "--start", "bad.tsv", "--out", "m", code=2)
    assert failed.err == (
        "error: bad.tsv:1: not an entry of a table: 'b'; write two symbols, and what linking them is worth, with tabs "
        "between\n"
    )


def test_prices_are_chosen_by_the_scores_of_the_structure(run: Run, made: Any) -> None:
    file = made("tree", 10)
    gold = ("--gold", file("gold"), "--valid", file("test"), "--grid", "0.01,1")
    out = run("train", "--structure", "tree", *gold, *FEW["tree"], "--out", "m").out
    rows = [line.split() for line in out.splitlines()[1:3]]
    assert out.splitlines()[0].split() == ["C1", "UAS"] and [row[0] for row in rows] == ["0.01", "1"]
    best = max(rows, key=lambda row: float(row[1].rstrip("%")))
    assert f"UAS: {best[1]}" in run("evaluate", "m", file("test")).out
    answers = ("--companion", file("answers"), "--valid", file("answers"), "--grid", "0.01,1")
    out = run("train", "--structure", "tree", *answers, *FEW["tree"], "--out", "n").out
    assert out.splitlines()[0].split() == ["C2", "answers"]


def test_other_evidence_of_trees(run: Run) -> None:
    head = "1\tthe\t_\tDET\t_\t_\t{}\t{}\t_\t_\n2\tlight\t_\tNOUN\t_\t_\t{}\t{}\t_\t_\n"
    Path("gold.conllu").write_text(head.format(2, "det", 0, "root") + "\n")
    Path("some.conllu").write_text(head.format("_", "det", 0, "_") + "\n")
    Path("open.conllu").write_text(head.format("2|0", "_", "_", "root|det") + "\n")
    kinds = ("--partial", "some.conllu", "--candidates", "open.conllu")
    run("train", "--structure", "tree", "--gold", "gold.conllu", *kinds, *FEW["tree"], "--out", "m")
    assert run("predict", "m", "some.conllu").out == head.format(2, "det", 0, "root") + "\n"
    plain = ("--set", "relations=none", "--set", "projective=false")
    run("train", "--structure", "tree", "--gold", "gold.conllu", *kinds, *FEW["tree"], *plain, "--out", "n")
    structure = load_model("n").structure.plain
    assert structure.relations == () and not structure.projective and structure.bits == 14
    assert run("predict", "n", "some.conllu").out == head.format(2, "_", 0, "_") + "\n"
    assert "LAS" in run("evaluate", "m", "gold.conllu").out and "LAS" not in run("evaluate", "n", "gold.conllu").out


def test_other_evidence_of_pairs(run: Run) -> None:
    Path("gold.tsv").write_text("shi\tSI\t0-0 1-0 2-1\n")
    Path("some.tsv").write_text("shia\tSI\t0-0 1-0 3-\n")
    pair = '{"left": "shi", "right": ["S", "I"], "candidates": [[[[0, 2], [0, 1]], [[0, 1], [0, 1]]], null, [null]]}'
    Path("open.jsonl").write_text(pair + "\n")
    kinds = ("--gold", "gold.tsv", "--partial", "some.tsv", "--candidates", "open.jsonl")
    run("train", "--structure", "alignment", *kinds, *FEW["alignment"], "--set", "longest=2,1", "--out", "m")
    assert load_model("m").structure.plain.longest == (2, 1)
    assert run("predict", "m", "gold.tsv").out == "shi\tSI\t0-0 1-0 2-1\n"
    found = json.loads(run("predict", "m", "open.jsonl").out)
    assert found["right"] == ["S", "I"] and found["links"] == [[0, 0], [1, 0], [2, 1]] and "candidates" in found
    Path("one.jsonl").write_text('{"left": "shi", "right": "SI", "candidates": [[0, 1], null, [null, 1]]}\n')
    Path("gold.tsv").write_text("shi\tSI\t0-0 2-1\n")
    run("train", "--structure", "letters", "--gold", "gold.tsv", "--candidates", "one.jsonl", *FEW["letters"],
        "--partial", "some-letters.tsv", "--out", "m", code=2)  # fmt: skip
    Path("some-letters.tsv").write_text("shi\tSI\t0-0 1-\n")
    run("train", "--structure", "letters", "--gold", "gold.tsv", "--candidates", "one.jsonl", *FEW["letters"],
        "--partial", "some-letters.tsv", "--out", "m")  # fmt: skip
    assert run("predict", "m", "gold.tsv").out == "shi\tSI\t0-0 2-1\n"


def graph(*words: str, edges: Any = ()) -> dict[str, Any]:
    return {"words": list(words), "edges": list(edges)}


def test_other_evidence_of_graphs(run: Run) -> None:
    pair = {"first": graph("a", "b", edges=[[0, 1, "x"]]), "second": graph("a", "b", edges=[[0, 1]])}
    Path("gold.jsonl").write_text(json.dumps({**pair, "links": [[0, 0], [1, 1]]}))
    Path("some.jsonl").write_text(json.dumps({**pair, "links": [[0, 0], [1, None]], "weight": 0.5}))
    Path("open.jsonl").write_text(json.dumps({**pair, "candidates": {"1": [1, None]}}))
    kinds = ("--gold", "gold.jsonl", "--partial", "some.jsonl", "--candidates", "open.jsonl")
    run("train", "--structure", "graph", *kinds, *FEW["graph"], "--out", "m")
    assert json.loads(run("predict", "m", "open.jsonl").out)["links"] == [[0, 0], [1, 1]]


def test_time_runs_out(run: Run) -> None:
    rng = np.random.default_rng(0)
    size = 14
    sides = []
    for _ in range(2):
        edges = [[int(a), int(b)] for a in range(size) for b in range(size) if a != b and rng.random() < 0.4]
        sides.append(graph(*(f"{'abc'[k % 3]}" for k in range(size)), edges=edges))
    pair = {"first": sides[0], "second": sides[1]}
    easy = {"first": graph("a", edges=[]), "second": graph("a", edges=[])}
    Path("hard.jsonl").write_text(json.dumps(pair) + "\n" + json.dumps(easy) + "\n")
    small = {"first": graph("a", "b", edges=[[0, 1]]), "second": graph("b", "a", edges=[[1, 0]])}
    Path("gold.jsonl").write_text(json.dumps({**small, "links": [[0, 1], [1, 0]]}))
    run("train", "--structure", "graph", "--gold", "gold.jsonl", *FEW["graph"], "--out", "m")
    found = run("predict", "m", "hard.jsonl", "--seconds", 0.01)
    first, second = (json.loads(line) for line in found.out.splitlines())
    assert first["proven"] is False and "proven" not in second and first["links"]
    assert found.err == (
        "note: 1 of 2 outputs are not proved to be the best: time ran out, or a relaxation was rounded; more --seconds "
        "help\n"
    )


def test_structures_are_listed(run: Run) -> None:
    told = run("structures").out
    for name in ("chain", "segments", *NAMES):
        assert any(line.split()[:1] == [name] for line in told.splitlines())
        assert run("structures", name).out.startswith(f"{name}: ")
    graphs = run("structures", "graph").out
    assert "longest" in run("structures", "alignment").out and "similarity" not in graphs
    assert "'none' or 'words' or 'words and relations'" in graphs and "'both' or 'first'" in graphs
    assert "'paper' or 'rich'" in run("structures", "relations").out
    assert run("structures", "poem", code=2).err.startswith("error: --structure is 'poem'; there are chain, segments, ")


@pytest.mark.parametrize("name", ["chain", *NAMES])
def test_generated_files_are_the_same_for_the_same_seed(run: Run, name: str) -> None:
    for folder, seed in (("one", 3), ("two", 3), ("three", 4)):
        run("generate", name, "--out", folder, "--count", 4, "--seed", seed)
    texts = {folder: {path.name: path.read_bytes() for path in Path(folder).iterdir()} for folder in ("one", "two")}
    assert texts["one"] == texts["two"]
    assert all(path.read_bytes() != texts["one"][path.name] for path in Path("three").iterdir() if path.suffix != ".py")


def test_relations_under_rules(run: Run, made: Any) -> None:
    file = made("relations", 30)
    rules = ("--rules", "relations/rules.py")
    run("train", "--structure", "relations", "--gold", file("gold"), *rules, "--out", "m")
    told = run("predict", "m", file("good"), *rules)
    assert told.err == ""
    arguments = {"Live_In": ("Peop", "Loc"), "Work_For": ("Peop", "Org"), "OrgBased_In": ("Org", "Loc")}
    found = [json.loads(line) for line in told.out.splitlines()]
    for entry in found:
        types = [entity["type"] for entity in entry["entities"]]
        assert all((types[one["head"]], types[one["tail"]]) == arguments[one["type"]] for one in entry["relations"])
    assert sum(len(entry["relations"]) for entry in found) > 10
    missing = run("predict", "m", file("good"))
    assert missing.err == (
        "note: the model was trained under the rules argument_types; --rules FILE.py predicts under them\n"
    )
    assert missing.out != told.out
    why = run("explain", "m", file("test"), *rules).out
    assert "margin" in why and "('" not in why
    assert "relation none" in run("weights", "m", "--label", "relation none", "--top", 2).out
    assert "; give one of entity Loc, " in run("weights", "m", "--label", "none", code=2).err
    for command in (("judge", "m", file("good")), ("evaluate", "m", file("test"), "--json", "s.json")):
        assert run(*command, *rules).out
    assert json.loads(Path("s.json").read_text())["relations"]["f1"] > 60


def test_other_evidence_of_relations(run: Run) -> None:
    spans = [{"start": 0, "end": 1}, {"start": 2, "end": 3}]

    def line(*types: Any, relations: Any = ()) -> str:
        entities = [{**span, **({} if type_ is None else {"type": type_})} for span, type_ in zip(spans, types)]
        return json.dumps({"tokens": ["Ann", "left", "Oslo"], "entities": entities, "relations": list(relations)})

    known = {"type": "Live_In", "head": 0, "tail": 1}
    Path("gold.jsonl").write_text(line("Peop", "Loc", relations=[known]))
    Path("some.jsonl").write_text(line(None, "Loc", relations=[{**known, "type": "none"}]))
    Path("open.jsonl").write_text(line(["Peop", "Loc"], None, relations=[{**known, "type": ["Live_In", "none"]}]))
    kinds = ("--gold", "gold.jsonl", "--partial", "some.jsonl", "--candidates", "open.jsonl")
    run("train", "--structure", "relations", *kinds, "--unlabeled", "some.jsonl", "--price", "partial=0", "--out", "m")
    assert json.loads(run("predict", "m", "some.jsonl").out) == json.loads(line("Peop", "Loc", relations=[known]))
    plain = load_model("m").structure.plain
    assert plain.types == ("Loc", "Peop") and plain.relations == ("Live_In",)
    for text, problem in (
        (line(None, None), "bad.jsonl:1: entities without types; give every entity a type"),
        (line(3, "Loc"), "bad.jsonl:1: entity 0 has the type 3"),
        ('{"tokens": ["a"], "entities": []}', "bad.jsonl:1: a sentence without entities; leave it out"),
        ('{"tokens": ["a"], "entities": [{"start": 0, "end": 2}]}', "bad.jsonl:1: entity 0 is from 0 to 2 of 1 tokens"),
        (line("Peop", "Loc", relations=[{**known, "tail": 5}]), "bad.jsonl:1: the relation Live_In is with entity 5"),
    ):
        Path("bad.jsonl").write_text(text)
        failed = run("train", "--structure", "relations", "--gold", "bad.jsonl", "--out", "n", code=2)
        assert failed.err.startswith(f"error: {problem}"), failed.err


def test_relations_that_cannot_be_are_left_out(run: Run) -> None:
    entry = {"tokens": ["Ann", "left", "Oslo"], "entities": [{"start": 0, "end": 1, "type": "P"}]}
    entry["entities"] += [{"start": 2, "end": 3, "type": "L"}]
    two = [{"type": name, "head": 0, "tail": 1} for name in ("in", "from")]
    lines = [{**entry, "relations": two[:1]}, {**entry, "relations": two}]
    Path("gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = run("train", "--structure", "relations", "--gold", "gold.jsonl", "--out", "m")
    assert told.err == (
        "note: 1 in --gold are left out, the first one at gold.jsonl:2: entities 0 and 1 have two relations; give one "
        "of them\n"
    )
    assert re.search(r"^evidence +1 gold$", told.out, re.M)
    Path("gold.jsonl").write_text(json.dumps(lines[1]))
    failed = run("train", "--structure", "relations", "--gold", "gold.jsonl", "--out", "m", code=2)
    assert failed.err.startswith("error: gold.jsonl:1: entities 0 and 1 have two relations")


def test_what_evidence_is_worth(run: Run, made: Any) -> None:
    file = made("letters", 5)
    few = ("--gold", file("gold"), "--set", "bits=10", "--jobs", 1)
    out = run(
        "worth", "--structure", "letters", *few, "--good", file("good"), "--bad", file("bad"), "--json", "w.json"
    ).out
    assert out.splitlines()[0].split()[:4] == ["trained", "on", "links", "F1"] and "gold + companion answers" in out
    assert json.loads(Path("w.json").read_text())["metric"] == "links F1"
    for arguments, problem in (
        (("--metric", "accuracy"), "--metric is about labels of tokens, and there are none in letters; leave it out"),
        (("--rules", "r.py"), "--rules is about labels of tokens, and there are none in letters; leave it out"),
        (("--set", "order=2"), "--set is 'order=2'; letters has the options crossing, bits, and jlis has restarts"),
        ((), "no evidence besides Gold to measure; give other evidence, or rules"),
    ):
        found = run("worth", "--structure", "letters", *few, *arguments, code=2)
        assert found.err == f"error: {problem}\n"
