"""The kinds of work that are cited, each as a sequence of pieces: a field, its text and the mark that ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sidelight.corpus.dice import Dice
from sidelight.corpus.names import CITIES
from sidelight.corpus.phrases import ORDINALS, PENDING, REMARKS, REPORTS, THESES
from sidelight.corpus.styles import Style, crowd, draw_style, join_places, late_date, pages, people, volume, year
from sidelight.corpus.titles import title
from sidelight.corpus.venues import (
    DEPARTMENTS,
    GENERAL_JOURNALS,
    MEETINGS,
    SCOPES,
    SERIES,
    Home,
    abbreviate,
    capitals,
    fill,
    initials,
    institutions,
    journals,
    publishers,
)
from sidelight.corpus.words import TOPICS


@dataclass(frozen=True, slots=True)
class CitedPart:
    """A field of a reference; `end` is its closing mark, None for the mark of the style."""

    label: str
    text: str
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """The data shared by the pieces of one reference."""

    style: Style
    topic: int
    year: int
    dice: Dice


def cite(dice: Dice) -> tuple[list[CitedPart], str]:
    """The pieces of one reference, in order, before any noise, and the mark that ends most of them."""
    scene = Scene(draw_style(dice), dice.zipf(range(len(TOPICS)), flat=1.5), year(dice), dice)
    pieces = dice.pick(_KINDS)(scene)
    if dice.chance(0.05) and pieces[-1].label != "note":
        pieces.append(_remark(scene))
    return [_soften(*pair, dice) for pair in zip(pieces, [*pieces[1:], None])], scene.style.mark


def _soften(piece: CitedPart, after: CitedPart | None, dice: Dice) -> CitedPart:
    """A comma instead of the mark of the style, as is usual before a late date and between numbers and places."""
    late = after is not None and after.label in ("date", "location", "pages") and piece.label not in ("author", "title")
    return replace(piece, end=",") if late and piece.end is None and dice.chance(0.8) else piece


def _opening(scene: Scene, *, book: bool = False) -> list[CitedPart]:
    """Authors, an early date if the style has one, and the title."""
    dice, style = scene.dice, scene.style
    text = title(scene.topic, dice, book=book)
    if style.headline:
        text = capitals(text)
    pieces = [_byline(scene)]
    if style.early_date:
        when = f"{scene.year}{dice.pick('abc')}" if dice.chance(0.06) else str(scene.year)
        byline = replace(pieces[0], end="." if style.names == "Last A" else "")
        pieces = [byline, CitedPart("date", f"({when})", None if dice.chance(0.8) else "")]
    if style.quotes and not book:
        inner = style.mark if style.mark != ";" and not text.endswith("?") else ""
        return [
            *pieces,
            CitedPart("title", f"{style.quotes[0]}{text}{inner}{style.quotes[1]}", "," if style.mark == ";" else ""),
        ]
    return [*pieces, CitedPart("title", text)]


def _byline(scene: Scene) -> CitedPart:
    dice = scene.dice
    if dice.chance(0.012):
        return CitedPart("author", dice.pick(institutions()).name)
    names = people(crowd(dice), scene.style, dice)
    return CitedPart("author", names, dice.pick((":", ":", None)) if dice.chance(0.12) else None)


def _date(scene: Scene, *, meeting: bool = False) -> list[CitedPart]:
    if scene.style.early_date:
        return []
    text = late_date(scene.style, scene.year, scene.dice, meeting=meeting)
    return [CitedPart("date", f"({text})" if scene.dice.chance(0.08) else text)]


def _house(scene: Scene, home: Home) -> list[CitedPart]:
    """Publisher and place, in the order of the style."""
    dice = scene.dice
    name = CitedPart("publisher", home.name)
    if dice.chance(0.25):
        return [name]
    place = home.city if dice.chance(0.4) else join_places((home.city, home.region))
    if scene.style.city_first:
        return [CitedPart("location", place, ":" if dice.chance(0.85) else None), name]
    return [CitedPart("publisher", home.name, ","), CitedPart("location", place)]


def _article(scene: Scene) -> list[CitedPart]:
    dice, style = scene.dice, scene.style
    name = dice.pick(GENERAL_JOURNALS) if dice.chance(0.15) else dice.zipf(journals()[scene.topic])
    text = abbreviate(name) if dice.chance(style.short) else name
    number, span = volume(style, dice), pages(style, dice)
    late = not style.early_date and dice.chance(0.15)  # 12(3), 1994, pp. 45-67
    colon = not style.pages and not late and style.volume in ("{v}({i})", "{v}")
    where = [
        CitedPart("journal", text, "" if style.volume == "{v} ({i})" and not text.endswith(".") else ","),
        CitedPart("volume", number, ":" if colon else ","),
        CitedPart("pages", span),
    ]
    if late:
        return _opening(scene) + where[:2] + _date(scene) + where[2:]
    if dice.chance(0.12):
        del where[dice.between(1, 2)]
    return _opening(scene) + where + _date(scene)


def _meeting(scene: Scene) -> str:
    dice, style = scene.dice, scene.style
    place = dice.between(1, 30)
    suffix = "th" if 10 < place < 14 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    ordinal = f"{ORDINALS[place - 1]} " if place <= 12 and dice.chance(0.6) else f"{place}{suffix} "
    if dice.chance(0.3):
        ordinal = f"{scene.year} " if dice.chance(0.3) else ""
    scope = dice.zipf(SCOPES)
    core = f"{scope} {dice.zipf(MEETINGS)} on {fill('{Topic}', scene.topic, dice)}"
    if dice.chance(0.12):
        return f"Proc. {initials(core)}" if dice.chance(0.6) else f"{initials(core)}-{scene.year % 100:02d}"
    tail = ""
    if dice.chance(0.15):
        tail = f" ({initials(core)}-{scene.year % 100:02d})" if dice.chance(0.5) else f" ({initials(core)})"
    if dice.chance(style.short):
        return f"Proc. {ordinal}{abbreviate(core)}{tail}"
    lead = dice.pick(("Proceedings of the ", "Proceedings of the ", "Proceedings of the ", "Proc. of the ", ""))
    return f"{lead}{ordinal}{core}{tail}"


def _conference(scene: Scene) -> list[CitedPart]:
    dice, style = scene.dice, scene.style
    lead = dice.pick(("In ", "In ", "In ", "In: ", "")) if style.mark != "," else dice.pick(("in ", "in ", "In ", ""))
    pieces = []
    if dice.chance(0.06):
        pieces.append(_editors(scene, lead))
        lead = ""
    pieces.append(CitedPart("booktitle", lead + _meeting(scene), ","))
    if dice.chance(0.08):
        pieces += [
            CitedPart("booktitle", fill(dice.pick(SERIES), scene.topic, dice), ","),
            CitedPart("volume", volume(style, dice)),
        ]
    elif dice.chance(0.06):
        pieces.append(CitedPart("volume", f"{dice.pick(('volume', 'Vol.', 'vol.'))} {dice.between(1, 4)}", ","))
    span = [CitedPart("pages", pages(style, dice))] if dice.chance(0.72) else []
    place = [CitedPart("location", join_places(dice.zipf(CITIES, flat=6.0)), ",")] if dice.chance(0.42) else []
    pieces += span + place if dice.chance(0.6) else place + span
    date = _date(scene, meeting=True)
    house = _house(scene, dice.zipf(publishers())) if dice.chance(0.22) else []
    if dice.chance(0.7 if place else 0.1):
        house = [piece for piece in house if piece.label == "publisher"]
    return _opening(scene) + pieces + (house + date if dice.chance(0.5) else date + house)


def _series(scene: Scene) -> list[CitedPart]:
    name = fill(scene.dice.pick(SERIES), scene.topic, scene.dice)
    return [CitedPart("booktitle", name, ","), CitedPart("volume", volume(scene.style, scene.dice))]


def _editors(scene: Scene, lead: str) -> CitedPart:
    dice = scene.dice
    count = dice.pick((1, 2, 2, 2, 3))
    names = people(count, scene.style, dice)
    if count == 1:
        tail = dice.pick((" (Ed.),", ", editor,", ", ed.,", " (ed.):"))
    else:
        tail = dice.pick((" (Eds.),", " (Eds.),", ", editors,", " (eds.),", ", Eds.,", " (eds):"))
    return CitedPart("editor", lead + names + tail, "")


def _book(scene: Scene) -> list[CitedPart]:
    dice = scene.dice
    pieces = _opening(scene, book=True)
    if dice.chance(0.18):
        editors = _editors(scene, "").text.rstrip(",:")
        pieces[0] = CitedPart("editor", editors, "" if scene.style.early_date else None)
    if dice.chance(0.2):
        pieces.append(
            CitedPart("note", dice.pick(("Second edition", "2nd ed.", "Third edition", "Revised edition")), None)
        )
    if dice.chance(0.15):
        pieces += _series(scene)
    return pieces + _house(scene, dice.zipf(publishers())) + _date(scene)


def _chapter(scene: Scene) -> list[CitedPart]:
    dice, style = scene.dice, scene.style
    book = capitals(title(scene.topic, dice, book=True))
    lead = "in " if style.mark == "," else dice.pick(("In ", "In ", "In: "))
    pieces = [_editors(scene, lead), CitedPart("booktitle", book, ",")]
    if dice.chance(0.3):  # book first, editors after it
        editors = _editors(scene, "")
        if dice.chance(0.4):
            names = people(dice.pick((1, 2, 2, 3)), style, dice)
            editors = CitedPart("editor", dice.pick(("edited by ", "ed. ")) + names)
        pieces = [CitedPart("booktitle", lead + book, ","), editors]
    span = CitedPart("pages", pages(style, dice))
    if style.early_date and dice.chance(0.4):
        pieces[-1] = CitedPart(pieces[-1].label, pieces[-1].text, "")
        pieces.append(CitedPart("pages", f"({span.text})", "."))
    elif dice.chance(0.75):
        pieces.append(span)
    return _opening(scene) + pieces + _house(scene, dice.zipf(publishers())) + _date(scene)


def _school(scene: Scene) -> list[CitedPart]:
    dice = scene.dice
    home = dice.zipf(institutions(), flat=10.0)
    name = abbreviate(home.name) if dice.chance(scene.style.short / 2) else home.name
    if dice.chance(0.4):
        unit = dice.zipf(DEPARTMENTS)
        name = f"{name}, {unit}" if dice.chance(0.2) else f"{unit}, {name}"
    pieces = [CitedPart("institution", name, ",")]
    if dice.chance(0.4):
        pieces.append(CitedPart("location", join_places((home.city, home.region)), ","))
    return pieces


def _report(scene: Scene) -> list[CitedPart]:
    dice = scene.dice
    serial, short = dice.between(1, 60 if dice.chance(0.6) else 2100), f"{scene.year % 100:02d}"
    unit = dice.pick(("CS", "TR", "CS-TR", "AIM", "LCS", "RR", "SYS", "IR", "STAN", "MS"))
    numbers = (
        f"{unit}-{short}-{serial}", f"{unit}-{serial}", f"{serial}", f"No. {serial}", f"{short}-{serial:02d}",
        f"{unit} {short}/{serial}", f"{scene.year}/{serial}",
    )  # fmt: skip
    kind = dice.zipf(REPORTS, flat=2.0)
    tech = CitedPart("tech", kind if dice.chance(0.12) else f"{kind} {dice.pick(numbers)}", ",")
    school = _school(scene)
    if dice.chance(0.1):
        tech = CitedPart("tech", f"({tech.text})", None)
    return _opening(scene) + ([tech, *school] if dice.chance(0.72) else [*school, tech]) + _date(scene)


def _thesis(scene: Scene) -> list[CitedPart]:
    dice = scene.dice
    pieces = _opening(scene)
    pieces[0] = CitedPart("author", people(1, scene.style, dice), pieces[0].end)
    return [*pieces, CitedPart("tech", dice.zipf(THESES, flat=3.0), ","), *_school(scene), *_date(scene)]


def _manuscript(scene: Scene) -> list[CitedPart]:
    dice = scene.dice
    opening, status = _opening(scene), dice.zipf(PENDING)
    if dice.chance(0.55):
        return [*opening, CitedPart("note", status), *(_school(scene) if dice.chance(0.5) else []), *_date(scene)]
    venue = CitedPart("journal", dice.zipf(journals()[scene.topic]), ",")
    if status.lower() == "to appear":
        return [*opening, CitedPart("note", f"{status} in", ""), venue, *_date(scene)]
    return [*opening, venue, CitedPart("note", status), *_date(scene)]


def _remark(scene: Scene) -> CitedPart:
    dice = scene.dice
    slots = {
        "pages": str(dice.between(12, 400)),
        "earlier": str(scene.year - dice.between(1, 3)),
        "later": str(scene.year + dice.between(1, 9)),
        "person": people(1, scene.style, dice),
        "city": dice.zipf(CITIES)[0],
        "topic": dice.zipf(TOPICS[scene.topic].names),
    }
    return CitedPart("note", dice.zipf(REMARKS, flat=8.0).format_map(slots), ".")


# Repetition is weight: 34 articles in a hundred and so on.
_KINDS: tuple[Callable[[Scene], list[CitedPart]], ...] = (
    *(_article,) * 34,
    *(_conference,) * 37,
    *(_book,) * 8,
    *(_chapter,) * 5,
    *(_report,) * 7,
    *(_thesis,) * 5,
    *(_manuscript,) * 4,
)
