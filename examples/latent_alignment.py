"""Are two names the same? Learned from yes/no answers alone, with letter alignments as latent structures (LCLR)."""

import random

import sidelight as sl
from sidelight.structures.letters import CharacterAlignment

dice = random.Random(4)
SCRIPT = dict(zip("bdgklmnprstvz", "βδγκλμνπρστψζ"))  # consonants alone are written in the other script


def name():
    """A name in both scripts."""
    latin = "".join(dice.choice(list(SCRIPT)) + dice.choice("aeiou") for _ in range(3))
    return latin, "".join(SCRIPT[letter] for letter in latin if letter in SCRIPT)


def pairs(count):
    """Names that are the same, and as many that are not."""
    names = [name() for _ in range(count)]
    return [*names, *((one[0], other[1]) for one, other in zip(names, names[1:] + names[:1]))], [1] * count + [
        -1
    ] * count


X, z = pairs(60)
X_test, z_test = pairs(200)
letters = CharacterAlignment(bits=14)
known = dict.fromkeys(list(SCRIPT.items())[:6], 1.0)  # a table that knows half of the letters
for method in ("two_stage", "lclr"):
    model = sl.LatentClassifier(letters, method=method, start=letters.weights(known)).fit(X, z)
    share = sum(a == b for a, b in zip(model.predict(X_test), z_test)) / len(z_test)
    print(f"{method}: {100 * share:.1f} % of answers right")
print(X_test[0], model.judge(X_test[:1])[0].output)
