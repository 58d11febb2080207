"""Rules about advertisements: thesis Table 3.3 (advertisements) and Table 3.8, on hotel posts.

The Craigslist apartment advertisements of the thesis are not available. Hotel posts with three fields (hotel name,
area, stars) are used instead, with their own rules, which were written after looking only at the labelled part:
patterns of stars, prices and dates, the words of a list of hotels, and fields that a post has once. The numbers are not
comparable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from sidelight.experiments.ccm.constrained_citations import GAINS, LEARNED
from sidelight.experiments.ccm.constrained_study import (
    EMISSIONS,
    Emission,
    Fit,
    Fits,
    Method,
    Report,
    RuleStudy,
    Save,
    difference_rows,
    fit,
    lowered,
)
from sidelight.experiments.draws import folder_of
from sidelight.experiments.grid import LabelledExamples
from sidelight.experiments.jlis import ads
from sidelight.experiments.pool import pool
from sidelight.experiments.table import Row, row
from sidelight.rules import Rule, gallery

TITLE = "Hotel posts in place of advertisements, with and without rules (shape of thesis Tables 3.3, 3.8)"
NAME, AREA, STARS, OTHER = "hotelname", "localarea", "starrating", "O"
SHORTEST = 4  # letters of a word that the list of hotels is trusted with
SIZES, QUICK_SIZES = (5, 10, 20, 100, 325), (5, 20)
DRAWS, QUICK_DRAWS = 10, 2
PILOTS = 3
ALL_POSTS = 325
SIDES: dict[str, Method] = {"supervised": "hmm", "semi-supervised": "codl"}

NOTES = (
    "the data are hotel posts with 3 fields and rules of their own, not the Craigslist advertisements with 12: there "
    "is nothing to compare with in the thesis but the shape",
    "1,125 posts in a fixed random order: 200 for testing, 100 for development, 500 unlabelled, 325 labelled, drawn "
    "from at random; the rules were written with those 325 in view and the 132 records of hotels",
    f"smoothing of emissions is chosen on the development set for every size and method from "
    f"{', '.join(map(str, EMISSIONS))}, with the first {PILOTS} draws; beta 0.9, five cycles, learned penalties",
)


def ad_rules(words: Mapping[str, Collection[str]]) -> tuple[Rule, ...]:
    """The rules, hard, with the words that a list of hotels has for names and areas.

    >>> [rule.name for rule in ad_rules({NAME: ["hyatt"], AREA: ["downtown"]})][:3]
    ['Stars', 'Money', 'Dates']
    """
    return (
        gallery.pattern_is(r"[1-5](\.5)?\*|\*[1-5]", STARS, name="Stars"),
        gallery.pattern_is(r"\$[0-9.]+", OTHER, name="Money"),
        gallery.pattern_is(r"[0-9]+|[0-9]+/[0-9/]+", OTHER, name="Dates"),
        gallery.words_are(words[NAME], NAME, name="HotelWords"),
        gallery.words_are(words[AREA], AREA, name="AreaWords"),
        gallery.appears_once((STARS, AREA), name="AppearsOnce"),
        gallery.at_least(1, NAME, name="HasHotel"),
    )


def words_of(records: LabelledExamples) -> dict[str, tuple[str, ...]]:
    """Words that records use only for names, or only for areas; short words are left out, since they carry little
    information.

    >>> words_of(LabelledExamples([["grand", "hyatt", "at", "bay"]], [[NAME, NAME, NAME, AREA]]))[NAME]
    ('grand', 'hyatt')
    """
    uses: dict[str, set[str]] = {}
    for x, y in zip(*records):
        for word, label in zip(x, y):
            uses.setdefault(word.lower(), set()).add(label)
    trusted = [word for word in sorted(uses) if word.isalpha() and len(word) >= SHORTEST]
    return {label: tuple(word for word in trusted if uses[word] == {label}) for label in (NAME, AREA)}


def load(data: Path) -> RuleStudy:
    """The posts of `data`/ads as `experiments.ads` splits them."""
    corpus = ads.load(data)
    words = words_of(ads.read_posts(folder_of(data, "ads") / "bft_records.bio.txt"))
    train, dev, test = (lowered(part) for part in (corpus.train, corpus.dev, corpus.test))
    pool_of = lowered(LabelledExamples(corpus.good, []))
    return RuleStudy(train, dev, test, pool_of.xs, corpus.labels, partial(ad_rules, words))


def rows(data: Path, *, quick: bool, n_jobs: int, report: Report, save: Save) -> tuple[list[Row], Sequence[str]]:
    """The rows of both tables, and their notes."""
    report(TITLE)
    study = load(data)
    draws = QUICK_DRAWS if quick else DRAWS
    results: list[Row] = []
    with pool(fit, study, n_jobs=n_jobs, report=report) as run:
        fits = Fits(run)
        selection: dict[int, dict[str, Emission]] = {}
        for size in QUICK_SIZES if quick else SIZES:
            selection[size] = choices(size, fits, draws)
            report(f"  {size} posts: " + "; ".join(f"{name} {emission}" for name, emission in selection[size].items()))
            results += size_rows(size, selection[size], fits, draws)
            save(results)
        results += alone_rows([rule.name for rule in study.rules()], selection[SIZES[0]], fits, draws)
        save(results)
    return results, NOTES


def draws_of(size: int, draws: int) -> range:
    """All posts are one draw."""
    return range(1 if size >= ALL_POSTS else draws)


def choices(size: int, fits: Fits, draws: int) -> dict[str, Emission]:
    """The smoothing of every method."""
    pilots = draws_of(size, min(PILOTS, draws))
    return {
        name: fits.best(Fit(size, 0, method, EMISSIONS[0]), pilots=pilots, ruled=ruled)
        for name, (method, ruled) in LEARNED.items()
    }


def size_rows(size: int, choices: Mapping[str, Emission], fits: Fits, draws: int) -> list[Row]:
    """Every method with so many labelled posts, and the gains."""
    setting, which = f"{size} posts", draws_of(size, draws)
    tasks = {name: [Fit(size, d, LEARNED[name][0], choices[name]) for d in which] for name in LEARNED}
    fits.of([task for some in tasks.values() for task in some])
    scores = {
        name: [outcome.test_ruled if LEARNED[name][1] else outcome.test for outcome in fits.of(some)]
        for name, some in tasks.items()
    }
    results = [row(setting, name, "accuracy", values) for name, values in scores.items()]
    for better, base in GAINS:
        results += difference_rows(setting, f"{better} - {base}", scores[better], scores[base])
    return results


def alone_rows(names: Sequence[str], choices: Mapping[str, Emission], fits: Fits, draws: int) -> list[Row]:
    """No rule, every rule alone, and all of them, with the fewest labelled posts and learned penalties."""
    sets: dict[str, tuple[str, ...] | None] = {"None": (), **{name: (name,) for name in names}, "ALL": None}
    emissions = {"supervised": choices["HMM-CCM"], "semi-supervised": choices["semi HMM-CCM"]}
    tasks = {
        (label, side): [Fit(SIZES[0], d, method, emissions[side], only=only) for d in range(draws)]
        for label, only in sets.items()
        for side, method in SIDES.items()
    }
    fits.of([task for some in tasks.values() for task in some])
    scores = {key: [outcome.test_ruled for outcome in fits.of(some)] for key, some in tasks.items()}
    results = []
    for (label, side), values in scores.items():
        setting = f"{SIZES[0]} posts, {side}"
        results.append(row(setting, f"rule {label}", "accuracy", values))
        if label != "None":
            results += difference_rows(setting, f"rule {label} - none", values, scores["None", side])
    return results
