"""`predict --text`: plain text in, words with their labels out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.data.text import tokens_in

Run = Callable[..., Any]
GOLD = "Ann PER\nlives O\nin O\nOslo LOC\n. O\n\nRain O\nfalls O\n, O\nBob PER\nsleeps O\n. O\n\n"


@pytest.fixture
def names(run: Run) -> Path:
    Path("gold.txt").write_text(GOLD)
    run("train", "--gold", "gold.txt", "--learner", "crf", "--features", "words", "--c1", 10, "--out", "names")
    return Path("names")


@given(st.text())
def test_no_letter_is_lost_and_none_is_made_up(text: str) -> None:
    assert "".join(tokens_in(text)) == "".join(text.split())


@given(st.text(alphabet="aB1.,'\"()-–… \t", max_size=30))
def test_tokens_do_not_come_apart_any_further(text: str) -> None:
    tokens = tokens_in(text)
    again = tokens_in(" ".join(tokens))
    assert [token for token in tokens if token.isalnum()] == [token for token in again if token.isalnum()]
    assert tokens_in(" ".join(again)) == again


def test_the_words_of_a_pipe_come_back_with_labels(run: Run, names: Path) -> None:
    said = "Ann lives in Oslo.\n\nBob sleeps\n"
    columns = "Ann\tPER\nlives\tO\nin\tO\nOslo\tLOC\n.\tO\n\nBob\tPER\nsleeps\tO\n\n"
    assert run("predict", names, "--text", input=said).out == columns
    assert run("predict", names, "-", "--text", input=said).out == columns
    Path("new.txt").write_text(said)
    assert run("predict", names, "new.txt", "--text", "--out", "tagged.txt").out == ""
    assert Path("tagged.txt").read_text() == columns
    shown = run("evaluate", names, "tagged.txt").out
    assert "accuracy: 100.00%" in shown  # columns can be read again


def test_a_sentence_a_line(run: Run, names: Path) -> None:
    out = run("predict", names, "--text", "--inline", input="Ann lives in Oslo.\n\nBob sleeps\n").out
    assert out == "Ann/PER lives/O in/O Oslo/LOC ./O\n\nBob/PER sleeps/O\n"
    out = run("predict", names, "--text", "--inline", "--spaces", input="Bob sleeps.\n").out
    assert out.startswith("Bob/PER sleeps./")


def test_documents_have_their_label_first(run: Run) -> None:
    rows = [({"cheap": 1, "pills": 1}, "spam"), ({"lunch": 1, "noon": 1}, "ham")]
    Path("mail.jsonl").write_text("".join(json.dumps({"features": x, "label": y}) + "\n" for x, y in rows))
    run("train", "--gold", "mail.jsonl", "--out", "m")
    out = run("predict", "m", "--text", input="lunch at noon?\ncheap pills\n").out
    assert out == "ham\tlunch at noon ?\nspam\tcheap pills\n"


def test_segmenters_read_text_too(run: Run, names: Path) -> None:
    run("train", "--gold", "gold.txt", "--learner", "semi_crf", "--out", "m")
    assert run("predict", "m", "--text", "--inline", input="Ann lives in Oslo.").out.count("/") == 5


def test_models_that_look_at_more_than_words_say_so(run: Run) -> None:
    Path("tags.txt").write_text("Ann N PER\nsleeps V O\n\n")
    Path("t.template").write_text("U0:%x[0,0]\nU1:%x[0,1]\nB\n")
    run("train", "--gold", "tags.txt", "--template", "t.template", "--out", "m")
    said = run("predict", "m", "--text", input="Ann sleeps", code=2).err
    assert said == (
        "error: the model looks at 2 columns of a token, and text has its word alone; "
        "give them as columns, without --text\n"
    )
    Path("some.crfsuite").write_text("PER\tw=Ann\nO\tw=sleeps\n\n")
    run("train", "--gold", "some.crfsuite", "--out", "m")
    assert "looks at attributes of tokens" in run("predict", "m", "--text", input="Ann sleeps", code=2).err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "there is no INPUT; name a file, - for the standard input, or give --text"),
        (["gold.txt", "--inline"], "--inline goes with --text; leave it out, or add --text"),
        (["gold.txt", "--spaces"], "--spaces goes with --text; leave it out, or add --text"),
        (["--text", "--labelled"], "--labelled does not go with --text, which has words alone; leave one of them out"),
        (["--text", "--format", "jsonl"], "--format does not go with --text, which has words alone; leave one"),
        (["--text", "--label-column", "1"], "--label-column does not go with --text, which has words alone; leave"),
        (["--text"], "<stdin>: no text; give a sentence a line"),
    ],
)
def test_what_does_not_go_together_is_refused(run: Run, names: Path, arguments: list[str], said: str) -> None:
    assert run("predict", names, *arguments, code=2, input=" \n").err.startswith(f"error: {said}")


def test_text_without_the_option_is_recognised(run: Run, names: Path) -> None:
    Path("new.txt").write_text("Ann lives in Oslo .\nBob sleeps .\n")
    assert run("predict", names, "new.txt", code=2).err.endswith("; if it is plain text, add --text\n")


def test_explain_reads_text_as_predict_does(run: Run, names: Path) -> None:
    assert "\n.      O" in run("explain", names, "--text", "Ann lives in Oslo.").out
