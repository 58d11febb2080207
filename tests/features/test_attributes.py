"""Attributes, matrices and dense rows: the same features in other clothes."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter, defaultdict
from importlib import import_module
from types import MappingProxyType

import numpy as np
import pytest
from drawing import generators, law
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_matrix

from sidelight import Classifier, DataError, Matrix, Tagger, WithDense, features
from sidelight.features import extractor_of
from sidelight.features.attributes.attributes import Attributes, attribute_name, attribute_values
from sidelight.features.matrices import GivenMatrix


def named(extractor, rows) -> list[dict[str, float]]:
    """The attributes of every token by name."""
    out = []
    for t in range(rows.n_tokens):
        part = slice(rows.indptr[t], rows.indptr[t + 1])
        values = rows.values[part] if len(rows.values) else np.ones(part.stop - part.start)
        token: dict[str, float] = {}
        for k, value in zip(rows.indices[part], values):
            token[extractor.name(k)] = token.get(extractor.name(k), 0.0) + value
        out.append(token)
    return out


def test_every_kind_of_value():
    token = {
        "word": "on",
        "length": 2.5,
        "count": 3,
        "yes": True,
        "no": False,
        "tags": ["a", "b"],
        "set": {"only"},
        "inner": {"deep": "x", "much": 0.5, "list": ("p",), "deeper": {"z": 2}},
        "np": np.float32(1.5),
        "npb": np.bool_(True),
    }
    expected = {
        "word:on": 1.0,
        "length": 2.5,
        "count": 3.0,
        "yes": 1.0,
        "no": 0.0,
        "tags:a": 1.0,
        "tags:b": 1.0,
        "set:only": 1.0,
        "inner:deep:x": 1.0,
        "inner:much": 0.5,
        "inner:list:p": 1.0,
        "inner:deeper:z": 2.0,
        "np": 1.5,
        "npb": 1.0,
    }
    extractor = extractor_of(Attributes())
    assert named(extractor, extractor.grow([[token], [token]])) == [expected, expected]
    assert named(extractor, extractor.rows([[{"word": "off", "count": 7, "new": 1.0}]])) == [{"count": 7.0}]
    assert extractor.n_attributes == len(expected)


def test_lists_of_names_and_single_names():
    extractor = extractor_of(Attributes())
    assert named(extractor, extractor.grow([[["a", "b"], "c", ("a", "a")]])) == [{"a": 1, "b": 1}, {"c": 1}, {"a": 2}]


PARTS = st.sampled_from(["a", "b", "a:b", "b:a", ":", "", "a:"])
DICTS = st.dictionaries(PARTS, st.one_of(PARTS, st.floats(0.5, 2.0), st.lists(PARTS, max_size=2)), max_size=4)


@law(60)
@given(
    st.lists(DICTS, min_size=1, max_size=40),
    st.lists(st.lists(PARTS, max_size=3), max_size=3),
    st.lists(DICTS, max_size=40),
)
def test_names_are_the_same_however_columns_and_colons_cut_them(dicts, lists, others):
    """Names with colons may belong to several columns; batches grow, and files know columns only."""
    grown = extractor_of(Attributes())
    grown.grow([dicts, *([lists] if lists else [])])
    grown.grow([others * 20, *([lists] if lists else [])])
    spec, tensors = grown.state()
    loaded = type(grown).restored(spec, tensors)
    assert loaded.names == grown.names == [grown.name(k) for k in range(grown.n_attributes)]
    assert len(set(grown.names)) == len(grown.names)
    for batch in ([dicts * 20], [others], *([[lists]] if lists else [])):
        expected = Counter()
        for token in batch[0]:
            expected.update({attribute_name(key): 0 for key, _ in attribute_values(token)})
            for key, value in attribute_values(token):
                expected[attribute_name(key)] += value
        for extractor in (grown, grown.copy(), loaded):
            total = Counter()
            for token in named(extractor, extractor.rows(batch)):
                total.update(token)
            assert total == pytest.approx(expected)


def test_min_count_and_growth():
    extractor = extractor_of(Attributes(min_count=2))
    rows = extractor.grow([[{"a": 1.0, "b": 1.0}, {"a": 2.0}]])
    assert named(extractor, rows) == [{"a": 1.0}, {"a": 2.0}]
    extractor.grow([[{"c": 1.0}, {"c": 1.0}]])
    assert [extractor.name(k) for k in range(extractor.n_attributes)] == ["a", "c"]
    with pytest.raises(ValueError, match="min_count"):
        Attributes(min_count=0)


names = st.sampled_from(["a", "b", "c", "d"])
plain = st.one_of(st.sampled_from(["p", "q"]), st.floats(-3, 3), st.booleans(), st.integers(-5, 5))
tokens = st.dictionaries(names, st.one_of(plain, st.lists(st.sampled_from(["p", "q"]), max_size=3)), max_size=4)


def plain_attributes(token) -> dict[str, float]:
    out: dict[str, float] = {}
    for name, value in token.items():
        pairs = [(f"{name}:{value}", 1.0)] if isinstance(value, str) else []
        pairs += [(f"{name}:{one}", 1.0) for one in value] if isinstance(value, list) else []
        pairs += [(name, float(value))] if isinstance(value, (bool, int, float)) else []
        for key, amount in pairs:
            out[key] = out.get(key, 0.0) + amount
    return out


@law(60)
@given(st.lists(st.lists(tokens, min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_attributes_against_plain_dicts(xs, data):
    extractor = extractor_of(Attributes())
    expected = [plain_attributes(token) for x in xs for token in x]
    assert named(extractor, extractor.grow(xs)) == expected
    assert named(extractor, extractor.rows(xs)) == expected
    others = data.draw(st.lists(st.lists(tokens, min_size=1, max_size=3), min_size=1, max_size=3))
    known = {name for token in expected for name in token}
    kept = [{k: v for k, v in plain_attributes(token).items() if k in known} for x in others for token in x]
    assert named(extractor, extractor.rows(others)) == kept


@pytest.mark.filterwarnings("ignore::sidelight.errors.UnknownFeatures")
@law(30)
@given(st.lists(tokens, min_size=1, max_size=3), st.lists(plain, min_size=20, max_size=40), st.integers(1, 3))
def test_many_dicts_of_the_same_names_are_read_as_few_are(others, values, min_count):
    xs = [[{"a": value, "b": "same", "c": str(value)}] for value in values]
    whole, one_by_one = extractor_of(Attributes(min_count)), extractor_of(Attributes(min_count))
    rows = whole.grow(xs)  # by columns where the values of a name are all strings or all numbers
    mixed = one_by_one.grow([*xs, [{"a": [], "b": [], "c": []}]])  # lists are read token by token
    assert named(whole, rows) == named(one_by_one, mixed)[:-1]
    for batch in (xs, [others] * 20, [others]):
        assert named(whole, whole.rows(batch)) == named(one_by_one, one_by_one.rows(batch))
        assert named(whole.copy(), whole.copy().rows(batch)) == named(whole, whole.rows(batch))


schemas = st.lists(st.lists(names, min_size=0, max_size=4, unique=True), min_size=1, max_size=3)


@pytest.mark.filterwarnings("ignore::sidelight.errors.UnknownFeatures")
@law(40)
@given(schemas, generators(), st.integers(1, 2))
def test_dicts_in_blocks_are_read_as_they_are_one_by_one(schemas, rng, min_count):
    """Names in any order, several sets of names of one size, strings that only some blocks have."""

    def token() -> dict[str, object]:
        """Of the names b and d the values are strings, of the others numbers."""
        chosen = schemas[rng.integers(len(schemas))]
        amounts = True, False, 2, -0.5
        return {n: f"v{rng.integers(20)}" if n in "bd" else amounts[rng.integers(len(amounts))] for n in chosen}

    xs = [[token() for _ in range(rng.integers(1, 6))] for _ in range(90)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(import_module("sidelight.features.attributes.attributes"), "BLOCK", 64)
        extractor = extractor_of(Attributes(min_count))
        counts = Counter(name for x in xs for token in x for name in plain_attributes(token))
        for part in (xs, xs[::-1], [[token() for _ in range(200)]]):
            rows = extractor.grow(xs) if part is xs else extractor.rows(part)
            expected = [
                {name: value for name, value in plain_attributes(token).items() if counts[name] >= min_count}
                for x in part
                for token in x
            ]
            assert named(extractor, rows) == expected
            assert rows.indptr[-1] == len(rows.indices) == sum(map(len, expected))


@pytest.mark.parametrize("kind", [lambda token: defaultdict(str, token), MappingProxyType])
def test_mappings_that_are_no_plain_dicts_are_left_as_they_are(kind):
    xs = [[kind({"a": "p", "b": 1.0} if i % 2 else {"c": "p", "b": 1.0}) for i in range(40)]]
    extractor = extractor_of(Attributes())
    rows = extractor.grow(xs)
    assert [sorted(token) for token in xs[0]] == [["b", "c"], ["a", "b"]] * 20
    assert named(extractor, rows) == [{"c:p": 1.0, "b": 1.0}, {"a:p": 1.0, "b": 1.0}] * 20


@pytest.mark.parametrize("bad", [None, float("nan"), 10**400, [["x"]], object()])
@pytest.mark.parametrize("usual", ["text", 1.5])
def test_one_bad_value_among_many_tokens_is_named(usual, bad):
    xs = [[{"a": usual}, {"a": usual}] for _ in range(40)]
    extractor = extractor_of(Attributes())
    extractor.grow(xs)
    xs[30] = [{"a": usual}, {"a": bad}]
    for read in (extractor.grow, extractor.rows):
        with pytest.raises(DataError, match="input 30, token 1"):
            read(xs)
    assert extractor.names == ["a:text" if usual == "text" else "a"]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), np.float32("nan")])
def test_values_that_are_not_finite_are_refused(bad):
    fine, labels = {"a": 1.0}, ["p", "q"]
    for spoiled in ({"a": bad}, {"a": {"b": bad}}):
        with pytest.raises(DataError, match="input 1, token 0"):
            Classifier().fit([fine, spoiled], labels)
        fitted = Classifier().fit([fine, {"b": 1.0}], labels)
        with pytest.raises(DataError, match="input 0, token 0"):
            fitted.predict([spoiled])
    full = np.array([[1.0, 0.0], [0.0, float(bad)]])
    for given_ in (full, csr_matrix(full)):
        with pytest.raises(DataError, match="NaN and infinite"):
            Classifier().fit(given_, labels)
        fitted = Classifier().fit(np.eye(2) if given_ is full else csr_matrix(np.eye(2)), labels)
        with pytest.raises(DataError, match="NaN and infinite"):
            fitted.predict(given_)
    with pytest.raises(DataError, match="NaN and infinite"):
        Tagger().fit([WithDense(["a", "b"], full)], [["X", "Y"]])
    with pytest.raises(DataError, match="NaN and infinite"):
        Matrix(dense=full, lengths=[2])


@pytest.mark.parametrize("token", [{"a": None}, {"a": object()}, 3.5, None])
def test_values_of_other_types_are_refused(token):
    extractor = extractor_of(Attributes())
    with pytest.raises(DataError, match="input 1, token 0"):
        extractor.grow([[{"a": 1.0}], [token]])


@pytest.mark.parametrize("token", [{"a": [["x"]]}, {"a": [{"b": 1.0}]}, [["x"]], {"a": 10**400}])
def test_values_that_cannot_be_names_or_numbers_are_refused(token):
    with pytest.raises(DataError):
        extractor_of(Attributes()).grow([[token]])


@law(30)
@given(generators(), st.sampled_from(["csr", "dense", "both"]))
def test_matrices_are_the_same_features_as_dicts(rng, kind):
    lengths = rng.integers(1, 5, 6)
    count = int(lengths.sum())
    sparse = np.round(rng.normal(size=(count, 5)), 2) * (rng.random((count, 5)) < 0.5)
    dense = rng.normal(size=(count, 2)).astype(np.float32)
    xs = Matrix(
        csr_matrix(sparse) if kind != "dense" else None, dense=dense if kind != "csr" else None, lengths=lengths
    )
    tokens = [
        {**({f"s{j}": sparse[t, j] for j in np.flatnonzero(sparse[t])} if kind != "dense" else {})}
        | ({f"d{j}": float(dense[t, j]) for j in range(2)} if kind != "csr" else {})
        for t in range(count)
    ]
    bounds = np.append(0, np.cumsum(lengths))
    dicts = [tokens[a:b] for a, b in itertools.pairwise(bounds)]
    ys = [[["X", "Y", "Z"][k] for k in rng.integers(0, 3, n)] for n in lengths]
    settings = {"tolerance": 1e-10, "violation": 0.0, "n_jobs": 1, "max_rounds": 300}
    ours, theirs = Tagger(**settings).fit(xs, ys), Tagger(**settings).fit(dicts, ys)
    assert ours.predict(xs) == theirs.predict(dicts)
    a, b = ours.model_, theirs.model_
    for k in range(b.layout.n_attributes):
        name = b.extractor.name(k)
        table = a.layout.attribute_weights(a.weights) if name[0] == "s" else a.layout.dense_weights(a.weights)
        np.testing.assert_allclose(table[int(name[1:])], b.layout.attribute_weights(b.weights)[k], atol=1e-3)


def test_rows_of_matrices():
    duplicate = coo_matrix(([1.0, 2.0, 1.0], ([0, 0, 2], [1, 1, 0])), shape=(3, 4))
    xs = Matrix(duplicate, dense=np.arange(6).reshape(3, 2), lengths=[2, 1])
    extractor = extractor_of(GivenMatrix())
    rows = extractor.grow(xs)
    assert named(extractor, rows) == [{"column 1": 3.0}, {}, {"column 0": 1.0}]
    np.testing.assert_array_equal(rows.dense, [[0, 1], [2, 3], [4, 5]])
    backwards = extractor.rows([xs[1], xs[0]])
    assert named(extractor, backwards) == [{"column 0": 1.0}, {"column 1": 3.0}, {}]
    other = Matrix(csr_matrix(np.eye(4)[:1]), dense=np.ones((1, 2)), lengths=[1])
    mixed = extractor.rows([xs[1], other[0], xs[0]])
    assert named(extractor, mixed) == [{"column 0": 1.0}, {"column 0": 1.0}, {"column 1": 3.0}, {}]
    np.testing.assert_array_equal(mixed.dense, [[4, 5], [1, 1], [0, 1], [2, 3]])
    with pytest.raises(DataError, match="3 sparse and 2 dense columns where the model has 4 and 2"):
        extractor.rows(Matrix(csr_matrix(np.eye(3)), dense=np.ones((3, 2)), lengths=[3]))
    with pytest.raises(DataError, match="input 0 is a list"):
        extractor.rows([["a"]])
    with pytest.raises(DataError, match="2 dense rows for 3 tokens"):
        Matrix(dense=np.ones((2, 1)), lengths=[3])
    with pytest.raises(DataError, match="sequence 1 is empty"):
        Matrix(dense=np.ones((2, 1)), lengths=[2, 0])
    with pytest.raises(DataError, match="does not say where sequences begin"):
        Tagger().fit(np.eye(2), [["X"], ["Y"]])
    assert [len(x) for x in xs[:]] == [2, 1]
    assert len(xs[-1]) == 1
    with pytest.raises(IndexError):
        xs[2]


@pytest.mark.parametrize("kind", ["templates", "hashing", "attributes"])
def test_dense_rows_beside_tokens(kind):
    chosen = {
        "templates": features.words(),
        "hashing": features.words(hash_bits=10),
        "attributes": features.attributes(),
    }[kind]
    rng = np.random.default_rng(0)
    xs = [WithDense(["same"] * n, rng.normal(size=(n, 3))) for n in rng.integers(1, 6, 40)]
    direction = np.array([1.0, -1.0, 0.5])
    ys = [["P" if value > 0 else "N" for value in x.dense @ direction] for x in xs]
    tagger = Tagger(features=chosen, n_jobs=1, tolerance=1e-3).fit(xs, ys)
    assert tagger.score(xs, ys) > 0.9  # words alone say nothing
    rows = tagger.prepare(xs[:2])
    np.testing.assert_array_equal(rows.dense, np.concatenate([x.dense for x in xs[:2]]).astype(np.float32))
    with pytest.raises(DataError, match="0 dimensions where the model has 3"):
        tagger.predict([["same"]])
    with pytest.raises(DataError, match="2 dimensions where the model has 3"):
        tagger.predict([WithDense(["same"], np.zeros((1, 2)))])
    with pytest.raises(DataError, match=r"widths \[0, 3\]"):
        tagger.predict([["same"], xs[0]])
    with pytest.raises(DataError, match="2 tokens with dense rows"):
        WithDense(["a", "b"], np.zeros((1, 2)))
    with pytest.raises(DataError, match="dense rows of shape"):
        WithDense(["a", "b"], np.zeros(2))


def test_a_tagger_of_dicts_can_be_pickled():
    xs = [[{"w": "light", "n": 1.0}, {"w": "on"}], [{"w": "off"}]] * 10
    fitted = Tagger(learner="perceptron", max_rounds=2, n_jobs=1).fit(xs, [["N", "P"], ["P"]] * 10)
    assert pickle.loads(pickle.dumps(fitted)).predict(xs[:2]) == fitted.predict(xs[:2])
