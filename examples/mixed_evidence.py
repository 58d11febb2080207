"""Labels, a dictionary, yes/no answers and rules in one fit."""

import sidelight as sl
from sidelight.corpus import FIELDS, references
from sidelight.rules import gallery

MONTHS = {month: ["date"] for month in ("January", "March", "April", "May", "June", "July", "August", "October")}
PEOPLE = {initial: ["author", "editor"] for initial in "ABCDEFGHJKLMNPRSTVW"}
WORDS = {
    "pages": ["pages"],
    "pp": ["pages"],
    "vol": ["volume"],
    "Proceedings": ["booktitle"],
    "Proc": ["booktitle", "journal"],
    "Conference": ["booktitle"],
    "Journal": ["journal"],
    "University": ["institution", "publisher"],
    "Press": ["publisher"],
    "with": ["title"],
    "for": ["title"],
}
DICTIONARY = {**MONTHS, **PEOPLE, **WORDS}


def split(count, seed):
    """References that the package writes, and the fields of their tokens."""
    made = references(count, seed=seed)
    return [list(one.tokens) for one in made], [list(one.labels) for one in made]


X, y = split(5, seed=1)
raw, _ = split(100, seed=2)
X_test, y_test = split(100, seed=3)
kinds = {
    "five labels": sl.gold(X, y),
    "a dictionary": sl.candidates(raw, [[DICTIONARY.get(word) for word in x] for x in raw]),
    "yes/no answers": [*sl.companion(raw, +1), *sl.companion(sl.shuffled(raw, seed=0), -1)],
}
rules = [gallery.appears_once(FIELDS).soft(), gallery.changes_after_punctuation().soft()]

evidence = []
for name, kind in kinds.items():
    evidence += kind
    tagger = sl.Tagger(learner="partial_crf", labels=FIELDS, rules=rules).fit(evidence)
    without = sl.evaluate(y_test, tagger.predict(X_test, rules=())).accuracy
    print(f"+ {name}: {without:.1f} % of tokens right, under rules {100 * tagger.score(X_test, y_test):.1f} %")
