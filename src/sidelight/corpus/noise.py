"""Typical errors in references typed by people: lost fields and marks, swaps, stray commas, typos, lost capitals."""

from __future__ import annotations

from dataclasses import replace

from sidelight.corpus.dice import Dice
from sidelight.corpus.works import CitedPart

_LOST_FIELD = 0.025
_LOST_OPENING = 0.006  # an author or a title is lost more rarely
_LOST_MARK = 0.03
_SWAP = 0.04
_STRAY_COMMA = 0.02
_TYPO = 0.1
_NO_CAPITALS = 0.04
_NO_STOP = 0.06  # the full stop at the very end


def roughen(pieces: list[CitedPart], mark: str, *, dice: Dice) -> list[CitedPart]:
    """The pieces after their accidents, each ended by `mark` if it leaves its end open; at least one stays."""
    rest = [piece for piece in pieces if not dice.chance(_LOST_OPENING if _opens(piece) else _LOST_FIELD)] or pieces
    if len(rest) > 3 and dice.chance(_SWAP):
        place = dice.between(0 if dice.chance(0.2) else 2, len(rest) - 2)
        rest[place : place + 2] = [rest[place + 1], rest[place]]
    ended = [replace(piece, end=mark if piece.end is None else piece.end) for piece in rest[:-1]]
    ended = [replace(piece, end="") if dice.chance(_LOST_MARK) else piece for piece in ended]
    ended.append(replace(rest[-1], text=rest[-1].text.rstrip(",:"), end="" if dice.chance(_NO_STOP) else "."))
    if dice.chance(_STRAY_COMMA):
        place = dice.between(0, len(ended) - 1)
        ended[place] = replace(ended[place], text=_stray(ended[place].text, dice))
    if dice.chance(_TYPO):
        place = dice.between(0, len(ended) - 1)
        ended[place] = replace(ended[place], text=_mistype(ended[place].text, dice))
    if dice.chance(_NO_CAPITALS):
        ended = [replace(piece, text=piece.text.lower()) for piece in ended]
    return [replace(piece, text=_close(piece)) for piece in ended]


def _opens(piece: CitedPart) -> bool:
    return piece.label in ("author", "title")


def _close(piece: CitedPart) -> str:
    """The text with its mark, unless it ends in that mark already."""
    last = piece.text.rstrip('"”')[-1:]
    if piece.end == last or (piece.end == "." and last in ".,?"):
        return piece.text
    return piece.text + (piece.end or "")


def _stray(text: str, dice: Dice) -> str:
    words = text.split(" ")
    place = dice.between(0, len(words) - 1)
    if words[place][-1:].isalnum():
        words[place] += ","
    return " ".join(words)


def _mistype(text: str, dice: Dice) -> str:
    """The text with one letter of one longer word dropped or doubled."""
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not long:
        return text
    place = dice.pick(long)
    word = words[place]
    letter = dice.between(1, len(word) - 2)
    words[place] = word[:letter] + (word[letter] * 2 if dice.chance(0.4) else "") + word[letter + 1 :]
    return " ".join(words)
