"""Which modules of the package one small fit goes through.

python benchmarks/fit_path.py [learner]

A tagger learns from a few sentences of two kinds of evidence; every function of `sidelight` that is called on the way
is noted, by module. Compiled kernels do not call Python, so a module of kernels counts only where its Python side is
called. The first of two fits is not counted: it compiles, and imports.
"""

import sys
from collections import Counter
from types import FrameType

import sidelight as sl


def evidence() -> list[sl.Evidence]:
    """A few sentences: labelled ones, and companions that have a good structure or none."""
    sentences, labels = [["the", "old", "dog"], ["a", "dog", "barks"]], [["D", "A", "N"], ["D", "N", "V"]]
    return [*sl.gold(sentences, labels), *sl.companion(sentences, +1), *sl.companion(sentences[:1], -1)]


def modules(learner: str) -> Counter[str]:
    """How many functions of each module are called while `Tagger(learner).fit` runs."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.split(".")[0] == "sidelight" and frame.f_code.co_name != "<module>":
            seen.add((module, frame.f_code.co_qualname))

    tagger = sl.Tagger(learner=learner, max_rounds=3)
    tagger.fit(evidence())
    sys.setprofile(note)
    try:
        tagger.fit(evidence())
    finally:
        sys.setprofile(None)
    return Counter(module for module, _ in seen)


def main() -> None:
    learner = sys.argv[1] if len(sys.argv) > 1 else "jlis"
    counts = modules(learner)
    for module in sorted(counts):
        print(f"{module:60} {counts[module]:3} functions")
    print(f"{len(counts)} modules, {sum(counts.values())} functions: Tagger({learner!r}).fit")


if __name__ == "__main__":
    main()
