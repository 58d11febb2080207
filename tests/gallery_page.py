"""The page of the examples, with what each prints: python tests/gallery_page.py > docs/gallery.md"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "examples"
HEAD = """# Gallery

The programs in the folder `examples`, one idea each, with generated data. The tests run all of them and compare their
output with this page. Each takes less than ten seconds once kernels are compiled.
"""
ORDER = {
    "mixed_evidence": "Mixed evidence",
    "partial_labels": "Partial labels",
    "dictionary": "A dictionary",
    "companions": "Good and bad inputs",
    "rules": "Rules",
    "advertisements": "Rules about words",
    "votes": "Labelling functions",
    "entities": "Joint decisions",
    "parser": "A parser",
    "letters_to_sounds": "Alignment of strings",
    "latent_alignment": "Latent structures",
    "own_structure": "Your own structure",
    "from_crfsuite": "From CRFsuite",
}


class Done(NamedTuple):
    """What an example printed."""

    code: int
    printed: str
    errors: str


def run(name: str, folder: Path) -> Done:
    """Run an example in a folder."""
    command = [sys.executable, str(FOLDER / f"{name}.py")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def idea(name: str) -> str:
    """The idea of an example: the first paragraph of its docstring."""
    text = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def section(name: str, printed: str) -> str:
    """An example on the page."""
    code = f'```py\n--8<-- "examples/{name}.py"\n```'
    head = f"## {ORDER[name]} {{#{name}}}"
    return f"\n{head}\n\n`examples/{name}.py`: {idea(name)}\n\n{code}\n\n```text\n{printed.rstrip()}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(HEAD + "".join(section(name, run(name, FOLDER.parent).printed) for name in ORDER))
