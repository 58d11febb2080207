"""Templates against a plain evaluation with strings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from drawing import generators, law, seeds
from hypothesis import given
from hypothesis import strategies as st

from sidelight import DataError, features
from sidelight.features import extractor_of, parse_templates
from sidelight.features.transforms import transform

TRANSFORMS = {
    "x": lambda text: text,
    "lower": lambda text: text.lower(),
    "prefix2": lambda text: text[:2] if len(text) >= 2 else None,
    "suffix3": lambda text: text[-3:] if len(text) >= 3 else None,
    "capitalized": lambda text: "yes" if text[0] in "ABC" else None,
    "hyphen": lambda text: "yes" if "-" in text else None,
    "digit": lambda text: "yes" if re.search("[0-9]", text) else None,
    "number": lambda text: "yes" if re.fullmatch("[0-9]+", text) else None,
}


def sentences_of(rng: np.random.Generator, count: int, columns: int):
    def word() -> str:
        return "".join(rng.choice(list("abAB1-"), rng.integers(1, 4)))

    return [[tuple(word() for _ in range(columns)) for _ in range(rng.integers(1, 7))] for _ in range(count)]


@st.composite
def macros(draw):
    slot = st.tuples(st.sampled_from(sorted(TRANSFORMS)), st.integers(-3, 3), st.integers(0, 1))
    return draw(st.lists(st.lists(slot, max_size=4), min_size=1, max_size=5))


def text_of(templates) -> str:
    lines = (f"U{m}:" + "/".join(f"%{name}[{o},{c}]" for name, o, c in slots) for m, slots in enumerate(templates))
    return "\n".join([*lines, "B"])


def plain_features(templates, sentence, t: int, boundary: str) -> list[str]:
    """The feature strings of one token, in the order of the templates."""
    out = []
    for m, slots in enumerate(templates):
        values = []
        for name, offset, column in slots:
            where = t + offset
            if where < 0 or where >= len(sentence):
                mark = f"_B{where}" if where < 0 else f"_B+{where - len(sentence) + 1}"
                values.append(mark if boundary == "symbol" else None)
            else:
                values.append(TRANSFORMS[name](sentence[where][column]))
        if None not in values:
            out.append(f"U{m}:" + "/".join(values))
    return out


def names_in(extractor, rows) -> list[list[str]]:
    return [
        [extractor.name(k) for k in rows.indices[rows.indptr[t] : rows.indptr[t + 1]]] for t in range(rows.n_tokens)
    ]


def plain_names(templates, sentences, boundary) -> list[list[str]]:
    return [plain_features(templates, x, t, boundary) for x in sentences for t in range(len(x))]


@law(60)
@given(macros(), generators(), st.sampled_from(["symbol", "skip"]), st.sampled_from([None, 2]))
def test_names_are_the_plain_strings(templates, rng, boundary, n_jobs):
    sentences = sentences_of(rng, 5, 2)
    extractor = extractor_of(parse_templates(text_of(templates), boundary=boundary))
    expected = plain_names(templates, sentences, boundary)
    grown = extractor.grow(sentences, n_jobs=n_jobs)
    assert names_in(extractor, grown) == expected
    assert extractor.n_attributes == len({name for names in expected for name in names})
    np.testing.assert_array_equal(grown.lengths, [len(x) for x in sentences])
    again = extractor.rows(sentences, n_jobs=n_jobs)
    for name in ("starts", "indptr", "indices", "values", "dense"):
        np.testing.assert_array_equal(getattr(again, name), getattr(grown, name))


@law(60)
@given(macros(), generators(), st.sampled_from(["symbol", "skip"]))
def test_unknown_features_are_left_out_and_growth_keeps_numbers(templates, rng, boundary):
    first, second = sentences_of(rng, 3, 2), sentences_of(rng, 3, 2)
    extractor = extractor_of(parse_templates(text_of(templates), boundary=boundary))
    known = {name for names in names_in(extractor, extractor.grow(first)) for name in names}
    expected = [[name for name in names if name in known] for names in plain_names(templates, second, boundary)]
    assert names_in(extractor, extractor.rows(second)) == expected
    before = [extractor.name(k) for k in range(extractor.n_attributes)]
    grown = extractor.grow(second)
    assert names_in(extractor, grown) == plain_names(templates, second, boundary)
    assert [extractor.name(k) for k in range(len(before))] == before
    assert names_in(extractor, extractor.rows(first)) == plain_names(templates, first, boundary)
    assert sorted({int(k) for k in grown.indices} | set(range(len(before)))) == list(range(extractor.n_attributes))


@pytest.mark.filterwarnings("ignore::sidelight.errors.UnknownFeatures")  # rare ones are left out: at times all are
@law(40)
@given(macros(), generators(), st.integers(1, 4))
def test_min_count(templates, rng, least):
    sentences = sentences_of(rng, 6, 2)
    extractor = extractor_of(parse_templates(text_of(templates), min_count=least))
    names = plain_names(templates, sentences, "symbol")
    flat = [name for row in names for name in row]
    frequent = {name for name in flat if flat.count(name) >= least}
    expected = [[name for name in row if name in frequent] for row in names]
    assert names_in(extractor, extractor.grow(sentences)) == expected
    assert names_in(extractor, extractor.rows(sentences)) == expected
    assert extractor.n_attributes == len(frequent)


@law(40)
@given(macros(), generators(), st.sampled_from(["symbol", "skip"]), st.sampled_from([None, 2]))
def test_hashed_features_are_equal_where_strings_are(templates, rng, boundary, n_jobs):
    sentences = sentences_of(rng, 4, 2)
    extractor = extractor_of(parse_templates(text_of(templates), boundary=boundary, hash_bits=28))
    rows = extractor.grow(sentences, n_jobs=n_jobs)
    number: dict[str, int] = {}
    for t, names in enumerate(plain_names(templates, sentences, boundary)):
        found = rows.indices[rows.indptr[t] : rows.indptr[t + 1]].tolist()
        assert len(found) == len(names)
        assert all(number.setdefault(name, k) == k for name, k in zip(names, found))
    assert len(set(number.values())) == len(number)  # 28 bits: no two strings collide in a small case
    assert extractor.n_attributes == 2**28


def test_large_lexicons_use_hash_tables():
    """Beyond a million places direct tables give way to hashing, with packed and with mixed keys."""
    rng = np.random.default_rng(0)
    templates = [[("x", 0, 0), ("x", 1, 0)], [("x", -1, 0), ("x", 0, 0), ("x", 1, 0), ("x", 2, 0)]]
    sentences = [[(f"w{i}",) for i in rng.integers(0, 3000, 40)] for _ in range(100)]
    extractor = extractor_of(parse_templates(text_of(templates)))
    assert names_in(extractor, extractor.grow(sentences[:60])) == plain_names(templates, sentences[:60], "symbol")
    known = {extractor.name(k) for k in range(extractor.n_attributes)}
    assert max(len(lexicon) for lexicon in extractor.lexicons) ** 2 > 1 << 20
    mixed = sentences[60:80] + sentences[:20]
    expected = [[name for name in names if name in known] for names in plain_names(templates, mixed, "symbol")]
    assert names_in(extractor, extractor.rows(mixed)) == expected


@law(60)
@given(st.text(min_size=0, max_size=6))
def test_transforms_of_any_text(text):
    for n in range(1, 10):
        assert transform(f"prefix{n}")(text) == (text[:n] if len(text) >= n else None)
        assert transform(f"suffix{n}")(text) == (text[len(text) - n :] if len(text) >= n else None)
    shape = transform("shape")(text)
    assert not re.search(r"(.)\1", shape, re.DOTALL) or "\n" in shape
    assert transform("hyphen")(text) == ("yes" if "-" in text else None)


SCRIPT = """
import json, sys
from sidelight import features
from sidelight.features import extractor_of
xs = [["Light", "on", "the-sea"], ["off"]]
out = {}
for bits in (None, 20):
    extractor = extractor_of(features.spelling(hash_bits=bits))
    rows = extractor.grow(xs)
    out[str(bits)] = [rows.indices.tolist(), rows.indptr.tolist()]
json.dump(out, sys.stdout)
"""


def test_numbers_do_not_depend_on_the_process():
    found = []
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(run.stdout))
    assert found[0] == found[1]
    rows = extractor_of(features.spelling(hash_bits=20)).grow([["Light", "on", "the-sea"], ["off"]])
    assert found[0]["20"] == [rows.indices.tolist(), rows.indptr.tolist()]
    assert len(set(rows.indices.tolist())) > 20


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("U0:%x[0,0]\n\n# note\nX0:%x[0,0]", 4, "begins with neither U nor B"),
        ("U0:%x[0,0]\nU1:%x[0]", 2, "cannot read"),
        ("U0:%x[0,0]\nU1:%x[a,0]", 2, "cannot read"),
        ("U0:%x[0,-1]", 1, "cannot read"),
        ("U0:100%", 1, "cannot read"),
        ("U0:%x[0,0]\nU1:%wow[0,0]", 2, "unknown macro %wow"),
        ("U0:%prefix0[0,0]", 1, "unknown macro %prefix0"),
        ("U0:%x[9,0]", 1, "9 tokens away"),
        ("U0:%x[-9,0]", 1, "9 tokens away"),
        ("U0:%x[0,0]\nB1:%x[0,0]", 2, "bigram template"),
        ("U0:%x[0,0]\nU1:x\nU0:%x[0,0]", 3, "was given on line 1 already"),
    ],
)
def test_errors_name_the_line(text, line, problem):
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        parse_templates(text, file="my.tpl")
    assert str(caught.value).startswith(f"my.tpl:{line}: ")
    assert "\n" not in str(caught.value)


def test_errors_without_a_line(tmp_path):
    with pytest.raises(DataError, match="no unigram template"):
        parse_templates("# nothing\nB")
    with pytest.raises(DataError, match="cannot read templates"):
        features.read_templates(tmp_path / "none.tpl")
    (tmp_path / "bad.tpl").write_bytes(b"U0:\xff\n")
    with pytest.raises(DataError, match=r"bad\.tpl"):
        features.read_templates(tmp_path / "bad.tpl")
    with pytest.raises(ValueError, match="min_count"):
        parse_templates("U0:x", min_count=0)
    with pytest.raises(ValueError, match="hash_bits"):
        parse_templates("U0:x", hash_bits=3)
    with pytest.raises(ValueError, match="boundary"):
        parse_templates("U0:x", boundary="wrap")


def test_reading_and_odd_characters(tmp_path):
    path = tmp_path / "a.tpl"
    path.write_text("# comment\nU00:{brace} %x[0,0] {}\n\nB\n", encoding="utf-8")
    templates = features.read_templates(path, min_count=1)
    assert templates.transitions
    extractor = extractor_of(templates)
    extractor.grow([["é{0}"]])
    assert extractor.name(0) == "U00:{brace} é{0} {}"
    assert not parse_templates("U00:%x[0,0]").transitions


@pytest.mark.parametrize("bits", [None, 12])
def test_inputs_that_do_not_fit(bits):
    extractor = extractor_of(parse_templates("U0:%x[0,0]\nU1:%x[0,1]", hash_bits=bits))
    with pytest.raises(DataError, match="column 1"):
        extractor.grow([["a"]])
    with pytest.raises(DataError, match="input 1, token 1: 1 columns where the first token has 2"):
        extractor.grow([[("a", "b")], [("a", "b"), ("c",)]])
    with pytest.raises(DataError, match="not a string"):
        extractor.grow([[("a", 3)]])
    with pytest.raises(DataError, match="not a string"):
        extractor.grow([[("a", ["b"])]])


@pytest.mark.parametrize("bits", [None, 12])
def test_any_string_can_be_a_token(bits):
    rows = extractor_of(features.spelling(hash_bits=bits)).grow([["\x00", "", "é🙂", "a b\n", "\ud800"]])
    assert rows.n_tokens == 5


@law(30)
@given(seeds)
def test_a_failed_growth_leaves_the_extractor_as_it_was(seed):
    rng = np.random.default_rng(seed)
    templates = [[("x", 0, 0)], [("x", 0, 1)], [("x", 0, 0), ("x", 1, 1)]]
    extractor = extractor_of(parse_templates(text_of(templates)))
    sentences = sentences_of(rng, 3, 2)
    extractor.grow(sentences)
    known = {extractor.name(k) for k in range(extractor.n_attributes)}
    extractor.rows(sentences)
    with pytest.raises(DataError):
        extractor.grow([["new1", "new2", "new3", "new4"]])  # one column only
    odd = [[("new4", sentences[0][0][1]), sentences[0][0]]]
    expected = [[name for name in names if name in known] for names in plain_names(templates, odd, "symbol")]
    assert names_in(extractor, extractor.rows(odd)) == expected
