"""Patterns of Wapiti against a plain reading of them, and against Wapiti itself."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import string
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.errors import DataError
from sidelight.features import extractor_of, parse_templates, read_templates
from sidelight.features.wapiti_patterns import compiled

CLASSES = {"a": "a-zA-Z", "d": "0-9", "l": "a-z", "p": re.escape(string.punctuation), "s": " \t\n", "u": "A-Z"}
CLASSES["w"] = "a-zA-Z0-9"
words = st.text(alphabet="abAB19-.+$^", min_size=1, max_size=6)
sentences = st.lists(st.tuples(words, words), min_size=1, max_size=6)
atoms = st.sampled_from(["a", "B", "1", "-", "+", ".", "$", r"\^", r"\.", r"\$", *(f"\\{c}" for c in "adlpuwADLPUW")])


@st.composite
def expressions(draw: Any, marks: str = "*?") -> str:
    steps = [draw(atoms) + draw(st.sampled_from(["", "", *marks])) for _ in range(draw(st.integers(1, 4)))]
    return draw(st.sampled_from(["", "^"])) + "".join(steps) + draw(st.sampled_from(["", "$"]))


def in_python(expression: str) -> re.Pattern[str]:
    """The same as an expression of Python."""
    first = expression.startswith("^")
    out, at = "\\A" if first else "", int(first)
    while at < len(expression):
        char, after = expression[at], expression[at + 1 : at + 2]
        if char == "$" and not after:
            out += "\\Z"
        elif char == "\\" and after:
            inside = CLASSES.get(after.lower())
            out += re.escape(after) if inside is None else f"[{'^' if after.isupper() else ''}{inside}]"
            at += 1
        else:
            out += {"*": "*?", "?": "?", ".": "."}.get(char, re.escape(char))
        at += 1
    return re.compile(out, re.DOTALL)


@given(expressions(), st.text(alphabet="abAB19-.+$^", max_size=6))
def test_expressions_find_what_those_of_python_do(expression: str, text: str) -> None:
    found = in_python(expression).search(text)
    assert compiled(expression)(text) == (None if found is None else found.group())


macros = st.tuples(
    st.sampled_from("xXtTmM"), st.integers(-3, 3), st.integers(0, 1), expressions().filter(lambda e: '"' not in e)
)
patterns = st.lists(
    st.lists(macros | st.sampled_from(["/", "-a", "="]), min_size=1, max_size=3), min_size=1, max_size=4
)


def text_of(pattern: Any, number: int) -> str:
    """A pattern as it is written."""
    parts = [f"u{number}:"]
    for part in pattern:
        if isinstance(part, str):
            parts.append(part)
        else:
            letter, row, column, expression = part
            parts.append(f"%{letter}[{row:2},{column}" + (f',"{expression}"]' if letter in "tTmM" else "]"))
    return "".join(parts)


def plainly(pattern: Any, number: int, sentence: Any, t: int) -> str:
    """The feature of a token, read off the pattern."""
    out = f"u{number}:"
    for part in pattern:
        if isinstance(part, str):
            out += part
            continue
        letter, row, column, expression = part
        at = t + row
        if not 0 <= at < len(sentence):
            out += f"_B{at}" if at < 0 else f"_B+{at - len(sentence) + 1}"
            continue
        word = sentence[at][column]
        found = in_python(expression).search(word)
        said = {"x": word, "t": "false" if found is None else "true", "m": "" if found is None else found.group()}
        out += said[letter.lower()].lower() if letter.isupper() else said[letter]
    return out


@given(patterns, st.lists(sentences, min_size=1, max_size=3))
def test_features_are_what_patterns_say(drawn: Any, xs: Any) -> None:
    extractor = extractor_of(parse_templates("\n".join(text_of(one, n) for n, one in enumerate(drawn))))
    rows = extractor.grow(xs)
    found = [[extractor.name(int(a)) for a in rows.indices[i:j]] for i, j in zip(rows.indptr, rows.indptr[1:])]
    expected = [[plainly(one, n, x, t) for n, one in enumerate(drawn)] for x in xs for t in range(len(x))]
    assert [sorted(one) for one in found] == [sorted(one) for one in expected]


@cache
def wapiti() -> Any:
    """The library that python-wapiti brings, whose functions read patterns."""
    there = importlib.util.find_spec("wapiti")
    files = [] if there is None or there.origin is None else list(Path(there.origin).parents[1].glob("libwapiti*.so"))
    if not files:
        pytest.skip("libwapiti is in the extra interop-wapiti")
    library = ctypes.CDLL(str(files[0]))
    library.pat_comp.restype = library.pat_exec.restype = ctypes.c_void_p
    library.pat_exec.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32]
    return library


def by_wapiti(pattern: str, sentence: Any) -> list[str]:
    """What Wapiti makes of a pattern at every token."""
    library, size = wapiti(), len(sentence)

    class Tokens(ctypes.Structure):
        _fields_ = (
            ("len", ctypes.c_uint32),
            ("lbl", ctypes.c_void_p),
            ("cnts", ctypes.POINTER(ctypes.c_uint32)),
            ("toks", ctypes.POINTER(ctypes.c_char_p) * size),
        )

    cells = [(ctypes.c_char_p * len(token))(*(cell.encode() for cell in token)) for token in sentence]
    counts = (ctypes.c_uint32 * size)(*(len(token) for token in sentence))
    listed = (ctypes.POINTER(ctypes.c_char_p) * size)(
        *(ctypes.cast(one, ctypes.POINTER(ctypes.c_char_p)) for one in cells)
    )
    tokens = Tokens(size, None, counts, listed)
    source = ctypes.create_string_buffer(pattern.encode())  # which the pattern keeps
    made = library.pat_comp(source)
    found = [library.pat_exec(made, ctypes.byref(tokens), t) for t in range(size)]
    return [ctypes.string_at(one).decode() for one in found]


# Where an optional character has to be given back, Wapiti's count of characters is wrong: drawn are stars alone.
starred = st.tuples(st.sampled_from("tTmM"), st.just(0), st.integers(0, 1), expressions(marks="*"))
plain = st.tuples(st.sampled_from("xX"), st.integers(-3, 3), st.integers(0, 1), st.just(""))


@given(st.lists(starred | plain | st.sampled_from(["/", "-a"]), min_size=1, max_size=4), sentences)
def test_features_are_those_of_wapiti(pattern: Any, sentence: Any) -> None:
    text = text_of(pattern, 0)
    extractor = extractor_of(parse_templates(text))
    rows = extractor.grow([sentence])
    ours = [extractor.name(int(attribute)) for attribute in rows.indices]
    assert [name.replace("_B", "_x") for name in ours] == by_wapiti(text, sentence)


def test_a_file_of_patterns(tmp_path: Path) -> None:
    path = tmp_path / "patterns.txt"
    said = [
        "# words",
        "*",
        "",
        "U:word=%X[ 0,0]   # in lower case",
        r'u:caps=%t[0,0,"^\u"]/%t[-1, 0,"\."]',
        "b  # labels",
    ]
    path.write_text("\n".join(said))
    templates = read_templates(path)
    assert [one.text for one in templates.templates] == ["*", "U:word={}", "u:caps={}/{}"] and templates.transitions
    xs, ys = [["Ann", "left"], ["we", "left"]], [["P", "O"], ["O", "O"]]
    tagger = sl.Tagger(features=templates, learner="crf", n_jobs=1).fit(xs, ys)
    tagger.save(tmp_path / "model")
    again = sl.Tagger.load(tmp_path / "model")
    assert again.predict([["Bob", "left"]]) == tagger.predict([["Bob", "left"]]) == [["P", "O"]]
    assert "u:caps=true/_B-1" in str(sl.weights(again))
    hashed = sl.Tagger(features=read_templates(path, hash_bits=12), learner="crf", n_jobs=1)
    assert hashed.fit(xs, ys).predict([["Bob", "left"]]) == [["P", "O"]]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("u:a\n*:%x[0,0]", 2, "bigram template '*:%x[0,0]' has macros"),
        ("u:a\nb:%x[0,0]", 2, "bigram template 'b:%x[0,0]' has macros"),
        ("u:%x[@1,0]", 1, "counts tokens from an end of the sentence"),
        ('u:%m[*1,0,"a"]', 1, "counts tokens from an end of the sentence"),
        ("u:%t[0,0]", 1, "cannot read"),
        ('u:%t[0,0,"a]', 1, "cannot read"),
        ('u:%x[0,0,"a"]', 1, "cannot read"),
        ('u:%t[0,0,"a**"]', 1, "* with nothing before it"),
        ('u:%t[0,0,"^?"]', 1, "? with nothing before it"),
        ("u:%X[9,0]", 1, "9 tokens away"),
        ("w:%x[0,0]", 1, "begins with neither U nor B"),
    ],
)
def test_errors_name_the_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_templates(text, file="my.pat")
    assert problem in str(caught.value) and str(caught.value).startswith(f"my.pat:{line}: ") and caught.value.remedy


@pytest.mark.parametrize("bits", [None, 12])
def test_a_column_that_is_not_there_names_the_line(tmp_path: Path, bits: int | None) -> None:
    path = tmp_path / "a.tpl"
    path.write_text("U0:%x[0,0]\n\nU1:%x[-1,0]/%x[0,2]\n")
    said = "a.tpl:3 (U1:%x[-1,0]/%x[0,2]) looks at column 2 (from 0), but tokens have 2 column(s)"
    with pytest.raises(DataError, match=re.escape(said)):
        extractor_of(read_templates(path, hash_bits=bits)).grow([[("a", "b")]])
