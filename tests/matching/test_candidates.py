"""Candidates are the nearest records; nothing of the size of all pairs is made."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

pd = pytest.importorskip("pandas", reason="pandas comes with the matching extra")

from pairity.matching import Records, candidates, nearest_records  # noqa: E402
from pairity.matching.ngrams import weighted  # noqa: E402


def naive_nearest(asking, answering, k, same):
    """All products, sorted; ties to the smaller number."""
    products = (asking @ answering.T).toarray()
    if same:
        np.fill_diagonal(products, 0.0)
    found = []
    for row in products:
        order = np.lexsort((np.arange(len(row)), -row))[:k]
        found.append([place for place in order if row[place] > 0.0])
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.booleans())
def test_the_naive_twin(seed, k, same):
    random = np.random.default_rng(seed)
    left = sp.random_array((9, 12), density=0.3, rng=random, format="csr")
    right = left if same else sp.random_array((7, 12), density=0.3, rng=random, format="csr")
    nearest, products = candidates.nearest_rows(left, right, k, same=same)
    expected = naive_nearest(left, right, k, same)
    assert [[place for place in row if place >= 0] for row in nearest.tolist()] == expected
    dense = (left @ right.T).toarray()
    rows, ranks = np.nonzero(nearest >= 0)
    np.testing.assert_allclose(products[rows, ranks], dense[rows, nearest[rows, ranks]], rtol=1e-14)


def test_frequent_ngrams_are_left_out_where_work_is_short(monkeypatch):
    table = weighted(sp.csr_array(np.array([[1.0, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1]])))
    monkeypatch.setattr(candidates, "_PRODUCTS", 1)  # 8 products: two rare columns, 4 each
    assert candidates._affordable(table, table).tolist() == [False, True, True]
    nearest, _ = candidates.nearest_rows(table, table, 3, same=True)
    assert nearest.tolist() == [[1, -1, -1], [0, -1, -1], [3, -1, -1], [2, -1, -1]]


def make_tables():
    left = pd.DataFrame({"name": ["anna blum", "carl dorn", "eva frey", "gero haas"]})
    right = pd.DataFrame({"name": ["ana blum", "karl dorn", "eva freys"]})
    return left, right


def test_both_tables_name_candidates_and_swapping_them_changes_nothing():
    left, right = make_tables()
    one, two = (Records.read(*tables) for tables in ((left, right), (right, left)))
    found, back = nearest_records(one, 1), nearest_records(two, 1)
    pairs = set(zip(found.first.tolist(), (found.second - 4).tolist(), strict=True))
    assert pairs >= {(0, 0), (1, 1), (2, 2)}
    assert pairs == set(zip((back.second - 3).tolist(), back.first.tolist(), strict=True))
    assert (found.first < 4).all()
    assert (found.second >= 4).all()
    assert found.n_possible == 12
    assert found.contains(np.array([4, 0]), np.array([0, 3]), 7).tolist() == [True, False]


def test_places_of_pairs_that_are_candidates_and_of_others():
    found = candidates.Candidates(np.array([3, 0, 1]), np.array([4, 2, 4]), 1, 10)
    assert found.places(np.array([2, 4, 4, 0]), np.array([0, 3, 2, 1]), 5).tolist() == [
        1,
        0,
        -1,
        -1,
    ]
    none = candidates.Candidates(*np.zeros((2, 0), dtype=np.intp), 1, 10)
    assert none.places(np.array([0]), np.array([1]), 5).tolist() == [-1]


def test_one_table_is_compared_with_itself():
    left, right = make_tables()
    records = Records.read(pd.concat([left, right], ignore_index=True))
    found = nearest_records(records, 2)
    assert (found.first < found.second).all()
    assert found.n_possible == 21
    assert {(0, 4), (1, 5), (2, 6)} <= set(
        zip(found.first.tolist(), found.second.tolist(), strict=True)
    )
