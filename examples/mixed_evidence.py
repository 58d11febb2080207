"""Five labelled references, a thousand without labels, and the knowledge that a shuffled reference is no reference."""

import sidelight as sl
from sidelight.corpus import references

labelled, unlabelled, test = references(5, seed=1), references(1000, seed=2), references(300, seed=3)
good = [reference.tokens for reference in unlabelled]
evidence = [
    *sl.gold([r.tokens for r in labelled], [r.labels for r in labelled]),
    *sl.companion(good, +1),
    *sl.companion(sl.shuffled(good, seed=0), -1),
]
print(sl.describe(evidence))
tagger = sl.Tagger(features=sl.features.words(), prices={"gold": 1.0, "companion": 1.0}).fit(evidence)
print(f"token accuracy {tagger.score([r.tokens for r in test], [list(r.labels) for r in test]):.3f}")
