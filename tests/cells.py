"""Every learner on every structure from every kind of evidence, tiny: what works, and what is refused."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import sidelight as sl
from sidelight import recipes
from sidelight.errors import DataError, Intractable, NotProved
from sidelight.evidence import Evidence

WORDS = (["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "old", "dog", "sleeps"], ["cats", "bark"])
TAGS = (["D", "N", "V"], ["D", "N", "V"], ["D", "A", "N", "V"], ["N", "V"])
CLASSES = ["short", "short", "long", "short"]
STRUCTURES = ("classes", "chain", "second_order", "segments", "variables")
KINDS = ("gold", "partial", "candidates", "companion", "unlabeled", "votes", "rules")


class Cell(NamedTuple):
    """One learner, one structure, one kind of evidence beside Gold."""

    learner: str
    structure: str
    kind: str


class Outcome(NamedTuple):
    """Whether a cell works, or the first line of why not."""

    works: bool
    why: str = ""


def cells() -> Iterator[Cell]:
    """All of them."""
    for learner in recipes.LEARNERS:
        for structure in STRUCTURES:
            for kind in KINDS:
                yield Cell(learner, structure, kind)


def outcome(cell: Cell) -> Outcome:
    """Fit and predict; what is refused is told, anything else is raised."""
    estimator = estimator_of(cell)
    evidence = evidence_of(cell)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotProved)
            estimator.fit(evidence)
            found = estimator.predict(inputs(cell))
    except (DataError, ValueError, Intractable) as error:
        return Outcome(False, str(error).splitlines()[0])
    check_outputs(cell, found, labels(cell))
    return Outcome(True)


def estimator_of(cell: Cell) -> Any:
    """The estimator of a structure, with few rounds."""
    rules = [sl.rules.gallery.at_least(1, labels(cell)[0], name="Some")] if cell.kind == "rules" else ()
    params: dict[str, Any] = {"learner": cell.learner, "labels": labels(cell), "rules": rules, "max_rounds": 3}
    params |= {"n_jobs": 1, "seed": 0}
    if cell.structure == "variables":
        return joint_of(cell, params)
    if cell.structure == "classes":
        return sl.Classifier(**params)
    if cell.structure == "segments":
        return sl.SegmentTagger(max_length=2, **params)
    return sl.Tagger(order=2 if cell.structure == "second_order" else 1, **params)


def joint_of(cell: Cell, params: dict[str, Any]) -> sl.Joint:
    """Tags as decisions of one kind, with tables of neighbours."""
    own = {name: params[name] for name in ("learner", "max_rounds", "n_jobs", "seed")}
    return sl.Joint(
        {"tag": labels(cell)},
        [some_tag] if cell.kind == "rules" else (),
        variables=lambda x: {"tag": range(len(x))},
        features=lambda x, kind, key: {"word": x[key]},
        pairs=lambda x: [("next", ("tag", t), ("tag", t + 1)) for t in range(len(x) - 1)],
        **own,
    )


@sl.rules.rule
def some_tag(x: Any, y: Any) -> Any:
    """One of the tags is an N."""
    return sl.rules.some(tag == "N" for tag in y.tag.values())


def as_variables(tags: list[Any]) -> dict[str, dict[int, Any]]:
    """A list of tags as an output of `Joint`; None is open."""
    return {"tag": {t: tag for t, tag in enumerate(tags) if tag is not None}}


def labels(cell: Cell) -> list[str]:
    return ["long", "short"] if cell.structure == "classes" else ["A", "D", "N", "V"]


def inputs(cell: Cell) -> list[Any]:
    if cell.structure == "classes":
        return [dict.fromkeys(words, 1.0) for words in WORDS]
    return [list(words) for words in WORDS]


def outputs(cell: Cell) -> list[Any]:
    if cell.structure == "variables":
        return [as_variables(list(tags)) for tags in TAGS]
    return list(CLASSES) if cell.structure == "classes" else [list(tags) for tags in TAGS]


def evidence_of(cell: Cell) -> list[Evidence]:
    """Gold, and one piece or two of the kind."""
    xs, ys = inputs(cell), outputs(cell)
    known = sl.gold(xs[:3], ys[:3])
    single, joint = cell.structure == "classes", cell.structure == "variables"
    match cell.kind:
        case "partial":
            some: Any = [None] if single else [["N", None]]
            return [*known, *sl.partial(xs[3:], [as_variables(*some)] if joint else some)]
        case "candidates":
            sets: Any = [("long", "short")] if single else [[("N", "A"), None]]
            return [*known, *sl.candidates(xs[3:], [as_variables(*sets)] if joint else sets)]
        case "companion":
            return [*known, *sl.companion(xs[3:], 1), *sl.companion(xs[:1], -1)]
        case "unlabeled" | "rules":
            return [*known, *sl.unlabeled(xs[3:])] if cell.kind == "unlabeled" else known
        case "votes":
            said = {"one": "short"} if single else {"one": ["N", None], "two": [None, "V"]}
            return [*known, sl.Voted(xs[3], said)]
        case _:
            return known


def check_outputs(cell: Cell, found: list[Any], names: list[Any]) -> None:
    """Outputs are labels of the model, one for every token."""
    assert len(found) == len(WORDS)
    for x, y in zip(inputs(cell), found):
        said = [y] if cell.structure == "classes" else y if cell.structure != "variables" else list(y["tag"].values())
        assert len(said) == (1 if cell.structure == "classes" else len(x))
        assert all(label in names for label in said)


def page(found: dict[Cell, Outcome]) -> str:
    """The table for the documentation: a line for each learner, a column for each structure."""
    lines = [
        HEAD,
        "",
        "| learner | " + " | ".join(NAMES[one] for one in STRUCTURES) + " |",
        "|---" * (1 + len(STRUCTURES)) + "|",
    ]
    for learner in recipes.LEARNERS:
        columns = []
        for structure in STRUCTURES:
            kinds = [LETTERS[kind] for kind in KINDS if found[Cell(learner, structure, kind)].works]
            columns.append(" ".join(kinds) or "–")
        lines.append(f"| `{learner}` | " + " | ".join(columns) + " |")
    return "\n".join(lines) + "\n"


NAMES = {"classes": "classes", "chain": "chain", "second_order": "chain, order 2", "segments": "segments"}
NAMES["variables"] = "variables (`Joint`)"
LETTERS = {
    "gold": "G",
    "partial": "P",
    "candidates": "C",
    "companion": "A",
    "unlabeled": "U",
    "votes": "V",
    "rules": "R",
}
HEAD = """# What learns from what, on which structure

Made from tiny fits of every learner to every structure with every kind of evidence beside Gold, which the tests run;
what is not here is refused in one line that names what is missing, before any work.

G Gold, P partial labels, C candidates, A companion answers, U unlabelled inputs, V votes, R rules in prediction."""


def main() -> None:
    """Print the page."""
    sys.stdout.write(page({cell: outcome(cell) for cell in cells()}))


if __name__ == "__main__":
    main()
