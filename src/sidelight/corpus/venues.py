"""Venues of works: journals, meetings, publishers and institutions composed from the same words as titles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from sidelight.corpus.dice import Dice
from sidelight.corpus.names import CITIES, COMMON_SURNAMES
from sidelight.corpus.words import TOPICS, words

_LEXICON_SEED = 20_023

_JOURNALS: tuple[str, ...] = (
    "{Topic}", "Journal of {Topic}", "IEEE Transactions on {Topic}", "ACM Transactions on {Topic}",
    "International Journal of {Topic}", "{Topic} Review", "{Topic} Letters", "SIAM Journal on {Topic}",
    "Annals of {Topic}", "{Topic} and {Field}", "Journal of {Topic} and {Field}", "{Topic} Quarterly",
    "Advances in {Topic}", "Archive for {Topic}", "{Field} and {Topic} Magazine", "Studies in {Topic}",
)  # fmt: skip
_FIELDS: tuple[str, ...] = (
    "Applications", "Systems", "Control", "Engineering", "Statistics", "Logic", "Cognition", "Design", "Education",
    "Mathematics", "Society", "Practice", "Theory", "Language", "Management", "Medicine",
)  # fmt: skip
GENERAL_JOURNALS: tuple[str, ...] = (
    "Communications of the ACM", "Computing Surveys", "Information and Control", "Theoretical Computer Science",
    "The Computer Journal", "Information Sciences", "Acta Computationis", "New Directions", "Computer",
    "Letters in Science", "Northern Journal of Science", "Applied Mathematics and Computation", "Annals of Statistics",
)  # fmt: skip
SCOPES: tuple[str, ...] = (
    "International", "National", "European", "Annual ACM", "IEEE", "Annual", "ACM", "Joint", "Australian", "Asian",
    "IEEE International", "World", "International Joint", "Nordic", "Pacific",
)  # fmt: skip
MEETINGS: tuple[str, ...] = ("Conference", "Symposium", "Workshop", "Conference", "Meeting", "Congress", "Colloquium")
SERIES: tuple[str, ...] = (
    "Lecture Notes in {Topic}", "Studies in {Topic}", "Springfield Series in {Topic}", "Perspectives in {Topic}",
)  # fmt: skip
_PUBLISHERS: tuple[str, ...] = (
    "{name} Press", "{city} University Press", "{name} Publishing", "{name} & {name}", "{name} Verlag",
    "{name} and Sons", "{name} Books", "{name} Academic Publishers", "{name}-{name}", "{name} Science Publishers B.V.",
    "{name}", "{name}, Inc.", "{city} House", "{name} Publishing Company",
)  # fmt: skip
HOUSES: tuple[str, ...] = (
    "Academic House", "Computer Science Press", "North Harbour", "IEEE Computer Society Press", "ACM Press",
    "Scientific Books", "Meridian Press", "Technical Publishers",
)  # fmt: skip
_SCHOOLS: tuple[str, ...] = (
    "University of {city}", "{city} University", "{city} Institute of Technology", "Technical University of {city}",
    "{city} State University", "{name} College", "{name} University", "{name} Research Laboratories",
    "National Laboratory, {city}", "{name} Corporation", "{city} Research Center", "{name} Systems, Inc.",
)  # fmt: skip
DEPARTMENTS: tuple[str, ...] = (
    "Department of Computer Science", "Dept. of Computer Science", "Computer Science Department",
    "School of Engineering", "Department of Electrical Engineering", "Computing Laboratory", "AI Laboratory",
    "Department of Mathematics", "School of Computing", "Institute for Learning Systems", "Information Systems Group",
    "Department of Statistics", "Center for Language Research", "Dept. of Mathematics and Statistics",
    "Robotics Institute",
)  # fmt: skip

_SHORT: dict[str, str] = {
    "Journal": "J.", "Transactions": "Trans.", "International": "Int.", "Proceedings": "Proc.", "Conference": "Conf.",
    "Symposium": "Symp.", "Workshop": "Wkshp.", "Intelligence": "Intell.", "Artificial": "Artif.", "National": "Nat.",
    "Computational": "Comput.", "Computing": "Comput.", "Computer": "Comp.", "University": "Univ.", "Letters": "Lett.",
    "Annals": "Ann.", "Department": "Dept.", "Institute": "Inst.", "European": "Europ.", "Theory": "Theor.",
}  # fmt: skip
_STEM = re.compile(r"[^aeiouy]*[aeiouy]+[^aeiouy]+")
_SMALL = frozenset(words("a an and as at by for from in of on or the to with their"))
_DROPPED = frozenset(("of", "on", "the", "for", "in"))


@dataclass(frozen=True, slots=True)
class Home:
    """A publisher or an institution and the city it sits in."""

    name: str
    city: str
    region: str


@cache
def journals() -> tuple[tuple[str, ...], ...]:
    """The journals of every topic, best known first."""
    dice = Dice(_LEXICON_SEED)
    return tuple(
        tuple(dict.fromkeys(fill(dice.zipf(_JOURNALS), topic, dice) for _ in range(12))) for topic in range(len(TOPICS))
    )


@cache
def publishers() -> tuple[Home, ...]:
    """Publishers with their cities, best known first."""
    dice = Dice(_LEXICON_SEED + 1)
    presses = [_home(dice, dice.pick(_PUBLISHERS)) for _ in range(50)]
    known = [Home(house, *CITIES[dice.between(0, 11)]) for house in HOUSES]
    return tuple(known[:5] + presses[:10] + known[5:] + presses[10:])


@cache
def institutions() -> tuple[Home, ...]:
    """Universities, laboratories and companies with their cities, best known first."""
    dice = Dice(_LEXICON_SEED + 2)
    return tuple(_home(dice, dice.zipf(_SCHOOLS)) for _ in range(70))


def fill(template: str, topic: int, dice: Dice) -> str:
    """A venue name for a topic (its place in `TOPICS`)."""
    name = capitals(dice.zipf(TOPICS[topic].names, flat=2.0))
    return template.replace("{Topic}", name).replace("{Field}", dice.pick(_FIELDS))


def capitals(text: str) -> str:
    """Title case that leaves short function words alone.

    >>> capitals("speech and language, a theory of trade-offs")
    'Speech and Language, a Theory of Trade-offs'
    """
    words = [word if word in _SMALL else word[:1].upper() + word[1:] for word in text.split(" ")]
    return capital(" ".join(words))


def capital(text: str) -> str:
    """The text with its first letter raised."""
    return text[:1].upper() + text[1:]


def abbreviate(name: str) -> str:
    """The usual abbreviation of a venue name.

    >>> abbreviate("International Journal of Machine Learning")
    'Int. J. Mach. Learn.'
    """
    return " ".join(_short(word) for word in name.split(" ") if word not in _DROPPED)


def _short(word: str) -> str:
    if word in _SHORT:
        return _SHORT[word]
    stem = _STEM.match(word)
    return word if len(word) < 7 or stem is None or len(stem[0]) > len(word) - 2 else stem[0] + "."


def initials(name: str) -> str:
    """The acronym of a meeting, without its sponsors.

    >>> initials("IEEE International Conference on Machine Learning")
    'ICML'
    """
    return "".join(word[0] for word in name.split(" ") if word not in _SMALL and not word.isupper())


def _home(dice: Dice, template: str) -> Home:
    city, region = dice.zipf(CITIES, flat=20.0)
    name = template.replace("{city}", city)
    while "{name}" in name:
        name = name.replace("{name}", dice.pick(COMMON_SURNAMES), 1)
    return Home(name, city, region)
