"""Small models of structures, and all that their files let people ask: `crafting` spoils these files too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import sidelight as sl
from sidelight.data.relations import EntitySentence, Extraction
from sidelight.structures.alignments import SegmentAlignment
from sidelight.structures.graphs import Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment
from sidelight.structures.relations import EntityRelation
from sidelight.structures.sub_problems import SubProblems
from sidelight.structures.trees import DependencyTree

FEW: dict[str, Any] = {"n_jobs": 1, "max_rounds": 3}
SENTENCES = [[("the", "DET"), ("light", "NOUN"), ("falls", "VERB")], [("rain", "NOUN"), ("falls", "VERB")]]
ONE = Graph((("the", "D"), ("light", "N")), ((1, 0, "det"),))
TWO = Graph((("light", "N"), ("falls", "V"), ("here", "R")), ((1, 0, "subj"), (1, 2, "adv")))
HOME = EntitySentence(("Ann", "lives", "in", "Oslo"), ((0, 1), (3, 4)))
NAMES = [("ab", "xy"), ("ba", "yx"), ("ab", "yx"), ("ba", "xy")]
BITS = list(product((0, 1), repeat=2))
KINDS = {"who": ["person", "place"], "link": ["none", "lives_in"]}


class Crafted(NamedTuple):
    """A small model to write, and what is asked of the file."""

    made: Callable[[], Any]
    ask: Callable[[Path], object]


def _predictor(structure: Any, xs: Any, ys: Any, learner: str = "jlis") -> Crafted:
    """A structure whose models `Predictor` makes."""
    return Crafted(
        lambda: sl.Predictor(structure, learner=learner, **FEW).fit(xs, ys),
        lambda path: sl.Predictor(structure, **FEW).load(path).predict(xs),
    )


def _joint() -> sl.Joint:
    return sl.Joint(
        KINDS,
        variables=lambda x: {"who": [0], "link": [(0, 1)]},
        features=lambda x, kind, key: {"word": x[0] if kind == "who" else x[-1]},
        pairs=lambda x: [("from", ("link", (0, 1)), ("who", 0))],
    )


def _sub_problems() -> SubProblems:
    return SubProblems(
        {"one": (0, 1), "two": (0, 1)},
        variables=lambda x: {"one": (0,), "two": (0,)},
        features=lambda x, kind, key: [f"{kind}={x[kind == 'two']}"],
    )


def _judged(path: Path) -> None:
    model = sl.LatentClassifier(CharacterAlignment(bits=6)).load(path)
    model.judge(NAMES), model.decision_function(NAMES)


def _tagged(path: Path) -> None:
    xs = [["a", "b"], ["b", "new"]]
    tagger = sl.Tagger.load(path)
    tagger.predict(xs), tagger.predict_marginals(xs), tagger.k_best(xs, 2)


STRUCTURES: dict[str, Crafted] = {
    "tree": _predictor(DependencyTree(bits=6), SENTENCES, [[2, 3, 0], [2, 0]]),
    "tree that crosses": _predictor(DependencyTree(bits=6, projective=False), SENTENCES, [[2, 3, 0], [2, 0]], "crf"),
    "letters": _predictor(CharacterAlignment(bits=6), NAMES[:2], [[0, 1], [0, 1]]),
    "strings": _predictor(SegmentAlignment(bits=6), [("ab", "AB")], [[((0, 1), (0, 1)), ((1, 2), (1, 2))]]),
    "graph": _predictor(GraphAlignment(bits=6), [(ONE, TWO)], [{1: 0}]),
    "relations": _predictor(
        EntityRelation(["Peop", "Loc"], ["Live_In"]),
        [HOME],
        [Extraction(("Peop", "Loc"), ((0, 1, "Live_In"),))],
    ),
    "judge of letters": Crafted(
        lambda: sl.LatentClassifier(CharacterAlignment(bits=6), method="two_stage", rounds=2).fit(
            NAMES, [1, 1, -1, -1]
        ),
        _judged,
    ),
    "decisions": Crafted(
        lambda: _joint().fit(
            [["Ann", "lives"], ["Oslo", "is"]],
            [
                {"who": {0: "person"}, "link": {(0, 1): "lives_in"}},
                {"who": {0: "place"}, "link": {(0, 1): "none"}},
            ],
        ),
        lambda path: _joint().load(path).predict([["Ann", "is"]]),
    ),
    "sub-problems": Crafted(
        lambda: sl.SequentialLearner(_sub_problems()).fit(BITS, [{"one": {0: a}, "two": {0: b}} for a, b in BITS]),
        lambda path: sl.SequentialLearner(_sub_problems()).load(path).predict(BITS),
    ),
    "hidden markov": Crafted(
        lambda: sl.Tagger(learner="hmm", n_jobs=1).fit([["a", "b"], ["b"]], [["X", "Y"], ["Y"]]), _tagged
    ),
}
