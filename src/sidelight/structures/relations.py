"""Entities and relations: boundaries of entities are given; their types and the relations of pairs are predicted
jointly.

    x   `EntitySentence(tokens, spans)`
    y   `Extraction(types, relations)`: a type for every entity, and (head, tail, name) for every relation

A slot is an entity, then a pair of entities, whose choices are "none" and every relation in both directions, so two
entities have at most one relation. Rules (Roth and Yih 2004) about `y.entity[i]` and `y.relation[head, tail]` say which
types the arguments of a relation must have. Each clause of a rule is about one pair of entities, and the best output
under all rules is found exactly (`spaces.sub_problems.relation_kernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from sidelight.core.arrays import Bytes, Floats, Ids, Ints
from sidelight.core.checks import VALUES, is_among, is_listed, is_whole, shown
from sidelight.data.relations import EntitySentence, Extraction
from sidelight.errors import DataError, Intractable
from sidelight.features.rows import offsets_of
from sidelight.features.structured.relation_features import Lists, entity_attributes, pair_attributes
from sidelight.inference.factors import ClauseShape, clause_worth
from sidelight.inference.problem import clauses_of
from sidelight.inference.ruled_variables import groups_of
from sidelight.objective.batch import Batch
from sidelight.objective.scorers.slot_scorer import FeatureNames
from sidelight.objective.scorers.variable_scorer import attribute_scorer
from sidelight.rules import Domain, Rule
from sidelight.rules.expr import is_true
from sidelight.rules.output import ChosenVariable, Groups
from sidelight.rules.rule import checked_rules
from sidelight.spaces.sub_problems.relation_space import RelationSpace
from sidelight.structures.variables import call_user

NONE = "none"
ENTITY, RELATION = "entity", "relation"
SETS = ("paper", "rich")
Features = Callable[[EntitySentence, str, Any], Iterable[str] | Mapping[str, float]]


@dataclass(eq=False)
class EntityRelation:
    """Types of entities, and relations between them.

    - types, relations: their names.
    - rules: about `y.entity[i]` and `y.relation[head, tail]`, for every two entities in both orders; hard, or soft at
      a price. `sidelight.rules.gallery.argument_types` makes the usual one. Each clause may be about two entities and
      their relation, not about more; `sl.Joint` takes any rule.
    - features: "paper" (Roth, Small and Titov 2009), "rich" (spelling, words between), or a function of the input, the
      kind ("entity", "relation") and the key (i, or (a, b) with a < b) that gives names of attributes, or their values.
    - lists: {name: words}, such as first names and cities; a word of an entity that is in one is an attribute.

    >>> from sidelight.rules.gallery import argument_types
    >>> tied = EntityRelation(["Peop", "Loc"], ["Live_In"], [argument_types({"Live_In": ("Peop", "Loc")})])
    >>> x = EntitySentence(("Ann", "lives", "in", "Oslo"), ((0, 1), (3, 4)))
    >>> tied.decode(x, tied.encode(x, Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),)))).relations
    ((0, 1, 'Live_In'),)
    """

    types: Sequence[str]
    relations: Sequence[str]
    rules: Sequence[Rule] = ()
    features: str | Features = field(default="paper", metadata={VALUES: SETS})
    lists: Lists = field(default_factory=dict)
    names: FeatureNames = field(default_factory=FeatureNames, repr=False)

    def __post_init__(self) -> None:
        self.types, self.relations = _names("types", self.types), _names("relations", self.relations)
        self.rules = checked_rules(self.rules)
        if NONE in self.relations:
            raise DataError(f"a relation is called {NONE!r}", remedy="leave it out: it is always there")
        if not callable(self.features) and not is_among(self.features, SETS):
            raise ValueError(f"features is {shown(self.features)}; give 'paper', 'rich' or a function")
        if not isinstance(self.lists, Mapping) or not all(map(_is_words, self.lists.values())):
            raise DataError(f"lists is {shown(self.lists)}", remedy="give {name: words}")
        for rule in self.rules:
            if rule.learned:
                remedy = "give it a price, rule.soft(2.0), or leave it hard"
                raise DataError(f"the penalty of the rule {rule.name} is to be learned", remedy=remedy)

    @cached_property
    def choice_names(self) -> tuple[tuple[str, str], ...]:
        """The kind and label of every choice; "… reversed" is a relation whose head is the later entity."""
        names = [(ENTITY, name) for name in self.types] + [(RELATION, NONE)]
        for name in self.relations:
            names += [(RELATION, name), (RELATION, f"{name} reversed")]
        return tuple(names)

    @property
    def sub_problems(self) -> dict[str, tuple[int, ...]]:
        """The sub-problems for `SequentialLearner`, with their choices."""
        count = len(self.types)
        return {ENTITY: tuple(range(count)), RELATION: tuple(range(count, len(self.choice_names)))}

    def batch(self, xs: Sequence[EntitySentence]) -> Batch:
        """A batch of sentences with all their outputs; raises `DataError` for one without entities, or with invalid
        spans.
        """
        for i, x in enumerate(xs):
            _check_spans(x, i)
        counts = np.array([len(x.spans) for x in xs], dtype=np.int64)
        starts = offsets_of(counts + counts * (counts - 1) // 2)
        attributes = [self._attributes(x, kind, key, i) for i, x in enumerate(xs) for kind, key in _slots(x)]
        kinds = np.array([int(kind == RELATION) for x in xs for kind, _ in _slots(x)], dtype=np.int32)
        sizes = len(self.types), len(self.choice_names) - len(self.types)
        scorer = attribute_scorer(self.names, starts, kinds, sizes, attributes)
        return Batch(scorer, RelationSpace(starts, len(self.choice_names), None, counts, *self._said(xs)))

    def encode(self, x: EntitySentence, y: Extraction) -> Ids:
        """The choice of every slot; raises `DataError` for unknown names, and if a hard rule is broken."""
        choices = self._chosen(x, y)
        self._check_rules(x, choices)
        return choices

    def violations(self, x: EntitySentence, y: Extraction) -> list[int]:
        """How often an output breaks each rule."""
        known = self._known(x, self._chosen(x, y))
        return [rule.violations(x, known) for rule in self.rules]

    def coverage(self, x: EntitySentence) -> list[bool]:
        """Whether each rule applies to an input, so that some output might break it."""
        symbols = self._symbols(len(x.spans))
        return [not is_true(rule.on(x, symbols)) for rule in self.rules]

    def _chosen(self, x: EntitySentence, y: Extraction) -> Ids:
        types, relations = _checked_output(y)
        if len(types) != len(x.spans):
            raise DataError(f"{len(x.spans)} entities have {len(types)} types", remedy="give every entity a type")
        choice_of: dict[tuple[str, Any], int] = {
            (ENTITY, i): self._number(ENTITY, name) for i, name in enumerate(types)
        }
        for head, tail, name in relations:
            key, choice = self._choice(len(x.spans), head, tail, name)
            if (RELATION, key) in choice_of:
                raise DataError(f"entities {head} and {tail} have two relations", remedy="give one of them")
            choice_of[RELATION, key] = choice
        return np.array([choice_of.get(slot, len(self.types)) for slot in _slots(x)], dtype=np.int32)

    def decode(self, x: EntitySentence, choices: Ids) -> Extraction:
        """Types and relations."""
        n, first = len(x.spans), len(self.types)
        relations = []
        for (a, b), choice in zip(combinations(range(n), 2), choices[n:].tolist()):
            if choice > first:
                name = self.relations[(choice - first - 1) // 2]
                relations.append((a, b, name) if (choice - first) % 2 else (b, a, name))
        return Extraction(tuple(self.types[choice] for choice in choices[:n].tolist()), tuple(sorted(relations)))

    def admitted(self, x: EntitySentence, y: Mapping[str, Mapping[Any, Any]]) -> Bytes:
        """The choices admitted by Partial and Candidates: {"entity": {i: types}, "relation": {(head, tail): names}}. #
        [slots, K]

        Values are one label or several; other slots are open. "none" is the name of no relation.
        """
        slots = {slot: t for t, slot in enumerate(_slots(x))}
        mask = np.ones((len(slots), len(self.choice_names)), dtype=np.uint8)
        for kind, members in y.items():
            for key, value in members.items():
                labels = [value] if isinstance(value, str) else list(value)
                place, choices = self._named(len(x.spans), kind, key, labels)
                if place not in slots or not choices:
                    raise DataError(
                        f"there is no {kind} {key!r}, or it has no labels", remedy="give {'entity': {0: type}}"
                    )
                mask[slots[place]] = 0
                mask[slots[place], choices] = 1
        return mask

    def slot_words(self, x: EntitySentence) -> list[str]:
        """Entities, and pairs of them."""
        entities = [" ".join(x.tokens[first:last]) for first, last in x.spans]
        return entities + [f"{one} – {other}" for one, other in combinations(entities, 2)]

    def choice_words(self, x: EntitySentence, choices: Ids) -> list[str]:
        """Types and relations."""
        return [self.choice_names[choice][1] for choice in choices.tolist()]

    def _named(self, count: int, kind: str, key: Any, labels: Sequence[str]) -> tuple[tuple[str, Any], list[int]]:
        """The slot of an entity or of (head, tail), and the choices of labels."""
        if kind == ENTITY:
            return (kind, key), [self._number(ENTITY, name) for name in labels]
        head, tail = key
        names = [self._choice(count, head, tail, name)[1] for name in labels]
        return (kind, (min(head, tail), max(head, tail))), names

    def _number(self, kind: str, name: Any) -> int:
        known = self.types if kind == ENTITY else (NONE, *self.relations)
        if not isinstance(name, str) or name not in known:
            what = "type" if kind == ENTITY else "relation"
            raise DataError(f"there is no {what} {shown(name)}", remedy=f"there are {', '.join(known)}")
        return known.index(name)

    def _choice(self, count: int, head: int, tail: int, name: str) -> tuple[tuple[int, int], int]:
        """The pair of a relation, and its choice."""
        if head == tail:
            problem = f"the relation {name} is between entity {head} and itself"
            raise DataError(problem, remedy="give two entities, or leave it out")
        for end in (head, tail):
            if not 0 <= end < count:
                remedy = f"the sentence has {count}, counted from 0"
                raise DataError(f"the relation {name} is with entity {end}", remedy=remedy)
        number = self._number(RELATION, name)
        choice = len(self.types) + (0 if number == 0 else 2 * number - (head < tail))
        return (min(head, tail), max(head, tail)), choice

    def _attributes(self, x: EntitySentence, kind: str, key: Any, i: int) -> Any:
        if callable(self.features):
            return call_user("features", self.features, x, kind, key, i=i)
        rich = self.features == "rich"
        if kind == ENTITY:
            return entity_attributes(x, key, rich=rich, lists=self.lists)
        return pair_attributes(x, *key, rich=rich)

    def _symbols(self, count: int) -> Groups:
        """An output of so many entities for rules to speak of: variables are slots."""
        names = [label for kind, label in self.choice_names if kind == RELATION]
        turned = [names[0], *(names[k + 1 if k % 2 else k - 1] for k in range(1, len(names)))]
        forth, back, types = Domain(names), Domain(turned), Domain(self.types)
        related = {}
        for p, (a, b) in enumerate(combinations(range(count), 2)):
            related[a, b], related[b, a] = ChosenVariable(count + p, forth), ChosenVariable(count + p, back)
        return groups_of({ENTITY: {i: ChosenVariable(i, types) for i in range(count)}, RELATION: related})

    def _said(self, xs: Sequence[EntitySentence]) -> tuple[Ints, Floats, Floats | None]:
        """What rules say of every pair, as numbers of tables, the tables, and what they say of single slots."""
        sizes = self._sizes
        tables: dict[bytes, int] = {np.zeros(sizes).tobytes(): 0}
        table_of: list[Ints] = []
        alone: list[Floats] = []
        for i, x in enumerate(xs):
            pairs, own = self._tables(x, i)
            table_of.append(np.array([tables.setdefault(one.tobytes(), len(tables)) for one in pairs], dtype=np.int64))
            alone.append(own)
        every = np.concatenate([np.zeros((0, len(self.choice_names))), *alone])
        stacked = np.stack([np.frombuffer(one).reshape(sizes) for one in tables])
        return np.concatenate([np.zeros(0, np.int64), *table_of]), stacked, every if every.any() else None

    def _tables(self, x: EntitySentence, i: int) -> tuple[Floats, Floats]:
        """What rules say of an input; read once for as many entities where they do not look at it."""
        count = len(x.spans)
        if any(rule.reads_input for rule in self.rules):
            return self._clauses(x, i, count)
        if count not in self._read:
            self._read[count] = self._clauses(x, i, count)
        return self._read[count]

    @cached_property
    def _read(self) -> dict[int, tuple[Floats, Floats]]:
        return {}

    def _clauses(self, x: EntitySentence, i: int, count: int) -> tuple[Floats, Floats]:
        """The tables of an input's pairs [P, types, types, relations], and what is said of single slots [slots, K]."""
        sizes = self._sizes
        ends = list(combinations(range(count), 2))
        pairs = np.zeros((len(ends), *sizes))
        own = np.zeros((count + len(ends), len(self.choice_names)))
        place = {pair: p for p, pair in enumerate(ends)}
        shape = [sizes[0]] * count + [sizes[2]] * len(ends)
        symbols = self._symbols(count) if self.rules else None
        for rule in self.rules:
            for clause in clauses_of([rule.on(x, symbols, example=i)], [float(rule.penalty)]):  # type: ignore[arg-type]
                shape_of_clause = ClauseShape(clause.says, clause.penalty, shape)
                entities = [v for v in shape_of_clause.scope if v < count]
                related = [v - count for v in shape_of_clause.scope if v >= count]
                if len(shape_of_clause.scope) == 1:
                    at = slice(0, sizes[0]) if entities else slice(sizes[0], None)
                    own[shape_of_clause.scope[0], at] += clause_worth(shape_of_clause)
                elif shape_of_clause.scope:
                    pair = ends[related[0]] if related else tuple(entities)
                    if len(related) > 1 or pair not in place or not set(entities) <= set(pair):
                        problem = f"input {i}: the rule {rule.name} ties more than two entities and their relation"
                        raise Intractable(f"{problem}; use sl.Joint, which takes any rule")
                    axes = [k for k, v in enumerate((*pair, count + place[pair])) if v in shape_of_clause.scope]
                    wide = clause_worth(shape_of_clause).reshape([sizes[k] if k in axes else 1 for k in range(3)])
                    pairs[place[pair]] += wide
                elif float(clause_worth(shape_of_clause)) < 0:
                    own[0] += float(clause_worth(shape_of_clause))  # without variables: the same for every output
        return pairs, own

    def _check_rules(self, x: EntitySentence, choices: Ids) -> None:
        """Raise `DataError` if an output breaks a hard rule."""
        n, first = len(x.spans), len(self.types)
        pairs, own = self._tables(x, 0)
        a, b = np.triu_indices(n, 1)
        tied = pairs[np.arange(len(a)), choices[a], choices[b], choices[n:] - first]
        alone = own[np.arange(len(choices)), choices]
        if np.all(tied > -np.inf) and np.all(alone > -np.inf):
            return
        broken = [rule.name for rule in self.rules if rule.hard and rule.violations(x, self._known(x, choices))]
        problem = f"the output breaks the rule {', '.join(broken)}"
        raise DataError(problem, remedy="correct it, or make the rule soft: rule.soft(2.0)")

    def _known(self, x: EntitySentence, choices: Ids) -> Groups:
        """An output in the form for rules."""
        n, symbols = len(x.spans), self._symbols(len(x.spans))
        entities = {i: self.types[choice] for i, choice in enumerate(choices[:n].tolist())}
        related = {}
        for key, choice in symbols.relation.items():
            related[key] = choice.domain.labels[int(choices[choice.variable]) - len(self.types)]
        return groups_of({ENTITY: entities, RELATION: related})

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """The shape of the table of a pair."""
        return len(self.types), len(self.types), len(self.choice_names) - len(self.types)


def _slots(x: EntitySentence) -> list[tuple[str, Any]]:
    """Kind and key of every slot."""
    count = len(x.spans)
    return [*((ENTITY, i) for i in range(count)), *((RELATION, pair) for pair in combinations(range(count), 2))]


def _names(what: str, value: Any) -> tuple[str, ...]:
    if not is_listed(value) or not all(isinstance(name, str) for name in value):
        raise DataError(f"{what} is {shown(value)}", remedy="give a list of names")
    if not len(value):
        raise DataError(f"{what} has no names", remedy="give at least one, or evidence that names some")
    if len(set(value)) < len(value):
        raise DataError(f"{what} has a name twice", remedy="give every name once")
    return tuple(map(str, value))


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset) and all(isinstance(word, str) for word in value)


def _check_spans(x: Any, i: int) -> None:
    if not isinstance(x, EntitySentence) or not _is_words(x[0]) or not isinstance(x[1], list | tuple):
        raise DataError(f"input {i} is {shown(x)}", remedy="give EntitySentence(tokens, spans)")
    tokens, spans = x
    if not spans:
        raise DataError(f"input {i} has no entities", remedy="leave it out")
    for span in spans:
        pair = isinstance(span, list | tuple) and len(span) == 2 and all(map(is_whole, span))
        if not pair or not 0 <= span[0] < span[1] <= len(tokens):
            text = f"from {span[0]} to {span[1]}" if pair else shown(span)
            problem = f"input {i}: an entity {text} of {len(tokens)} tokens"
            raise DataError(problem, remedy="give (first, last), the end not included")


def _checked_output(y: Any) -> tuple[Sequence[str], Sequence[tuple[int, int, str]]]:
    """Types and relations; raises `DataError` for values of another form."""
    remedy = "give Extraction(types, [(head, tail, name), …])"
    if not isinstance(y, tuple) or len(y) != 2 or not all(isinstance(part, list | tuple) for part in y):
        raise DataError(f"the output is {shown(y)}", remedy=remedy)
    for one in y[1]:
        if not isinstance(one, list | tuple) or len(one) != 3 or not all(map(is_whole, one[:2])):
            raise DataError(f"a relation is {shown(one)}", remedy=remedy)
    return y[0], y[1]
