"""Labelling functions that are often wrong: the tagger learns how reliable each of them is."""

import random

import sidelight as sl

dice = random.Random(1)
PEOPLE = [a + b for a in ("An", "Bo", "Ca", "De", "Ev", "Fa") for b in ("na", "ris", "lin", "mar", "ton")]
PLACES = [a + b for a in ("Os", "Li", "Ro", "Be", "Tu", "Ka") for b in ("lo", "ma", "me", "burg", "ville")]
VERBS = ("saw", "met", "left", "likes")


def sentence():
    """A sentence in which a person does something, perhaps somewhere."""
    words, labels = [dice.choice(PEOPLE), dice.choice(VERBS)], ["B-PER", "O"]
    words, labels = [*words, dice.choice(PEOPLE + PLACES)], [*labels, ""]
    labels[-1] = "B-PER" if words[-1] in PEOPLE else "B-LOC"
    if dice.random() < 0.5:
        words, labels = [*words, "in", dice.choice(PLACES)], [*labels, "O", "B-LOC"]
    return words, labels


def after_in(words):
    return {t: "B-LOC" for t, word in enumerate(words) if t and words[t - 1] == "in"}


def first_name(words):
    return {0: "B-PER"}


def listed(words):
    """Knows half of the people."""
    return {t: "B-PER" for t, word in enumerate(words) if word in PEOPLE[::2]}


def small(words):
    return ["O" if word.islower() else None for word in words]


def endings(words):
    return {t: "B-LOC" for t, word in enumerate(words) if word.endswith(("burg", "ville", "ma", "me", "lo"))}


def capitals(words):
    """Mostly wrong: takes every name for a place."""
    return {t: "B-LOC" for t, word in enumerate(words) if word.istitle()}


raw = [sentence()[0] for _ in range(200)]
X_test, y_test = zip(*(sentence() for _ in range(300)))
gold = sl.gold(*zip(*(sentence() for _ in range(10))))
votes = sl.votes(raw, [after_in, first_name, listed, small, endings, capitals], gold=gold, scheme="BIO")
print(votes)
tagger = sl.Tagger(learner="partial_crf", scheme="BIO").fit([*gold, *votes])
majority = sl.Tagger(learner="partial_crf", scheme="BIO").fit([*gold, *votes.majority()])
for name, fitted in (("majority of votes", majority), ("votes with learned trust", tagger)):
    print(f"{name}: F1 {sl.evaluate(y_test, fitted.predict(X_test)).f1:.1f}")
