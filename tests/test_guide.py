"""The code of the pages runs, block after block, and gives what its comments say."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sidelight as sl
from sidelight.corpus import references
from sidelight.rules import gallery

ROOT = Path(__file__).parent.parent
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
Names = Mapping[str, Any]


def said(line: str) -> Any:
    """The value in the comment of a line; `...` where the comment is prose or not there."""
    try:
        return ast.literal_eval(line.rpartition("  # ")[2].strip())
    except (SyntaxError, ValueError):
        return ...


def run(name: str, given: Mapping[int, Names]) -> int:
    """Run the blocks of a page, with names `given` before some of them; how many comments told a value."""
    page = (ROOT / name).read_text(encoding="utf-8")
    module = sys.modules["page"] = ModuleType("page")  # dataclasses look for their module
    names: dict[str, Any] = module.__dict__
    compared = 0
    for number, block in enumerate(PYTHON.finditer(page)):
        names |= given.get(number, {})
        above = page.count("\n", 0, block.start(1))
        lines = block[1].splitlines()
        for statement in ast.parse(block[1]).body:
            line = lines[(statement.end_lineno or 0) - 1]
            ast.increment_lineno(statement, above)
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), name, "exec", dont_inherit=True), names)
                continue
            value = eval(compile(ast.Expression(statement.value), name, "eval", dont_inherit=True), names)
            expected = said(line)
            if expected is not ...:
                compared += 1
                assert value == expected, f"line {statement.lineno} of {name} gives {value!r}"
    return compared


def cited(count: int, seed: int) -> tuple[list[Any], list[Any]]:
    """References and the fields of their tokens."""
    made = references(count, seed=seed)
    return [list(one.tokens) for one in made], [list(one.labels) for one in made]


def readme() -> Sequence[Names]:
    """What the blocks of the README take for granted."""
    xs, ys = cited(5, 1)
    many, _ = cited(15, 2)
    chunks = [["the", "light"], ["a", "small", "lamp"], ["it", "is", "on"]]
    bio = [["B-NP", "I-NP"], ["B-NP", "I-NP", "I-NP"], ["B-NP", "B-VP", "O"]]
    sets = [[[label, "O"] for label in y] for y in bio]
    some = [[label if t else None for t, label in enumerate(y)] for y in bio]
    dicts = [[{"word=" + word: 1.0} for word in x] for x in chunks]
    no_gold = [*sl.companion(chunks, +1), *sl.companion(sl.shuffled(chunks), -1)]
    pairs = [(["the", "house"], ["das", "Haus"]), (["the", "book"], ["das", "Buch"])]
    labels_by_kind, scores = {"entity": ["person", "place"]}, [{"entity": {0: [0.0, 1.0]}}]
    kinds = {"labels_by_kind": labels_by_kind, "rules_about_kinds": [], "xs": ["Oslo"], "scores": scores}
    return (
        {
            "sentences": xs,
            "labels": ys,
            "raw": many,
            "more": many[: len(xs)],
            "tag_sets": [[None] * len(x) for x in many[: len(xs)]],
            "new_sentences": xs,
        },
        {"X": chunks, "y": bio, "tag_sets": sets, "some_labels": some, "no_gold_at_all": no_gold},
        {"five": xs, "labels": ys, "many": many, "X": xs, "y": ys, **kinds},
        {"pairs": pairs, "new_pairs": pairs},
        {"X": dicts, "y": bio},
    )


def rules() -> Sequence[Names]:
    """What the page about rules takes for granted."""
    xs, ys = cited(5, 1)
    pool, _ = cited(5, 2)
    fields = sorted({label for y in ys for label in y})
    return ({"FIELDS": fields, "X": xs, "y": ys, "new": pool, "pool": pool, "other_rule": gallery.at_most(9, "title")},)


def snorkel() -> Sequence[Names]:
    """Three functions as Snorkel makes them, for the block that makes votes of them."""

    @dataclass
    class Alike:  # where Snorkel is not installed
        name: str
        f: Any

        def __call__(self, x: Any) -> int:
            return self.f(x)

    kind: Any = Alike
    if find_spec("snorkel") is not None:
        from snorkel.labeling import LabelingFunction as kind
    link = kind("has_link", lambda x: 0 if "http" in x.text else -1)
    short = kind("is_short", lambda x: 1 if len(x.text.split()) < 3 else -1)
    buy = kind("says_buy", lambda x: 0 if "buy" in x.text or "cheap" in x.text else -1)
    return ({}, {"lfs": [link, short, buy]})


LIBRARIES = {  # without them the code of a page is not run
    "docs/how_to/spacy.md": ["spacy"],
    "docs/how_to/export.md": ["onnx", "onnxruntime"],
    "docs/scale.md": ["ray"],
}
PAGES = [
    ("docs/guide.md", tuple, 15),
    ("README.md", readme, 0),
    ("docs/rules.md", rules, 0),
    ("docs/hidden_markov.md", tuple, 1),
    ("docs/alignment.md", tuple, 2),
    ("docs/votes.md", tuple, 2),
    ("docs/architecture.md", tuple, 12),
    ("docs/add_a_structure.md", tuple, 3),
    ("docs/add_a_scorer.md", tuple, 5),
    ("docs/structures.md", tuple, 11),
    ("docs/scale.md", tuple, 4),
    ("docs/sequential.md", tuple, 6),
    ("docs/index.md", tuple, 1),
    ("docs/quick_start.md", tuple, 3),
    ("docs/which_evidence.md", tuple, 0),
    ("docs/how_to/gold.md", tuple, 3),
    ("docs/how_to/partial_and_candidates.md", tuple, 1),
    ("docs/how_to/dictionary.md", tuple, 3),
    ("docs/how_to/companions.md", tuple, 3),
    ("docs/how_to/rules.md", tuple, 2),
    ("docs/how_to/unlabelled.md", tuple, 2),
    ("docs/how_to/votes.md", tuple, 2),
    ("docs/how_to/annotation_tools.md", tuple, 4),
    ("docs/how_to/tables.md", tuple, 3),
    ("docs/from_crfsuite.md", tuple, 6),
    ("docs/from_crfpp.md", tuple, 1),
    ("docs/from_wapiti.md", tuple, 1),
    ("docs/from_snorkel.md", snorkel, 5),
    ("docs/how_to/spacy.md", tuple, 8),
    ("docs/how_to/export.md", tuple, 4),
    ("docs/limits.md", tuple, 5),
    ("docs/add_a_solver.md", tuple, 3),
    ("docs/add_a_learner.md", tuple, 3),
]


@pytest.mark.filterwarnings("ignore::sidelight.errors.LeftOut")  # which a page shows
@pytest.mark.parametrize(("name", "given", "values"), PAGES)
def test_code_of_a_page(name, given, values, tmp_path, monkeypatch):
    for library in LIBRARIES.get(name, ()):
        pytest.importorskip(library, reason=f"the code of {name} needs {library}")
    monkeypatch.chdir(tmp_path)  # pages save models under their names
    assert run(name, dict(enumerate(given()))) >= values


def test_the_code_of_every_page_is_run():
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    coded = {str(path.relative_to(ROOT)) for path in found if PYTHON.search(path.read_text(encoding="utf-8"))}
    assert coded == {name for name, *_ in PAGES}


def test_a_structure_takes_at_most_sixty_lines():
    page = (ROOT / "docs" / "add_a_structure.md").read_text(encoding="utf-8")
    assert len(PYTHON.findall(page)[0].splitlines()) <= 60
