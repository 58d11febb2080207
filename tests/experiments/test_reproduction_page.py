"""The page about experiments run again: whole, by itself, the same every time."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.core.html import escape
from sidelight.experiments import NAMES, examples
from sidelight.experiments.result_files import StoredResult, write_result
from sidelight.experiments.table import row
from sidelight.report.charts import Series, curves, dots, scatter
from sidelight.report.comparison import all_rows, blocks, points, tables
from sidelight.report.papers import CLAIMS, PAPERS, PLOTS, experiments_of
from sidelight.report.pictures import picture
from sidelight.report.reproduction import number_of, reproduction_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Reader(HTMLParser):
    """The text of a page by section; fails on tags that are not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.sections, self.titles = [], {}, []

    def handle_starttag(self, tag, attrs):
        if tag == "meta":
            return
        self.open.append(tag)
        if tag == "section":
            self.sections[dict(attrs)["id"]] = ""

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.sections and "section" in self.open:
            self.sections[list(self.sections)[-1]] += data
            if self.open[-1] in ("h2", "h3"):
                self.titles.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def curve_rows(setting="{} tokens"):
    """Two methods by size, with what a paper has, and differences."""
    found = []
    for k, size in enumerate((100, 400, 1600)):
        name = setting.format(size)
        found.append(row(name, "SSVM", "accuracy", [60.0 + 5 * k, 61.0 + 5 * k], paper=58.24))
        found.append(row(name, "J-LIS", "accuracy", [66.0 + 4 * k, 64.0 + 4 * k], paper=64.05))
        found.append(row(name, "J-LIS - SSVM", "difference", [6.0 - k, 3.0 - k], paper=5.81))
        found.append(row(name, "J-LIS - SSVM", "p-value", [0.01 + 0.03 * k]))
    return found


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """The examples, of data that the package makes."""
    found, notes = examples.rows(
        tmp_path_factory.mktemp("none"), quick=True, n_jobs=1, report=lambda line: None, save=lambda rows: None
    )
    return StoredResult("examples", False, found, list(notes))


@pytest.fixture
def folder(tmp_path, pictures):
    """Results of three experiments, as a run leaves them."""
    curve = [[0.1 * k, 1.0 / k] for k in range(1, 20)]
    gap = {**row("conll2000", "1-slack", "best primal", [14.0]), "curve": curve}
    run = {"seconds": 1.5, "cpu_seconds": 1.25, "megabytes": 99, "finished": "2020-01-01", "versions": {"numpy": "9.9"}}
    run["told"] = ["C1 <chosen>"]
    write_result(tmp_path, pictures)
    told, settings, data = ["not <b>the</b> paper's"], {"DRAWS": "7"}, {"citations": "3 files"}
    write_result(tmp_path, StoredResult("jlis-citations", True, curve_rows(), told, settings, data, run))
    write_result(
        tmp_path, StoredResult("solvers", False, [gap, row("conll2000", "1-slack", "seconds", [3.5])], [], {}, {}, run)
    )
    return tmp_path


def test_it_has_every_section(folder):
    reader = read(reproduction_page(folder))
    for title in ("At a glance", "Tables and figures", "Examples", *(paper.name for paper in PAPERS), "Runs"):
        assert title in reader.titles
    text = " ".join(reader.sections.values())
    for name in NAMES:
        assert name in text
    for place in (place for paper in PAPERS for place in paper.places):
        assert place.name in text


def test_links_lead_to_the_experiments(folder):
    page = reproduction_page(folder)
    reader = read(page)
    links = re.findall(r'<a class="name" href="#(s\d+)">([^<]+)</a>', page)
    assert {name for _, name in links} == set(NAMES) - {"examples"}
    for section, name in links:
        assert f"{name}: " in reader.sections[section]


def test_what_has_not_run_is_named(folder, tmp_path_factory):
    page = read(reproduction_page(folder))
    for paper in PAPERS:
        for name in experiments_of(paper):
            own = next(text for text in page.sections.values() if f"{name}: {NAMES[name]}" in text)
            assert ("not run" in own) == (name not in ("jlis-citations", "solvers"))
            assert ("All " in own) == (name in ("jlis-citations", "solvers"))
    empty = reproduction_page(tmp_path_factory.mktemp("empty"))
    assert "No experiment has run." in empty and empty.count("not run") >= len(NAMES)


def test_the_paper_is_beside_ours_with_significance(folder):
    page = reproduction_page(folder)
    assert '<td class="number group paper">58.24</td><td class="number">60.50 <small>± 0.71</small></td>' in page
    assert '<td class="number group paper">+5.81</td><td class="number">+4.50 <small>± 2.12</small></td>' in page
    assert '<td class="number p"><b>0.01</b></td>' in page and '<td class="number p">0.07</td>' in page
    text = read(page).sections
    assert any("not <b>the</b> paper's" in one and "3 files" in one and "C1 <chosen>" in one for one in text.values())
    assert "numpy" in list(text.values())[-1] and "9.9" in list(text.values())[-1]


def test_what_is_missing_is_marked_and_p_values_have_a_column_only_where_there_are_some():
    rows = [row("a", "m", "accuracy", [50.0]), row("a", "n", "accuracy", [60.0]), row("b", "m", "accuracy", [70.0])]
    gain = row("a", "n - m", "difference", [10.0])
    alone, judged = (tables([*rows, gain, *more]) for more in ([], [row("a", "n - m", "p-value", [0.5])]))
    assert '<td class="number group">–</td>' in alone[0].text
    assert ">p</th>" not in alone[-1].text and "+10.00" in alone[-1].text
    assert ">p</th>" in judged[-1].text and ">0.5</td>" in judged[-1].text


def test_what_it_buys_stands_first_and_a_gain_counts_once(folder):
    rows = curve_rows()
    again = [{**one, "method": f"{one['method']}, one choice for all draws"} for one in rows]
    write_result(folder, StoredResult("jlis-citations", True, rows + again, [], {}, {}, {}))
    glance = re.search(r"<h2>At a glance</h2>.*?</section>", reproduction_page(folder), re.DOTALL)[0]
    claim = glance[glance.index("fields of citations") :]
    assert re.findall(r"<td[^>]*>(.*?)</td>", claim)[:5] == [
        "100 tokens", "J-LIS - SSVM", "+5.81", "+4.50 <small>± 2.12</small>", "<b>0.01</b>"
    ]  # fmt: skip
    assert "<b>3 of 3</b>published gains" in glance
    assert {one.experiment for one in CLAIMS} <= set(NAMES)


def test_the_page_is_the_same_every_time_and_stands_alone(folder):
    page = reproduction_page(folder)
    assert page == reproduction_page(folder)
    assert "<script" not in page and not re.search(r"(src|href)=\"(?!#)|url\(|@import|https?:", page)


NAMES_OF = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)
VALUES = st.floats(-1e6, 1e6)


@st.composite
def any_rows(draw):
    found = []
    for setting in draw(st.lists(NAMES_OF, min_size=1, max_size=4, unique=True)):
        for method in draw(st.lists(NAMES_OF, min_size=1, max_size=4, unique=True)):
            for metric in draw(
                st.lists(st.sampled_from(["accuracy", "F1", "ms", "difference", "p-value"]), unique=True)
            ):
                values = draw(st.lists(VALUES, min_size=1, max_size=3))
                found.append(row(setting, method, metric, values, paper=draw(st.none() | VALUES)))
    return found


@given(any_rows())
@settings(max_examples=40, deadline=None)
def test_every_row_is_on_the_page(rows):
    page = all_rows(rows).text
    lines = re.findall(r'<tr class="one">(.*?)</tr>', page)
    assert len(lines) == len(rows)
    for line, one in zip(lines, rows):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", line)
        assert cells[:3] == [escape(one[key]) for key in ("setting", "method", "metric")]
        assert float(cells[3]) == pytest.approx(one["value"], rel=1e-5) and int(cells[6]) == one["draws"]
    shown = "".join(table.text for table in tables(rows))
    read(f"<section id='s'>{shown}</section>")
    for one in rows:  # scores and differences stand in the tables too
        if one["metric"] != "p-value":
            assert points(one["value"], "+" if one["metric"] == "difference" else "") in shown


def test_settings_with_other_methods_have_a_table_of_their_own():
    rows = [row(s, m, "accuracy", [1.0]) for s, methods in (("a", "xy"), ("b", "xyz"), ("c", "pq")) for m in methods]
    assert [[one["setting"] for one in block] for block in blocks(rows)] == [list("aabbb"), list("cc")]


POINTS = st.lists(
    st.tuples(st.floats(1e-3, 1e5), st.floats(1e-6, 1e4), st.none() | st.floats(0, 100)), min_size=2, max_size=12,
    unique_by=lambda point: point[0],
)  # fmt: skip


@given(POINTS, POINTS, st.booleans())
@settings(max_examples=60, deadline=None)
def test_curves_stay_within_their_chart(one, other, logarithmic):
    drawn = curves([Series("a", one), Series("b", other, one[:1])], title="t", logarithmic=(None, logarithmic))
    lines = re.findall(r'<polyline points="([^"]+)" fill="none" stroke="[^"]+" stroke-width="2"', drawn.text)
    assert [len(line.split()) for line in lines] == [len(one), len(other)]
    numbers = re.findall(r'(?:polyline|polygon) points="([^"]+)"', drawn.text)
    for h, v in (pair.split(",") for line in numbers for pair in line.split()):
        assert -0.1 <= float(h) <= 520.1 and -0.1 <= float(v) <= 300.1
    for line, own in zip(lines, (one, other)):  # to the right is more, and up is more
        places = [tuple(map(float, pair.split(","))) for pair in line.split()]
        assert [h for h, _ in places] == sorted(h for h, _ in places)
        by_value = sorted(zip([y for _, y, _ in sorted(own)], places))
        assert all(a[1][1] >= b[1][1] - 0.11 for a, b in pairwise(by_value))


def test_points_have_marks_on_all_curves_of_a_chart_or_on_none():
    few, many = (Series(str(count), [(float(k), float(k), None) for k in range(1, count + 1)]) for count in (3, 40))
    assert curves([few], title="t").text.count("<circle") == 3
    assert curves([few, many], title="t").text.count("<circle") == 0


def test_charts_of_nothing_are_not_there():
    assert curves([Series("a", [(1.0, 2.0, None)])], title="") is None and dots([], title="") is None
    assert curves([Series("a", [(1.0, -2.0, None), (2.0, 0.0, None)])], title="", logarithmic=(None, True)) is None
    assert scatter({"a": [(1.0, 2.0, "x")]}, title="", x="", y="") is None
    assert "paper" in dots([("a", 1.0, None, 2.0)], title="").text


def test_every_experiment_has_its_place():
    shown = [name for paper in PAPERS for name in experiments_of(paper)]
    assert sorted(shown) == sorted(set(NAMES) - {"examples"}) and len(set(shown)) == len(shown)
    assert set(PLOTS) <= set(NAMES)
    for plot in (plot for plots in PLOTS.values() for plot in plots):
        re.compile(plot.methods)
    with pytest.raises(ValueError):
        number_of("k")


def test_a_sentence_is_cut_around_its_entities_and_drawn_the_same_in_any_order():
    arcs = [[0, 1, "a"], [0, 1, "b"], [1, 0, "a"], [0, 1, "c"]]
    of = {"kind": "relations", "tokens": [f"w{k}" for k in range(20)], "spans": [[8, 9], [11, 12]]}
    of |= {"types": ["P", "L"], "right types": ["P", "P"], "relations": arcs[:3], "right relations": arcs[2:]}
    drawn = picture(of, {}).text
    other = {**of, "relations": arcs[2::-1], "right relations": arcs[:1:-1]}
    assert picture(other, {}).text == drawn
    words = re.findall(r'class="mono"[^>]*>([^<]*)<', drawn)
    assert words == ["…", *(f"w{k}" for k in range(5, 15)), "…"]
    assert "L → P" in drawn and drawn.count("stroke-dasharray") == 1  # the relation that was missed


def test_figures_are_drawn(folder):
    page = reproduction_page(folder)
    assert "Learning curve</figcaption>" in page and "Convergence: conll2000</figcaption>" in page
    assert "Gains: published and here" in page and page.count('class="field"') > 8
    assert page.count('class="picture"') == 3 + 3 + 6


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to open the page with")
def test_a_browser_shows_it(folder, tmp_path):
    page = reproduction_page(folder)
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    asked = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,3000"]
    asked += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--screenshot={tmp_path / 'report.png'}", "--dump-dom"]
    found = subprocess.run([*asked, path.as_uri()], check=True, capture_output=True, timeout=180, text=True).stdout
    assert read(found).titles == read(page).titles  # as the browser has understood it
    assert (tmp_path / "report.png").read_bytes()[:4] == b"\x89PNG" and (
        tmp_path / "report.png"
    ).stat().st_size > 80_000


def test_results_are_read_as_they_were_written(folder):
    text = json.loads((folder / "solvers.json").read_text(encoding="utf-8"))
    assert text["rows"][0]["curve"][-1] == [pytest.approx(1.9), pytest.approx(1 / 19)] and text["quick"] is False
    assert Path(folder, "solvers.json").read_text(encoding="utf-8").endswith("}\n")
