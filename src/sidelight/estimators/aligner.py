"""`Aligner`: which words of two sentences translate each other, learned from sentence pairs alone."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sidelight.core.checks import amount, arguments_checked, file_name, flag, is_among, is_listed, shown, whole
from sidelight.core.file_contents import mapping_of, reading
from sidelight.core.progress import FitLog, check_verbose, round_line
from sidelight.core.records import Callback, Round
from sidelight.data.links import GoldLinks, Link
from sidelight.errors import DataError, NotFitted
from sidelight.estimators.base_estimator import Estimator
from sidelight.evaluate.alignments import score_alignments
from sidelight.generative.word_alignment.agreement import AgreementStep
from sidelight.generative.word_alignment.alignment_decoding import RULES
from sidelight.generative.word_alignment.alignment_em import AlignmentEM, sharded_alignment
from sidelight.generative.word_alignment.bitext import Bitext, check_sentences, folded, numbers, vocabulary
from sidelight.generative.word_alignment.translation import table_of
from sidelight.models.alignment_model import (
    AlignmentModel,
    load_alignment_model,
    pairs_of_input,
    save_alignment_model,
    trimmed,
)
from sidelight.models.files import fingerprint
from sidelight.parallel import place_of
from sidelight.parallel.place import one_each
from sidelight.rounds.checkpoint import Checkpoint, rounds_in
from sidelight.rounds.word_alignment import HMM, AlignmentLearner, Stage
from sidelight.specs.settings import check_callbacks, check_whole

MOST = 10_000  # iterations, and steps
LEARNING = ["model1_iterations", "hmm_iterations", "gamma", "model1_gamma", "agreement", "null", "smoothing"]
LEARNING += ["steps", "tolerance", "lowercase"]
DECODERS = ("posterior", "viterbi", "agreed")


class Aligner(Estimator):
    """Word alignment by IBM model 1 and the HMM alignment model, in both directions, by unified EM.

    All parameters are keywords:

    - model1_iterations, hmm_iterations: iterations of EM; the HMM starts with the translations of model 1, and 0 skips
      it.
    - gamma: the weight of entropy in the E-step of the HMM, 0 or more: 1 is EM, 0 takes best alignments, values between
      are sharper than EM. Values between 0 and 0.07 are slow. model1_gamma: the same for model 1, which starts from
      nothing; EM is best there.
    - agreement: constrain the links of both directions to the same posteriors (thesis, Algorithm 9): posterior
      regularisation with gamma 1, LP-EM with gamma 0.
    - null: the probability that a word has no counterpart; 0 for none.
    - smoothing: a Dirichlet prior on translations (variational Bayes); 0 for none.
    - steps: the maximum number of agreement steps for a sentence pair; tolerance: the difference of posteriors at which
      to stop.
    - lowercase: ignore case.
    - decode: "posterior" (links by their probability), "viterbi" (the best alignment of each direction) or "agreed" (as
      posterior, with agreement also for new pairs).
    - combine: how to merge the two directions: "mean", "product", "intersection", "union", "grow-diag",
      "grow-diag-final", "grow-diag-final-and", "forward" or "backward" (see `generative.alignment_decoding`).
    - threshold: the minimum posterior of a link.
    - n_jobs: the number of threads, -1 for all cores; the result is bit-identical. Nothing is random. place: as for
      `Tagger`.
    - callbacks: functions of a `Round`, with the objective −T(θ; γ) of the parameters at the start of the iteration and
      the disagreement Σ |q₁ − q₂| over all links, per target word; verbose: as for `Tagger`.
    - checkpoint: a file from which an interrupted fit resumes.

    >>> pairs = [(["green", "house"], ["casa", "verde"]), (["house"], ["casa"]), (["green"], ["verde"])]
    >>> Aligner().fit(pairs).align([(["green", "house"], ["casa", "verde"])])
    [[(0, 1), (1, 0)]]
    """

    def __init__(
        self,
        *,
        model1_iterations: int = 5,
        hmm_iterations: int = 5,
        gamma: float = 0.5,
        model1_gamma: float = 1.0,
        agreement: bool = True,
        null: float = 0.2,
        smoothing: float = 0.0,
        steps: int = 8,
        tolerance: float = 0.01,
        lowercase: bool = True,
        decode: str = "posterior",
        combine: str = "mean",
        threshold: float = 0.5,
        n_jobs: int | None = -1,
        place: Any = None,
        callbacks: Sequence[Callback] = (),
        checkpoint: str | Path | None = None,
        verbose: int = 0,
    ) -> None:
        self.model1_iterations = model1_iterations
        self.hmm_iterations = hmm_iterations
        self.gamma = gamma
        self.model1_gamma = model1_gamma
        self.agreement = agreement
        self.null = null
        self.smoothing = smoothing
        self.steps = steps
        self.tolerance = tolerance
        self.lowercase = lowercase
        self.decode = decode
        self.combine = combine
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.place = place
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, pairs: Any, targets: Any = None) -> Self:
        """Learn from sentence pairs: (source words, target words) tuples, or a list of sources and one of targets.

        Raises `DataError` for an empty sentence, a string in place of words, and lists of different lengths.
        """
        self._check()
        sources, targets = pairs_of_input(pairs, targets)
        check_sentences(sources, targets)
        with FitLog(
            "Aligner",
            learner="alignment",
            source=f"{len(sources):,} sentence pairs",
            verbose=check_verbose(self.verbose),
            total=self.model1_iterations + self.hmm_iterations,
        ) as log:
            self._learn(sources, targets, log)
        return self

    def _learn(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], log: FitLog) -> None:
        began = time.perf_counter()
        left, right = (folded(sentences, lowercase=self.lowercase) for sentences in (sources, targets))
        words, other_words = vocabulary(left), vocabulary(right)
        table, text = table_of(
            *numbers(left, words),
            *numbers(right, other_words),
            source_words=len(words),
            target_words=len(other_words),
            n_jobs=self.n_jobs,
        )
        place = place_of(self.place, self.n_jobs)
        em = sharded_alignment(AlignmentEM.of(table, text, prior=float(self.smoothing), n_jobs=self.n_jobs), place)
        stages = (
            Stage("model1", self.model1_iterations, self._step(self.model1_gamma)),
            Stage(HMM, self.hmm_iterations, self._step(self.gamma)),
        )
        began = time.perf_counter() - began
        learner = AlignmentLearner(em, stages, em.start(null=float(self.null)), seconds=began)
        rounds = rounds_in(place, learner)
        if self.checkpoint is not None:
            mark = self._fingerprint([*words, *other_words], text)
            rounds = Checkpoint(self.checkpoint, mark, learner.limit()).rounds(learner, rounds)
        self.rounds_: list[Round] = []
        for record in rounds:
            self.rounds_.append(record)
            log.round(record)
            for callback in self.callbacks:
                callback(record)
        about = {"pairs": len(sources), "parameters": self._plain_parameters()}
        self.model_ = trimmed(words, other_words, table, learner.parameters, lowercase=self.lowercase, about=about)

    def align(self, pairs: Any, targets: Any = None) -> list[list[Link]]:
        """The links (source position, target position) of every pair, both from 0."""
        model = self._fitted()
        self._check()
        step = {
            "posterior": AgreementStep(1.0),
            "viterbi": AgreementStep(0.0),
            "agreed": AgreementStep(float(self.gamma), True, self.steps, float(self.tolerance)),
        }[self.decode]
        sources, targets = pairs_of_input(pairs, targets)
        options = {"step": step, "combine": self.combine, "threshold": float(self.threshold)}
        place = place_of(self.place, self.n_jobs)
        if place.remote:
            check_sentences(sources, targets)
            return one_each(place, _aligned, list(zip(sources, targets)), model, options)
        return model.align(sources, targets, **options, n_jobs=self.n_jobs)  # type: ignore[arg-type]

    def predict(self, pairs: Any, targets: Any = None) -> list[list[Link]]:
        """The same as `align`."""
        return self.align(pairs, targets)

    def score(self, pairs: Any, gold: Sequence[GoldLinks | Iterable[Link]]) -> float:
        """1 − AER against gold links; plain sets of links are sure ones."""
        if not is_listed(gold) or not all(isinstance(one, GoldLinks) or _are_links(one) for one in gold):
            raise DataError(f"gold is {shown(gold)}", remedy="give a list of links [(0, 0), (1, 2)] for every pair")
        right = [
            one if isinstance(one, GoldLinks) else GoldLinks(frozenset(links := list(one)), frozenset(links))
            for one in gold
        ]
        return 1.0 - score_alignments(right, self.align(pairs)).aer

    @arguments_checked
    def translations(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The most probable target words of a source word, with their probabilities."""
        return self._fitted().translations(word, count)

    def save(self, path: str | Path) -> None:
        """Write the model, and how it decodes, to a file."""
        model = self._fitted()
        model.about["parameters"] = self._plain_parameters()
        save_alignment_model(model, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """An aligner as it was saved; raises `ModelFileError` if the file is not one."""
        model = load_alignment_model(path)
        with reading(path):
            aligner = cls(**mapping_of(model.about, "parameters"))
            aligner._check()
        aligner.model_ = model
        return aligner

    def _fit_in_words(self) -> list[tuple[str, str]]:
        if not hasattr(self, "model_"):
            return []
        rows = [("sentence pairs", f"{self.model_.about['pairs']:,}")]
        if rounds := getattr(self, "rounds_", None):
            rows.append(("last round", round_line(rounds[-1])))
        return rows

    def _plain_parameters(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.get_params().items()
            if name not in ("callbacks", "checkpoint", "n_jobs", "place", "verbose")
        }

    def _fingerprint(self, words: Sequence[str], text: Bitext) -> str:
        """That of a checkpoint: everything that decides what is learned."""
        decided = {name: repr(float(getattr(self, name))) for name in LEARNING}
        arrays: list[NDArray[Any]] = [text.sources, text.targets, text.source_starts, text.target_starts]
        return fingerprint({"learner": "alignment", **decided}, words, arrays)

    def _fitted(self) -> AlignmentModel:
        if not hasattr(self, "model_"):
            raise NotFitted("this Aligner has not been fitted; call fit first")
        return self.model_

    def _step(self, gamma: float) -> AgreementStep:
        most = self.steps if gamma > 0.0 else 4 * self.steps  # best alignments take less time than sums
        return AgreementStep(float(gamma), bool(self.agreement), most, float(self.tolerance))

    def _check(self) -> None:
        for name in ("model1_iterations", "hmm_iterations", "steps"):
            if whole(name, getattr(self, name), least=0) > MOST:
                raise ValueError(f"{name} is {getattr(self, name)}; give at most {MOST:,}")
        for name in ("agreement", "lowercase"):
            flag(name, getattr(self, name))
        for name in ("gamma", "model1_gamma", "null", "smoothing", "tolerance", "threshold"):
            amount(name, getattr(self, name))
        if self.n_jobs is not None:
            check_whole("n_jobs", self.n_jobs)
        place_of(self.place, self.n_jobs)
        check_callbacks(self.callbacks)
        if self.checkpoint is not None:
            file_name(self.checkpoint, name="checkpoint")
        for name in ("gamma", "model1_gamma"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}; give a number from 0 on")
        if not 0.0 <= self.null < 1.0:
            raise ValueError(f"null is {self.null}; give a probability below 1")
        if self.smoothing < 0.0 or self.tolerance < 0.0:
            name = "smoothing" if self.smoothing < 0.0 else "tolerance"
            raise ValueError(f"{name} is {getattr(self, name)}; give a number that is not negative")
        if self.model1_iterations < 0 or self.hmm_iterations < 0 or self.model1_iterations + self.hmm_iterations < 1:
            raise ValueError("there is nothing to learn with; give at least one iteration of model 1 or the HMM")
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}; give 1 or more")
        if not 0.0 < self.threshold <= 1.0:
            raise ValueError(f"threshold is {self.threshold}; give a number above 0 and at most 1")
        if not is_among(self.combine, RULES):
            raise ValueError(f"combine is {shown(self.combine)}; there are {', '.join(RULES)}")
        if not is_among(self.decode, DECODERS):
            raise ValueError(f"decode is {shown(self.decode)}; there are {', '.join(DECODERS)}")


def _aligned(pairs: list[Any], model: AlignmentModel, options: dict[str, Any], n_jobs: int | None) -> list[list[Link]]:
    sources, targets = ([pair[k] for pair in pairs] for k in (0, 1))
    return model.align(sources, targets, **options, n_jobs=n_jobs)


def _are_links(value: Any) -> bool:
    """Whether these are pairs of positions."""
    return is_listed(value) and all(
        isinstance(link, tuple | list) and len(link) == 2 and all(isinstance(end, int | np.integer) for end in link)
        for link in value
    )
