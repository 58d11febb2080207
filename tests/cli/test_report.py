"""`sidelight report`: a page that stands alone, with what its sections promise."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

import sidelight as sl
from sidelight.commands.registry import NAMES, entry_named
from sidelight.corpus import references
from sidelight.corpus.facts import ARGUMENTS
from sidelight.data.conllu import read_treebank
from sidelight.report.model_report import model_report
from sidelight.report.pictures import RIGHT, WRONG

RULES = """
from sidelight.rules import gallery
first = gallery.starts_with("author")
few_titles = gallery.at_most(1, "title", name="few_titles").soft(0.5)
"""


class Text(HTMLParser):
    """What a reader sees; fails on tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "line", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("meta", "line", "polyline"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.seen.append(data)


def text_of(page: str) -> str:
    reader = Text()
    reader.feed(page)
    assert reader.open == []
    return " ".join(reader.seen)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A model of references and a file to report on."""
    monkeypatch.chdir(tmp_path)
    some = references(60, seed=1)
    xs, ys = [list(one.tokens) for one in some], [list(one.labels) for one in some]
    xs[40][0] = "<script>alert(1)</script>"
    sl.Tagger(learner="jlis").fit(sl.gold(xs[:20], ys[:20])).save("m.sidelight")
    lines = ["\n".join(f"{token}\t{label}" for token, label in zip(x, y)) for x, y in zip(xs[20:], ys[20:])]
    Path("test.txt").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    Path("rules.py").write_text(RULES, encoding="utf-8")
    return xs[20:], ys[20:]


def test_the_page_has_what_it_promises(run, made):
    run("report", "m.sidelight", "test.txt", "--rules", "rules.py")
    page = Path("report.html").read_text(encoding="utf-8")
    text = text_of(page)
    for title in ("Model", "Scores", "Confusions", "Training", "Most confident errors", "Rules"):
        assert title in text
    assert "Objective by round" in text and "20 gold" in text and "few_titles" in text
    scores = sl.evaluate(made[1], sl.load_model("m.sidelight").predict(made[0]))
    run("report", "m.sidelight", "test.txt", "--out", "plain.html")
    plain = text_of(Path("plain.html").read_text(encoding="utf-8"))
    assert f"{scores.accuracy:,.2f}" in plain and f"{scores.f1:,.2f}" in plain and "few_titles" not in plain


def test_nothing_of_it_comes_from_elsewhere(run, made):
    run("report", "m.sidelight", "test.txt")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#)", page)


def test_rules_are_broken_as_often_as_they_are(run, made):
    run("report", "m.sidelight", "test.txt", "--rules", "rules.py")
    page = Path("report.html").read_text(encoding="utf-8")
    cells = re.findall(r">([^<>]+)</td>", page.partition("broken with rules")[2].partition("</tr>")[2])
    without = [y[0] for y in sl.load_model("m.sidelight").predict(made[0])]
    assert cells[1] == "hard" and cells[5] == "0"
    assert cells[4] == str(sum(label != "author" for label in without))
    assert float(cells[2]) == 100.0  # the rule covers every input
    assert float(cells[3]) == pytest.approx(100 * sum(y[0] == "author" for y in made[1]) / len(made[1]), abs=0.01)


def test_a_rule_covers_the_inputs_that_it_says_something_about(run, made):
    Path("rules.py").write_text(
        "from sidelight.rules import every, rule\n@rule\ndef years(x, y):\n"
        "    return every(y[t] == 'date' for t, word in enumerate(x.words) if word == '1994')\n"
    )
    run("report", "m.sidelight", "test.txt", "--rules", "rules.py")
    page = Path("report.html").read_text(encoding="utf-8")
    cells = re.findall(r">([^<>]+)</td>", page.partition("broken with rules")[2].partition("</tr>")[2])
    share = sum("1994" in x for x in made[0]) / len(made[0])
    assert 0 < share < 1 and float(cells[2]) == pytest.approx(100 * share, abs=0.01)


def test_of_each_input_the_most_confident_error_is_shown(run, made):
    run("report", "m.sidelight", "test.txt")
    shown = re.findall(r"Input (\d+):\s+([\d.]+) % confident", text_of(Path("report.html").read_text(encoding="utf-8")))
    assert len({i for i, _ in shown}) == len(shown) > 1
    shares = [float(share) for _, share in shown]
    assert shares == sorted(shares, reverse=True)


def test_classes_have_a_page_too(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    xs = [{f"word={name}": 1.0} for name in ("sun", "rain", "sun", "snow", "rain", "sun")]
    ys = ["good", "bad", "good", "bad", "bad", "good"]
    sl.Classifier(learner="crf").fit(xs, ys).save("c.sidelight")
    lines = [json.dumps({"features": x, "label": y}) for x, y in zip(xs, [*ys[:5], "bad"])]
    Path("c.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("report", "c.sidelight", "c.jsonl", "--out", "c.html")
    text = text_of(Path("c.html").read_text(encoding="utf-8"))
    assert "Input 6:" in text and "word=sun" in text and "{" not in text
    assert "mean F1 over labels" in text and "span" not in text and "token" not in text


def test_an_input_with_one_label_shows_all_of_its_words():
    xs, ys = [["cheap", "pills"], ["meeting", "at", "noon"]], ["spam", "ham"]
    classifier = sl.Classifier(learner="crf").fit(xs, ys)
    assert "meeting at noon" in text_of(model_report(classifier.model_, xs, ["spam", "spam"], n_jobs=1))


def test_other_structures_have_a_page_too(run):
    run("generate", "tree", "--out", "t")
    how = ("--structure", "tree", "--learner", "perceptron", "--max-rounds", 1)
    run("train", *how, "--gold", "t/gold.conllu", "--out", "m")
    told = run("evaluate", "m", "t/test.conllu").out
    run("report", "m", "t/test.conllu")
    text = text_of(Path("report.html").read_text(encoding="utf-8"))
    assert re.search(r"UAS: (\d+\.\d+)%", told)[1] + " % UAS" in text and "100 inputs" in text
    worst = [tuple(map(int, one)) for one in re.findall(r"UAS: (\d+) wrong, (\d+) missing", text)]
    assert worst == sorted(worst, reverse=True) and worst[0][0] == worst[0][1] > 0
    Path("own.conllu").write_text(run("predict", "m", "t/test.conllu").out, encoding="utf-8")
    run("report", "m", "own.conllu", "--out", "own.html")
    assert "Every output is right." in (own := text_of(Path("own.html").read_text(encoding="utf-8")))
    assert "100.00 % UAS" in own
    assert "--inference" in run("report", "m", "own.conllu", "--inference", "beam", code=2).err


def test_every_structure_has_pictures_of_its_errors(run):
    for name in NAMES:
        entry = entry_named(name)
        run("generate", name, "--out", name)
        (test,) = Path(name).glob("test.*")
        gold = test.with_stem("gold")
        files = entry.format_of(gold, None)
        gold.write_text(files.write(files.read(gold, "gold")[:2]), encoding="utf-8")  # too few to be right
        run("train", "--structure", name, "--learner", "perceptron", "--max-rounds", 1, "--gold", gold, "--out", "m")
        run("report", "m", test)
        page = Path("report.html").read_text(encoding="utf-8")
        text_of(page)
        errors = page.count("<h4>Input")
        assert errors > 0 and page.count('<svg class="picture"') == errors
        assert all(color in page for color in (RIGHT, WRONG))
        labelled = [one for one in entry.measures(None) if one.labels is not None]
        assert [f"Confusions: {one.name}" in page for one in labelled] == [True] * len(labelled)


def test_the_labels_of_a_tree_are_counted(run):
    run("generate", "tree", "--out", "t")
    run(
        "train",
        "--structure",
        "tree",
        "--learner",
        "perceptron",
        "--max-rounds",
        1,
        "--gold",
        "t/gold.conllu",
        "--out",
        "m",
    )
    run("report", "m", "t/test.conllu")
    Path("own.conllu").write_text(run("predict", "m", "t/test.conllu").out, encoding="utf-8")
    right, found = (
        [relation for tree in read_treebank(Path(file)).ys for _, relation in tree]
        for file in ("t/test.conllu", "own.conllu")
    )
    page = Path("report.html").read_text(encoding="utf-8")
    cells = re.search(r"<td>obl</td>" + r'<td class="number">([\d.,]+)</td>' * 6, page).groups()
    both = sum(one == other == "obl" for one, other in zip(right, found))
    assert cells[3:] == (str(right.count("obl")), str(found.count("obl")), str(both))
    assert float(cells[1]) == pytest.approx(100 * both / right.count("obl"), abs=0.01)


def test_rules_of_relations_are_broken_as_often_as_they_are(run):
    run("generate", "relations", "--out", "f")
    files = ("--gold", "f/gold.jsonl", "--learner", "perceptron", "--max-rounds", 1, "--out", "m")
    run("train", "--structure", "relations", *files)
    run("report", "m", "f/test.jsonl", "--rules", "f/rules.py")
    page = Path("report.html").read_text(encoding="utf-8")
    cells = re.findall(r">([^<>]+)</td>", page.partition("broken with rules")[2].partition("</tr>")[2])
    Path("own.jsonl").write_text(run("predict", "m", "f/test.jsonl").out, encoding="utf-8")
    broken = 0
    for line in Path("own.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        types = [one["type"] for one in entry["entities"]]
        ends = [(ARGUMENTS[one["type"]], types[one["head"]], types[one["tail"]]) for one in entry["relations"]]
        broken += any(wanted != (head, tail) for wanted, head, tail in ends)
    assert cells == ["argument_types", "hard", "100.00", "100.00", str(broken), "0"] and broken > 0
    run("report", "m", "f/test.jsonl")
    assert "broken with rules" not in Path("report.html").read_text(encoding="utf-8")


def test_what_it_refuses(run, made):
    assert "test.txt" in run("report", "m.sidelight", "test.txt", "--out", "test.txt", code=2).err
    assert "nowhere.txt" in run("report", "m.sidelight", "nowhere.txt", code=2).err
    sl.Aligner().fit([(["a"], ["b"])]).save("aligner")
    assert run("report", "aligner", "test.txt", code=2).err.startswith("error: ")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium to open the page with")
def test_a_browser_shows_it(run, made):
    run("report", "m.sidelight", "test.txt", "--rules", "rules.py")
    asked = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1100,2400"]
    page = Path("report.html").resolve().as_uri()
    subprocess.run([*asked, "--screenshot=report.png", page], check=True, capture_output=True, timeout=120)
    assert Path("report.png").stat().st_size > 20_000
