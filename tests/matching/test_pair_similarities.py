"""Similarities of records: symmetric bit for bit, from 0 to 1, missing values a feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pd = pytest.importorskip("pandas", reason="pandas comes with the matching extra")
rapidfuzz = pytest.importorskip("rapidfuzz", reason="RapidFuzz comes with the matching extra")

from pairity.matching import Comparison, Records, nearest_records  # noqa: E402
from pairity.matching.ngrams import Words, found_in  # noqa: E402
from pairity.matching.pair_features import (  # noqa: E402
    PairFeatures,
    Rivals,
    as_pairs,
)

TABLE = pd.DataFrame(
    {
        "title": [
            "adobe photoshop elements 5.0 for windows",
            "photoshop elements 5 upgrade adobe",
            "the sims 2: pets expansion pack for mac os",
            "sims 2 pets (pc)",
            None,
        ],
        "maker": ["adobe", None, "aspyr media", "electronic arts", "adobe"],
        "price": ["99.99", "$89", None, "19.99", "0"],
        "released": ["2006-10-01", "2006-09-30", "2007-01-02", None, "2006-10-01"],
        "code": ["29180155", "29180150", "10337-ab", None, "29180155"],
        "place": ["48.20, 16.37", "48.21, 16.36", "-33.86, 151.21", None, "48.20, 16.37"],
    }
)
KINDS = {"title": "text", "maker": "name", "code": "code"}


@pytest.fixture(scope="module")
def records():
    return Records.read(TABLE, kinds=KINDS)


def test_all_kinds_are_there(records):
    assert set(records.kinds.values()) == {"text", "name", "number", "date", "code", "geo"}


def test_swapped_pairs_have_the_same_bits(records):
    first, second = map(np.ravel, np.indices((5, 5)))
    comparison = Comparison(records)
    there, back = comparison.of(first, second), comparison.of(second, first)
    assert (there.values == back.values).all()
    assert there.values.min() >= 0.0
    assert there.values.max() <= 1.0


def test_equal_records_are_as_alike_as_can_be(records):
    alike = Comparison(records).of(np.array([0]), np.array([0]))
    different = [name for name in alike.names if "missing" in name or "apart" in name]
    different += [name for name in alike.names if "unshared" in name]
    for name in alike.names:
        if name in different:
            assert alike.column(name)[0] == 0.0
        elif "texts of the other" not in name:
            assert alike.column(name)[0] == pytest.approx(1.0, abs=1e-12), name


def test_missing_values_are_evidence_of_their_own(records):
    alike = Comparison(records).of(np.array([0, 1, 0]), np.array([1, 1, 4]))
    assert alike.column("maker: missing in one").tolist() == [1.0, 0.0, 0.0]
    assert alike.column("maker: missing in both").tolist() == [0.0, 1.0, 0.0]
    assert alike.column("maker: Jaro-Winkler").tolist() == [0.0, 0.0, 1.0]
    assert alike.column("maker: in texts of the other")[0] == 1.0  # adobe is in the other title


def test_values_against_the_formulas(records):
    alike = Comparison(records).of(np.array([0, 0, 0]), np.array([1, 2, 3]))
    jaro = rapidfuzz.distance.JaroWinkler.normalized_similarity("adobe", "aspyr media")
    assert alike.column("maker: Jaro-Winkler")[1] == jaro
    assert alike.column("price: ratio")[0] == pytest.approx(89 / 99.99)
    assert alike.column("released: days")[0] == pytest.approx(np.exp(-1 / 30))
    assert alike.column("code: letters and digits")[0] == pytest.approx(1 - 1 / 8)
    north, east = np.radians([48.20, 48.21]), np.radians([16.37, 16.36])
    flat = 6371.0 * np.hypot(np.diff(north), np.cos(north.mean()) * np.diff(east))[0]
    assert alike.column("place: near")[0] == pytest.approx(np.exp(-flat), rel=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=3, max_size=6))
def test_any_texts_are_symmetric(texts):
    table = pd.DataFrame(
        {"one": [*texts, "anna blum"], "two": ["1", "2"] + ["x y"] * (len(texts) - 1)}
    )
    records = Records.read(table, kinds={"one": "text", "two": "name"})
    first, second = map(np.ravel, np.indices((len(table), len(table))))
    comparison = Comparison(records)
    there, back = comparison.of(first, second).values, comparison.of(second, first).values
    assert (there == back).all()
    assert np.isfinite(there).all()


def weight(texts, word):
    """``log((1 + m) / (1 + d)) + 1``."""
    having = sum(word in text.split() for text in texts)
    return np.log((1 + len(texts)) / (1 + having)) + 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab ", max_size=9), min_size=2, max_size=5))
def test_shared_words_are_those_of_sets(texts):
    words = Words(np.array(texts, dtype=object))
    first, second = map(np.ravel, np.indices((len(texts), len(texts))))
    weights = {word: weight(texts, word) for text in texts for word in text.split()}
    largest = np.log(1 + len(texts)) + 1  # of a word that no text has
    sets = [set(text.split()) for text in texts]
    total = [sum(weights[word] for word in words) for words in sets]
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        shared = sum(weights[word] for word in sets[a] & sets[b])
        either = sum(weights[word] for word in sets[a] | sets[b])
        fewer = min(total[a], total[b])
        expected = [
            shared / either if either else 1.0,
            shared / fewer if fewer else 1.0,
            float(bool(sets[a]) and bool(sets[b]) and not sets[a] & sets[b]),
        ]
        alone = [
            max((weights[word] for word in one - other), default=0.0) / largest
            for one, other in ((sets[a], sets[b]), (sets[b], sets[a]))
        ]
        ways = [shared / total[end] for end in (a, b) if total[end]]
        np.testing.assert_allclose(words.compared(first, second)[:, pair], expected, atol=1e-14)
        np.testing.assert_allclose(
            words.unshared(first, second)[:, pair], [min(alone), max(alone)], atol=1e-14
        )
        np.testing.assert_allclose(
            found_in(words, words, first, second)[pair], np.mean(ways) if ways else 0.0, atol=1e-14
        )


def test_rivals_are_the_best_others():
    table = pd.DataFrame({"name": ["anna blum", "ana blum", "anna bluhm", "carl dorn"]})
    records = Records.read(table)
    found = nearest_records(records, 3)
    random = np.random.default_rng(0)
    value = random.uniform(size=len(found))
    rivals = Rivals.among(found, value, len(records))
    margins = rivals.margins(found.first, found.second, value)
    for row, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
        leads = []
        for end, other in ((a, b), (b, a)):
            others = [
                value[place]
                for place, pair in enumerate(zip(found.first, found.second, strict=True))
                if end in pair and other not in pair
            ]
            leads.append(value[row] - max(others, default=0.0))
        assert margins[row].tolist() == [min(leads), max(leads)]


def test_features_of_candidates_are_those_of_the_same_pairs(records):
    found = nearest_records(records, 3)
    features = PairFeatures(records, found)
    again = features.of(found.second, found.first)
    assert (features.of_candidates == again).all()
    assert len(features.names) == again.shape[1]
    pairs = as_pairs(again)
    assert len(np.unique([pairs.first, pairs.second])) == 2 * len(pairs)
