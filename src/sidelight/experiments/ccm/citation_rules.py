"""The rules about references of thesis Table 3.1, for the fields of the citations corpus.

Words are as listed in the table, in any case; "pp." is two tokens in the corpus. The first four rules are about
structure, the others about single words. They are not always compatible: in "Technical note" two neighbours must
differ, but labels may change only after a punctuation mark. Hard rules can then leave no output at all; soft ones
cannot.
"""

from __future__ import annotations

from sidelight.rules import Rule, gallery

FIELDS = (
    "author",
    "booktitle",
    "date",
    "editor",
    "institution",
    "journal",
    "location",
    "note",
    "pages",
    "publisher",
    "tech",
    "title",
    "volume",
)

QUOTES = ('"', "''", "``", "“", "”")


def citation_rules() -> tuple[Rule, ...]:
    """The twelve rules, hard; `rule.soft()` makes one soft.

    >>> [rule.name for rule in citation_rules()][:3]
    ['Start', 'AppearsOnce', 'Punctuation']
    """
    return (
        gallery.starts_with("author", "editor", name="Start"),
        gallery.appears_once(FIELDS, name="AppearsOnce"),
        gallery.changes_after_punctuation(gallery.PUNCTUATION | frozenset(QUOTES), name="Punctuation"),
        gallery.words_are(("proc", "journal", "proceedings", "ACM"), "journal", "booktitle", name="BookJournal"),
        gallery.pattern_is("(19|20)[0-9]{2}", "date", name="Date"),
        gallery.words_are(("ed", "editors"), "editor", name="Editors"),
        gallery.words_are(("journal",), "journal", name="Journal"),
        gallery.words_are(("note", "submitted", "appear"), "note", name="Note"),
        gallery.words_are(("pp", "pp.", "pages"), "pages", name="Pages"),
        gallery.words_are(("tech", "technical"), "tech", name="TechReport"),
        gallery.words_are(QUOTES, "title", name="Title"),
        gallery.words_are(("CA", "Australia", "NY"), "location", name="Location"),
    )
