"""Parsing of requests: inputs as text, as JSON, or as a file of their structure, and the requested details."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from sidelight.commands.registry.entry import StructureEntry
from sidelight.commands.serving.limits import MALFORMED, UNUSABLE, Limits, RequestError
from sidelight.commands.shared.inputs import check_alike, check_fits, read_inputs
from sidelight.commands.shared.plain_text import inputs_of
from sidelight.data.items import INPUTS, Item
from sidelight.data.text import tokens_in
from sidelight.errors import DataError
from sidelight.models.model import Model

EXAMPLE = 'send e.g. {"text": "Ann lives in Oslo."}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Requested details besides outputs."""

    probabilities: bool = False  # of every label
    margins: bool = False  # the score, the runner-up, and the margin
    explain: bool = False  # the contributions to the margin, and the effects of rules


@dataclass(frozen=True, slots=True)
class ServedInputs:
    """Inputs in the form for the model, and as items of files for structures other than labels."""

    xs: list[Any]
    wishes: Wishes
    items: Sequence[Item] = ()
    format: str | None = None  # of the items


def question_of(body: bytes, model: Model, entry: StructureEntry | None, limits: Limits) -> ServedInputs:
    """The question in the JSON of a request; raises `RequestError` if it is invalid."""
    values_by_name = _parsed(body)
    if not isinstance(values_by_name, dict):
        raise RequestError(UNUSABLE, f"a JSON {_kind(values_by_name)} instead of an object; {EXAMPLE}")
    flags = [one.name for one in fields(Wishes)]
    known = ["text", "inputs", *flags, *(["spaces"] if entry is None else ["format"])]
    for name in values_by_name:
        if name not in known:
            raise RequestError(UNUSABLE, f"unknown key {name!r}; there are {', '.join(known)}")
    for name in (*flags, "spaces"):
        if not isinstance(values_by_name.get(name, False), bool):
            raise RequestError(UNUSABLE, f"{name!r} is {_kind(values_by_name[name])}; give true or false")
    if ("text" in values_by_name) == ("inputs" in values_by_name):
        raise RequestError(UNUSABLE, f'one of "text" and "inputs" is needed; {EXAMPLE}')
    wishes = Wishes(**{name: values_by_name[name] for name in flags if name in values_by_name})
    if "text" in values_by_name and not isinstance(values_by_name["text"], str):
        raise RequestError(UNUSABLE, f'"text" is {_kind(values_by_name["text"])}; {EXAMPLE}')
    if "inputs" in values_by_name and not (isinstance(values_by_name["inputs"], list) and values_by_name["inputs"]):
        raise RequestError(UNUSABLE, '"inputs" is not a list of inputs; send e.g. {"inputs": [{"tokens": ["a", "b"]}]}')
    if entry is not None:
        question = _structured(values_by_name, entry, wishes)
    elif "text" in values_by_name:
        question = question_of_text(values_by_name["text"], model, wishes, spaces=values_by_name.get("spaces", False))
    else:
        question = _labelled(values_by_name["inputs"], model, wishes)
    return within(question, limits)


def question_of_text(text: str, model: Model, wishes: Wishes, *, spaces: bool = False) -> ServedInputs:
    """Plain text as a question to a label model: one sentence, or one document, per line."""
    lines = [line.split() if spaces else tokens_in(line) for line in text.splitlines()]
    if not any(lines):
        raise RequestError(UNUSABLE, "the text is empty; give at least one word")
    with _unusable(instead={"without --text": 'as "inputs"'}):
        return ServedInputs(inputs_of(lines, model), wishes)


def within(question: ServedInputs, limits: Limits) -> ServedInputs:
    """The question; raises `RequestError` if it has too many tokens."""
    count = sum(size_of(x) for x in question.xs)
    if count > limits.max_tokens:
        remedy = "send less at a time, or start the server with more --max-tokens"
        raise RequestError(UNUSABLE, f"{count:,} tokens, and {limits.max_tokens:,} are allowed; {remedy}")
    return question


def size_of(x: Any) -> int:
    """The number of tokens of an input, in all its parts; features of a class count as one token each."""
    if isinstance(x, Mapping):
        return len(x)
    if isinstance(x, tuple) and all(hasattr(side, "__len__") and not isinstance(side, str) for side in x):
        return sum(len(side) for side in x)  # two sides
    return len(x) if hasattr(x, "__len__") else sum(1 for _ in getattr(x, "words", ())) or 1


def _parsed(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} of the request, 0x{body[error.start]:02x}, is not UTF-8"
        raise RequestError(MALFORMED, f"{problem}; encode it as UTF-8") from None
    try:
        value = json.loads(text, parse_constant=_not_finite)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError(UNUSABLE, "half of a surrogate pair in a string; send whole characters") from None
    except (ValueError, RecursionError) as error:
        raise RequestError(MALFORMED, f"the request is not JSON ({error}); {EXAMPLE}") from None
    return value


def _not_finite(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a finite number")


def _labelled(inputs: list[Any], model: Model, wishes: Wishes) -> ServedInputs:
    """Inputs in the form of JSON lines; a list is a list of tokens."""
    objects = [{"tokens": one} if isinstance(one, list) else one for one in inputs]
    with _file(_as_lines(objects), "jsonl") as path:
        corpus = read_inputs(path, format="jsonl", label_column=None)
        pairs = list(zip(corpus.xs, corpus.origins))
        check_alike(pairs)
        check_fits(model, pairs)
    return ServedInputs(corpus.xs, wishes)


def _structured(fields: Mapping[str, Any], entry: StructureEntry, wishes: Wishes) -> ServedInputs:
    """Items of a structure: the text of a file, or objects in the form of its JSON lines."""
    name = fields.get("format", "jsonl" if "inputs" in fields else next(iter(entry.formats)))
    if not isinstance(name, str) or name not in entry.formats or ("inputs" in fields and name != "jsonl"):
        there = " or ".join(entry.formats)
        problem = f"{entry.name} has no {'JSON' if 'inputs' in fields else json.dumps(name)} inputs"
        raise RequestError(UNUSABLE, f'{problem}; send the text of a file as "text", and "format": {there}')
    text = fields["text"] if "text" in fields else _as_lines(fields["inputs"])
    if not text.strip():
        raise RequestError(UNUSABLE, "the text is empty; give at least one input")
    with _file(text, name) as path:
        items = entry.formats[name].read(path, INPUTS)
    return ServedInputs([item.x for item in items], wishes, items, name)


def _as_lines(objects: Sequence[Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


@contextmanager
def _file(text: str, ending: str) -> Iterator[Path]:
    """Context manager: the text as a file for the readers of formats; errors refer to the inputs of the request."""
    with tempfile.TemporaryDirectory(prefix="sidelight-") as folder:
        path = Path(folder, f"inputs.{ending}")
        path.write_text(text, encoding="utf-8")
        with _unusable(instead={f"{path}:": "input line ", str(path): "the inputs"}):
            yield path


@contextmanager
def _unusable(instead: Mapping[str, str] | None = None) -> Iterator[None]:
    """Context manager: `DataError` becomes an answer to the request; names of options become keys of JSON."""
    try:
        yield
    except DataError as error:
        problem, remedy = error.problem, error.remedy or ""
        for shell, ours in (instead or {}).items():
            problem, remedy = problem.replace(shell, ours), remedy.replace(shell, ours)
        place = "" if error.file is None else "inputs" if error.line is None else f"input line {error.line}"
        text = ": ".join(part for part in (place, problem) if part)
        raise RequestError(UNUSABLE, f"{text}; {remedy}" if remedy else text) from None


def _kind(value: Any) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "truth", type(None): "null"}
    return names.get(type(value), "number")
