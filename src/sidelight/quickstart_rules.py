"""Common knowledge about bibliographic references, as rules: an example of a file for `--rules`, used by the
quickstart.

All rules are soft, since each is sometimes broken. The penalties of rules about the whole reference are learned from
the labelled ones. Five references contain few words and numbers, so the rules about these have a fixed high price.
"""

from sidelight.rules import count, every, gallery, not_, one_of, rule

FIELDS = (
    "author", "title", "journal", "booktitle", "editor", "volume", "pages", "date", "publisher", "location",
    "institution", "tech", "note",
)  # fmt: skip
QUOTES = ('"', "“", "”")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "spring", "summer",
    "fall", "winter",
)  # fmt: skip
BESIDE_NUMBERS = {"vol", "volume", "no", "pp", "p", "pages", "part", "to", "and", *MONTHS}


@rule
def author_and_title(x, y):
    """There is an author, and a title of at least two tokens."""
    return every(count(y[t] == "author" for t in x.positions) >= 1, count(y[t] == "title" for t in x.positions) >= 2)


@rule
def ranges(x, y):
    """Two numbers with a dash between them are pages."""
    w = x.words
    dashes = [t for t in x.positions[1:-1] if w[t] in ("-", "–", "--") and w[t - 1].isdigit() and w[t + 1].isdigit()]
    return every(y[s] == "pages" for t in dashes for s in (t - 1, t, t + 1))


@rule
def numbers(x, y):
    """A number is a volume, a page, a date or the number of a report."""
    return every(one_of(y[t], ("volume", "pages", "date", "tech")) for t in x.positions if x.words[t].isdigit())


@rule
def volume_numbers(x, y):
    """A short number before a bracket or a colon is a volume."""
    w = x.words
    return every(
        y[t] == "volume" for t in x.positions[:-1] if w[t].isdigit() and len(w[t]) < 4 and w[t + 1] in ("(", ":")
    )


@rule
def no_words(x, y):
    """Volumes, pages and dates contain no words except those that go with numbers."""
    words = [t for t in x.positions if x.words[t].isalpha() and x.lower[t] not in BESIDE_NUMBERS]
    return every(not_(one_of(y[t], ("volume", "pages", "date"))) for t in words)


@rule
def names_before_ed(x, y):
    """Before "ed." are the names of editors."""
    marks = [t for t in x.positions if x.lower[t] in ("ed", "eds", "editor", "editors")]
    return every(y[s] == "editor" for t in marks for s in range(max(t - 4, 0), t + 1))


WHOLE = (
    gallery.starts_with("author", "editor"),
    gallery.appears_once(FIELDS),
    gallery.changes_after_punctuation(gallery.PUNCTUATION | {*QUOTES}),
    gallery.excludes("journal", "booktitle"),
    author_and_title,
)
TOKENS = (
    ranges,
    numbers,
    volume_numbers,
    no_words,
    names_before_ed,
    gallery.pattern_is("(19|20)[0-9]{2}", "date", name="years"),
    gallery.words_are(MONTHS, "date", name="months"),
    gallery.words_are(QUOTES, "title", name="quotes"),
    gallery.words_are(("journal", "transactions", "trans", "letters", "annals", "j"), "journal", name="journals"),
    gallery.words_are(("proceedings", "proc", "conference", "workshop"), "booktitle", name="meetings"),
    gallery.words_are(("ieee", "acm"), "journal", "booktitle", name="societies"),
    gallery.words_are(("pages", "pp"), "pages", name="pages"),
    gallery.words_are(("volume", "vol"), "volume", name="volumes"),
    gallery.words_are(("press", "publishers", "verlag"), "publisher", name="publishers"),
    gallery.words_are(("university", "univ", "institute"), "institution", "publisher", name="institutions"),
    gallery.words_are(("technical", "tech", "report", "thesis"), "tech", name="reports"),
    gallery.words_are(("submitted", "available", "appear"), "note", name="notes"),
)
RULES = [*(each.soft() for each in WHOLE), *(each.soft(10.0) for each in TOKENS)]
