"""Files that repeat something of another one say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import sidelight as sl

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert re.findall(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE) == [project["version"]]
    assert sl.__version__ == project["version"]
    assert f"## {project['version']}" in text("CHANGELOG.md")


def test_the_citation_can_be_read() -> None:
    yaml = pytest.importorskip("yaml", reason="CITATION.cff is YAML, which the extra docs can read")
    read = yaml.safe_load(text("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= read.keys()
    assert {one["year"] for one in read["references"]} == {2010, 2011}


def test_one_licence() -> None:
    assert tomllib.loads(text("pyproject.toml"))["project"]["license"] == "MIT"
    assert "license: MIT" in text("CITATION.cff")
    assert text("LICENSE").startswith("MIT License")


def test_hooks_before_a_commit_are_those_of_make_lint() -> None:
    recipe = text("Makefile").split("\nlint:")[1].split("\n\n")[0]
    made = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe.splitlines()[1:]]
    assert re.findall(r"^ +entry: (.*)$", text(".pre-commit-config.yaml"), re.MULTILINE) == made


def test_files_that_pages_name_are_there() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        for path in re.findall(r"`((?:docs|tests|examples|src)/[\w./]*\w)`", text(name)):
            assert (ROOT / path).exists(), path
        for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text(name)):
            assert (ROOT / path).exists(), path
