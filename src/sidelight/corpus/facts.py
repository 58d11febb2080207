"""Sentences with people, places and organisations, and relations between them, that the package makes itself."""

from __future__ import annotations

from sidelight.corpus.dice import Dice
from sidelight.corpus.words import words
from sidelight.data.items import Item
from sidelight.data.relations import EntitySentence, Extraction

ARGUMENTS = {"Live_In": ("Peop", "Loc"), "Work_For": ("Peop", "Org"), "OrgBased_In": ("Org", "Loc")}
_NAMES = {
    "Peop": words("Ann Ben Clara Dora Emil Flora Georg Hanna Ivan Jane Karl Lena Martin Nora Otto Paula Sidney Austin"),
    "Loc": words("Oslo Lima Turin Kyoto Leeds Graz Quito Perth Bergen Sidney Austin Paris Lyon Malmo Riga Delft"),
    "Org": words("Acme Lumen Helios Novum Candela Vega Orbis Paragon Zenith Aurora Nexus Solaris Atlas Lyra Paris"),
}
_PHRASES: tuple[tuple[str, str], ...] = (
    ("Live_In", "{head} lives in {tail}"),
    ("Live_In", "{head} , who was born in {tail}"),
    ("Live_In", "in {tail} there lives {head}"),
    ("Work_For", "{head} works for {tail}"),
    ("Work_For", "{head} , a spokesman of {tail}"),
    ("Work_For", "{tail} has hired {head}"),
    ("OrgBased_In", "{head} has its seat in {tail}"),
    ("OrgBased_In", "{head} of {tail}"),
    ("", "{head} was seen near {tail}"),
    ("", "{tail} was mentioned with {head}"),
)
_LINKS = ("and", ", while", ", but")


def facts(count: int, seed: int) -> list[Item]:
    """Sentences with the types of their entities, and relations.

    >>> item = facts(1, seed=0)[0]
    >>> len(item.x.spans) == len(item.output.types)
    True
    """
    dice = Dice(seed)
    return [_sentence(dice) for _ in range(count)]


def _sentence(dice: Dice) -> Item:
    tokens: list[str] = []
    spans: list[tuple[int, int]] = []
    types: list[str] = []
    relations: list[tuple[int, int, str]] = []
    for clause in range(dice.between(1, 2)):
        if clause:
            tokens += dice.pick(_LINKS).split()
        relation, phrase = dice.pick(_PHRASES)
        kinds = dict(zip(("{head}", "{tail}"), ARGUMENTS.get(relation) or dice.pick(list(ARGUMENTS.values()))))
        place: dict[str, int] = {}
        for token in phrase.split():
            if token in kinds:
                place[token] = len(spans)
                spans.append((len(tokens), len(tokens) + 1))
                types.append(kinds[token])
            tokens.append(dice.zipf(_NAMES[kinds[token]]) if token in kinds else token)
        if relation:
            relations.append((place["{head}"], place["{tail}"], relation))
    tokens.append(".")
    return Item(EntitySentence(tuple(tokens), tuple(spans)), Extraction(tuple(types), tuple(sorted(relations))))
