"""A trained word aligner, and its files: safetensors, versioned, without pickle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.core.arrays import Floats
from sidelight.core.checks import is_listed, shown
from sidelight.core.file_contents import array_of, flag_of, mapping_of, number_of, offsets_of, reading
from sidelight.errors import DataError, ModelFileError
from sidelight.features.strings import pack_strings, stored_strings
from sidelight.generative.word_alignment.agreement import AgreementStep, Parameters, Posteriors, expect
from sidelight.generative.word_alignment.alignment_decoding import links_of
from sidelight.generative.word_alignment.alignment_hmm import REACH, Jumps
from sidelight.generative.word_alignment.bitext import Bitext, Sentences, check_sentences, folded, numbers
from sidelight.generative.word_alignment.translation import TranslationLexicon, TranslationTable, finished, lookup
from sidelight.models.files import Tensors, read_tensors, write_tensors

VERSION = 1
KIND = "sidelight alignment model"
LEAST = float(np.log(1e-6))  # word pairs below this log-probability in both directions are not stored


@dataclass(frozen=True, slots=True, eq=False)
class AlignmentModel:
    """Aligns sentence pairs: vocabularies and parameters of both directions."""

    sources: Mapping[str, int]
    targets: Mapping[str, int]
    table: TranslationTable
    parameters: Parameters
    lowercase: bool
    about: dict[str, Any] = field(default_factory=dict)  # how it was trained, for display

    def bitext(self, sources: Sentences, targets: Sentences, *, n_jobs: int | None = -1) -> Bitext:
        """Sentence pairs as arrays; raises `DataError` for pairs that cannot be aligned."""
        check_sentences(sources, targets)
        left, right = (folded(sentences, lowercase=self.lowercase) for sentences in (sources, targets))
        return lookup(self.table, *numbers(left, self.sources), *numbers(right, self.targets), n_jobs=n_jobs)

    def posteriors(self, text: Bitext, step: AgreementStep, *, n_jobs: int | None = -1) -> Posteriors:
        """Posteriors of links in both directions."""
        return expect(text, self.parameters, step, n_jobs=n_jobs)

    def align(
        self,
        sources: Sentences,
        targets: Sentences,
        *,
        step: AgreementStep,
        combine: str,
        threshold: float,
        n_jobs: int | None = -1,
    ) -> list[list[tuple[int, int]]]:
        """The links of every pair; `step` computes the posteriors, and `combine` is how the directions are merged."""
        if not len(sources) and not len(targets):
            return []
        text = self.bitext(sources, targets, n_jobs=n_jobs)
        posteriors = self.posteriors(text, step, n_jobs=n_jobs)
        return links_of(text, posteriors.forward, posteriors.backward, rule=combine, threshold=threshold, n_jobs=n_jobs)

    def translations(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The most probable target words of a source word, with their probabilities; none for an unknown word."""
        known = self.sources.get(word.lower() if self.lowercase else word)
        if known is None:
            return []
        row = slice(int(self.table.starts[known]), int(self.table.starts[known + 1]))
        values = self.parameters.lexicon.forward[row]
        order = np.argsort(-values, kind="stable")[:count]
        names = list(self.targets)
        return [(names[self.table.partners[row][k]], float(np.exp(values[k]))) for k in order]


def trimmed(
    sources: Mapping[str, int],
    targets: Mapping[str, int],
    table: TranslationTable,
    parameters: Parameters,
    *,
    lowercase: bool,
    about: dict[str, Any],
) -> AlignmentModel:
    """A model without improbable word pairs, its numbers rounded to the precision of files."""
    words = parameters.lexicon
    probable = (words.forward[:-2] >= LEAST) | (words.backward[:-2] >= LEAST)
    starts = np.concatenate([[0], np.cumsum(probable)])[table.starts]
    smaller = TranslationTable(starts, table.partners[probable], table.target_words)
    places = np.append(probable, [True, True])
    lexicon = finished(
        TranslationLexicon(
            _rounded(words.forward[places]),
            _rounded(words.backward[places]),
            _rounded(words.forward_null),
            _rounded(words.backward_null),
        )
    )
    return AlignmentModel(
        sources,
        targets,
        smaller,
        Parameters(lexicon, parameters.forward, parameters.backward, parameters.null),
        lowercase,
        about,
    )


def save_alignment_model(model: AlignmentModel, path: str | Path) -> None:
    """Write a model to a file."""
    words = model.parameters.lexicon
    tensors: Tensors = {
        "table.starts": model.table.starts,
        "table.partners": model.table.partners,
        "words.forward": words.forward[:-2].astype(np.float32),
        "words.backward": words.backward[:-2].astype(np.float32),
        "words.forward_null": words.forward_null[:-1].astype(np.float32),
        "words.backward_null": words.backward_null[:-1].astype(np.float32),
    }
    for name, known in (("sources", model.sources), ("targets", model.targets)):
        tensors[f"{name}.text"], tensors[f"{name}.offsets"] = pack_strings(list(known))
    for name, jumps in (("forward", model.parameters.forward), ("backward", model.parameters.backward)):
        if jumps is not None:
            tensors[f"jumps.{name}"] = jumps.weights
    spec = {"null": model.parameters.null, "lowercase": model.lowercase, "about": model.about}
    write_tensors(path, tensors, kind=KIND, version=VERSION, spec=spec)


def load_alignment_model(path: str | Path) -> AlignmentModel:
    """Read a model; raises a one-line `ModelFileError` if the file is damaged, foreign or newer."""
    with reading(path, remedy="train the model again"):
        return _model_from(*read_tensors(path, kind=KIND, version=VERSION))


def _model_from(spec: Any, tensors: Tensors) -> AlignmentModel:
    """The model of a file; raises `ModelFileError` if its parts do not fit each other."""
    sources, targets = (
        {word: n for n, word in enumerate(stored_strings(tensors, name))} for name in ("sources", "targets")
    )
    partners = array_of(tensors, "table.partners", np.int32, [None], low=0, high=len(targets) - 1)
    starts = offsets_of(tensors, "table.starts", count=len(sources), total=len(partners))
    lexicon = finished(
        TranslationLexicon(
            np.append(_logs(tensors, "forward", len(partners)), [0.0, 0.0]),
            np.append(_logs(tensors, "backward", len(partners)), [0.0, 0.0]),
            np.append(_logs(tensors, "forward_null", len(targets)), 0.0),
            np.append(_logs(tensors, "backward_null", len(sources)), 0.0),
        )
    )
    null = number_of(spec, "null", low=0.0, high=1.0)
    if null == 1.0:
        raise ModelFileError("'null' is 1, so that no word has a link")
    parameters = Parameters(lexicon, _jumps(tensors, "forward"), _jumps(tensors, "backward"), null)
    if (parameters.forward is None) != (parameters.backward is None):
        raise ModelFileError("one direction has jumps, and the other has none")
    table = TranslationTable(starts, partners, len(targets))
    return AlignmentModel(sources, targets, table, parameters, flag_of(spec, "lowercase"), mapping_of(spec, "about"))


def _logs(tensors: Tensors, name: str, size: int) -> Floats:
    """Logarithms of probabilities, with a tolerance for rounding."""
    return array_of(tensors, f"words.{name}", np.float32, [size], high=0.01, finite=False).astype(np.float64)


def _jumps(tensors: Tensors, name: str) -> Jumps | None:
    if f"jumps.{name}" not in tensors:
        return None
    return Jumps(array_of(tensors, f"jumps.{name}", np.float64, [2 * REACH + 3], low=1e-300, high=1e300))


def _rounded(values: Any) -> Any:
    return values.astype(np.float32).astype(np.float64)


def pairs_of_input(pairs: Any, targets: Any = None) -> tuple[Sequence[Any], Sequence[Any]]:
    """Sources and targets, from pairs or from two lists."""
    if targets is not None:
        for name, value in (("pairs", pairs), ("targets", targets)):
            if not is_listed(value):
                problem = f"{name} is {shown(value)}"
                raise DataError(problem, remedy="give lists of sentences, sources and targets, or a list of pairs")
        return list(pairs), list(targets)
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable) or getattr(pairs, "shape", None) == ():
        problem = f"{type(pairs).__name__} instead of a list of pairs"
        raise DataError(problem, remedy="give a list of (source words, target words) tuples")
    together = list(pairs)
    for number, pair in enumerate(together):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise DataError(f"item {number} is not a pair", remedy="give (source words, target words) tuples")
    return [pair[0] for pair in together], [pair[1] for pair in together]
