"""Five labelled references, and the knowledge that a shuffled reference is malformed (J-LIS)."""

import sidelight as sl
from sidelight.corpus import references


def split(count, seed):
    """References that the package writes, and the fields of their tokens."""
    made = references(count, seed=seed)
    return [list(one.tokens) for one in made], [list(one.labels) for one in made]


X, y = split(5, seed=1)
good, _ = split(300, seed=2)
X_test, y_test = split(300, seed=3)
answers = [*sl.companion(good, +1), *sl.companion(sl.shuffled(good, seed=0), -1)]

for name, evidence in (("five labels", sl.gold(X, y)), ("and yes/no answers", [*sl.gold(X, y), *answers])):
    tagger = sl.Tagger(features=sl.features.words(), learner="jlis").fit(evidence)
    print(f"{name}: {100 * tagger.score(X_test, y_test):.1f} % of tokens right")
fresh, _ = split(200, seed=4)
above = (tagger.judge(fresh) > tagger.judge(sl.shuffled(fresh, seed=9))).mean()
print(f"{100 * above:.0f} % of new references are judged better than their shuffled copies")
