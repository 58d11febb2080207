"""The component "sidelight" of spaCy pipelines: a model labels the tokens of Docs, in batches of Docs.

    nlp.add_pipe("sidelight", config={"model": "names.sidelight"})

The model is read on first use. A saved pipeline has its own copy, so it works without the original file. Files hold
arrays and JSON; no code is run when they are read. Rules are Python, so a pipeline stores only the name of their file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from spacy.language import Language
from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Span, Token
from spacy.util import minibatch, raise_error

from sidelight.errors import DataError
from sidelight.estimators.constrained import Constrained
from sidelight.evaluate.schemes import SchemeName, scheme_of
from sidelight.evaluate.spans import spans
from sidelight.interop.spacy_docs import EXTENSION, DocTokens, check_place, checked_columns
from sidelight.interop.span_finders import Chunk, chunk_labels, chunk_told
from sidelight.models.model import Model, model_of
from sidelight.models.model_file import load_model, save_model
from sidelight.rules import Labels, Rule, Sentence, every, read_rules
from sidelight.rules.expr import Expr

NAME = "sidelight"
OUTSIDE = "O"
MODEL = "model.sidelight"  # the file in the folder of a saved pipeline


class SpacyComponent:
    """Labels the tokens of Docs.

    - model: a model file of a `Tagger` or a `SegmentTagger`; or pass the estimator itself to `use`.
    - labels: where labels are written: "ents" (chunks of BIO or another scheme; else runs of a label other than O),
      "tag", "pos", or "_.name", an extension of tokens.
    - columns: the attributes of tokens that the model reads, as in training.
    - rules: a file of rules that the labels obey; `use` takes a list of rules.
    - keep: existing entities of a Doc (for example from an EntityRuler) are kept, and others are found around them.
    - n_jobs: threads, -1 for all cores.
    """

    def __init__(
        self,
        name: str = NAME,
        *,
        model: str | None = None,
        labels: str = "ents",
        columns: Sequence[str] = ("text",),
        rules: str | None = None,
        keep: bool = True,
        n_jobs: int = -1,
    ) -> None:
        check_place(labels)
        if labels.startswith(EXTENSION) and not Token.has_extension(labels.removeprefix(EXTENSION)):
            Token.set_extension(labels.removeprefix(EXTENSION), default=None)
        self.name = name
        self.place = labels
        self.columns = checked_columns(columns)
        self.keep = keep
        self.n_jobs = n_jobs
        self._file = model
        self._rules_file = rules
        self._model: Model | None = None
        self._rules: tuple[Rule, ...] | None = None
        self._error_handler: Callable[..., Any] = raise_error

    def use(self, fitted: Any, *, rules: Sequence[Rule] | None = None) -> Self:
        """Use the model of a fitted estimator, or a model; `rules` replace those of the file."""
        self._model = self._fit_for_docs(model_of(fitted))
        self._rules = self._rules if rules is None else tuple(rules)
        return self

    @property
    def model_(self) -> Model:
        """The model; it is read from its file on first use.

        It is not named `model`, because spaCy reads this attribute of every component.
        """
        if self._model is None:
            if self._file is None:
                remedy = 'give config={"model": FILE} to add_pipe, or an estimator to use(…)'
                raise DataError(f"the component {self.name!r} has no model", remedy=remedy)
            self._model = self._fit_for_docs(load_model(self._file))
        return self._model

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of predictions."""
        if self._rules is None:
            self._rules = () if self._rules_file is None else tuple(read_rules(self._rules_file))
        return self._rules

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that Docs can get, of entities or of tokens; empty without a model."""
        if self._model is None and not (self._file and Path(self._file).is_file()):  # a pipeline that is being loaded
            return ()
        classes = tuple(map(str, self.model_.labels.classes))
        if self.place != "ents":
            return classes
        return tuple(sorted({one if self._scheme is None else one[2:] for one in classes if one != OUTSIDE}))

    def __call__(self, doc: Any) -> Any:
        """Label one Doc."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 1000) -> Iterator[Any]:
        """Label Docs, a batch at a time."""
        for docs in minibatch(stream, size=batch_size):
            try:
                self._label(docs)
            except Exception as error:
                self._error_handler(self.name, self, docs, error)
            else:
                yield from docs

    def score(self, examples: Iterable[Any], **settings: Any) -> dict[str, Any]:
        """Precision, recall and F1 of entities, or the accuracy of tokens, for `nlp.evaluate`."""
        if self.place == "ents":
            return get_ner_prf(examples, **settings)  # type: ignore[no-any-return]
        own = {**settings, "getter": self._text_of}
        return Scorer.score_token_attr(examples, self.place.removeprefix(EXTENSION), **own)  # type: ignore[no-any-return]

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder; the pipeline stores the settings."""
        Path(path).mkdir(exist_ok=True)
        save_model(self.model_, Path(path, MODEL))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read the model from a folder."""
        self._model = self._fit_for_docs(load_model(Path(path, MODEL)))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The bytes of the model file."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            return Path(folder, MODEL).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Read the model from the bytes of a model file."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, MODEL).write_bytes(data)
            return self.from_disk(folder)

    def get_error_handler(self) -> Callable[..., Any]:
        return self._error_handler

    def set_error_handler(self, handler: Callable[..., Any]) -> None:
        """Set the function to call with a batch of Docs that cannot be labelled; by default the error is raised."""
        self._error_handler = handler

    def _label(self, docs: Sequence[Any]) -> None:
        inputs = [DocTokens(doc, self.columns) for doc in docs if len(doc)]
        for x, labels in zip(inputs, self._predicted(inputs)):
            if self.place == "ents":
                self._set_entities(x.doc, labels)
            else:
                self._set_labels(x.doc, labels)

    def _predicted(self, inputs: Sequence[DocTokens]) -> list[Any]:
        rules = self.rules
        if self.place == "ents" and self.keep and any(x.doc.ents for x in inputs):
            if self._scheme == "IOB1":
                problem = "Docs have entities, and the labels of the model are IOB1"
                raise DataError(problem, remedy='train with BIO, or give config={"keep": False}')
            rules = (*rules, Rule(self._entities_stay, "entities_stay"))
        if not rules:
            return self.model_.predict(inputs, n_jobs=self.n_jobs)
        return Constrained(self.model_, rules, n_jobs=self.n_jobs).predict(inputs)

    def _entities_stay(self, x: Sentence, y: Labels) -> Expr:
        """Clamps for existing entities: their labels, or "outside" if the model does not know these."""
        scheme: Any = self._scheme
        known = set(self.model_.labels.classes)
        clamps: list[Any] = []
        for chunk in _entities(x.tokens.doc) if isinstance(x.tokens, DocTokens) else ():
            if known.issuperset(chunk_labels(chunk, scheme)):
                clamps += chunk_told(y, chunk, scheme)
            else:
                clamps += [y[t] == OUTSIDE for t in range(chunk[0], chunk[1])]
        return every(clamps)

    def _set_entities(self, doc: Any, labels: Sequence[str]) -> None:
        entities = spans([labels], scheme="runs" if self._scheme is None else self._scheme)
        own = [Span(doc, start, stop, kind) for _, start, stop, kind in entities]
        if self.keep:
            taken = {t for first, stop, _ in _entities(doc) for t in range(first, stop)}
            own = [*doc.ents, *(span for span in own if taken.isdisjoint(range(span.start, span.end)))]
        doc.set_ents(own)

    def _set_labels(self, doc: Any, labels: Sequence[Any]) -> None:
        for token, label in zip(doc, labels):
            if self.place.startswith(EXTENSION):
                setattr(token._, self.place.removeprefix(EXTENSION), label)
            else:
                setattr(token, f"{self.place}_", str(label))

    def _text_of(self, token: Any, _: str) -> Any:
        if self.place.startswith(EXTENSION):
            return getattr(token._, self.place.removeprefix(EXTENSION))
        return getattr(token, f"{self.place}_")

    @property
    def _scheme(self) -> SchemeName | None:
        return scheme_of(self.model_.labels.classes)

    def _fit_for_docs(self, model: Model) -> Model:
        """The model unchanged; raises `DataError` if it cannot label the tokens of Docs."""
        if not model.sequences or model.structure.outputs_are not in ("chains", "segments"):
            remedy = "give that of a Tagger or a SegmentTagger"
            raise DataError(f"a model of {model.structure.outputs_are} labels no tokens", remedy=remedy)
        return model


def _entities(doc: Any) -> list[Chunk]:
    return [(span.start, span.end, span.label_) for span in doc.ents]


def _component(
    nlp: Language,
    name: str,
    model: str | None,
    labels: str,
    columns: list[str],
    rules: str | None,
    keep: bool,
    n_jobs: int,
) -> SpacyComponent:
    return SpacyComponent(name, model=model, labels=labels, columns=columns, rules=rules, keep=keep, n_jobs=n_jobs)


Language.factory(
    NAME,
    default_config={"model": None, "labels": "ents", "columns": ["text"], "rules": None, "keep": True, "n_jobs": -1},
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
    func=_component,
)
