"""Generated pairs of sentences with nearly the same meaning, as graphs of words.

The second sentence is the first one with other forms and other words in some places, with words that nothing depends on
left out, and with new ones put in.
"""

from __future__ import annotations

from sidelight.corpus.dice import Dice
from sidelight.corpus.sentences import ADVERBS, sentences
from sidelight.corpus.words import words
from sidelight.data.graphs import Graph
from sidelight.data.items import Item

_OTHERS = dict(zip(words("lamp house road child letter sees paints bright quiet"),
                   words("lantern home street kid note spots draws shining silent")))  # fmt: skip
_LOST = {"DET": 0.3, "ADJ": 0.4, "ADV": 0.5, "PUNCT": 0.5}


def paraphrases(count: int, seed: int) -> list[Item]:
    """Pairs of graphs, and which words of the first are which of the second.

    >>> first, second = paraphrases(1, seed=0)[0].x
    >>> len(first.words) - 1 == len(first.edges), len(second.words) - 1 == len(second.edges)
    (True, True)
    """
    dice = Dice(seed + 1)
    return [_item(one, dice) for one in sentences(count, seed)]


def _item(sentence: Item, dice: Dice) -> Item:
    heads = [(head - 1, relation) for head, relation in sentence.output]  # -1 for the root
    leaves = set(range(len(heads))) - {head for head, _ in heads}
    positions = [i for i, (_, tag) in enumerate(sentence.x) if i not in leaves or not dice.chance(_LOST.get(tag, 0.0))]
    place = {i: number for number, i in enumerate(positions)}
    others = [(_other(form, tag, dice), tag) for form, tag in (sentence.x[i] for i in positions)]
    edges = [(place[heads[i][0]], place[i], heads[i][1]) for i in positions if heads[i][0] >= 0]
    if dice.chance(0.4):
        root = place[next(i for i, (head, _) in enumerate(heads) if head < 0)]
        edges.append((root, len(others), "advmod"))
        others.append((dice.pick(ADVERBS), "ADV"))
    first = Graph(sentence.x, tuple((head, i, relation) for i, (head, relation) in enumerate(heads) if head >= 0))
    return Item((first, Graph(tuple(others), tuple(edges))), tuple(place.items()))


def _other(form: str, tag: str, dice: Dice) -> str:
    if form in _OTHERS and dice.chance(0.5):
        return _OTHERS[form]
    if tag == "NOUN" and dice.chance(0.3):
        return form + "s"
    if tag == "VERB" and dice.chance(0.3):
        return form.removesuffix("s") + "ed"
    return form
