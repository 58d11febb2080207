"""Every learner on every structure from every kind of evidence, tiny: what works, and what is refused."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import sidelight as sl
from sidelight import recipes
from sidelight.errors import DataError, Intractable, NotProved
from sidelight.evidence import Evidence
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.slot_scorer import FeatureNames
from sidelight.spaces.slots import SlotSpace

WORDS = (["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "old", "dog", "sleeps"], ["cats", "bark"])
TAGS = (["D", "N", "V"], ["D", "N", "V"], ["D", "A", "N", "V"], ["N", "V"])
CLASSES = ["short", "short", "long", "short"]
STRUCTURES = ("classes", "chain", "second_order", "segments", "variables", "own")
KINDS = ("gold", "partial", "candidates", "companion", "unlabeled", "votes", "rules")


OPTIONS: dict[tuple[str, str], dict[str, Any]] = {  # where the default of an option asks for more than a structure has
    ("contrastive", "second_order"): {"neighbours": "transpose"},
    ("cllp", "own"): {"initial": "random"},
    ("mms", "own"): {"initial": "random"},
}


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
    """Fit and predict; what is refused is reported, anything else is raised."""
    evidence = evidence_of(cell)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotProved)
            estimator = estimator_of(cell).fit(evidence)
            found = estimator.predict(inputs(cell))
    except (DataError, ValueError, Intractable) as error:
        return Outcome(False, str(error).splitlines()[0])
    check_outputs(cell, found, labels(cell))
    return Outcome(True)


def estimator_of(cell: Cell, **more: Any) -> Any:
    """The estimator of a structure, with few rounds."""
    rules = [sl.rules.gallery.at_least(1, labels(cell)[0], name="Some")] if cell.kind == "rules" else ()
    params: dict[str, Any] = {"labels": labels(cell), "rules": rules, "max_rounds": 3}
    options = OPTIONS.get((cell.learner, cell.structure))
    params["learner"] = cell.learner if options is None else getattr(recipes, cell.learner)(**options)
    params |= {"n_jobs": 1, "seed": 0}
    return made(cell.structure, params | more)


def made(structure: str, params: dict[str, Any]) -> Any:
    """The estimator of a structure with parameters that `Tagger` has."""
    if structure == "variables":
        return joint_of(params)
    if structure == "own":
        if params["rules"]:
            raise DataError("OneVerb has no rules about its outputs", remedy="leave rules out")
        return sl.Predictor(OneVerb(), **{name: one for name, one in params.items() if name not in NOT_OWN})
    if structure == "classes":
        return sl.Classifier(**params)
    if structure == "segments":
        return sl.SegmentTagger(max_length=2, **params)
    return sl.Tagger(order=2 if structure == "second_order" else 1, **params)


NOT_OWN = ("labels", "rules", "rules_in")


def joint_of(params: dict[str, Any]) -> sl.Joint:
    """Tags as decisions of one kind, with tables of neighbours."""
    own = {name: one for name, one in params.items() if name not in ("labels", "rules")}
    return sl.Joint(
        {"tag": params["labels"]},
        [some_tag] if params["rules"] else (),
        variables=lambda x: {"tag": range(len(x))},
        features=lambda x, kind, key: {"word": x[key]},
        pairs=lambda x: [("next", ("tag", t), ("tag", t + 1)) for t in range(len(x) - 1)],
        **own,
    )


@sl.rules.rule
def some_tag(x: Any, y: Any) -> Any:
    """One of the tags is an N."""
    return sl.rules.some(tag == "N" for tag in y.tag.values())


@dataclass(frozen=True)
class OneVerbOutputs(SlotSpace):
    """A tag for every token, of which one at most is the last of them."""

    def best_of(self, scores: Any) -> Any:
        others, last = scores[:, :-1], scores[:, -1]
        choices, gains = others.argmax(axis=1), last - others.max(axis=1)
        if np.isfinite(others.max(axis=1)).all():
            best = int(gains.argmax())
            choices[best] = self.n_labels - 1 if gains[best] > 0 else choices[best]
            return choices
        needed = np.flatnonzero(others.max(axis=1) == -np.inf)
        if len(needed) > 1 or last[needed[0]] == -np.inf:
            return None
        choices[needed] = self.n_labels - 1
        return choices


class OneVerb:
    """A structure that this library does not have: tags of words, and one verb at most."""

    def __init__(self) -> None:
        self.names, self.tags = FeatureNames(), ["A", "D", "N", "V"]

    def batch(self, xs: Any) -> Batch:
        scorer = self.names.scorer([[[{f"{word} {tag}": 1.0} for tag in self.tags] for word in x] for x in xs], 4)
        return Batch(scorer, OneVerbOutputs(scorer.starts, 4))

    def encode(self, x: Any, y: Any) -> Any:
        return np.array([self.tags.index(tag) for tag in y], dtype=np.int32)

    def decode(self, x: Any, choices: Any) -> Any:
        return [self.tags[choice] for choice in choices]

    def admitted(self, x: Any, y: Any) -> Any:
        return np.array([[one is None or tag in one for tag in self.tags] for one in y], dtype=np.uint8)


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
            alone = cell.learner == "lclr"  # which learns from answers, and from nothing else
            return [*([] if alone else known), *sl.companion(xs[3:], 1), *sl.companion(xs[:1], -1)]
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
            mark = [MARK] if kinds and (learner, structure) in OPTIONS else []
            columns.append(" ".join(kinds + mark) or "–")
        lines.append(f"| `{learner}` | " + " | ".join(columns) + " |")
    return "\n".join(lines) + "\n"


MARK = "°"  # behind what works with an option that is not the default
NAMES = {"classes": "classes", "chain": "chain", "second_order": "chain, order 2", "segments": "segments"}
NAMES |= {"variables": "variables (`Joint`)", "own": "your own (`Predictor`)"}
LETTERS = {
    "gold": "G",
    "partial": "P",
    "candidates": "C",
    "companion": "A",
    "unlabeled": "U",
    "votes": "V",
    "rules": "R",
}
HEAD = """# Learners, structures and evidence

The tests generate these tables: they fit every learner on every structure, with every kind of evidence besides Gold.
Other combinations are refused with one line that names what is missing. "Your own" is an example of a structure that
only finds its best output: a tag for every word, with at most one verb.

G: Gold, P: partial labels, C: candidates, A: companion answers, U: unlabelled inputs, V: votes, R: rules in prediction.
`lclr` learns from companion answers alone.
°: needs an option, which the error message names: `contrastive(neighbours="transpose")`, `initial="random"` for `cllp`
and `mms`. The tables below set it too."""


def main() -> None:
    """Print the page."""
    from option_cells import option_cells, option_outcome, option_page

    sys.stdout.write(page({cell: outcome(cell) for cell in cells()}))
    sys.stdout.write("\n" + option_page({cell: option_outcome(cell) for cell in option_cells()}))


if __name__ == "__main__":
    main()
