"""`sidelight reproduce` of alignments and of decisions that rest on them, on corpora that are made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sidelight.evaluate.ranking import score_rankings
from sidelight.experiments import reproduce
from sidelight.experiments.jlis import alignments as jlis_alignment
from sidelight.experiments.jlis import identification as jlis_identification
from sidelight.experiments.lclr import transliteration as lclr_transliteration


def test_names(tmp_path, monkeypatch):
    monkeypatch.setattr(lclr_transliteration, "GOOD", 25)
    monkeypatch.setattr(lclr_transliteration, "NAMES", 15)
    monkeypatch.setattr(lclr_transliteration, "PRICES", (1.0, 10.0))
    write_names(tmp_path / "translit_he", {"train": 40, "dev": 20, "test": 20})
    told: list[str] = []
    rows = reproduce(
        "lclr-transliteration",
        data=tmp_path,
        json_path=tmp_path / "rows.json",
        quick=True,
        n_jobs=1,
        report=told.append,
    )
    by = {(row["method"], row["metric"]): row for row in rows}
    assert by["LCLR", "accuracy"]["value"] > 60.0 and by["LCLR", "accuracy"]["paper"] == 92.3
    assert by["LCLR - Alignment+Learning", "difference"]["draws"] == 2
    assert by["Algorithm 12", "mean reciprocal rank"]["paper"] is None and (tmp_path / "rows.json").exists() and told


def write_names(folder: Path, sizes: dict[str, int]) -> None:
    """Names whose letters have a Hebrew one each, or none."""
    letters = {"b": "ב", "d": "ד", "l": "ל", "m": "מ", "n": "נ", "r": "ר", "t": "ט", "á": ""}
    rng = np.random.default_rng(0)
    folder.mkdir()
    for part, count in sizes.items():
        names = ["b" + "".join(rng.choice(list(letters), rng.integers(3, 7))) for _ in range(count)]
        lines = [f"{name}\t{''.join(letters[letter] for letter in name)}\t1" for name in names]
        (folder / f"{part}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_words(folder: Path) -> None:
    """Letters with a sound each, or none."""
    sounds = {"a": "@", "b": "b", "c": "k", "e": "-", "o": "u", "t": "t"}
    rng = np.random.default_rng(0)
    words = ["a" + "".join(rng.choice(list(sounds), rng.integers(2, 7))) for _ in range(200)]
    lines = [f"{word}\t{''.join(sounds[letter] for letter in word)}\t{'0' * len(word)}\t0" for word in words]
    folder.mkdir()
    (folder / "nettalk.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_letters_and_sounds(tmp_path, monkeypatch):
    monkeypatch.setattr(jlis_alignment, "TEST", 30)
    monkeypatch.setattr(jlis_alignment, "DEV", 10)
    monkeypatch.setattr(jlis_alignment, "QUICK_COMPANIONS", (110,))
    monkeypatch.setattr(jlis_alignment, "QUICK_SIZES", (10,))
    write_words(tmp_path / "nettalk")
    rows = reproduce("jlis-alignment", data=tmp_path, json_path=None, quick=True, n_jobs=1, report=lambda line: None)
    assert [row["method"] for row in rows if row["metric"] == "F1"] == ["SSVM", "J-LIS, 110 companions"]
    assert all(row["value"] > 80.0 for row in rows if row["metric"] == "F1")


def test_whose_sounds_these_are(tmp_path, monkeypatch):
    monkeypatch.setattr(jlis_identification, "TEST", 12)
    monkeypatch.setattr(jlis_identification, "DEV", 8)
    monkeypatch.setattr(jlis_identification, "QUICK_COMPANIONS", (100,))
    write_words(tmp_path / "nettalk")
    write_names(tmp_path / "translit_he", {"train": 120})
    rows = reproduce(
        "jlis-identification", data=tmp_path, json_path=None, quick=True, n_jobs=1, report=lambda line: None
    )
    assert [row["method"] for row in rows if row["metric"] == "accuracy"] == ["initialisation", "joint"] * 2
    assert {row["setting"].split(":")[0] for row in rows} == {"NETtalk", "names"}
    assert all(row["value"] > 50.0 for row in rows if row["metric"] == "accuracy")
    part = {"corpora": "names", "draws": "1"}
    some = reproduce(
        "jlis-identification", data=tmp_path, quick=True, n_jobs=1, report=lambda line: None, choose={**part}
    )
    first = {row["method"]: row["value"] for row in some if row["metric"] == "accuracy"}
    assert {row["setting"].split(":")[0] for row in some} == {"names"} and set(first) == {"initialisation", "joint"}


def test_rankings():
    scores = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0]])
    found = score_rankings(scores, np.array([2, 0]))
    assert found.top_1 == 0.0 and found.mean_reciprocal_rank == pytest.approx((1 / 2 + 1 / 1.5) / 2)
