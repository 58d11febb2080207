"""A tag dictionary on unlabelled sentences: each word has one of the tags of its entry."""

import random

import sidelight as sl

dice = random.Random(0)
SOUNDS = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
words = iter(dict.fromkeys("".join(dice.choices(SOUNDS, k=3)) for _ in range(900)))
NOUNS, VERBS, BOTH, ADJECTIVES = ([next(words) for _ in range(size)] for size in (200, 100, 100, 100))
LEXICON = {"N": NOUNS + BOTH, "V": VERBS + BOTH, "A": ADJECTIVES, "D": ["the", "a", "some"]}
DICTIONARY = {}
for tag, known in LEXICON.items():
    for word in known:
        DICTIONARY.setdefault(word, []).append(tag)


def sentence():
    """Phrases of a noun around a verb."""
    phrase = ["D", *dice.choice(([], ["A"])), "N"]
    tags = [*phrase, "V", *dice.choice(([], ["D", "N"], ["D", "A", "N"]))]
    return [dice.choice(LEXICON[tag]) for tag in tags], tags


X, y = zip(*(sentence() for _ in range(6)))
raw = [sentence()[0] for _ in range(300)]
X_test, y_test = zip(*(sentence() for _ in range(300)))
dictionary = sl.candidates(raw, [[DICTIONARY[word] for word in x] for x in raw])

for name, evidence in (("six labelled sentences", sl.gold(X, y)), ("and a dictionary", [*sl.gold(X, y), *dictionary])):
    tagger = sl.Tagger(learner="partial_crf").fit(evidence)
    print(f"{name}: {100 * tagger.score(X_test, y_test):.1f} % of tags right")
