"""The page about structures says what the code does; every structure can be learned by margins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawing import batches
from drawing_second_order import of_second_order
from drawing_variables import drawn_variables
from hypothesis import find
from segmenting import segment_batches

from sidelight.data.relations import EntitySentence
from sidelight.learners.margin import MarginLearner, MarginOptions
from sidelight.objective.batch import Batch
from sidelight.objective.completion import latent_problem
from sidelight.objective.margin import TargetTerms
from sidelight.objective.scorers.variable_scorer import variable_batch
from sidelight.rules import every, not_, rule
from sidelight.rules.gallery import argument_types
from sidelight.spaces import Cost
from sidelight.structures.alignments import SegmentAlignment
from sidelight.structures.graphs import Graph, GraphAlignment
from sidelight.structures.letters import CharacterAlignment
from sidelight.structures.relations import EntityRelation
from sidelight.structures.sub_problems import SubProblems
from sidelight.structures.trees import DependencyTree
from sidelight.testing import check_solver
from sidelight.testing.structure import table

PAGE = Path(__file__).parents[2] / "docs" / "structures.md"
SENTENCES = [[("a", "N"), ("b", "V"), ("a", "N")], ["c", "a"]]
STRINGS = [("ab", "xy"), ("b", "x")]
GRAPH = Graph((("a", "N"), ("b", "V")), ((1, 0, "s"),))
NEW = {
    "dependency trees, projective": DependencyTree(bits=4).batch(SENTENCES),
    "dependency trees, any": DependencyTree(bits=4, projective=False).batch(SENTENCES),
    "alignments of segments": SegmentAlignment(bits=4, longest=(2, 1)).batch(STRINGS),
    "letters one to one, without crossing": CharacterAlignment(bits=4).batch(STRINGS),
    "letters one to one, with crossing": CharacterAlignment(bits=4, crossing=True).batch(STRINGS),
    "graphs": GraphAlignment(bits=4).batch([(GRAPH, GRAPH)]),
    "entities and relations": EntityRelation(["a", "b"], ["r"], [argument_types({"r": ("a", "b")})]).batch(
        [EntitySentence(("x", "y"), ((0, 1), (1, 2))), EntitySentence(("x",), ((0, 1),))]
    ),
    "sub-problems under rules, listed": SubProblems(
        {"one": (0, 1), "two": (0, 1, 2)},
        [rule(name="apart")(lambda x, y: not_(every(y.one[0] == 1, y.two[0] == 2)))],
        variables=lambda x: {"one": [0], "two": [0]},
        features=lambda x, kind, key: [x, kind],
    ).batch(["a", "b"]),
}


def plain(batch: Batch) -> bool:
    """Whether nothing is masked, and there is something."""
    space = batch.space
    return len(batch) == 1 and getattr(space, "admitted", None) is None and getattr(space, "left_out", None) is None


def old() -> dict[str, Batch]:
    chain = find(batches(most=3), lambda batch: plain(batch) and batch.scorer.layout.chain)
    drawn = drawn_variables(np.random.default_rng(0), most=3, inputs=2)
    return {
        "classes": find(batches(most=3, longest=1), lambda batch: plain(batch) and not batch.scorer.layout.chain),
        "chain": chain,
        "chain, order 2": of_second_order(chain),
        "segments": find(segment_batches(), plain),
        "variables": variable_batch(drawn.rows, drawn.variables, drawn.layout),
    }


def test_the_table_is_made_from_the_code():
    found = table({**old(), **NEW})
    assert found in PAGE.read_text(encoding="utf-8"), f"write it into docs/structures.md:\n{found}"


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("power", [1, 2])
def test_margins_reach_the_optimum_over_all_outputs(name, power):
    batch, rng = NEW[name], np.random.default_rng(0)

    def make(terms):
        options = MarginOptions(power=power, tolerance=1e-6, violation=0.0)
        return MarginLearner.fresh(latent_problem(terms), options, size=terms.batch.scorer.size)

    costs = rng.uniform(0.2, 2.0, (batch.space.n_labels,) * 2)
    np.fill_diagonal(costs, 0.0)
    targets = batch.best(rng.normal(size=batch.scorer.size)).labels
    check_solver(make, power=power, terms=TargetTerms(batch, Cost(targets, costs), rng.uniform(0.1, 2.0, len(batch))))
