"""Labels words with a model that `sidelight export` wrote, with nothing but Python.

python read_model.py model.json < sentences      # one a line, words between blanks
"""

import json
import re
import sys


def folded(w):
    return w.lower() if w.lower().isalpha() else "".join("0" if c.isdigit() else c for c in w.lower())


def shape(w):
    kinds = ("X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in w)
    return re.sub(r"(.)\1+", r"\1", "".join(kinds))


def case(w):
    plain = "a" if w.islower() else "A" * min(len(w), 2) if w.isupper() else "Aa" if w.istitle() else ""
    mixed = w != w.lower() and ("AaA" if w[0].isupper() else "aA")
    return plain or mixed or ("0" if w.isdigit() else "0." if any(map(str.isdigit, w)) else ".")


MACROS = {
    "x": str, "lower": str.lower, "folded": folded, "shape": shape, "case": case, "number": str.isdigit,
    "capitalized": lambda w: w[:1].isupper(), "capitals": lambda w: len(w) > 1 and w.isupper(),
    "mixed": lambda w: w != w.lower() and w != w.upper() and w[1:] != w[1:].lower(),
    "initial": lambda w: len(w) == 2 and w[0].isupper() and w[1] == ".",
    "hyphen": lambda w: "-" in w, "digit": lambda w: any(map(str.isdigit, w)),
    "punctuation": lambda w: w != "" and not any(map(str.isalnum, w)),
}  # fmt: skip


def value(macro, w, classes):
    """What a macro makes of a word; None where it makes nothing of it."""
    if macro in MACROS or "class" in macro:  # some words have no class
        found = MACROS[macro](w) if macro in MACROS else classes.get(w.lower(), [None] * 9)[int(macro[-1]) - 1]
        return found if isinstance(found, str) else "yes" if found else None
    part = w[: int(macro[-1])] if "prefix" in macro else w[-int(macro[-1]) :]
    return None if len(w) < int(macro[-1]) else folded(part) if macro.startswith("folded") else part


def features(known, tokens, t):
    """What the features of a token add to the scores of labels: (place of the label, amount)."""
    if known["kind"] == "attributes":  # dicts of texts and numbers, or lists of names
        named = tokens[t].items() if isinstance(tokens[t], dict) else ((name, 1.0) for name in tokens[t])
        for name, held in named:
            key, amount = (f"{name}:{held}", 1.0) if isinstance(held, str) else (name, held)
            yield from ((j, amount * weight) for j, weight in known["weights"].get(key, ()))
    for template in known.get("templates", ()):
        values = []
        for macro, offset, column in template["slots"]:
            at = t + offset  # beyond the ends it is -1, -2, … or 1, 2, …
            token = tokens[at] if 0 <= at < len(tokens) else at if at < 0 else at - len(tokens) + 1
            word = token[column] if isinstance(token, (list, tuple)) else token
            values.append(value(macro, word, known.get("classes", {})) if isinstance(word, str) else word)
        yield from template["weights"].get(json.dumps(values, separators=(",", ":"), ensure_ascii=False), ())


def label(model, tokens):
    """The best labels, by Viterbi. For classes: label(model, [x])[0]."""
    start, moves, best, back = model["start"], model["transitions"], [], []
    for t in range(len(tokens)):
        ways = [[one + move[j] for one, move in zip(best, moves)] or [start[j]] for j in range(len(start))]
        back.append([way.index(max(way)) for way in ways])
        best = [max(way) for way in ways]
        for j, amount in features(model["features"], tokens, t):
            best[j] += amount
    final = [one + end for one, end in zip(best, model["end"])]
    path = [final.index(max(final))]
    for before in reversed(back[1:]):
        path.append(before[path[-1]])
    return [model["labels"][j] for j in reversed(path)]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    for line in filter(str.strip, sys.stdin):
        print(*map("/".join, zip(line.split(), label(model, line.split()))))  # noqa: T201
