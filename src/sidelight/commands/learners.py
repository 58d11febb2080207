"""`sidelight learners`: a list of the learners."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

from sidelight.commands.shared.outputs import hanging, text_width, write
from sidelight.recipes import LEARNERS, Recipe
from sidelight.specs import Need
from sidelight.specs.options import options_of

KINDS = {  # marks in the list, by the words of the table of learners
    "gold": ("G", "--gold"),
    "partial": ("P", "--partial"),
    "candidates": ("C", "--candidates"),
    "companion": ("Y", "--good and --bad (yes or no)"),
    "unlabeled": ("U", "--unlabeled"),
    "rules": ("R", "--rules"),
}


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The learner whose options to show.")] = None,
) -> None:
    """List the learners and the evidence they take, or show the options of one, with values and defaults."""
    width = text_width()
    if name is None:
        write(_list(width), None)
    elif name in LEARNERS:
        write(_one(name, LEARNERS[name], width), None)
    else:
        raise ValueError(f"no learner is called {name!r}; there are {', '.join(LEARNERS)}")


def _list(width: int) -> str:
    longest = max(map(len, LEARNERS))
    marks = ", ".join(f"{mark} {file}" for mark, file in KINDS.values())
    head = f"Learns from: {marks}. sidelight train --learner NAME uses one; sidelight learners NAME describes it."
    lines = [*textwrap.wrap(head, width), ""]
    for name, learner in LEARNERS.items():
        begin = f"{name:<{longest}}  {_marks(learner):<{len(KINDS)}}  "
        lines.append(hanging(begin, learner.line().removesuffix(f" ({learner.paper()})").replace("`", ""), width))
    return "\n".join(lines) + "\n"


def _marks(learner: type[Recipe]) -> str:
    """The kinds of evidence of a learner, a letter for each."""
    kinds = (*learner.takes, *["rules"] * learner.about_rules)
    return "".join(mark for kind, (mark, _) in KINDS.items() if kind in kinds)


def _one(name: str, learner: type[Recipe], width: int) -> str:
    doc = f"{name}: {learner.described()}".replace("`", "")
    blocks = [part if part.startswith("- ") else textwrap.fill(part, width) for part in doc.split("\n\n")]
    facts = {"learns from": learner.learns_from(), "minimises": learner.minimises, "stops by": learner.stops}
    blocks.append("\n".join(hanging(f"{head:<13}", text, width) for head, text in facts.items()))
    if options := options_of(learner):
        widths = [max(len(head), *(len(str(one[k])) for one in options)) for k, head in ((0, "option"), (1, "default"))]
        rows = [("option", "default", "what it may be"), *options]
        table = [hanging(f"{a!s:<{widths[0]}}  {b!s:<{widths[1]}}  ", values, width) for a, b, values in rows]
        blocks.append("\n".join(table))
    first = next(((one.name, one.default) for one in options if one.default is not None), None)
    typed = "" if first is None else f" --set {first[0]}={first[1]}"
    written = "" if first is None else f"{first[0]}={first[1]!r}"
    estimator = "SegmentTagger" if Need.SEGMENTS in learner.needs else "Tagger"
    files = "--gold train.txt" if "gold" in learner.takes else "--good good.txt --bad bad.txt --labels A,B"
    shell = f"sidelight train --learner {name}{typed} {files} --out model.sidelight"
    blocks.append(f"shell:  {shell}\npython: sl.{estimator}(learner=sl.recipes.{name}({written}))")
    return "\n\n".join(blocks) + "\n"
