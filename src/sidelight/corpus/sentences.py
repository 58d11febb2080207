"""Sentences with dependency trees that the package makes itself, by a small grammar."""

from __future__ import annotations

from dataclasses import dataclass, field

from sidelight.corpus.dice import Dice
from sidelight.corpus.words import words
from sidelight.data.items import Item

DETERMINERS, PREPOSITIONS = words("the a every this some"), words("on in near under behind with")
ADJECTIVES = words("small bright old quiet green heavy early soft narrow warm")
NOUNS = words("""
    light lamp house garden road river child teacher letter window table morning story mountain bird boat engine friend
""")
VERBS = words("sees finds paints carries follows hears opens moves lifts keeps")
ADVERBS = words("slowly often quietly again here today softly never")


@dataclass(slots=True)
class _Node:
    """A word with what depends on it, before and after."""

    word: str
    tag: str
    before: list[tuple[_Node, str]] = field(default_factory=list)
    after: list[tuple[_Node, str]] = field(default_factory=list)

    def flat(self) -> list[tuple[_Node, _Node | None, str]]:
        """All words in their order, each with its head and relation, None for those of this one."""
        nodes: list[tuple[_Node, _Node | None, str]] = []
        for side in (self.before, [(self, "")], self.after):
            for node, relation in side:
                if node is self:
                    nodes.append((self, None, ""))
                else:
                    own = node.flat()
                    nodes += [(one, self, relation) if one is node else (one, head, name) for one, head, name in own]
        return nodes


def sentences(count: int, seed: int) -> list[Item]:
    """Sentences with tags, and heads and relations of their tokens.

    >>> " ".join(form for form, _ in sentences(1, seed=0)[0].x)
    'the house follows the heavy boat .'
    """
    dice = Dice(seed)
    return [_item(_clause(dice)) for _ in range(count)]


def _item(root: _Node) -> Item:
    flat = root.flat()
    number = {id(node): t for t, (node, _, _) in enumerate(flat, start=1)}
    x = tuple((node.word, node.tag) for node, _, _ in flat)
    y = tuple((0, "root") if head is None else (number[id(head)], relation) for _, head, relation in flat)
    return Item(x, y)


def _clause(dice: Dice) -> _Node:
    verb = _Node(dice.zipf(VERBS), "VERB", [(_phrase(dice), "nsubj")])
    if dice.chance(0.3):
        verb.before.append((_Node(dice.pick(ADVERBS), "ADV"), "advmod"))
    if dice.chance(0.8):
        verb.after.append((_phrase(dice), "obj"))
    if dice.chance(0.4):
        verb.after.append((_prepositional(dice), "obl"))
    if dice.chance(0.3):
        verb.after.append((_Node(dice.pick(ADVERBS), "ADV"), "advmod"))
    verb.after.append((_Node(".", "PUNCT"), "punct"))
    return verb


def _phrase(dice: Dice) -> _Node:
    noun = _Node(dice.zipf(NOUNS), "NOUN")
    if dice.chance(0.85):
        noun.before.append((_Node(dice.zipf(DETERMINERS), "DET"), "det"))
    for _ in range(2):
        if dice.chance(0.25):
            noun.before.append((_Node(dice.zipf(ADJECTIVES), "ADJ"), "amod"))
    if dice.chance(0.15):
        noun.after.append((_prepositional(dice), "nmod"))
    return noun


def _prepositional(dice: Dice) -> _Node:
    noun = _phrase(dice)
    noun.before.insert(0, (_Node(dice.zipf(PREPOSITIONS), "ADP"), "case"))
    return noun
