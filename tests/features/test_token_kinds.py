"""Inputs of another kind than a model was trained on, lists of name=value, and inputs of which nothing is known."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight import DataError
from sidelight.errors import UnknownFeatures
from sidelight.features import Attributes, extractor_of, features_for, parse_templates, restore, standard

WORDS = [["the", "Light", "is", "on"], ["a", "Lamp", "was", "off"]]
LABELS = [["D", "N", "V", "P"]] * 2
COLUMNS = [[(word, word[-1]) for word in x] for x in WORDS]
DICTS = [[{"w": word, "title": word.istitle()} for word in x] for x in WORDS]
NAMED = [[[f"w={word}", "bias", *(["title=1"] if word.istitle() else [])] for word in x] for x in WORDS]
ROWS = sl.Matrix(dense=np.eye(8), lengths=[4, 4])
INPUTS = {"words": WORDS, "columns": COLUMNS, "dicts": DICTS, "named": NAMED, "matrix": ROWS}
ACCEPTED = {("words", "columns")}  # the word is there, and the other column is not looked at
DIFFERENT = [(a, b) for a in INPUTS for b in INPUTS if a != b and (a, b) not in ACCEPTED]


def tagger(kind: str) -> sl.Tagger:
    return sl.Tagger(learner="crf", max_rounds=3).fit(INPUTS[kind], LABELS)


@pytest.mark.parametrize(("trained", "given"), DIFFERENT)
def test_a_tagger_refuses_inputs_of_another_kind(trained: str, given: str, tmp_path: Path) -> None:
    fitted = tagger(trained)
    fitted.save(tmp_path / "model")
    xs = INPUTS[given]
    for one in (fitted, sl.Tagger.load(tmp_path / "model")):
        assert len(one.predict(INPUTS[trained])) == 2
        for ask in (one.predict, one.predict_marginals, one.prepare, lambda x, one=one: one.score(x, LABELS)):
            with pytest.raises(DataError) as error:
                ask(xs)
            assert error.value.remedy


@pytest.mark.parametrize(("trained", "given"), [("dicts", "words"), ("words", "dicts"), ("columns", "words")])
def test_a_segment_tagger_refuses_inputs_of_another_kind(trained: str, given: str) -> None:
    fitted = sl.SegmentTagger(max_rounds=3).fit(INPUTS[trained], LABELS)
    with pytest.raises(DataError) as error:
        fitted.predict(INPUTS[given])
    assert error.value.remedy


SINGLE = {"lists": [["on", "light"], ["off"]], "dicts": [{"on": 1.0}, {"off": 1.0}], "matrix": np.eye(2)}


@pytest.mark.parametrize(("trained", "given"), [(a, b) for a in SINGLE for b in SINGLE if a != b])
def test_a_classifier_refuses_inputs_of_another_kind(trained: str, given: str) -> None:
    fitted = sl.Classifier().fit(SINGLE[trained], ["yes", "no"])
    assert fitted.predict(SINGLE[trained]) == ["yes", "no"]
    with pytest.raises(DataError) as error:
        fitted.predict(SINGLE[given])
    assert error.value.remedy


def test_a_tagger_of_words_takes_words_with_a_column_beside_them() -> None:
    fitted = tagger("words")
    assert fitted.predict(COLUMNS) == fitted.predict(WORDS)


def test_a_tagger_of_words_refuses_attributes_that_look_like_columns() -> None:
    named = [[[f"w={word}", f"last={word[-1]}"] for word in x] for x in WORDS]
    with pytest.raises(DataError, match=r"attributes .* where the model was trained on words"):
        tagger("words").predict(named)


@pytest.mark.parametrize("bias", [0, 1, 2])
def test_names_without_values_do_not_hide_attributes(bias: int) -> None:
    """CRFsuite's "bias", wherever it stands."""
    named = [[[f"w={word}", f"last={word[-1]}"] for word in x] for x in WORDS]
    given = [[[*token[:bias], "bias", *token[bias:]] for token in x] for x in named]
    with pytest.raises(DataError, match=r"attributes .* where the model was trained on words"):
        tagger("words").predict(given)


def test_columns_of_word_features_are_columns() -> None:
    given = [[[word, "RB", f"Case={word[-1]}", "Number=Sing"] for word in x] for x in WORDS]
    assert tagger("words").predict(given) == tagger("words").predict(WORDS)


@pytest.mark.parametrize("hash_bits", [None, 10])
def test_templates_refuse_attributes_after_a_file_too(hash_bits: int | None) -> None:
    extractor = extractor_of(standard(hash_bits=hash_bits))
    extractor.grow(WORDS)
    with pytest.raises(DataError, match="trained on words"):
        restore(*extractor.state()).rows([[["w=on", "pos=RP"]]])


def test_going_on_with_another_kind_is_refused() -> None:
    with pytest.raises(DataError, match="strings where the model was trained on dicts"):
        tagger("dicts").partial_fit(WORDS, LABELS)


def test_files_of_earlier_versions_take_what_they_took() -> None:
    extractor = extractor_of(sl.features.attributes())
    extractor.grow(DICTS)
    spec, tensors = extractor.state()
    del spec["tokens"]
    assert restore(spec, tensors).rows([["light"]]).n_tokens == 1


def test_lists_of_name_value_are_attributes_and_columns_are_columns() -> None:
    assert features_for(NAMED) == Attributes()
    assert features_for([[["w=light", "pos=NN"], ["w=on", "pos=RP"]]]) == Attributes()
    assert features_for([[{"w=light"}]]) == Attributes()
    assert features_for(WORDS) == standard() and features_for(COLUMNS) == standard(columns=2)
    assert features_for([[("lights", "NN", "Number=Plur"), ("on", "RP", "_")]]) == standard(columns=3)
    assert features_for([[("=",), ("a=b",), ("c",)]]) == standard()  # one column of words, some of them formulas
    assert sl.Tagger(learner="crf", max_rounds=3).fit(NAMED, LABELS).predict(NAMED) == LABELS


@pytest.mark.parametrize(
    "tokens",
    [
        [["light", "title"], ["on"]],  # of different lengths, without names
        [["bias", "w=light"], ["bias", "w=on"]],
        [["w=light", "title", "end"], ["w=on", "lower", "end"]],
        [["w=light", "pos=NN", "title"], ["w=on", "pos=RP", "lower"]],
    ],
)
def test_lists_that_may_be_either_are_refused_with_the_remedy(tokens: list[list[str]]) -> None:
    with pytest.raises(DataError, match=r"features\.attributes\(\).*features\.standard\(columns=…\)"):
        sl.Tagger().fit([tokens], [["N", "P"]])
    assert sl.Tagger(features=sl.features.attributes(), max_rounds=2).fit([tokens], [["N", "P"]]).classes_ == ["N", "P"]


def test_tokens_of_two_kinds_are_refused() -> None:
    with pytest.raises(DataError, match="tokens are dicts and strings"):
        sl.Tagger().fit([["on", {"w": "off"}]], [["N", "P"]])


UNLIKE = [["zq" * 3 + str(n) for n in range(30)]]


def test_a_warning_where_nearly_nothing_is_known() -> None:
    words = extractor_of(sl.features.window())
    words.grow(WORDS * 10)
    names = extractor_of(sl.features.attributes())
    names.grow([[{"bias": 1.0, "w": word} for word in x] for x in WORDS])
    with pytest.warns(UnknownFeatures, match="knows 0 of the "):
        words.rows(UNLIKE)
    with pytest.warns(UnknownFeatures, match="knows 0 of the 60 features"):  # bias is on every token, and says nothing
        names.rows([[{"bias": 1.0, "word": word, "length": 7.0} for word in UNLIKE[0]]])


def test_no_warning_where_something_is_known_or_too_little_is_asked() -> None:
    words = extractor_of(sl.features.window())
    words.grow(WORDS * 10)
    flags = extractor_of(parse_templates("U00:bias\nU01:%digit[0,0]\nU02:%initial[0,0]\nB"))
    flags.grow(WORDS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        words.rows([UNLIKE[0][:10]])
        words.rows([[*UNLIKE[0], *WORDS[0]]])
        flags.rows([["word"] * 30])  # features that are not there are not unknown
