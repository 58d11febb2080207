"""`sidelight reproduce trees` on a treebank that is made here."""

from __future__ import annotations

import gzip

from sidelight.experiments import reproduce, trees


def test_rows_of_a_small_treebank(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "SIZES", (8, 20))
    monkeypatch.setattr(trees, "DRAWS", 2)
    folder = tmp_path / "ud_english_ewt"
    folder.mkdir()
    tokens = [("the", "DET", 2), ("light", "NOUN", 3), ("falls", "VERB", 0), ("here", "ADV", 3)]
    lines = [f"{i}\t{form}\t_\t{tag}\t_\t_\t{head}\tdep\t_\t_" for i, (form, tag, head) in enumerate(tokens, 1)]
    for part in ("train", "test"):
        with gzip.open(folder / f"{part}.conllu.gz", "wt", encoding="utf-8") as file:
            file.write(("\n".join(lines) + "\n\n") * 20)
    told: list[str] = []
    rows = reproduce("trees", data=tmp_path, json_path=tmp_path / "rows.json", n_jobs=1, report=told.append)
    assert [(row["setting"], row["method"], row["draws"]) for row in rows] == [
        ("8 sentences", "projective", 2),
        ("8 sentences", "non-projective", 2),
        ("20 sentences", "projective", 1),
        ("20 sentences", "non-projective", 1),
    ]
    assert all(row["value"] == 100.0 for row in rows) and (tmp_path / "rows.json").exists() and told
