"""A rule: a plain function of the input and a symbolic output, with a name and a price.

    @rule
    def has_verb(x, y):
        return count(y[t] == "VERB" for t in x.positions) >= 1

A rule is hard by default. `has_verb.soft(2.0)` costs 2 per violation, and the penalty of `has_verb.soft()` is learned
from labelled examples (ρ of a constrained conditional model; Chang, Ratinov and Roth 2007).
"""

from __future__ import annotations

import importlib
import inspect
import math
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

from sidelight.core.checks import is_number, shown
from sidelight.errors import DataError
from sidelight.rules.expr import Expr, KnownValue, as_expr
from sidelight.rules.output import Domain, Labels, NoSuchPlace, symbolic_labels
from sidelight.rules.symbolic import ADVICE, Misused, of_symbols

Says = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """A hard or soft constraint on outputs.

    `penalty` is the cost of one violation: infinite for a hard rule, None if it is to be learned.
    """

    says: Says
    name: str
    penalty: float | None = math.inf
    sentence: str = ""
    labels: tuple[Any, ...] = ()  # labels that it is known to mention
    reads_input: bool = True  # whether it looks at x; if not, it is read once for inputs with the same variables

    def __post_init__(self) -> None:
        if not callable(self.says):
            raise ValueError(f"a rule is made of a function of x and y, not of {shown(self.says)}; name it with name=…")
        for what, value in (("name", self.name), ("sentence", self.sentence)):
            if not isinstance(value, str):
                raise ValueError(f"the {what} of a rule is {shown(value)}; give a text")
        price = self.penalty
        if price is not None and not (is_number(price) and price >= 0):
            raise ValueError(f"the penalty of {self.name} is {shown(price)}; give a number that is not negative")

    @property
    def hard(self) -> bool:
        return self.penalty == math.inf

    @property
    def learned(self) -> bool:
        return self.penalty is None

    def soft(self, penalty: float | None = None) -> Rule:
        """The same rule with a penalty per violation; without a number the penalty is learned.

        Raises ValueError for a price that is negative.
        """
        return replace(self, penalty=penalty)

    def strict(self) -> Rule:
        """The same rule, never to be broken."""
        return replace(self, penalty=math.inf)

    def on(self, x: Any, y: Any, *, example: int | None = None) -> Expr:
        """The expression of the rule for an output; if the rule fails, raises `DataError` with the rule, the example
        and the line.
        """
        try:
            return as_expr(self.says(x, y))
        except (Exception, GeneratorExit, SystemExit) as error:  # a rule must not end a generator or the program
            raise self._failure(error, example) from error

    def on_labels(self, x: Any, domain: Domain, *, example: int | None = None) -> Expr:
        """The expression of the rule for the labels of a sequence."""
        return self.on(x, symbolic_labels(len(x), domain), example=example)

    def violations(self, x: Any, y: Any, *, example: int | None = None) -> int:
        """The violations of a known output; `y` is a sequence of labels, or an output with known groups."""
        value = self.on(x, y if not isinstance(y, (list, tuple)) else Labels(y), example=example)
        if not isinstance(value, KnownValue):
            raise DataError(f"the rule {self.name} is open on a known output", remedy="give every variable a label")
        return value.degree

    def check(self, labels: Sequence[Any]) -> None:
        """Raise `DataError` if the rule mentions a label that is not among these."""
        domain = Domain(labels)
        for label in self.labels:
            try:
                domain.number(label)
            except DataError as error:
                raise DataError(f"the rule {self.name}: {error.problem}", remedy=error.remedy) from None

    def probe(self, domain: Domain, xs: Sequence[Any]) -> None:
        """Read the rule on some inputs; raises `DataError` if it mentions a label or a variable that does not exist.

        It also raises `DataError` if something symbolic is used as if it were known. Other errors on made-up inputs are
        ignored.
        """
        self.check(domain.labels)
        for x in xs:
            try:
                self.on_labels(x, domain)
            except DataError as error:
                cause = error.__cause__
                if isinstance(cause, NoSuchPlace):  # an input with the length that the rule expects will show
                    continue
                if isinstance(cause, DataError) or of_symbols(cause):
                    raise

    def __str__(self) -> str:
        sort = "must" if self.hard else "should"
        price = "" if self.hard else " (penalty to be learned)" if self.learned else f" (penalty {self.penalty:g})"
        return f"{self.name}: {self.sentence or self._unsaid()} [{sort}]{price}"

    def __reduce__(self) -> tuple[Any, ...]:
        """The decorated function has the same name as the rule, so pickle would not find it by name."""
        says, *rest = self.parts()
        module, path = (getattr(self.says, part, None) for part in ("__module__", "__qualname__"))
        if isinstance(module, str) and isinstance(path, str) and "<" not in path:
            namesake = _named(module, path)
            if isinstance(namesake, Rule) and namesake.says is self.says:
                return _pickled, (module, path, *rest)
        return Rule, (says, *rest)

    def parts(self) -> tuple[Any, ...]:
        """The parts of a rule, for pickling."""
        return self.says, self.name, self.penalty, self.sentence, self.labels, self.reads_input

    def _unsaid(self) -> str:
        """A description of a rule without a sentence: its name in words, or its place."""
        code = getattr(self.says, "__code__", None)
        if self.name != "<lambda>" or code is None:
            return self.name.replace("_", " ")
        return f"line {code.co_firstlineno} of {Path(code.co_filename).name}"

    def _failure(self, error: BaseException, example: int | None) -> DataError:
        file, line = place_of(error, self.says)
        where = "" if example is None else f" on example {example}"
        problem, remedy = f"{type(error).__name__}: {error}", "fix the rule"
        if isinstance(error, DataError):
            problem, remedy = error.problem, error.remedy or remedy
        elif isinstance(error, Misused):
            problem = str(error)
        elif of_symbols(error):
            problem = f"{problem}; {ADVICE}"
        return DataError(f"the rule {self.name}{where}: {problem}", file=file, line=line, remedy=remedy)


def _named(module: str, path: str) -> Any:
    """The object with a name in a module, or None."""
    value: Any = sys.modules.get(module)
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def _pickled(module: str, path: str, *rest: Any) -> Rule:
    importlib.import_module(module)
    return Rule(_named(module, path).says, *rest)


@overload
def rule(says: Says) -> Rule: ...
@overload
def rule(
    *,
    name: str | None = None,
    sentence: str | None = None,
    penalty: float | None = math.inf,
    reads_input: bool = True,
) -> Callable[[Says], Rule]: ...
def rule(
    says: Says | None = None,
    *,
    name: str | None = None,
    sentence: str | None = None,
    penalty: float | None = math.inf,
    reads_input: bool = True,
) -> Rule | Callable[[Says], Rule]:
    """Make a rule from a function; the first line of its docstring, or its name, becomes the rule's sentence.

    A rule with `reads_input=False` does not use `x`, so some structures read it only once for many inputs.

    >>> from sidelight.rules import count
    >>> @rule
    ... def one_verb(x, y):
    ...     '''There is one verb.'''
    ...     return count(y[t] == "VERB" for t in x.positions) == 1
    >>> print(one_verb)
    one_verb: There is one verb [must]
    >>> from sidelight.rules import Sentence
    >>> one_verb.violations(Sentence(["Light", "shines"]), ["NOUN", "NOUN"])
    1
    """

    def make(function: Says) -> Rule:
        title = str(getattr(function, "__name__", "rule")) if name is None else name
        first = (function.__doc__ or "").strip().split("\n")[0].rstrip(".")
        return Rule(function, title, penalty, first if sentence is None else sentence, reads_input=reads_input)

    return make if says is None else make(says)


def checked_rules(rules: Iterable[Any] | None, *, name: str = "rules") -> tuple[Rule, ...]:
    """The rules in a list, which errors refer to as `name`; None means no rules.

    Raises `DataError` for values that are not a list of rules, and if two rules with learned penalties have the same
    name: penalties are stored by the names of rules.

    >>> from sidelight.rules import gallery
    >>> [one.name for one in checked_rules([gallery.at_most(1, "A")])], checked_rules(None)
    (['at_most_1_A'], ())
    >>> checked_rules([len])
    Traceback (most recent call last):
    sidelight.errors.DataError: rules has <built-in function len>; make a rule of a function with @sidelight.rules.rule
    """
    if rules is None:
        return ()
    if isinstance(rules, Rule):
        raise DataError(f"{name} is the rule {rules.name}", remedy=f"give a list of rules: [{rules.name}]")
    if isinstance(rules, (str, Path)):
        raise DataError(f"{name} is {str(rules)!r}", remedy="read a file of rules with sidelight.rules.read_rules")
    if not isinstance(rules, Iterable) or getattr(rules, "shape", None) == ():
        raise DataError(f"{name} is {rules!r}", remedy="give a list of rules, made with @sidelight.rules.rule")
    distinct = tuple(rules)
    for one in distinct:
        if not isinstance(one, Rule):
            raise DataError(f"{name} has {one!r}", remedy="make a rule of a function with @sidelight.rules.rule")
    _check_names(distinct)
    return distinct


def _check_names(rules: Sequence[Rule]) -> None:
    named: dict[str, Rule] = {}
    for rule in rules:
        if rule.learned and named.setdefault(rule.name, rule) != rule:
            raise DataError(
                f"two rules whose penalties are to be learned are called {rule.name}",
                remedy="rename one of them: @rule(name=…), or name=… of a rule of the gallery",
            )


_HERE = Path(__file__).parent


def place_of(error: BaseException, function: Callable[..., Any]) -> tuple[str | None, int | None]:
    """The file and the line of an error: the innermost executed line of the function's own file.

    If the function is not in a user's file: the first line outside `sidelight.rules`. If none of the user's code was
    running: the first line of the function. Empty for functions of `sidelight.rules`.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    outside = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    if code is None or _is_ours(code.co_filename):
        return (outside[0].filename, outside[0].lineno) if outside else (None, None)
    own = [frame for frame in outside if frame.filename == code.co_filename]
    return code.co_filename, own[-1].lineno if own else code.co_firstlineno


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_HERE)
