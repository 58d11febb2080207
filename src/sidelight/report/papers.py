"""The tables and figures of the papers, the experiment for each, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

JLIS, THESIS, CLLP, SL, OWN = "J-LIS", "Thesis", "CLLP", "Sequential learning", "Beyond the papers"


class PublishedResult(NamedTuple):
    """A table or figure of a paper, and its experiment; None if there is none, with the reason."""

    name: str
    experiment: str | None
    reason: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper with its tables and figures."""

    name: str
    title: str
    places: tuple[PublishedResult, ...]


PAPERS = (
    Paper(
        JLIS,
        "Chang, Srikumar, Goldwasser and Roth (2010), Structured output learning with indirect supervision, ICML",
        (
            PublishedResult("Table 1, alignments", "jlis-alignment"),
            PublishedResult("Table 2, citations", "jlis-citations"),
            PublishedResult("Table 2, advertisements", "jlis-ads"),
            PublishedResult("Figure 2, parts of speech", "jlis-pos"),
            PublishedResult("Figure 3, number of bad inputs", "jlis-negatives"),
            PublishedResult("Figure 4, a decision and its structure", "jlis-identification"),
            PublishedResult("Section 5, no labels", "jlis-unsupervised"),
        ),
    ),
    Paper(
        THESIS,
        "Chang (2011), Structured prediction with indirect supervision, University of Illinois",
        (
            PublishedResult("Table 2.2, convergence of solvers", "solvers"),
            PublishedResult("Section 3.1.2, ways of inference", "ccm-inference"),
            PublishedResult("Table 3.3, citations; Figures 3.3, 3.4", "ccm-citations"),
            PublishedResult("Tables 3.3, advertisements, and 3.8", "ccm-ads"),
            PublishedResult("Figure 3.5, iterations of EM and CoDL", "ccm-em"),
            PublishedResult("Tables 3.4, 3.5, semi-CRF", "ccm-semicrf"),
            PublishedResult("Tables 3.6, 3.7; Figure 3.6, single rules, penalties, β", "ccm-rules"),
            PublishedResult("Figure 4.1, EM by γ", "uem-pos"),
            PublishedResult("Tables 4.2, 4.3, word alignment", "uem-alignment"),
            PublishedResult("Figure 5.2, transliteration", "lclr-transliteration"),
            PublishedResult("Figure 5.2, entailment", "lclr-entailment"),
            PublishedResult("Tables 5.3, 5.5, paraphrases", "lclr-paraphrase"),
            PublishedResult("Table 5.6, with WordNet", None, "WordNet is not among the corpora"),
            PublishedResult("Figures 6.2, 6.5 (right), parts of speech", "jlis-pos"),
            PublishedResult("Figure 6.3 (left), alignments", "jlis-alignment"),
            PublishedResult("Figure 6.3 (right), citations", "jlis-citations"),
            PublishedResult("Figure 6.4, newsgroups", "jlis-newsgroups"),
            PublishedResult("Figures 6.5 (left), 6.6 (left), number of bad inputs", "jlis-negatives"),
            PublishedResult("Figure 6.6 (right), a decision and its structure", "jlis-identification"),
            PublishedResult("Section 6.5.4, no labels", "jlis-unsupervised"),
        ),
    ),
    Paper(
        CLLP,
        "Li, Zhang and Chen (2014), Learning from candidate labeling sets of local parts (CLLP)",
        (
            PublishedResult("Figure 1, candidates of some tokens", "cllp-random"),
            PublishedResult("Figure 2, candidates of all tokens", "cllp-specified"),
            PublishedResult("Figure 3, rounds and discount", "cllp-discount"),
            PublishedResult("Table 1, tag dictionary", "cllp-dictionary"),
            PublishedResult("Table 2, types of entities", "cllp-typing"),
        ),
    ),
    Paper(
        SL,
        "Roth, Small and Titov (2009), Sequential learning of classifiers for structured prediction problems, AISTATS",
        (
            PublishedResult("Figures 3, 4, generated data", "sl-artificial"),
            PublishedResult("Table 1, entities and relations", "sl-relations"),
        ),
    ),
    Paper(
        OWN,
        "What no paper has: a stranger's data, the default features, trees",
        (
            PublishedResult("Few labels and indirect evidence, by default", "strangers"),
            PublishedResult("Groups of features", "features"),
            PublishedResult("Dependency trees", "trees"),
        ),
    ),
)


class Plot(NamedTuple):
    """Curves of an experiment: where to find x in the names of settings or methods, and how to draw them."""

    title: str
    x: str  # a pattern with one group
    axis: str
    metric: str = "accuracy"  # "" for any metric except differences
    methods: str = ""  # a pattern of the methods to draw; all if empty
    panels: bool = True  # whether the rest of a setting's name separates charts, else curves


class DotPlot(NamedTuple):
    """Values by method, for settings without a number; one chart for each setting."""

    title: str
    metric: str = "accuracy"
    methods: str = ""


class Claim(NamedTuple):
    """A claim of the papers about indirect supervision, and the difference that shows it: patterns of setting and
    method.
    """

    words: str
    experiment: str
    setting: str
    method: str


NUMBER = r"([\d.,]+k?)"
PLAIN = r"^(?!.*(completion chosen|one choice)).*$"
GAIN = r"^J-LIS - SSVM$"
CLAIMS = (
    Claim("Good and bad inputs help to find the fields of citations", "jlis-citations", r"^100 tokens$", GAIN),
    Claim("Good and bad inputs help to tag parts of speech", "jlis-pos", r"^\d+ tokens$", GAIN),
    Claim("Good and bad inputs help to classify documents", "jlis-newsgroups", r"^100 documents$", GAIN),
    Claim("Good and bad inputs help to align strings", "jlis-alignment", r"^10 pairs", r"companions - SSVM$"),
    Claim("A decision and its structure are best learned jointly", "jlis-identification", r"10 pairs", r"^joint - "),
    Claim("Yes/no answers alone teach letter alignments", "lclr-transliteration", "", r"^LCLR - "),
    Claim("Rules help in prediction", "ccm-citations", r"^5 references$", r"^HMM-CCM - HMM$"),
    Claim(
        "Rules help in learning from unlabelled inputs",
        "ccm-citations",
        r"^5 references$",
        r"^semi HMM-CCM - semi HMM$",
    ),
    Claim("Learning from candidate sets beats guessing among them", "cllp-random", "", r"^CLLP - NAIVE$"),
    Claim("Predictions of earlier sub-problems help later ones", "sl-relations", "", r"^SL.* - L\+I"),
)
PLOTS: dict[str, tuple[Plot | DotPlot, ...]] = {
    "jlis-alignment": (Plot("Table 1 as a curve", rf"^{NUMBER} pairs", "labelled pairs", "F1"),),
    "jlis-citations": (Plot("Learning curve", rf"^{NUMBER} tokens", "labelled tokens", methods=PLAIN),),
    "jlis-ads": (Plot("Learning curve", rf"^{NUMBER} tokens(?: \(all\))?", "labelled tokens", methods=PLAIN),),
    "jlis-pos": (
        Plot("Learning curve", rf"^{NUMBER} tokens$", "labelled tokens", methods=PLAIN),
        Plot("Companions", rf"^{NUMBER} companion tokens$", "tokens of companions", methods=PLAIN),
        Plot("Completions that J-LIS needs", rf"^{NUMBER} tokens$", "labelled tokens", "completions"),
    ),
    "jlis-negatives": (
        Plot("Citations: bad examples", rf"^{NUMBER} negatives$", "bad references", methods=PLAIN),
        Plot("Tags: bad examples", rf"^{NUMBER} negatives per sentence$", "shuffles of each sentence", methods=PLAIN),
    ),
    "jlis-identification": (Plot("By companions", rf", {NUMBER} companions", "companions"),),
    "jlis-newsgroups": (Plot("Learning curve", rf"^{NUMBER} documents", "labelled documents", methods=PLAIN),),
    "jlis-unsupervised": (DotPlot("Without labels"),),
    "cllp-random": (Plot("By doublings", rf"^{NUMBER} doublings", "doublings of candidates in a sentence"),),
    "cllp-specified": (
        Plot("By candidates", rf"^{NUMBER} candidates", "candidates of every token"),
        Plot("By initial error", rf"^{NUMBER} initial error", "share of wrong labels to begin with"),
    ),
    "cllp-discount": (Plot("By rounds and discount", rf", {NUMBER} rounds", "rounds of CCCP", panels=False),),
    "cllp-dictionary": (DotPlot("With a tag dictionary"),),
    "cllp-typing": (DotPlot("Types of entities", ""),),
    "ccm-citations": (Plot("Learning curve", rf"^{NUMBER} references", "labelled references"),),
    "ccm-ads": (
        Plot("Learning curve", rf"^{NUMBER} posts$", "labelled posts"),
        DotPlot("Every rule alone", methods=r"^rule (?!.* - )"),
    ),
    "ccm-em": (Plot("By iterations", rf"^{NUMBER} iterations", "iterations"),),
    "ccm-rules": (
        Plot("By β", rf", beta {NUMBER}", "β, the weight of the supervised model", panels=False),
        DotPlot("Every rule alone", methods=r"^rule (?!.* - )"),
        DotPlot("Hard and soft rules", methods=r"^semi HMM-CCM, (soft|hard)$"),
    ),
    "ccm-semicrf": (
        Plot("Learning curve", rf"^{NUMBER} references$", "labelled references"),
        Plot("With unlabelled references", rf"^{NUMBER} references, 1000 unlabelled", "labelled references"),
    ),
    "ccm-inference": (DotPlot("Time of one reference", "ms"), DotPlot("Outputs that are the best", "best")),
    "uem-pos": (
        Plot("By γ and start", rf"^gamma {NUMBER}$", "γ", panels=False),
        Plot("Relative to EM", rf"^gamma {NUMBER}$", "γ", "relative", panels=False),
    ),
    "uem-alignment": (Plot("By γ", rf"^(?:PR \(|LP-EM \()?γ = {NUMBER}\)?$", "γ", "AER", panels=False),),
    "lclr-transliteration": (DotPlot("First ranks"), DotPlot("Mean reciprocal rank", "mean reciprocal rank")),
    "lclr-paraphrase": (DotPlot("Definitions of an alignment"),),
    "lclr-entailment": (DotPlot("Entailment"),),
    "sl-artificial": (
        Plot("By examples; the order that SL finds, and a given one", rf"^{NUMBER} examples$", "examples"),
        Plot("By illegal outputs", rf", {NUMBER} illegal outputs", "illegal outputs of 32"),
    ),
    "sl-relations": (
        DotPlot("Relations, by the order of classifiers", "relation F1"),
        DotPlot("Entities", "entity accuracy"),
    ),
    "strangers": (
        Plot("By labelled sentences", rf", {NUMBER}$", "labelled sentences", "", r"^(?!spoiled|skweak)"),
        Plot("Spoiled evidence", rf", {NUMBER}$", "labelled sentences", "", r"^(gold$|spoiled)"),
    ),
    "features": (Plot("By labelled sentences", rf", {NUMBER}$", "labelled sentences", "score"),),
    "trees": (Plot("Learning curve", rf"^{NUMBER} sentences", "sentences", "attachment score"),),
}


def experiments_of(paper: Paper) -> list[str]:
    """The experiments shown under a paper: those not shown under an earlier one."""
    before = {place.experiment for one in PAPERS[: PAPERS.index(paper)] for place in one.places}
    own = [place.experiment for place in paper.places if place.experiment is not None]
    return [name for name in dict.fromkeys(own) if name not in before]
