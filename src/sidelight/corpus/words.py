"""The words that titles are made of: general words and the terms of eight subjects, commonest first."""

from __future__ import annotations

import re
from dataclasses import dataclass


def words(text: str) -> tuple[str, ...]:
    """The words of a list written as running text."""
    return tuple(text.split())


FORMS: tuple[str, ...] = words("""
    model method algorithm approach framework system theory technique strategy tool language architecture study
    environment representation formalism procedure mechanism structure design calculus protocol interface notation
    library testbed simulator generator compiler toolkit measure criterion policy heuristic solution survey tutorial
    perspective proposal experiment benchmark methodology workbench taxonomy specification
""")

ASPECTS: tuple[str, ...] = words("""
    complexity design analysis evaluation structure role use performance semantics nature implementation power
    convergence cost limits effect origin stability comparison history foundations verification economics geometry
    teaching usefulness management behaviour reliability future
""")

THINGS: tuple[str, ...] = words("""
    system problem model program domain network environment structure application process constraint function rule
    pattern example object agent task signal sample sequence space field state action event plan goal game market
    decision resource service message channel filter kernel tree graph path map matrix vector string table index
    record document image surface sensor circuit memory processor module proof hierarchy ontology lexicon concept
    user group interface query relation variable parameter error failure risk preference argument belief
    observation measurement experiment theory language text sentence picture story city hospital school forest
    river season letter teacher
""")

MASS: tuple[str, ...] = words("""
    learning inference search reasoning optimization knowledge information data computation recognition planning
    control software performance communication complexity uncertainty parallelism classification retrieval security
    synchronization scheduling compression visualization verification maintenance reuse navigation perception
    cooperation induction estimation detection generation translation integration evolution adaptation simulation
    education memory language
""")

ADJECTIVES: tuple[str, ...] = words("""
    efficient distributed parallel optimal adaptive dynamic general statistical probabilistic neural logical new
    hierarchical large robust incremental simple fast linear complex temporal hybrid interactive structured random
    approximate concurrent automatic visual real-time formal object-oriented intelligent incomplete noisy local
    global stochastic sequential high-level qualitative empirical experimental theoretical practical sparse modular
    recursive relational symbolic genetic cooperative mobile autonomous multiple heterogeneous persistent partial
    nonlinear bounded continuous discrete deterministic inductive deductive constraint-based model-based
    knowledge-based fault-tolerant scalable reliable secure portable asynchronous hidden latent human social early
    modern northern public cold quiet small
""")

VERBS: tuple[str, ...] = words("""
    learn use model design analyze improve evaluate build combine compare generate predict recognize explain
    represent acquire integrate discover measure manage extract estimate approximate verify classify optimize
    partition reuse refine understand detect organize share replace select revise maintain simulate explore control
    support index rank describe debug test visualize compose transform decompose monitor adapt
""")

HEADS: tuple[str, ...] = (
    "Toward", "Towards", "Beyond", "Notes on", "Issues in", "Advances in", "Experiments with", "Experience with",
    "Lessons from", "A note on", "A survey of", "An introduction to", "On", "Some remarks on", "The limits of",
    "Principles of", "Foundations of", "A theory of", "A comparison of", "Recent trends in", "Fundamentals of",
)  # fmt: skip

PATTERNS: tuple[str, ...] = (
    "A {form} of {adj} {things} for {topic}",
    "{verbing} {adj} {terms} with {terms}",
    "{adj} {mass} for {terms}",
    "{verbing} {terms}",
    "Learning to {verb} {terms}",
    "On the {aspect} of {adj} {terms}",
    "{adj} {terms}",
    "The {aspect} of {terms} in {topic}",
    "A {adj} {form} for {verbing} {terms}",
    "{head} {terms}",
    "{head} {adj} {things} in {topic}",
    "{terms} and {topic}",
    "{name}: a {adj} {form} for {topic}",
    "{mass} with {adj} {terms} and {things}",
    "{verbing} {things} by {verbing} {terms}",
    "{adj} {things} and their {aspect} in {topic}",
    "A {term} {form} for {mass}",
    "Using {terms} to {verb} {things}",
    "The {name} {form}",
    "{topic}: {things} and {forms}",
    "{mass} of {terms} from {adj} {things}",
    "How to {verb} a {term}",
    "{terms} for {mass} and {mass}",
    "{adj} and {adj} {terms}",
    "A {adj} {form} for {topic}",
    "{thing} {mass} in {adj} {things}",
    "Do {terms} help to {verb} {things}?",
    "{topic} beyond {year}",
    "{things}, {things} and {things}: {head} {topic}",
    "{verbing} {terms} in {city}: a {form}",
)

TAILS: tuple[str, ...] = (
    " for the {aspect} of {terms}",
    " in the {aspect} of {adj} {things}",
    " with applications to {topic}",
    ": a {form} and its {aspect}",
    ": the case of {terms}",
    " using {adj} {forms}",
    ": an overview of the {form}",
    " and the {aspect} of {things}",
)

BOOK_PATTERNS: tuple[str, ...] = (
    "{topic}",
    "{head} {topic}",
    "{topic}: {things} and {forms}",
    "{adj} {terms}",
    "{terms} and {terms}",
    "The {aspect} of {topic}",
    "Readings in {topic}",
    "Handbook of {topic}",
    "{adj} {forms} in {topic}",
    "{things}, {things} and {things}",
    "{topic}: a {adj} {form}",
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject: its names and its vocabulary."""

    names: tuple[str, ...]
    terms: tuple[str, ...]


def _topic(names: str, terms: str) -> Topic:
    return Topic(tuple(names.split("/")), tuple(" ".join(term.split()) for term in terms.split("/")))


TOPICS: tuple[Topic, ...] = (
    _topic(
        "machine learning/neural computation/pattern recognition/learning systems",
        """neural network/decision tree/training example/hidden layer/concept learner/kernel machine/loss function/
        Bayesian classifier/feature subset/learning curve/hypothesis space/labelled sample/nearest neighbor/
        structured output/version space""",
    ),
    _topic(
        "artificial intelligence/knowledge representation/automated reasoning/expert systems",
        """knowledge base/expert system/belief network/production rule/default theory/search tree/causal model/
        constraint network/planning agent/case library/truth maintenance system/rational agent/description logic""",
    ),
    _topic(
        "computer systems/operating systems/distributed computing/computer architecture",
        """file system/shared memory/cache line/message queue/page table/virtual machine/device driver/parallel program/
        cluster node/memory hierarchy/instruction stream/remote procedure call/multiprocessor/load balancer""",
    ),
    _topic(
        "database systems/information systems/data engineering/knowledge discovery",
        """query plan/hash table/join algorithm/deductive database/transaction log/data cube/object store/access path/
        relational schema/association rule/materialized view/spatial index/digital library""",
    ),
    _topic(
        "computational linguistics/natural language processing/speech and language/information extraction",
        """noun phrase/dependency tree/speech signal/parallel corpus/word sense/discourse marker/grammar rule/
        language model/dialogue act/text segment/named entity/unknown word/lexical entry""",
    ),
    _topic(
        "programming languages/software engineering/functional programming/program analysis",
        """type system/lazy evaluator/software component/abstract machine/object hierarchy/control flow graph/
        pointer analysis/design pattern/test suite/logic program/source file/optimizing compiler/software process""",
    ),
    _topic(
        "computational complexity/discrete mathematics/algorithms/theory of computing",
        """planar graph/lower bound/random walk/Boolean function/finite automaton/spanning tree/sorting network/
        approximation scheme/data structure/polynomial/linear program/matching problem/online algorithm/secret key""",
    ),
    _topic(
        "robotics/computer vision/computer graphics/image processing",
        """mobile robot/image sequence/optical flow/edge detector/stereo pair/range image/motion plan/visual scene/
        surface patch/texture map/robot arm/camera model/moving object/light source""",
    ),
)  # fmt: skip

SYSTEM_PARTS: tuple[tuple[str, ...], tuple[str, ...]] = (
    ("Pro", "Net", "Para", "Log", "Vis", "Uni", "Omni", "Tri", "Hyper", "Con", "Lex", "Auto", "Meta", "Star"),
    ("tos", "view", "flow", "gen", "talk", "plan", "mine", "base", "graph", "lab", "sys", "form", "cast", "lisp"),
)

_VOWEL_Y = re.compile(r"[^aeiou]y$")
_HISS = re.compile(r"(s|x|z|ch|sh)$")


def plural(noun: str) -> str:
    """The plural of a noun or a noun phrase.

    >>> plural("search tree"), plural("library"), plural("index"), plural("analysis")
    ('search trees', 'libraries', 'indexes', 'analyses')
    """
    if noun.endswith("sis"):
        return noun[:-2] + "es"
    if noun.endswith(("matrix", "automaton", "criterion", "corpus")):
        return {"x": noun[:-1] + "ces", "n": noun[:-2] + "a", "s": noun[:-2] + "ora"}[noun[-1]]
    if _VOWEL_Y.search(noun):
        return noun[:-1] + "ies"
    return noun + ("es" if _HISS.search(noun) else "s")


def gerund(verb: str) -> str:
    """The -ing form of a verb in the list above.

    >>> gerund("use"), gerund("learn"), gerund("control")
    ('using', 'learning', 'controlling')
    """
    if verb in ("control", "debug"):
        return f"{verb}{verb[-1]}ing"
    return (verb[:-1] if verb.endswith("e") else verb) + "ing"
