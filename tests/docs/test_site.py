"""The site builds without a warning, and shows without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="((?:https?:)?//[^"]*)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for needed in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(needed, reason="the site needs the extra docs: pip install -e '.[docs]'")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return out


def test_every_page_is_made(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert pages <= {path.relative_to(site) for path in site.rglob("*.html")}


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert LOADED.findall(path.read_text(encoding="utf-8")) == [], path.name


def test_the_reference_shows_objects_and_not_modules_of_the_same_name(site: Path) -> None:
    for path in (site / "api").glob("*.html"):
        headings = re.findall(
            r'<h2 id="([\w.]+)" class="doc doc-heading">(.*?)</h2>', path.read_text("utf-8"), re.DOTALL
        )
        modules = {name for name, heading in headings if "doc-symbol-module" in heading}
        tools = ("annotation_tools", *(f"annotation_tools.{tool}" for tool in ("label_studio", "doccano", "brat")))
        names = ("data", "features", "interop", "recipes", "rules", "rules.gallery", *tools)
        assert modules <= {f"sidelight.{name}" for name in names}


def test_what_pages_include_is_there(site: Path) -> None:
    def text(name: str) -> str:
        return re.sub(r"<[^>]*>", "", (site / name).read_text(encoding="utf-8"))

    assert "names in biology" in text("which_evidence.html")  # the measured table, from learners.md
    assert "0.1.0" in text("changelog.html")
    assert "Requirements for a change" in text("contributing.html")
    assert "&gt;&gt;&gt; Gold(" in text("api/evidence.html")  # an example of a docstring, as code
    assert not any("--8&lt;--" in path.read_text(encoding="utf-8") for path in site.rglob("*.html"))
