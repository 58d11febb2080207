"""Annotators who only mark what they are sure of: labels for some tokens, nothing about the others."""

import random

import sidelight as sl
from sidelight.corpus import references

dice = random.Random(6)


def split(count, seed):
    """References that the package writes, and the fields of their tokens."""
    made = references(count, seed=seed)
    return [list(one.tokens) for one in made], [list(one.labels) for one in made]


X, y = split(40, seed=1)
X_test, y_test = split(200, seed=3)
some = [[label if dice.random() < 0.25 else None for label in labels] for labels in y]
labelled = sum(label is not None for labels in some for label in labels)
print(f"{labelled} labels in {len(X)} references:")

spread = sl.Tagger(learner="partial_crf").fit(sl.partial(X, some))
count = 0  # references that have as many labels when they are labelled in full
while sum(map(len, y[: count + 1])) <= labelled:
    count += 1
full = sl.Tagger(learner="partial_crf").fit(X[:count], y[:count])
print(f"  {count} references labelled in full: {100 * full.score(X_test, y_test):.1f} % of tokens right")
print(f"  a quarter of the tokens of all {len(X)}: {100 * spread.score(X_test, y_test):.1f} %")
