"""Gold links, and links in the formats of Pharaoh and Giza."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.data.links import GoldLinks, giza_entry, pharaoh_line, read_giza, read_gold, read_pharaoh
from sidelight.errors import DataError

LINKS = st.lists(st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 6))), min_size=1, max_size=5)


def written(tmp_path, text):
    path = tmp_path / "links"
    path.write_text(text)
    return path


@given(LINKS)
def test_what_is_written_is_read_again(tmp_path_factory, links):
    folder = tmp_path_factory.mktemp("links")
    pharaoh = written(folder, "".join(f"{pharaoh_line(one)}\n" for one in links))
    assert read_pharaoh(pharaoh) == links
    source, target = list("abcde"), ["NULL", "({", "})", "d", "({2})", "f", "g"]
    giza = written(folder, "".join(f"{giza_entry(n, source, target, one)}\n" for n, one in enumerate(links, 1)))
    assert read_giza(giza) == links


def test_giza_lists_words_without_links_under_null():
    entry = giza_entry(7, ["a", "b"], ["x", "y", "z"], [(0, 1), (0, 2)], score=0.25).splitlines()
    assert entry == [
        "# Sentence pair (7) source length 2 target length 3 alignment score : 0.25",
        "x y z",
        "NULL ({ 1 }) a ({ 2 3 }) b ({ })",
    ]


def test_gold_with_and_without_marks(tmp_path):
    marked = read_gold(written(tmp_path, "0001 1 1 S\n0001 1 2 P\n3 2 1 S\n"))
    first = GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (0, 1)}))
    assert marked == [first, GoldLinks(frozenset(), frozenset()), GoldLinks(frozenset({(1, 0)}), frozenset({(1, 0)}))]
    plain = read_gold(written(tmp_path, "1 1 1\n\n2 2 2\n"), count=3)
    assert [sorted(one.sure) for one in plain] == [[(0, 0)], [(1, 1)], []]
    assert all(one.sure == one.possible for one in plain)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1 1\n", "links:1: not a link: '1 1'; write: sentence"),
        ("1 1 1 S\n1 a 1 S\n", "links:2: not a link"),
        ("1 1 1 X\n", "links:1: not a link"),
        ("1 0 1\n", "links:1: sentences and positions count from 1"),
        ("3 1 1\n", "links:1: sentence 3 where there are 2"),
        ("1 1 1\n2 1 3\n", "links:2: link 1 3 in a pair of 1 and 2 words"),
        ("", "links: no links"),
    ],
)
def test_gold_that_cannot_be_used(tmp_path, text, problem):
    with pytest.raises(DataError) as caught:
        read_gold(written(tmp_path, text), pairs=[(["a"], ["x"]), (["b"], ["y", "z"])])
    assert problem in str(caught.value)


def test_links_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match=r"links:2: not a link: '1-x'"):
        read_pharaoh(written(tmp_path, "0-0\n0-0 1-x\n"))
    with pytest.raises(DataError, match="links:1: not an entry of three lines"):
        read_giza(written(tmp_path, "0-0\n"))
    whole = giza_entry(1, ["a"], ["x"], [])
    with pytest.raises(DataError, match="links:4: not an entry"):
        read_giza(written(tmp_path, f"{whole}\n{whole.splitlines()[0]}\n"))
    with pytest.raises(DataError, match="links:4: sentence pair 1 for a second time"):
        read_giza(written(tmp_path, f"{whole}\n{whole}\n"))


def test_giza_entries_have_their_places_by_number(tmp_path):
    entries = [giza_entry(number, ["a"], ["x"], [(0, 0)]) for number in (4, 2)]
    assert [len(links) for links in read_giza(written(tmp_path, "\n".join(entries) + "\n"))] == [0, 1, 0, 1]
