"""People and places: surnames written by hand or built from syllables, given names, cities, commonest first."""

from __future__ import annotations

from functools import cache

from sidelight.corpus.dice import Dice
from sidelight.corpus.words import words

COMMON_SURNAMES: tuple[str, ...] = words("""
    Smith Lee Miller Johnson Wang Brown Kumar Jones Chen Müller Wilson Taylor Kim Martin Cohen Davis Schmidt Li Clark
    Suzuki White Lewis Zhang Hall Young Garcia King Wright Green Baker Hill Weber Adams Nelson Mitchell Roberts Singh
    Turner Phillips Campbell Parker Evans Liu Edwards Collins Stewart Morris Rogers Reed Cook Fischer Morgan Bell
    Murphy Bailey Rivera Cooper Richardson Cox Howard Ward Tanaka Peterson Gray Watson Brooks Kelly Sanders Price
    Bennett Wood Barnes Ross Henderson Coleman Jenkins Perry Powell Long Patterson Hughes Flores Washington Butler
    Simmons Foster Gonzalez Bryant Alexander Russell Griffin Hayes Myers Ford Hamilton Graham Sullivan Wallace Woods
    Cole West Jordan Owens Reynolds Fisher Ellis Harrison Gibson Mendez Cruz Marshall Ortiz Gomez Murray Freeman
    Wells Webb Simpson Stevens Tucker Porter Hunter Hicks Crawford Henry Boyd Mason Morales Kennedy Warren Dixon
    Ramos Reyes Burns Gordon Shaw Holmes Rice Robertson Hunt Black Daniels Palmer Mills Nichols Grant Knight Ferguson
    Rose Stone Hawkins Dunn Perkins Hudson Spencer Gardner Payne Pierce Berry Matthews Arnold Wagner Willis Ray
    Watkins Olson Carroll Duncan Snyder Hart Cunningham Bradley Lane Andrews Ruiz Harper Fox Riley Armstrong Weaver
    Lincoln Houston Austin Jackson Lancaster Preston Warwick Berkeley Madison Durham Darwin Raleigh Norfolk Chester
    London York Columbus Wellington Berlin Park Field Law Page Press Day May March Winter Sommer
    O'Brien O'Neil Saint-Clair Hayes-Moore Zhou Yang Huang Zhao Wu Gupta Sharma Rao Novak Rossi Ferrari Silva Costa
""")

_SYLLABLES: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("Hal", "Ash", "Bram", "Thorn", "Wex", "Lang", "Whit", "Mar", "Stan", "Brad", "Kirk", "Win", "Hol", "Old"),
        ("", "", "er", "ing"),
        ("ton", "ley", "field", "worth", "by", "ham", "ford", "wick", "man", "well", "combe"),
    ),
    (
        ("Ny", "Lind", "Söder", "Berg", "Ek", "Hol", "Sand", "Dahl", "As", "Gran", "Thor", "Kjel"),
        ("", "", "el", "er"),
        ("strom", "berg", "sen", "gren", "quist", "dal", "mark", "sson", "lund", "vik"),
    ),
    (
        ("Kov", "Pet", "Vol", "Mar", "Iv", "Zab", "Gor", "Bor", "Lev", "Sok", "Dub", "Kras", "Tret", "Wis"),
        ("al", "ar", "in", "an", "ol", "ow"),
        ("ov", "ski", "enko", "ev", "ic", "ak", "insky", "chuk", "in"),
    ),
    (
        ("Bel", "Cav", "Mor", "Gal", "Ven", "San", "Ros", "Pel", "Fer", "Lom", "Tad", "Zan", "Cor"),
        ("an", "er", "al", "ag", "in", "or"),
        ("etti", "ini", "elli", "one", "aro", "ucci", "ato", "osa", "era", "ez"),
    ),
    (
        ("Ka", "Mo", "Ta", "Yo", "Na", "Ha", "Shi", "Ku", "Mi", "Fu", "Sa", "To"),
        ("ka", "ri", "na", "shi", "ma", "ko", "wa", "ji", "to"),
        ("moto", "mura", "da", "ta", "no", "gawa", "hara", "shi", "zaki", "be"),
    ),
    (
        ("Ven", "Sub", "Raj", "Krish", "Chan", "Bhat", "Nar", "Mukh", "Sri", "Ram", "Das"),
        ("a", "ra", "na", "er", "ka"),
        ("man", "nan", "jee", "swamy", "tan", "gopal", "dran", "charya", "puram"),
    ),
    (
        ("Kauf", "Schrö", "Hoff", "Brand", "Stein", "Rosen", "Eber", "Wein", "Alt", "Grün", "Neu", "Lich"),
        ("", "", "en", "er"),
        ("mann", "bach", "berg", "haus", "stein", "feld", "hardt", "hofer", "ler"),
    ),
)

PARTICLES: tuple[str, ...] = ("van", "de", "von", "van der", "Van", "de la", "di", "den", "El")

GIVEN: tuple[str, ...] = words("""
    John David Michael Robert James Peter William Thomas Richard Paul Mary Mark Susan Daniel Steven Andrew Anna Wei
    Maria George Charles Jean Eric Martin Barbara Hans Joseph Jennifer Kenneth Christopher Alan Karen Stephen Edward
    Elizabeth Brian Yong Philip Laura Rajeev Frank Hiroshi Henry Linda Raymond Ellen Ivan Marco Sergei Nancy Oliver
    Anil Patricia Jun Ruth Samuel Julia Kenji Walter Helen Luis Manuela Victor Alice Claire Gerhard Sanjay Timothy
    Ming Ursula Fernando Olga Keith Adam Lars Douglas Judith Nils Vijay Bruce Xin Ingrid Austin Florence Victoria
    Jordan Madison April June May Sydney Jackson Lincoln Grant Dean
""")

CITIES: tuple[tuple[str, str], ...] = (
    ("New York", "NY"), ("Cambridge", "MA"), ("London", "UK"), ("San Francisco", "CA"), ("Paris", "France"),
    ("Berlin", "Germany"), ("Amsterdam", "The Netherlands"), ("Cambridge", "England"), ("Boston", "Massachusetts"),
    ("Washington", "DC"), ("Chicago", "Illinois"), ("Austin", "TX"), ("Seattle", "WA"), ("Tokyo", "Japan"),
    ("Edinburgh", "Scotland"), ("Pittsburgh", "PA"), ("Madison", "Wisconsin"), ("Vancouver", "Canada"),
    ("Oxford", "UK"), ("Portland", "Oregon"), ("Berkeley", "CA"), ("Lincoln", "Nebraska"), ("Montreal", "Quebec"),
    ("Sydney", "Australia"), ("Vienna", "Austria"), ("Houston", "Texas"), ("Stockholm", "Sweden"), ("Rome", "Italy"),
    ("Durham", "NC"), ("Philadelphia", "PA"), ("Munich", "Germany"), ("Geneva", "Switzerland"), ("Santa Rosa", "CA"),
    ("Columbus", "Ohio"), ("York", "England"), ("Warwick", "UK"), ("Barcelona", "Spain"), ("Copenhagen", "Denmark"),
    ("Wellington", "New Zealand"), ("Hamilton", "Ontario"), ("Lancaster", "PA"), ("Kyoto", "Japan"),
    ("Bristol", "UK"), ("Helsinki", "Finland"), ("Jackson", "Mississippi"), ("Raleigh", "NC"), ("Prague", ""),
    ("Melbourne", "Australia"), ("Singapore", ""), ("Dublin", "Ireland"), ("Norfolk", "Virginia"), ("Delhi", "India"),
    ("Florence", "Italy"), ("Darwin", "Australia"), ("Preston", "UK"), ("Chester", "England"), ("Haifa", "Israel"),
    ("Budapest", "Hungary"), ("Lisbon", "Portugal"), ("Victoria", "British Columbia"), ("Palo Alto", "California"),
)  # fmt: skip

_BUILT = 900
_LEXICON_SEED = 20_011  # fixes the language itself, so that corpora of different seeds share their vocabulary


@cache
def surnames() -> tuple[str, ...]:
    """Every surname, the common ones mixed into the head of the list, each once.

    >>> len(surnames()) == len(set(surnames())) and len(surnames()) > 1000
    True
    """
    dice = Dice(_LEXICON_SEED)
    built: dict[str, None] = {}
    while len(built) < _BUILT:
        first, middle, last = dice.pick(_SYLLABLES)
        start, inner, end = dice.pick(first), dice.pick(middle), dice.pick(last)
        if inner != end and not start.lower().endswith((inner or "-", end)):
            built[start + inner + end] = None
    new = iter(built)
    names: dict[str, None] = {}
    for surname in COMMON_SURNAMES:
        names[surname] = None
        names[next(new)] = None
    names.update(dict.fromkeys(new))
    return tuple(names)
