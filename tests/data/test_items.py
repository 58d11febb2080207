"""Files of structures: what is written reads as the same, and whatever is wrong is named with its line and a remedy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidelight.data.conllu import read_sentences, write_sentences
from sidelight.data.graphs import Graph, read_graphs, write_graphs
from sidelight.data.items import Item
from sidelight.data.pairs import read_pair_objects, read_pairs, write_pair_objects, write_pairs
from sidelight.errors import DataError

DRAWN = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
symbols = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff")
words = st.text(symbols, min_size=1, max_size=6).filter(lambda text: bool(text.strip()))
cells = st.text(symbols, min_size=1, max_size=5).filter(lambda text: text == text.strip())
answers = st.none() | st.booleans()
weights = st.just(1.0) | st.floats(0, 100)
groups = st.none() | st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4)


@st.composite
def links(draw: Any, sizes: tuple[int, int]) -> tuple[tuple[int, int | None], ...]:
    """Links, some with nothing, in their order."""
    found = draw(st.sets(st.tuples(st.integers(0, sizes[0] - 1), st.integers(0, sizes[1] - 1)), max_size=5))
    free = sorted(set(range(sizes[0])) - {i for i, _ in found})
    nothing = draw(st.sets(st.sampled_from(free))) if free else set()
    both: list[tuple[int, int | None]] = [*found, *((i, None) for i in nothing)]
    return tuple(sorted(both, key=lambda link: (link[0], -1 if link[1] is None else link[1])))


@st.composite
def pairs(draw: Any, strings: Any = words) -> Item:
    x = draw(strings), draw(strings)
    return Item(x, draw(links((len(x[0]), len(x[1])))), draw(answers))


@st.composite
def graphs(draw: Any) -> Graph:
    tokens = draw(st.lists(st.tuples(words, st.text(max_size=3)), min_size=1, max_size=4))
    ends = st.tuples(st.integers(0, len(tokens) - 1), st.integers(0, len(tokens) - 1))
    edges = draw(st.dictionaries(ends, st.text(max_size=3), max_size=4))
    return Graph(tuple(tokens), tuple((a, b, label) for (a, b), label in edges.items()))


@st.composite
def graph_items(draw: Any) -> Item:
    x = draw(graphs()), draw(graphs())
    rights = draw(st.permutations(range(len(x[1].words))))
    lefts = draw(st.permutations(range(len(x[0].words))))
    count = draw(st.integers(0, min(len(lefts), len(rights))))
    said = tuple(sorted(zip(lefts[:count], rights[:count])))
    return Item(x, said, draw(answers), draw(groups), draw(weights))


@st.composite
def sentences(draw: Any) -> Item:
    x = tuple(draw(st.lists(st.tuples(cells, cells), min_size=1, max_size=5)))
    order = draw(st.permutations(range(1, len(x) + 1)))  # every token has a head before it in this order
    heads = {token: draw(st.sampled_from([0, *order[:k]])) for k, token in enumerate(order)}
    said = tuple((heads[t], draw(cells)) for t in range(1, len(x) + 1))
    return Item(x, said, draw(answers), draw(groups), draw(weights))


def read_back(text: str, read: Any, tmp_path: Path) -> list[Item]:
    path = tmp_path / "file"
    path.write_bytes(text.encode("utf-8"))
    return read(path, "partial" if read is not read_sentences else "gold")


@DRAWN
@given(st.lists(pairs(), min_size=1, max_size=4))
def test_pairs_are_read_as_they_were_written(tmp_path: Path, items: list[Item]) -> None:
    assert read_back(write_pairs(items), read_pairs, tmp_path) == items


@DRAWN
@given(st.lists(pairs(words | st.lists(words, min_size=1, max_size=4).map(tuple)), min_size=1, max_size=4))
def test_so_are_pairs_in_json_lines(tmp_path: Path, items: list[Item]) -> None:
    assert read_back(write_pair_objects(items), read_pair_objects, tmp_path) == items


@DRAWN
@given(st.lists(graph_items(), min_size=1, max_size=3))
def test_so_are_graphs(tmp_path: Path, items: list[Item]) -> None:
    assert read_back(write_graphs(items), read_graphs, tmp_path) == items


@DRAWN
@given(st.lists(sentences(), min_size=1, max_size=3))
def test_so_are_sentences(tmp_path: Path, items: list[Item]) -> None:
    text = write_sentences(items)
    found = read_back(text, read_sentences, tmp_path)
    assert found == items
    assert write_sentences(found) == text


def test_what_is_not_looked_at_stays(tmp_path: Path) -> None:
    text = (
        "# sent_id = 7\n# text = du soleil\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tde\tde\tADP\tP\tx=y\t3\tcase\t3:case\ta=b\n"
        "2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\n3\tsoleil\t_\tNOUN\t_\t_\t0\troot\t_\t_\n3.1\tvide\t_\t_\t_\t_\t_\t_\t_\t_\n"
    )
    path = tmp_path / "a.conllu"
    path.write_text(text)
    (item,) = read_sentences(path)
    assert item.x == (("de", "ADP"), ("le", "DET"), ("soleil", "NOUN")) and item.output is None
    filled = write_sentences([replace(item, output=((2, "fixed"), (0, "root"), (2, None)), good=False, score=-0.5)])
    assert filled.split("\n")[:6] == [
        "# good = no",
        "# score = -0.5",
        "# sent_id = 7",
        "# text = du soleil",
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_",
        "1\tde\tde\tADP\tP\tx=y\t2\tfixed\t_\ta=b",
    ]
    pair = {"id": 4, "left": "ab", "right": "x", "note": "é"}
    (tmp_path / "a.jsonl").write_text(json.dumps(pair))
    (one,) = read_pair_objects(tmp_path / "a.jsonl")
    written = json.loads(write_pair_objects([replace(one, output=((0, 0),), proven=False, score=1.5)]))
    assert written == {**pair, "links": [[0, 0]], "proven": False, "score": 1.5}


@pytest.mark.parametrize(
    ("x", "problem"),
    [(("a\tb", "x"), "a tab"), (("a", ""), "empty"), ((("a", "b"), "x"), "listed"), ((" ", " "), "not be read again")],
)
def test_pairs_that_a_line_cannot_hold(x: Any, problem: str) -> None:
    with pytest.raises(DataError, match=f"pair 1: .*{problem}.*; change it, or write JSON lines"):
        write_pairs([Item(("a", "b")), Item(x)])


ONE = "1\ta\t_\tN\t_\t_\t{}\tx\t_\t_\n"
TWO = ONE.format(2) + "2\tb\t_\tN\t_\t_\t{}\tx\t_\t_\n"
G = {"words": ["a", "b"], "edges": [[0, 1]]}


def graph_line(**more: Any) -> str:
    return json.dumps({"first": G, "second": G, **more})


@pytest.mark.parametrize(
    ("read", "kind", "text", "problem", "remedy"),
    [
        (read_pairs, "gold", "", "file: no pairs", "write a pair a line"),
        (read_pairs, "gold", "ab\n", "file:1: one string where two", "put a tab between"),
        (read_pairs, "gold", "ab\tx\t0-0\n\tx\t0-0\n", "file:2: the left string is empty", "leave the pair out"),
        (read_pairs, "unlabeled", "ab\t\n", "file:1: the right string is empty", "leave the pair out"),
        (read_pairs, "gold", "ab\tx\n", "file:1: no links", "add them after a tab"),
        (read_pairs, "gold", "ab\tx\tyes\n", "file:1: no links", "add them after a tab"),
        (read_pairs, "gold", "ab\tx\t0:0\n", "file:1: not a link: '0:0'", "write links as 0-0"),
        (read_pairs, "gold", "ab\tx\t2-0\n", "file:1: a link to left position 2, where there are 2", "from 0 to 1"),
        (read_pairs, "gold", "ab\tx\t0-1\n", "file:1: a link to right position 1, where", "from 0 to 0"),
        (read_pairs, "partial", "ab\tx\t0- 0-0\n", "file:1: left position 0 is linked, and linked with", "leave one"),
        (read_pairs, "gold", "ab\tx\t0-0\tmaybe\n", "file:1: 'maybe' after the pair", "yes or no"),
        (read_pairs, "companion", "ab\tx\t0-0\n", "file:1: neither yes nor no", "add yes or no"),
        (read_pairs, "candidates", "ab\tx\t0-0\n", "file:1: candidates need JSON lines", '"candidates"'),
        (read_pair_objects, "gold", "\n", "file: no inputs", "one JSON object a line"),
        (read_pair_objects, "gold", "{", "file:1: not JSON", "one JSON object"),
        (read_pair_objects, "gold", '{"left": "a"}', 'file:1: no "right"', 'give "left" and "right"'),
        (read_pair_objects, "gold", '{"left": "", "right": "x"}', "file:1: the left string is empty", "leave"),
        (read_pair_objects, "gold", '{"left": [], "right": "x"}', "file:1: the left string is empty", "leave"),
        (read_pair_objects, "gold", '{"left": [1], "right": "x"}', 'file:1: "left" is [1]', "a list of symbols"),
        (read_pair_objects, "gold", '{"left": "a", "right": "x", "link": []}', "file:1: unknown key 'link'", "'links'"),
        (read_pair_objects, "gold", '{"left": "a", "right": "x", "links": 3}', 'file:1: "links" is 3', "[[0, 0]"),
        (read_pair_objects, "gold", '{"left": "a", "right": "x", "links": [["0", 0]]}', "file:1: a link to left", "0"),
        (read_pair_objects, "gold", '{"left": "a", "right": "x", "links": [[true, 0]]}', "file:1: a link to left", "0"),
        (read_pair_objects, "companion", '{"left": "a", "right": "x"}', 'file:1: no "good"', "true or"),
        (read_pair_objects, "good", '{"left": "a", "right": "x", "weight": -1}', 'file:1: "weight" is -1', "0 or more"),
        (read_pair_objects, "good", '{"left": "a", "right": "x", "group": 1}', 'file:1: "group" is 1', "a text"),
        (read_pair_objects, "candidates", '{"left": "a", "right": "x"}', "file:1: no candidates", "add candidates"),
        (read_graphs, "gold", '{"first": {}}', 'file:1: "first" is not a graph', "write e.g."),
        (read_graphs, "gold", graph_line(), 'file:1: no "links"', "add"),
        (read_graphs, "good", graph_line(first={"words": ["a"], "edges": [[0, 3]]}),
         "file:1: the first graph has an edge (0, 3), and no word 3", "give words from 0 to 0"),
        (read_graphs, "good", graph_line(second={"words": []}), "file:1: the second graph has no words", "leave"),
        (read_graphs, "good", graph_line(second={"words": ["a", 1]}), 'file:1: "second" has the word 1', '"light"'),
        (read_graphs, "good", graph_line(second={"words": ["a"], "edges": [[0]]}), 'file:1: "second" has the', "1"),
        (read_graphs, "good", graph_line(first={"words": ["a", "b"], "edges": [[0, 1], [0, 1, "x"]]}),
         "file:1: the first graph has two edges between the same words", "give one"),
        (read_graphs, "gold", graph_line(links=[[0, 0], [1, 0]]), "file:1: a word is mapped twice", "once at most"),
        (read_graphs, "gold", graph_line(links=[[0, 2]]), "file:1: a link to right position 2", "from 0 to 1"),
        (read_graphs, "candidates", graph_line(), 'file:1: no "candidates"', '{"0": [1, null]}'),
        (read_graphs, "candidates", graph_line(candidates={"9": [0]}), "file:1: the candidates", "of the first graph"),
        (read_graphs, "candidates", graph_line(candidates={"0": [5]}), "file:1: word 0 has the candidate 5", "null"),
        (read_sentences, "gold", "# nothing\n\n", "file: no sentences", "ten columns"),
        (read_sentences, "gold", "1\ta\n", "file:1: not a token in 10 columns", "ten columns"),
        (read_sentences, "gold", ONE.format(0).replace("1", "2", 1), "file:1: token 2 where 1 was", "from 1 on"),
        (read_sentences, "gold", ONE.format("_"), "file:1: the head of a token is '_'", "0 for the root"),
        (read_sentences, "gold", ONE.format("x"), "file:1: the head of a token is 'x'", "0 for the root"),
        (read_sentences, "gold", ONE.format(1), "file:1: token 1 of a sentence of 1 has the head 1", "another token"),
        (read_sentences, "gold", TWO.format(3), "file:2: token 2 of a sentence of 2 has the head 3", "another token"),
        (read_sentences, "gold", TWO.format(1), "file:1: the heads of token 1 lead back to it", "lead to the root"),
        (read_sentences, "candidates", ONE.format("0|"), "file:1: the head of a token is '0|'", "or _ where"),
        (read_sentences, "companion", ONE.format(0), "file:1: a sentence without an answer", "# good = yes"),
        (read_sentences, "good", "# good = maybe\n" + ONE.format(0), "file:1: good is 'maybe'", "yes or no"),
        (read_sentences, "good", "# weight = -2\n" + ONE.format(0), "file:1: the weight is '-2'", "0 or more"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Any, kind: str, text: str, problem: str, remedy: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text(text)
    with pytest.raises(DataError) as caught:
        read("file", kind)
    assert str(caught.value).startswith(problem)
    assert remedy in (caught.value.remedy or "")


@DRAWN
@given(st.sampled_from([read_pairs, read_pair_objects, read_graphs, read_sentences]), st.data())
def test_any_text_is_read_or_refused_with_a_remedy(tmp_path: Path, read: Any, data: Any) -> None:
    whole = {
        read_pairs: "shi\tSI\t0-0 1-0\tyes\n",
        read_pair_objects: '{"left": "ab", "right": "x", "links": [[0, 0]]}',
        read_graphs: graph_line(links=[[0, 0]]),
        read_sentences: TWO.format(0),
    }[read]
    at = data.draw(st.integers(0, len(whole)))
    cut = data.draw(st.integers(0, 3))
    text = whole[:at] + data.draw(st.text('0123-|_\t\n {}[]",:aé', max_size=4)) + whole[at + cut :]
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    for kind in ("gold", "partial", "candidates", "companion", "inputs"):
        try:
            assert read(path, kind)
        except DataError as error:
            assert error.remedy and error.file == str(path)
