"""The standard features against a plain evaluation with strings, and how they depend on the input."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.features import emissions, extractor_of, features_for, standard
from sidelight.features.template_sets import FLAGS, GROUPS
from sidelight.features.transforms import transform
from sidelight.features.words.lexicon import KEPT, Views

LETTERS = list("abAB12-.é")


def plain(x: list[str], t: int) -> set[str]:
    """The names of the features of one token, group by group, as docs/features.md says."""

    def at(offset: int, of) -> str:
        where = t + offset
        return f"_B{where}" if where < 0 else f"_B+{where - len(x) + 1}" if where >= len(x) else of(x[where])

    def folded(word: str) -> str:
        return re.sub("[0-9]", "0", word.lower())

    word = x[t]
    names = {"U00:bias", f"U01:{word}", *(f"U02[{o}]:{at(o, folded)}" for o in (-1, 0, 1))}
    for n in range(1, min(4, len(word)) + 1):
        names |= {f"U03:prefix={folded(word)[:n]}", f"U03:suffix={folded(word)[-n:]}"}
    names |= {f"U04[{o}]:shape={at(o, transform('shape'))}" for o in (-1, 0, 1)}
    names |= {f"U05[{o}]:cases={at(o, transform('case'))}|{at(o + 1, transform('case'))}" for o in (-1, 0)}
    return names | {f"U06:{flag}=yes" for flag in FLAGS if transform(flag)(word)}


def sentences(rng: np.random.Generator, count: int) -> list[list[str]]:
    return [["".join(rng.choice(LETTERS, rng.integers(1, 6))) for _ in range(rng.integers(1, 6))] for _ in range(count)]


@law(40)
@given(generators())
def test_standard_features_are_the_plain_strings(rng):
    xs = sentences(rng, 4)
    extractor = extractor_of(standard())
    for rows in (extractor.grow(xs), extractor.rows(xs)):
        bounds = rows.indptr.tolist()
        found = [{extractor.name(k) for k in rows.indices[a:b]} for a, b in pairwise(bounds)]
        assert found == [plain(x, t) for x in xs for t in range(len(x))]


def whole_of(columns: int, *without: str):
    return standard(columns, without=without).templates


@law(40)
@given(generators(), st.lists(st.sampled_from(GROUPS), unique=True))
def test_groups_that_are_left_out_leave_the_others(rng, without):
    columns = int(rng.integers(1, 4))
    left = whole_of(columns, *without)
    assert set(left) <= set(whole_of(columns))
    sizes = {
        group: len(standard(columns).templates) - len(standard(columns, without=[group]).templates) for group in GROUPS
    }
    assert len(left) == 1 + sum(size for group, size in sizes.items() if group not in without)


@pytest.mark.parametrize(
    ("word", "name", "value"),
    [
        ("Größe-1992", "folded", "größe-0000"),
        ("B2B", "foldedprefix2", "b0"),
        ("iPod", "mixed", "yes"),
        ("McGraw", "mixed", "yes"),
        ("USA", "mixed", None),
        ("USA", "capitals", "yes"),
        ("A", "capitals", None),
        ("J.", "initial", "yes"),
        ("12", "digit", "yes"),
        ("²", "digit", "yes"),
        ("—", "punctuation", "yes"),
        ("e.g.", "punctuation", None),
        ("", "punctuation", None),
        ("", "case", "."),
        ("", "shape", ""),
        ("on", "case", "a"),
        ("A", "case", "A"),
        ("USA", "case", "AA"),
        ("Light", "case", "Aa"),
        ("McGraw", "case", "AaA"),
        ("iPod", "case", "aA"),
        ("1992", "case", "0"),
        ("3.5", "case", "0."),
        ("--", "case", "."),
        ("ß", "shape", "x"),
        ("Öl", "shape", "Xx"),
        ("OK", "shape", "X"),
    ],
)
def test_transforms(word: str, name: str, value: str | None) -> None:
    assert transform(name)(word) == value


def test_the_default_depends_on_the_inputs_and_on_the_learner() -> None:
    xs, ys = [[("light", "NN", "x"), ("on", "RP", "y")]], [["N", "P"]]
    fitted = sl.Tagger(learner="crf", max_rounds=2).fit(xs, ys)
    assert fitted.model_.extractor.templates == standard(columns=3)
    words = [[token[0] for token in x] for x in xs]
    assert sl.Tagger(learner="hmm").fit(words, ys).model_.extractor.templates == emissions()
    assert sl.SegmentTagger(max_rounds=2).fit(words, ys).model_.extractor.templates == standard()
    assert features_for(words, min_count=2) == standard(min_count=2)


@pytest.mark.parametrize("arguments", [{"columns": 0}, {"without": ["prefixes"]}, {"without": "word"}])
def test_what_standard_does_not_take(arguments) -> None:
    with pytest.raises(ValueError, match="; give "):
        standard(**arguments)


def test_strings_are_looked_at_once_and_kept_within_bounds() -> None:
    looked: list[str] = []

    def work(views: list[int], strings: list[str]):
        looked.extend(strings)
        return np.array([[len(text) + view for text in strings] for view in views], dtype=np.int32).reshape(2, -1)

    from sidelight.features.words.lexicon import columns_of

    views = Views([("x", 0), ("lower", 0)], np.int32)
    for _ in range(2):
        found = views.numbers(columns_of([["on", "off"], ["on"]]), work)
        assert found.tolist() == [[2, 3, 2], [3, 4, 3]]
    assert looked == ["on", "off"]
    views.numbers(columns_of([[str(n) for n in range(KEPT + 1)]]), work)
    looked.clear()
    views.numbers(columns_of([["on"]]), work)  # too many were kept, so they were forgotten
    assert looked == ["on"]
