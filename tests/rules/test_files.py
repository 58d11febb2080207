"""Files of rules: run as scripts are, and refused with the line where they go wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sidelight.errors import DataError
from sidelight.rules import Sentence, read_rules

ONE = "from sidelight.rules import rule\n@rule\ndef one(x, y):\n    return y[0] == 'A'\n"


def _written(folder: Path, text: str, name: str = "mine.py") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def test_modules_beside_the_file_can_be_imported_each_folder_its_own(tmp_path: Path) -> None:
    before = list(sys.path)
    for wanted in ("A", "B"):
        folder = tmp_path / wanted
        _written(folder, f"WANTED = {wanted!r}\n", "wanted_here.py")
        path = _written(folder, "import wanted_here\n" + ONE.replace("'A'", "wanted_here.WANTED"))
        (first,) = read_rules(path)
        assert first.violations(Sentence(["x"]), [wanted]) == 0 and first.violations(Sentence(["x"]), ["C"]) == 1
        assert not (folder / "__pycache__").exists()
    assert sys.path == before and "wanted_here" not in sys.modules


def test_what_a_file_defines_has_a_module(tmp_path: Path) -> None:
    made = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Pair:\n    word: str\n    label: str\nPAIR = Pair('x', 'A')\n"
    )
    (one,) = read_rules(_written(tmp_path, made + ONE.replace("'A'", "PAIR.label")))
    assert one.violations(Sentence(["x"]), ["A"]) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys\nsys.exit()\n", r"mine.py:2: the file ends the program: SystemExit\(None\); leave it out"),
        ("raise SystemExit(3)\n", r"mine.py:1: the file ends the program: SystemExit\(3\)"),
        (ONE + "RULES = one\n", r"mine.py: RULES is the rule one; give a list of rules: \[one\]"),
        (ONE + "RULES = [one, len]\n", r"mine.py: RULES has <built-in function len>; make a rule of a function with @"),
        (ONE + "rules = [one, len]\n", r"mine.py: rules has <built-in function len>; make a rule of a function with @"),
        (ONE + "RULES = 3\n", r"mine.py: RULES is 3; give a list of rules"),
        (ONE + "RULES = []\n", r"mine.py: the file has no rules"),
        ("import nowhere_at_all\n", r"mine.py:1: ModuleNotFoundError"),
        ("x = 1\nif x\n", r"mine.py:2: expected ':'; correct the syntax"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, said: str) -> None:
    before = set(sys.modules)
    with pytest.raises(DataError, match=said):
        read_rules(_written(tmp_path, text))
    assert not [name for name in set(sys.modules) - before if name.startswith("sidelight_rules")]


def test_a_syntax_error_beside_the_file_is_named_where_it_is(tmp_path: Path) -> None:
    _written(tmp_path, "x = = 1\n", "broken_beside.py")
    with pytest.raises(DataError, match=r"broken_beside.py:1: invalid syntax"):
        read_rules(_written(tmp_path, "import broken_beside\n" + ONE))
