"""Equal rows found, in an order of content alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pairity.pairs.arrays import codes_of_ids, distinct_rows


def check(table):
    """The specification: representatives differ, and restore the table."""
    found = distinct_rows(table)
    dense = table.toarray() if sp.issparse(table) else table
    kept = dense[found.representative]
    assert np.array_equal(kept[found.inverse], dense)
    assert len(np.unique(kept + 0.0, axis=0)) == len(kept)
    return kept


TABLES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 3)),
    elements=st.sampled_from([-1.0, -0.0, 0.0, 1.0, 1e-300, 1e300]),
)


@given(table=TABLES)
def test_law_dense_and_sparse(table):
    assert np.array_equal(check(table), check(sp.csr_array(table)))


@given(table=TABLES, seed=st.integers(0, 99))
def test_law_order_of_rows_does_not_matter(table, seed):
    shuffled = table[np.random.default_rng(seed).permutation(len(table))]
    assert np.array_equal(check(table), check(shuffled))


def test_columns_count_for_their_place():
    assert len(check(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))) == 3


def test_zeros_of_both_signs_are_equal():
    assert len(distinct_rows(np.array([[0.0], [-0.0]])).representative) == 1


def test_no_columns():
    found = distinct_rows(np.zeros((4, 0)))
    assert found.representative.tolist() == [0]
    assert found.inverse.tolist() == [0] * 4


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_colliding_fingerprints_are_told_apart(monkeypatch, make):
    """With a fingerprint that is always the same the exact sort must take over."""
    monkeypatch.setattr(
        "pairity.pairs.arrays._fingerprints",
        lambda table: np.zeros(table.shape[0], dtype=np.uint64),
    )
    table = np.random.default_rng(0).integers(0, 2, size=(20, 3)).astype(float)
    assert len(check(make(table))) == len(np.unique(table, axis=0))


def test_any_text_has_a_code():
    codes = codes_of_ids(np.array(["plain", "\ud800", "naïve", ""], dtype=object))
    assert len(set(codes.tolist())) == 4
    assert (codes >= 1).all()
    assert (codes < 2.0**53).all()
