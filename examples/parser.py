"""A dependency parser learned from trees, for sentences of a small grammar."""

import random

import sidelight as sl
from sidelight.structures.trees import DependencyTree, attachment

dice = random.Random(3)
NOUNS, VERBS = ("light", "lamp", "roof", "rain", "house", "moon"), ("sees", "finds", "meets", "hides")
OF, WITH = ("of", "from"), ("with", "at")  # the first hang on the noun before them, the others on the verb


def sentence():
    """Words with their tags, and the head of each (0 is the root, 1 the first word)."""
    words = [("the", "DET"), (dice.choice(NOUNS), "NOUN"), (dice.choice(VERBS), "VERB"), ("a", "DET")]
    words += [(dice.choice(NOUNS), "NOUN")]
    heads = [2, 3, 0, 5, 3]
    if dice.random() < 0.8:
        kind = dice.choice((OF, WITH))
        words += [(dice.choice(kind), "ADP"), ("the", "DET"), (dice.choice(NOUNS), "NOUN")]
        heads += [5 if kind is OF else 3, 8, 6]
    return words, heads


X, y = zip(*(sentence() for _ in range(60)))
X_test, y_test = zip(*(sentence() for _ in range(200)))
for count in (3, 60):
    parser = sl.Predictor(DependencyTree(bits=14), learner="perceptron").fit(X[:count], y[:count])
    found = parser.predict(X_test)
    print(f"{count} trees: {100 * attachment(found, y_test):.1f} % of heads right")
print(found[0], [word for word, _ in X_test[0]])
