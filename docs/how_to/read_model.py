"""Labels words with a model exported as JSON: python read_model.py model.json < sentences (one per line)."""

import json
import sys


def shape(w):
    kinds = "".join("X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in w)
    return "".join(kind for i, kind in enumerate(kinds) if kind != kinds[i - 1 : i])  # each run becomes one character


def case(w):
    plain = "a" if w.islower() else "A" * min(len(w), 2) if w.isupper() else "Aa" if w.istitle() else ""
    mixed = w != w.lower() and ("AaA" if w[0].isupper() else "aA")
    return plain or mixed or ("0" if w.isdigit() else "0." if any(map(str.isdigit, w)) else ".")


MACROS = {
    "x": str, "lower": str.lower, "shape": shape, "case": case, "number": str.isdigit, "hyphen": lambda w: "-" in w,
    "folded": lambda w: "".join("0" if c.isdigit() else c for c in w.lower()),
    "capitalized": lambda w: w[:1].isupper(), "punctuation": lambda w: w != "" and not any(map(str.isalnum, w)),
    "capitals": lambda w: len(w) > 1 and w.isupper(), "initial": lambda w: w[1:] == "." and w[0].isupper(),
    "mixed": lambda w: w[1:] != w[1:].lower() and w != w.upper(), "digit": lambda w: any(map(str.isdigit, w)),
}  # fmt: skip


def value(known, tokens, at, macro, column):  # a text, or None; beyond the ends −1, −2, … or 1, 2, …
    if not 0 <= at < len(tokens):
        return at if at < 0 else at - len(tokens) + 1
    w = tokens[at] if isinstance(tokens[at], str) else tokens[at][column]
    n = int(macro[-1]) if macro[-1].isdigit() else 0
    if "class" in macro:  # some words have no class
        return known["classes"].get(w.lower(), [None] * n)[n - 1]
    part = w[:n] if "prefix" in macro else w[-n:]  # without n, all of the word
    result = None if len(w) < n else MACROS["folded" if "folded" in macro else "x" if n else macro](part)
    return result if isinstance(result, str) else "yes" if result else None


def features(known, tokens, t):  # pairs of a label's position and what a feature of token t adds to its score
    if known["kind"] == "attributes":  # dicts of texts and numbers, or lists of names
        for name, held in tokens[t].items() if isinstance(tokens[t], dict) else [(name, 1.0) for name in tokens[t]]:
            key, amount = (f"{name}:{held}", 1.0) if isinstance(held, str) else (name, held)
            yield from ((j, amount * weight) for j, weight in known["weights"].get(key, ()))
    for template in known.get("templates", ()):
        values = [value(known, tokens, t + offset, macro, column) for macro, offset, column in template["slots"]]
        yield from template["weights"].get(json.dumps(values, separators=(",", ":"), ensure_ascii=False), ())


def label(model, tokens):  # the best labels, by Viterbi; the class of x is label(model, [x])[0]
    paths = [(0.0, [])]  # for each label, the score and the labels of the best path that ends in it
    for t in range(len(tokens)):
        gains = [0.0] * len(model["labels"])
        for j, amount in features(model["features"], tokens, t):
            gains[j] += amount
        rows = model["transitions"] if t else [model["start"]]
        ways = [[score + row[j] for row, (score, _) in zip(rows, paths)] for j in range(len(gains))]
        paths = [(max(way) + gains[j], [*paths[way.index(max(way))][1], j]) for j, way in enumerate(ways)]
    final = [score + end for (score, _), end in zip(paths, model["end"])]
    return [model["labels"][j] for j in paths[final.index(max(final))][1]]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    for words in filter(None, map(str.split, sys.stdin)):
        print(*map("/".join, zip(words, label(model, words))))  # noqa: T201
