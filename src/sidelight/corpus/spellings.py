"""Pairs of strings that the package makes itself: words with their sounds, names with their transliterations.

Spellings are built of syllables whose letters have sounds as English has them, more or less: pairs of letters with one
sound, letters with two, and silent ones. Names are written in a script without most vowels.
"""

from __future__ import annotations

from collections.abc import Callable

from sidelight.corpus.dice import Dice
from sidelight.data.items import Item

Piece = tuple[str, str]  # letters and their sounds

_ONSETS: tuple[Piece, ...] = (
    ("t", "t"), ("s", "s"), ("r", "r"), ("l", "l"), ("n", "n"), ("sh", "S"), ("th", "T"), ("ch", "C"), ("m", "m"),
    ("p", "p"), ("b", "b"), ("ph", "f"), ("d", "d"), ("k", "k"), ("qu", "kw"), ("wh", "w"), ("kn", "n"), ("f", "f"),
    ("wr", "r"), ("g", "g"), ("h", "h"), ("c", "k"),
)  # fmt: skip
_NUCLEI: tuple[Piece, ...] = (
    ("a", "a"), ("i", "I"), ("o", "o"), ("e", "e"), ("ee", "i"), ("oo", "u"), ("u", "A"), ("ea", "i"), ("ou", "W"),
)  # fmt: skip
_CODAS: tuple[Piece, ...] = (
    ("n", "n"), ("t", "t"), ("r", "r"), ("l", "l"), ("ck", "k"), ("sh", "S"), ("ng", "N"), ("x", "ks"), ("ss", "s"),
    ("m", "m"), ("tch", "C"), ("ght", "t"), ("mb", "m"), ("p", "p"), ("ll", "l"),
)  # fmt: skip
_SILENT: Piece = ("e", "")

_LETTERS = {
    "b": "ב", "d": "ד", "g": "ג", "h": "ה", "v": "ו", "z": "ז", "t": "ט", "k": "ק", "l": "ל", "m": "מ", "n": "נ",
    "s": "ס", "p": "פ", "r": "ר", "j": "ג", "i": "י", "o": "ו", "u": "ו", "a": "א",
}  # fmt: skip
_WRITTEN = {"a": 0.3, "e": 0.0, "i": 0.8, "o": 0.8, "u": 0.9}  # how often a vowel is


def spellings(count: int, seed: int) -> list[Item]:
    """Different words with their sounds, and links between letters and sounds.

    >>> [item.x for item in spellings(2, seed=3)]
    [('run', 'rAn'), ('soolthoss', 'sulTos')]
    """
    return _different(count, Dice(seed), _spelled)


def transliterations(count: int, seed: int) -> list[Item]:
    """Different names and their spelling in another script, with links between their letters.

    >>> transliterations(1, seed=3)[0].x
    ('hunan', 'הונן')
    """
    return _different(count, Dice(seed), _named)


def _different(count: int, dice: Dice, make: Callable[[Dice], Item]) -> list[Item]:
    items: dict[str, Item] = {}
    while len(items) < count:
        item = make(dice)
        items.setdefault(item.x[0], item)
    return list(items.values())


def _spelled(dice: Dice) -> Item:
    pieces: list[Piece] = []
    for _ in range(dice.between(1, 3)):
        pieces += [dice.zipf(_ONSETS), dice.zipf(_NUCLEI)]
        if dice.chance(0.6):
            pieces.append(dice.zipf(_CODAS))
    if dice.chance(0.2) and len(pieces[-1][0]) == 1 and pieces[-1] not in _NUCLEI:
        pieces.append(_SILENT)
    left = right = ""
    links: list[tuple[int, int | None]] = []
    for letters, sounds in pieces:
        links += [(len(left) + i, len(right) + j) for i in range(len(letters)) for j in range(len(sounds))]
        left, right = left + letters, right + sounds
    return Item((left, right), tuple(links))


def _named(dice: Dice) -> Item:
    left = ""
    for _ in range(dice.between(2, 4)):
        left += dice.pick("bdghjklmnprstvz") + dice.pick("aeiou")
    if dice.chance(0.5):
        left += dice.pick("lmnrst")
    right, links = "", list[tuple[int, int | None]]()
    for i, letter in enumerate(left):
        if dice.chance(_WRITTEN.get(letter, 1.0)):
            links.append((i, len(right)))
            right += _LETTERS[letter]
    final = right.removesuffix("נ").removesuffix("מ")
    right = final + {"נ": "ן", "מ": "ם"}[right[-1]] if final != right else right
    return Item((left, right), tuple(links))
