"""The corpus is deterministic, varied, plausible, and hard in the way that references are hard."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.corpus import FIELDS, Reference, parse, references
from sidelight.errors import DataError


@pytest.fixture(scope="module")
def many() -> list[Reference]:
    return references(2000, seed=7)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 12), st.integers(0, 12))
def test_a_longer_list_begins_with_the_shorter_one(seed: int, short: int, more: int) -> None:
    assert references(short + more, seed=seed)[:short] == references(short, seed=seed)


def test_the_seed_decides_everything() -> None:
    assert references(20, seed=3) == references(20, seed=3)
    assert references(20, seed=3) != references(20, seed=4)
    assert references(20) == references(20, seed=0)


def test_global_randomness_plays_no_part() -> None:
    before = references(20)
    np.random.seed(1)  # noqa: NPY002
    assert references(20) == before


def test_a_negative_count_is_refused() -> None:
    assert references(0) == []
    with pytest.raises(DataError, match="count is -1"):
        references(-1)


def test_references_are_frozen() -> None:
    (reference,) = references(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        reference.tokens = ()  # type: ignore[misc]


def test_one_label_for_each_token(many: list[Reference]) -> None:
    for reference in many:
        assert len(reference.tokens) == len(reference.labels) > 0
        assert all(token and not any(char.isspace() for char in token) for token in reference.tokens)


def test_exactly_the_declared_fields_occur(many: list[Reference]) -> None:
    assert len(FIELDS) == len(set(FIELDS)) == 13
    counts = Counter(label for reference in many for label in set(reference.labels))
    assert set(counts) == set(FIELDS)
    assert min(counts.values()) >= 0.02 * len(many)


def test_lengths_are_those_of_references(many: list[Reference]) -> None:
    lengths = [len(reference.tokens) for reference in many]
    assert 25 <= np.mean(lengths) <= 40
    assert min(lengths) >= 4
    assert max(lengths) <= 150


def test_nearly_every_reference_has_a_title_and_someone_behind_it(many: list[Reference]) -> None:
    titled = sum("title" in reference.labels for reference in many)
    signed = sum(bool({"author", "editor"} & set(reference.labels)) for reference in many)
    assert len(many) * 0.97 < titled < len(many)
    assert len(many) * 0.97 < signed < len(many)


def test_fields_are_few_long_runs(many: list[Reference]) -> None:
    runs = [[label for label, _ in reference.fields] for reference in many]
    assert 4 <= np.mean([len(labels) for labels in runs]) <= 8
    assert np.mean([len(labels) == len(set(labels)) for labels in runs]) > 0.9
    assert np.mean([labels[0] == "author" for labels in runs]) > 0.9


def test_fields_mostly_end_in_punctuation(many: list[Reference]) -> None:
    ends = [text[-1] for reference in many for _, text in reference.fields]
    assert 0.85 < np.mean([not end.isalnum() for end in ends]) < 1


def test_many_words_belong_to_several_fields(many: list[Reference]) -> None:
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for reference in many[:1000]:
        for token, label in zip(reference.tokens, reference.labels):
            seen[token][label] += 1
    total = sum(sum(counts.values()) for counts in seen.values())
    shared = sum(sum(counts.values()) for word, counts in seen.items() if len(counts) > 1 and word[0].isalnum())
    assert shared / total >= 0.10
    best = sum(max(counts.values()) for counts in seen.values())
    assert 0.6 < best / total < 0.85  # the commonest label of each word does not solve the task
    assert {"author", "location"} <= set(seen["Lincoln"]) | set(seen["Houston"]) | set(seen["Austin"])


def test_the_order_of_fields_carries_information(many: list[Reference]) -> None:
    """Bigram statistics of one half tell a reference of the other half from the same tokens shuffled."""
    bigrams = Counter(pair for reference in many[:1000] for pair in pairwise(reference.tokens))
    rng = np.random.default_rng(0)

    def fluency(tokens: list[str]) -> float:
        return float(sum(np.log1p(bigrams[pair]) for pair in pairwise(tokens)))

    held_out = [list(reference.tokens) for reference in many[1000:1300]]
    wins = [fluency(tokens) > fluency([tokens[place] for place in rng.permutation(len(tokens))]) for tokens in held_out]
    assert np.mean(wins) > 0.97


def test_references_are_distinct(many: list[Reference]) -> None:
    assert len({reference.tokens for reference in many}) >= 0.95 * len(many)


def test_corpora_of_different_seeds_share_their_language() -> None:
    ours = {token for reference in references(1000, seed=1) for token in reference.tokens}
    theirs = [token for reference in references(200, seed=2) for token in reference.tokens]
    assert np.mean([token in ours for token in theirs]) > 0.9


def test_no_slot_stays_open(many: list[Reference]) -> None:
    assert not any({"{", "}"} & set(reference.tokens) for reference in many)


def test_noise_occurs(many: list[Reference]) -> None:
    lower = [reference.text == reference.text.lower() for reference in many]
    stopped = [reference.tokens[-1] == "." for reference in many]
    assert 0.01 < np.mean(lower) < 0.1
    assert 0.85 < np.mean(stopped) < 1


def test_text_reads_back_as_the_same_tokens(many: list[Reference]) -> None:
    for reference in many:
        assert parse(reference.text) == list(reference.tokens)
        assert parse(" ".join(reference.tokens)) == list(reference.tokens)
        assert [token for _, text in reference.fields for token in parse(text)] == list(reference.tokens)
