"""Part-of-speech tagging by companions: what a setting draws."""

from __future__ import annotations

from sidelight.experiments.grid import LabelledExamples, Setting
from sidelight.experiments.jlis.pos import SomeCompanions


def test_more_companions_are_the_same_and_some_more_while_labels_stay():
    train = LabelledExamples([["a", "b"]] * 20, [["X", "Y"]] * 20)
    good = [[f"w{k}", "x", "y", f"z{k}"] for k in range(30)]
    study = SomeCompanions(train, train, train, good, ["X", "Y"], labelled=6)
    few, many = (study.companion(Setting("", size, 1), 3) for size in (10, 40))
    kept, more = ([piece.x for piece in own if piece.z > 0] for own in (few, many))
    assert len(kept) == 3 and len(more) == 10 and more[:3] == kept
    assert sorted(map(sorted, kept)) == sorted(sorted(piece.x) for piece in few if piece.z < 0)
    assert [len(study.gold(Setting("", size, 1), 3)) for size in (10, 40)] == [3, 3]
