"""A dozen lines of rules as supervision: an HMM trained on five labelled references, with and without them."""

from sidelight import Tagger, gold, recipes, unlabeled
from sidelight.corpus import references
from sidelight.rules import count, every, gallery, rule

corpus = references(700, seed=1)
xs, ys = [list(one.tokens) for one in corpus], [list(one.labels) for one in corpus]
FIELDS = sorted({label for y in ys for label in y})


@rule
def has_a_title(x, y):
    """There is a title."""
    return count(y[t] == "title" for t in x.positions) >= 1


@rule
def years_are_dates(x, y):
    """Four digits that begin with 19 or 20 are a date; some are pages, so the rule is soft."""
    years = [t for t, word in enumerate(x.words) if len(word) == 4 and word[:2] in ("19", "20") and word.isdigit()]
    return every(y[t] == "date" for t in years)


RULES = [
    has_a_title.soft(),
    years_are_dates.soft(),
    gallery.appears_once(FIELDS).soft(),
    gallery.changes_after_punctuation().soft(),
]

labelled, pool, test = gold(xs[:5], ys[:5]), unlabeled(xs[200:]), (xs[5:200], ys[5:200])
for name, learner in (("counts", recipes.hmm()), ("CoDL", recipes.codl(base=recipes.hmm(), cycles=5))):
    tagger = Tagger(learner=learner, rules=RULES, labels=FIELDS)
    tagger.fit(labelled if name == "counts" else [*labelled, *pool])
    with_rules = 100 * tagger.score(*test)
    right = sum(a == b for guess, y in zip(tagger.predict(test[0], rules=()), test[1]) for a, b in zip(guess, y))
    without = 100 * right / sum(map(len, test[1]))
    print(f"HMM by {name}: {without:.1f} % without rules, {with_rules:.1f} % with them")
