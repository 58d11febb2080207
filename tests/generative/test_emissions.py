"""Symbols from features: words, rare words, classes, and features that are none of these."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import DataError, features
from sidelight.features import extractor_of
from sidelight.generative.emissions import Emissions

XS = [["the", "dog"], ["the", "cat", "sings"], ["the", "dog", "rings"]]


def rows_of(given, xs=XS):
    return extractor_of(given).grow(xs)


def test_every_word_is_a_symbol_and_one_is_unknown():
    emissions, tokens = Emissions.of(rows_of(features.emissions()))
    assert emissions.n_words == 5 and emissions.size == 6
    assert tokens[0] == tokens[2] == tokens[5] and len(set(tokens.tolist())) == 5
    assert tokens.max() < emissions.n_words


def test_rare_words_are_unknown():
    emissions, tokens = Emissions.of(rows_of(features.emissions()), rare=1)
    assert emissions.n_words == 2
    assert tokens.tolist() == [tokens[0], tokens[1], tokens[0], 2, 2, tokens[0], tokens[1], 2]


def test_rare_words_of_a_class_are_one_symbol():
    emissions, tokens = Emissions.of(rows_of(features.emissions(classes="ending3")), rare=1)
    assert tokens[4] == tokens[7] != tokens[3]  # sings and rings, not cat
    assert np.all(tokens[[3, 4, 7]] >= emissions.n_words)


def test_words_the_vocabulary_does_not_have_are_unknown():
    extractor = extractor_of(features.emissions())
    extractor.grow(XS)
    emissions, tokens = Emissions.of(extractor.rows([["the", "zebra"]]))
    assert emissions.n_words == 1 and tokens.tolist() == [0, 1]


def test_lower_case_is_one_word():
    emissions, tokens = Emissions.of(rows_of(features.emissions(True), [["The", "the"]]))
    assert emissions.n_words == 1 and tokens.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("given", "xs", "message"),
    [
        (features.window(), XS, "these features are others"),
        (features.attributes(), [[["w"]]], "these features are others"),
        (features.attributes(), [[{"bias": 1.0, "x": 2.0}]], "these features are others"),
        (features.attributes(), [[["a", "b"], ["c", "b"]]], "constant"),
        (features.attributes(), [[["1", "big", "w"], ["1", "small", "w"], ["1", "small", "v"]]], "more than one class"),
    ],
)
def test_other_features_are_refused(given, xs, message):
    with pytest.raises(DataError, match=message):
        Emissions.of(rows_of(given, xs), rare=1)


def test_sets_of_emissions_are_checked():
    with pytest.raises(ValueError, match="classes"):
        features.emissions(classes="colour")
    with pytest.raises(ValueError, match="lower-cased"):
        features.emissions(True, classes="shape")
    with pytest.raises(ValueError, match="rare"):
        features.emissions(classes="shape", min_count=2)
