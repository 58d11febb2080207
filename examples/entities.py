"""Entities and relations predicted jointly: two classifiers, and rules about which types go together."""

import random

from sidelight import Classifier, Joint
from sidelight.rules import every, implies, rule

PEOPLE, PLACES, FIRMS = ("Anna", "Paul", "Jordan", "Florence"), ("Oslo", "Lima", "Jordan", "Florence"), ("Acme", "Ford")
SAYS = {"lives_in": ("lives in", "moved to", "is at home in"), "works_for": ("works for", "is at", "moved to")}


def sentence(dice):
    """A person, something about them, and what it is about; some names can be of two sorts."""
    relation = dice.choice(("lives_in", "works_for", "none"))
    kind = {"lives_in": "place", "works_for": "firm"}.get(relation, dice.choice(("place", "firm")))
    words = dice.choice(SAYS.get(relation, ("met people from", "is at odds with")))
    names = dice.choice(PEOPLE), dice.choice(PLACES if kind == "place" else FIRMS)
    y = {"entity": {0: "person", 1: kind}, "relation": {(0, 1): relation}}
    return (names, words), y


@rule
def fits(x, y):
    """People live in places and work for firms."""
    return every(
        every(
            implies(r == "lives_in", every(y.entity[a] == "person", y.entity[b] == "place")),
            implies(r == "works_for", every(y.entity[a] == "person", y.entity[b] == "firm")),
        )
        for (a, b), r in y.relation.items()
    )


dice = random.Random(0)
examples = [sentence(dice) for _ in range(560)]
train, test = examples[:60], examples[60:]
entity = Classifier(learner="crf").fit(
    [{f"name={name}": 1} for (names, _), _ in train for name in names],
    [y["entity"][k] for _, y in train for k in (0, 1)],
)
relation = Classifier(learner="crf").fit(
    [{f"word={word}": 1 for word in words.split()} for (_, words), _ in train],
    [y["relation"][0, 1] for _, y in train],
)
joint = Joint({"entity": entity.classes_, "relation": relation.classes_}, [fits])


def scores(x):
    """Log-probabilities of both classifiers."""
    names, words = x
    return {
        "entity": dict(enumerate(entity.predict_log_proba([{f"name={name}": 1} for name in names]))),
        "relation": {(0, 1): relation.predict_log_proba([{f"word={word}": 1 for word in words.split()}])[0]},
    }


xs, ys = [x for x, _ in test], [y for _, y in test]
given = [scores(x) for x in xs]
alone = Joint(joint.labels).predict(xs, given)
for name, found in (("each by itself", alone), ("together, under the rule", joint.predict(xs, given))):
    entities = sum(f["entity"][k] == y["entity"][k] for f, y in zip(found, ys) for k in (0, 1)) / (2 * len(ys))
    relations = sum(f["relation"] == y["relation"] for f, y in zip(found, ys)) / len(ys)
    print(f"{name}: {100 * entities:.1f} % of entities, {100 * relations:.1f} % of relations right")
