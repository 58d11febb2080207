"""JSON lines with entities and relations: there and back, and lines that are malformed."""

from __future__ import annotations

import pytest

from sidelight.data.relations import EntitySentence, Extraction, read_relations, without_types, write_relations
from sidelight.errors import DataError

X = EntitySentence(("Ann", "left", "Oslo", "«à»"), ((0, 1), (2, 3)))
Y = Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),))


def test_what_is_written_is_read(tmp_path):
    file = tmp_path / "a.jsonl.gz"
    bare = EntitySentence(("on",), ())
    write_relations(file, [X, bare], [Y, Extraction(())])
    assert read_relations(file) == ([X, bare], [Y, Extraction(())])


def test_types_may_be_missing_everywhere(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"tokens": ["Ann"], "entities": [{"start": 0, "end": 1}], "orig_id": 3}\n\n')
    assert read_relations(file) == ([EntitySentence(("Ann",), ((0, 1),))], None)


def test_entities_of_a_type_are_left_out_with_their_relations():
    y = Extraction(("Other", "Peop", "Loc"), ((1, 0, "Live_In"), (1, 2, "Live_In")))
    x = EntitySentence(("8", "Ann", "Oslo"), ((0, 1), (1, 2), (2, 3)))
    assert without_types(x, y, {"Other"}) == (
        EntitySentence(x.tokens, ((1, 2), (2, 3))),
        Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),)),
    )


def line(tokens='["Ann", "Oslo"]', entities='[{"type": "P", "start": 0, "end": 1}]', relations="[]") -> str:
    return f'{{"tokens": {tokens}, "entities": {entities}, "relations": {relations}}}'


TWO = '[{"type": "P", "start": 0, "end": 1}, {"type": "L", "start": 1, "end": 2}]'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "1: not JSON"),
        ("", "no sentences"),
        (line(tokens='"Ann"'), '1: "tokens" is not a list of words'),
        (line(tokens="[]"), '1: "tokens" is not a list of words'),
        (line(entities="3"), '1: "entities" is not a list of objects'),
        (line(entities='[{"type": "P", "start": 0, "end": 3}]'), "1: entity 0 is from 0 to 3 of 2 tokens"),
        (line(entities='[{"type": "P", "start": 1, "end": 1}]'), "1: entity 0 is from 1 to 1 of 2 tokens"),
        (line(entities='[{"type": "P", "start": true, "end": 2}]'), "1: entity 0 is from true to 2"),
        (line(entities='[{"type": 3, "start": 0, "end": 1}]'), "1: entity 0 has the type 3"),
        (
            line(entities='[{"type": "P", "start": 0, "end": 1}, {"start": 1, "end": 2}]'),
            "1: entity 1 has the type null; give every entity a type",
        ),
        (line() + "\n" + line(entities='[{"start": 0, "end": 1}]'), "2: an entity without a type, though other lines"),
        (
            line(entities=TWO, relations='[{"type": "R", "head": 1, "tail": 1}]'),
            "1: the relation R is between entity 1 and itself; give two entities",
        ),
        (line(entities=TWO, relations='[{"type": "R", "head": 0, "tail": 2}]'), "1: the relation R is with entity 2"),
        (line(entities=TWO, relations='[{"head": 0, "tail": 1}]'), "1: a relation has the type null"),
        (line(entities=TWO, relations='{"a": 1}'), '1: "relations" is not a list of objects'),
        (line()[:-1] + ', "tokens": []}', "1: the key 'tokens' is given twice"),
    ],
)
def test_bad_lines(tmp_path, text, words):
    file = tmp_path / "a.jsonl"
    file.write_text(text)
    with pytest.raises(DataError) as told:
        read_relations(file)
    assert words in str(told.value) and str(told.value).startswith(str(file))


def test_as_many_of_each(tmp_path):
    with pytest.raises(DataError, match="1 sentences and 2 extractions"):
        write_relations(tmp_path / "a", [X], [Y, Y])
