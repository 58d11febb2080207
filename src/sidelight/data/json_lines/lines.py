"""JSON lines: one input per line, with everything known about it.

`{"tokens": [...], "labels": [...]}` is a sequence and `{"features": {...}, "label": "x"}` an input with one label.
Other keys (an id, a text, "predicted") are ignored, unless they look like a misspelt key.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from sidelight.data.corpus import Corpus
from sidelight.data.files import read_lines, shown_name
from sidelight.errors import DataError
from sidelight.evidence import Origin

KEYS = ("tokens", "labels", "features", "label", "candidates", "good", "weight")
MORE = ("known", "initial", "chunks")  # read with candidates (`json_lines.candidates`), otherwise ignored
VOTES = "votes"  # read as votes (`json_lines.votes`), otherwise ignored
ALIKE = 0.75  # similarity from which an unknown key counts as a misspelt one


class Record(NamedTuple):
    """The contents of one line. If the input is given by features, it is a dict, and the lists have one element."""

    x: Any
    labels: list[str | None] | None
    candidates: list[tuple[str, ...] | None] | None
    good: bool | None
    weight: float
    origin: Origin
    more: Mapping[str, Any] = MappingProxyType({})  # votes, and the further keys of candidates, unchanged


class FileLine(NamedTuple):
    """A line of a file."""

    file: str
    line: int

    def fail(self, problem: str, remedy: str) -> NoReturn:
        """Raise an error that names the line."""
        raise DataError(problem, file=self.file, line=self.line, remedy=remedy)


def read_jsonl(path: str | Path) -> Corpus:
    """A corpus from JSON lines, with outputs if the lines have labels; null becomes `None`.

    Tokens are strings, lists of columns (read as tuples) or objects from attribute to number. Blank lines are skipped.
    Raises `DataError` for an invalid line, and if only some of the lines have labels.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.jsonl").write_text('{"tokens": ["Lights", "on"], "labels": ["NOUN", null]}')
    ...     corpus = read_jsonl(Path(folder, "a.jsonl"))
    >>> corpus.xs, corpus.ys
    ([['Lights', 'on']], [['NOUN', None]])
    """
    records = read_records(path)
    xs = [record.x for record in records]
    origins = [record.origin for record in records]
    bare = [record for record in records if record.labels is None]
    if len(bare) == len(records):
        return Corpus(xs, None, origins)
    if bare:
        place = bare[0].origin
        problem = f"no labels, though {len(records) - len(bare)} other lines have them"
        raise DataError(problem, file=place.file, line=place.line(0), remedy="label every line, or none")
    return Corpus(xs, [output(record) for record in records], origins)


def objects_in(path: str | Path) -> Iterator[tuple[dict[str, Any], FileLine]]:
    """The JSON objects of a file's nonblank lines, each with its place."""
    file = shown_name(path)
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield object_at(line, place := FileLine(file, number)), place


def read_records(path: str | Path) -> list[Record]:
    """The contents of all lines of a file, checked line by line."""
    records = [_record(entry, place) for entry, place in objects_in(path)]
    if not records:
        raise DataError(
            "no inputs", file=shown_name(path), remedy='write one JSON object a line, e.g. {"tokens": ["a", "b"]}'
        )
    return records


def output(record: Record) -> Any:
    """The labels of a sequence, or the label of an input given by its features."""
    return record.labels[0] if record.labels is not None and isinstance(record.x, dict) else record.labels


def _record(entry: dict[str, Any], place: FileLine) -> Record:
    check_keys(entry, (*KEYS, *MORE) if "candidates" in entry else KEYS, place)
    if ("tokens" in entry) == ("features" in entry):
        place.fail('one of "tokens" and "features" is needed', "give the tokens of a sequence or the features of one")
    if "features" in entry:
        if "labels" in entry:
            place.fail('"labels" beside "features"', 'write "label", with one label')
        x: Any = _attributes(entry["features"], 0, place)
        labels = [entry["label"]] if "label" in entry else None
        candidates = [entry["candidates"]] if "candidates" in entry else None
        length = 1
    else:
        if "label" in entry:
            place.fail('"label" beside "tokens"', 'write "labels", with a list of one label per token')
        x = _tokens(entry["tokens"], place)
        length = len(x)
        labels = one_each("labels", entry["labels"], length, place=place) if "labels" in entry else None
        candidates = one_each("candidates", entry["candidates"], length, place=place) if "candidates" in entry else None
    return Record(
        x,
        None if labels is None else [label_at(label, t, place) for t, label in enumerate(labels)],
        None if candidates is None else [_candidates(labels, t, place) for t, labels in enumerate(candidates)],
        good_at(entry, place),
        weight_at(entry, place),
        Origin(place.file, (place.line,)),
        {key: entry[key] for key in (*MORE, VOTES) if key in entry},
    )


def check_keys(entry: Mapping[str, Any], keys: Sequence[str], place: FileLine) -> None:
    """Raise `DataError` for a key that looks misspelt; other unknown keys are ignored."""
    for key in entry:
        meant = difflib.get_close_matches(key.lower(), keys, n=1, cutoff=ALIKE) if key not in keys else []
        if meant and meant[0] not in entry:
            place.fail(f"unknown key {key!r}", f"write {meant[0]!r} if it is meant, or call it something else")


def object_at(line: str, place: FileLine) -> dict[str, Any]:
    """The object on a line, in which no key is given twice and every number is finite."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entry = dict(pairs)
        if len(entry) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            place.fail(f"the key {twice!r} is given twice", "give it once")
        return entry

    def constant(name: str) -> NoReturn:
        place.fail(f"{name} is not a finite number", "give a finite number, or leave it out")

    try:
        entry = json.loads(line, object_pairs_hook=unique, parse_constant=constant)
        if "\\u" in line:
            json.dumps(entry, ensure_ascii=False).encode("utf-8")
    except DataError:
        raise
    except json.JSONDecodeError as error:
        place.fail(f"not JSON ({error.msg} at column {error.colno})", "write one JSON object on each line")
    except UnicodeEncodeError:
        place.fail("a \\u escape for half of a surrogate pair", "write the character itself, or both halves")
    except (ValueError, RecursionError) as error:
        place.fail(f"JSON that cannot be used ({error})", "write smaller numbers and flatter lists")
    if not isinstance(entry, dict):
        place.fail("not a JSON object", 'write one object a line, e.g. {"tokens": ["a", "b"]}')
    return entry


def _tokens(tokens: Any, place: FileLine) -> list[Any]:
    if not isinstance(tokens, list):
        place.fail('"tokens" is not a list', 'write e.g. "tokens": ["a", "b"]')
    if not tokens:
        place.fail('"tokens" is empty', "give at least one token, or leave the line out")
    if all(isinstance(token, str) for token in tokens):
        return tokens
    if all(isinstance(token, dict) for token in tokens):
        return [_attributes(token, t, place) for t, token in enumerate(tokens)]
    for t, token in enumerate(tokens):
        if not isinstance(token, str | dict | list) or type(token) is not type(tokens[0]):
            place.fail(f"token {t} is {json.dumps(token)}", "make all tokens strings, lists of strings, or objects")
        if len(token) != len(tokens[0]) or not token:
            place.fail(
                f"token {t} has {len(token)} columns where {len(tokens[0])} were expected",
                "give every token the same columns, at least one",
            )
        if not all(isinstance(cell, str) for cell in token):
            place.fail(f"token {t} has a column that is not a string", "put the columns in quotes")
    return [tuple(token) for token in tokens]


def _attributes(token: Any, t: int, place: FileLine) -> dict[str, float]:
    if not isinstance(token, dict):
        place.fail('"features" is not an object', 'write e.g. "features": {"w=on": 1}')
    values: dict[str, float] = {}
    for name, value in token.items():
        if not isinstance(value, int | float):
            place.fail(
                f"token {t}: the value {json.dumps(value)} of attribute {name!r} is not a number",
                'write a word into the name, e.g. {"w=on": 1}',
            )
        values[name] = _finite(value, f"token {t}: the value of attribute {name!r}", place)
    return values


def _finite(value: float, what: str, place: FileLine) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        place.fail(f"{what} is not finite", "give a finite number, or leave it out")
    return number


def one_each(key: str, values: Any, length: int, *, place: FileLine) -> list[Any]:
    """A list with one element for every token."""
    if not isinstance(values, list):
        place.fail(f'"{key}" is not a list', "give a list with one element per token")
    if len(values) != length:
        place.fail(f"{length} tokens but {len(values)} {key}", f"give one element of {key} per token")
    return values


def label_at(label: Any, t: int, place: FileLine) -> str | None:
    """A label, or None."""
    if label is None or (isinstance(label, str) and label):
        return label
    return place.fail(
        f"token {t}: the label {json.dumps(label)}", "write a label as a string that is not empty, or null"
    )


def _candidates(labels: Any, t: int, place: FileLine) -> tuple[str, ...] | None:
    if labels is None:
        return None
    if not isinstance(labels, list):
        place.fail(f"token {t}: the candidates {json.dumps(labels)}", 'write a list, e.g. ["A", "B"], or null for any')
    if not labels:
        place.fail(f"token {t}: an empty candidate set", "give at least one label, or null for any label")
    for label in labels:
        if not isinstance(label, str) or not label:
            place.fail(f"token {t}: the candidate {json.dumps(label)}", "write a label as a string that is not empty")
    return tuple(dict.fromkeys(labels))


def good_at(entry: Mapping[str, Any], place: FileLine) -> bool | None:
    """Whether a line says that its input is good; None if it does not say."""
    good = entry.get("good")
    if "good" in entry and not isinstance(good, bool):
        place.fail(f'"good" is {json.dumps(good)}', "write true or false")
    return good


def weight_at(entry: Mapping[str, Any], place: FileLine) -> float:
    """The weight that a line gives its input."""
    weight = entry.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        place.fail(f'"weight" is {json.dumps(weight)}', "give a number, 0 or more")
    number = _finite(weight, '"weight"', place)
    if number < 0:
        place.fail(f'"weight" is {weight}', "give a number, 0 or more")
    return number
