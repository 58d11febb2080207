"""The page: what it shows, that nothing in it is code, and that a browser shows it."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight.commands.serving.answers import ServedModel
from sidelight.commands.serving.demo_page import demo_page
from sidelight.commands.serving.limits import Limits

EVIL = """<script>alert(1)</script> "><img src=x onerror=alert(1)> '</textarea><svg/onload=alert(1)> &lt;b&gt;"""
TAGS = (
    "html head meta title style body main h1 h2 h3 p nav a section form textarea button div table tr th td mark b i "
    "span details summary pre"
)


class Elements(HTMLParser):
    """The elements and attributes of a page, and the text that a reader sees."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.text = set[str](), set[str](), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def checked(page: str) -> Elements:
    found = Elements(page)
    assert found.tags <= set(TAGS.split())
    assert not any(name.startswith("on") or name == "src" for name in found.attributes)
    assert not re.search(r"(src|href)=\"(?!#)", page) and "url(" not in page
    return found


def test_it_shows_labels_margins_and_the_model(ask):
    assert ask("/").status == 200 and "Answer" not in checked(ask("/").text).text
    found = ask("/", urlencode({"text": "Eve Holt lives in Rome"}).encode())
    text = checked(found.text).text
    for said in ("Eve Holt", "PER", "LOC", "Margin", "Runner-up", "Weights that decide", "3 gold", "<b>names"):
        assert said in text
    assert "default-src 'none'" in found.headers["Content-Security-Policy"]


def test_nothing_that_is_sent_becomes_code(ask):
    for path, body in (("/", urlencode({"text": EVIL}).encode()), ("/?" + urlencode({"text": EVIL}), None)):
        page = ask(path, body).text
        assert EVIL in checked(page).text  # in the box, as it was written
        assert "<script" not in page and "<img" not in page and "<svg" not in page
    assert "<script" not in ask("/<script>alert(1)</script>").text or "json" in ask("/<x>").headers["Content-Type"]


def test_labels_features_and_rules_are_escaped_too():
    xs, ys = [["<i>a", "b"], ["b", "<i>a"]], [["B-<script>", "O"], ["O", "B-<script>"]]
    model = sl.Tagger(learner="crf").fit(xs, ys).model_
    status, page = demo_page(ServedModel(name=EVIL, model=model), Limits(), "<i>a b")
    assert status == 200 and "<script>" in checked(page).text
    classes = sl.Classifier(learner="crf").fit([{"<u>": 1.0}, {"x": 1.0}], ["<img>", "y"]).model_
    status, page = demo_page(ServedModel(name="c", model=classes), Limits(), "<u>\nx")
    assert status == 200 and "<img>" in checked(page).text


@settings(max_examples=25)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_makes_a_page_of_known_elements(chain, text):
    status, page = demo_page(chain, Limits(max_tokens=100), text)
    assert status in (200, 422)
    checked(page)
    page.encode("utf-8")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium to open the page with")
def test_a_browser_shows_it(ask, tmp_path):
    asked = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    address = ask.address + "/?" + urlencode({"text": "Eve Holt lives in Rome " + EVIL})
    shot = tmp_path / "page.png"
    subprocess.run([*asked, f"--screenshot={shot}", address], check=True, capture_output=True, timeout=120)
    assert shot.stat().st_size > 10_000
    done = subprocess.run([*asked, "--dump-dom", address], check=True, capture_output=True, timeout=120)
    shown = done.stdout.decode("utf-8")
    assert "<mark" in shown and "<script" not in shown and "<img" not in shown
