"""How a reference is laid out: house styles, and the way each writes names, dates, volumes and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sidelight.corpus.dice import Dice
from sidelight.corpus.names import GIVEN, PARTICLES, surnames

MONTHS: tuple[str, ...] = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Style:
    """One house style; the comments list the values a field may take."""

    names: str  # "A. Last" | "Last, A." | "Ann Last" | "Last, Ann" | "Last A"
    link: str  # what joins the last two names: "and" | ", and" | "&" | ", &" | "," | ";"
    early_date: bool  # (1994) after the authors
    quotes: str  # "" | '""' | "“”" round the title
    headline: bool  # Title Case
    mark: str  # what ends most fields: "." | ","
    volume: str  # volume v and issue i
    pages: str  # "pp. " | "pages " | ""
    dash: str
    months: float  # how often a late date names its month
    short: float  # how often venue names are abbreviated
    city_first: bool  # City: Publisher


STYLES: tuple[Style, ...] = (
    Style("A. Last", ", and", False, "", False, ".", "{v}({i})", "pages ", "-", 0.4, 0.1, False),
    Style("Last, A.", ", &", True, "", False, ".", "{v}, {i}", "", "-", 0.1, 0.05, True),
    Style("A. Last", "and", False, '""', True, ",", "vol. {v}, no. {i}", "pp. ", "-", 0.6, 0.6, False),
    Style("Last, A.", ", and", True, "", False, ".", "{v} ({i})", "pp. ", "-", 0.1, 0.2, False),
    Style("Ann Last", "and", False, "", True, ".", "{v}({i})", "", "-", 0.4, 0.05, False),
    Style("Last A", ",", True, "", False, ".", "{v}", "", "–", 0.0, 0.8, True),
    Style("Last, Ann", "and", False, "“”", True, ".", "{v}({i})", "", "–", 0.1, 0.0, True),
    Style("A. Last", "and", False, "", False, ",", "Vol. {v}", "pp. ", "-", 0.2, 0.5, False),
    Style("Last, A.", "and", True, "", False, ",", "{v} ({i})", "pp. ", "-", 0.1, 0.7, False),
    Style("Ann Last", ", and", False, "", False, ".", "volume {v}", "pages ", "--", 0.5, 0.05, False),
    Style("Last, A.", ";", False, '""', False, ";", "Vol. {v}", "pp ", "-", 0.3, 0.4, True),
)

_MIXED = 0.15  # how often a reference borrows parts of a second style, as careless authors do


def draw_style(dice: Dice) -> Style:
    """A house style, now and then crossed with another one."""
    style = dice.zipf(STYLES, flat=0.5)
    if not dice.chance(_MIXED):
        return style
    other = dice.pick(STYLES)
    numbers, quoted, dated = (dice.pick((style, other)) for _ in range(3))
    return replace(
        style,
        link=style.link if other.link == ";" else other.link,
        early_date=dated.early_date,
        quotes=quoted.quotes,
        volume=numbers.volume,
        pages=numbers.pages,
        dash=numbers.dash,
        months=other.months,
        city_first=other.city_first,
    )


def people(count: int, style: Style, dice: Dice) -> str:
    """`count` names, written and joined in this style.

    >>> people(1, STYLES[0], Dice(3)) == people(1, STYLES[0], Dice(3))
    True
    """
    written = [_person(style.names, dice, first=place == 0) for place in range(count)]
    if count > 2 and dice.chance(0.12):
        return written[0] + dice.pick((" et al.", ", et al.", " and others"))
    if count == 1:
        return written[0]
    inner = "; " if style.link == ";" else ", "
    last = style.link
    if count == 2 and last.startswith(", ") and not style.names.startswith("Last,"):
        last = last[2:]
    return inner.join(written[:-1]) + (last if last[0] in ",;" else " " + last) + " " + written[-1]


def _person(form: str, dice: Dice, *, first: bool) -> str:
    surname = dice.zipf(surnames(), flat=20.0)
    if dice.chance(0.025):
        surname = f"{dice.zipf(PARTICLES)} {surname}"
    elif dice.chance(0.01):
        surname += dice.pick((" Jr.", ", Jr.", " III"))
    first_names = [dice.zipf(GIVEN, flat=15.0) for _ in range(2 if dice.chance(0.4) else 1)]
    letters = [_initial(name, dice) for name in first_names]
    spelt = " ".join([first_names[0], *letters[1:]])
    if form == "A. Last":
        return f"{' '.join(letters)} {surname}"
    if form == "Last, A.":
        return f"{surname}, {' '.join(letters)}"
    if form == "Last A":
        return f"{surname} {''.join(letter[0] for letter in letters)}"
    if form == "Last, Ann" and first:
        return f"{surname}, {spelt}"
    return f"{spelt} {surname}"


def _initial(name: str, dice: Dice) -> str:
    return f"{name[0]}.-{dice.pick('PLMCH')}." if dice.chance(0.015) else f"{name[0]}."


def crowd(dice: Dice) -> int:
    """The number of authors of a work."""
    return dice.pick((1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5))


def year(dice: Dice) -> int:
    """A year, the nineties the likeliest."""
    return 1972 + dice.between(0, 16) + dice.between(0, 12) + dice.between(0, 10)


def late_date(style: Style, when: int, dice: Dice, *, meeting: bool = False) -> str:
    """A date in the form for the end of a reference."""
    if not dice.chance(style.months):
        return str(when)
    month = dice.pick(MONTHS)
    if len(month) > 4 and dice.chance(0.3):
        month = month[:3] + "."
    if meeting and dice.chance(0.35):
        start = dice.between(1, 26)
        days = f"{start}-{start + dice.between(1, 4)}"
        return dice.pick((f"{month} {days}, {when}", f"{days} {month} {when}"))
    if dice.chance(0.06):
        return f"{dice.pick(('Spring', 'Summer', 'Fall', 'Winter'))} {when}"
    return f"{month}, {when}" if dice.chance(0.1) else f"{month} {when}"


def volume(style: Style, dice: Dice) -> str:
    """A volume, with an issue where the style gives one."""
    number, issue = dice.between(1, 60 if dice.chance(0.85) else 320), dice.between(1, 12 if dice.chance(0.3) else 4)
    if dice.chance(0.2):
        return f"{style.volume.partition('{v}')[0]}{number}"
    if dice.chance(0.05):
        return f"{number}({issue}-{issue + 1})"
    return style.volume.format(v=number, i=issue)


def pages(style: Style, dice: Dice) -> str:
    """A range of pages."""
    start = dice.between(1, 480 if dice.chance(0.85) else 2400)
    if dice.chance(0.04):
        return f"p. {start}" if style.pages else str(start)
    end = start + dice.between(3, 32)
    last = str(end)[-2:] if end > 100 and end // 100 == start // 100 and dice.chance(0.08) else str(end)
    return f"{style.pages}{start}{style.dash}{last}"


def join_places(parts: Sequence[str]) -> str:
    """City and region with a comma, without the empty ones.

    >>> join_places(["Paris", "France"]), join_places(["Prague", ""])
    ('Paris, France', 'Prague')
    """
    return ", ".join(part for part in parts if part)
