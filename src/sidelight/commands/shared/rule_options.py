"""Rules on the command line: a file of them, and a loaded model under them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

from sidelight.commands.shared.loading import load
from sidelight.commands.shared.options import DEFAULTS, panel
from sidelight.commands.shared.outputs import note
from sidelight.commands.shared.progress_display import shown

if TYPE_CHECKING:
    from sidelight.estimators.constrained import Constrained
    from sidelight.rules import Rule

in_rules = panel("Rules")
RulesFiles = Annotated[
    list[Path] | None,
    in_rules(
        "--rules",
        metavar="FILE.py",
        help="A Python file of rules: functions with @rule, or a list named rules. The file is executed. Repeatable.",
    ),
]
Inference = Annotated[
    str,
    in_rules(
        "--inference",
        metavar="auto|dynamic|a_star|beam|ilp|lp|lagrangian",
        help="How to find the best output under rules.",
    ),
]


def check_inference(inference: str, rules: Sequence[Path] | None) -> None:
    """Raise ValueError for an unknown method, and for a method without rules."""
    from sidelight.inference.methods.choose import Method

    if inference not in get_args(Method):
        raise ValueError(f"--inference is {inference!r}; there are {', '.join(get_args(Method))}")
    if not rules and inference != DEFAULTS["inference"]:
        raise ValueError("--inference needs rules; give --rules, or leave it out")


def rules_in(paths: Sequence[Path] | None) -> list[Rule]:
    """The rules of all files in their order, or none."""
    from sidelight.rules import read_rules

    return list(dict.fromkeys(rule for path in paths or () for rule in read_rules(path)))


def constrained(model: Any, rules: Sequence[Path], inference: str, *, jobs: int = -1) -> Constrained:
    """A loaded model under the rules of files, with the penalties learned in training.

    Rules that training left out are left out here too, and a note names them.
    """
    from sidelight.estimators.constrained import Constrained
    from sidelight.rules.taken import as_taken

    rules_of_files = rules_in(rules)
    taken = as_taken(rules_of_files, model.about)
    names = {rule.name for rule in taken}
    if left_out := [rule.name for rule in rules_of_files if rule.name not in names]:
        note(f"left out here as in training, since labelled inputs contradict them: the rules {', '.join(left_out)}")
    return Constrained(model, taken, method=inference, n_jobs=jobs)


def predictor(path: Path, rules: Sequence[Path] | None, inference: str, *, name: str = "the model") -> tuple[Any, Any]:
    """The model in a file, and a function of inputs and threads that predicts with it, under rules if there are any.

    If the model was trained under rules and none are given, a note mentions it by `name`; an empty name prints no note.
    """
    from sidelight.inference.proofs import unproved

    model = load(path)
    printed: set[str] = set()  # notes that are printed only once, although inputs come piece by piece

    def predict(xs: Any, jobs: int, place: str | None = None) -> list[Any]:
        from sidelight.estimators.placed_prediction import predict_in, solve_in, spread
        from sidelight.parallel import place_of

        where = place_of(place, jobs)
        if rules:
            under = constrained(model, rules, inference, jobs=jobs)
            with shown():
                solutions = solve_in(where, under, xs) if spread(where, xs) else under.solutions(xs)
            if (text := unproved(solutions)) and text not in printed:
                printed.add(text)
                note(f"{text}; --inference auto is exact")
            return under.outputs(solutions)
        with shown():
            outputs = predict_in(where, model, xs) if spread(where, xs) else model.predict(xs, n_jobs=jobs)
        if name and name not in printed:
            printed.add(name)
            note_missing_rules(model, name=name)
        return outputs

    return model, predict


def note_missing_rules(model: Any, *, name: str = "the model") -> None:
    """Print a note that a model was trained under rules, which are not in its file."""
    if names := model.about.get("rules"):
        note(f"{name} was trained under the rules {', '.join(names)}; --rules FILE.py predicts under them")
