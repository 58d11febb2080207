"""The rules of thesis Table 3.2 for apartment advertisements: an HMM from two labelled ones, with and without rules.

Rules about words are hard here, and one line each; a field is at least three words long, and ends at punctuation or at
the end of a line. Phone numbers, addresses and prices are one token each, as in the thesis: *PHONE*, *EMAIL*, *MONEY*.
"""

from sidelight import Tagger, recipes
from sidelight.rules import gallery

WORDS = {
    "address": "address carlmont st cross",
    "available": "immediately begin cheaper",
    "contact": "*phone* *email*",
    "features": "laundry kitchen parking",
    "neighborhood": "close near shopping",
    "photos": "http image link",
    "rent": "$ *money*",
    "restrictions": "smoking dogs cats",
    "roommates": "roommates respectful drama",
    "size": "sq ft bdrm",
    "utilities": "utilities pays electricity",
}
RULES = [
    gallery.minimum_length(3, list(WORDS), name="FieldLength").soft(),
    gallery.changes_after_punctuation(marks=(".", ",", ";", "!", "*newline*"), name="Punctuation").soft(),
    *(gallery.words_are(words.split(), field, name=field.capitalize()) for field, words in WORDS.items()),
]

ADVERTISEMENTS = (
    "size: Sunny 2 bdrm apartment , | rent: only *MONEY* a month . | features: Laundry and parking in the building , "
    "| contact: call Ann at *PHONE* .",
    "rent: *MONEY* for a room , | neighborhood: near shopping and trains . | restrictions: No smoking , no dogs . "
    "| contact: Write to *EMAIL* today .",
)
NEW = "Quiet 1 bdrm flat , close to shopping center . No cats please . *MONEY* a month , pays electricity and water ."


def read(line: str) -> tuple[list[str], list[str]]:
    """Tokens and their fields."""
    parts = [part.strip().split(": ", 1) for part in line.split("|")]
    return [word for _, text in parts for word in text.split()], [field for field, text in parts for _ in text.split()]


xs, ys = zip(*map(read, ADVERTISEMENTS))
tagger = Tagger(learner=recipes.hmm(), rules=RULES, labels=list(WORDS)).fit(list(xs), list(ys))
x = NEW.split()
for name, rules in (("without rules", ()), ("with rules", RULES)):
    fields = tagger.predict([x], rules=rules)[0]
    begins = [t == 0 or fields[t] != fields[t - 1] for t in range(len(x))]
    print(f"{name}: {' '.join(f'| {fields[t]}: {x[t]}' if begins[t] else x[t] for t in range(len(x)))}")
