"""Pairs: the operator T, slicing, wide rows and back, one canonical form."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, train_test_split

import cases
import naive
from pairity import Pairs


def same_pairs(one, two):
    """Whether two Pairs hold the same rows in the same order."""
    return np.array_equal(dense(one.to_rows()), dense(two.to_rows()))


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows


# The operator T ---------------------------------------------------------------------------------


def test_swap_is_the_operator_of_formula_2():
    pairs = cases.random_pairs(1)
    expected = [naive.swap_row(row, cases.WIDTHS) for row in pairs.to_rows()]
    assert np.array_equal(pairs.swap().to_rows(), expected)
    assert not np.array_equal(pairs.to_rows(), expected)


def test_swap_twice_is_the_identity():
    pairs = cases.random_pairs(2)
    twice = pairs.swap().swap()
    assert same_pairs(twice, pairs)
    assert np.array_equal(twice.first, pairs.first)
    assert np.array_equal(twice.second, pairs.second)


def test_swap_leaves_the_pairs_themselves_alone():
    pairs = cases.random_pairs(3)
    before = pairs.to_rows().copy()
    pairs.swap().antisymmetric[:] = 7.0
    assert np.array_equal(pairs.to_rows(), before)


def test_with_mirrored_is_the_full_set():
    pairs = cases.random_pairs(4)
    full = pairs.with_mirrored()
    assert len(full) == 2 * len(pairs)
    assert same_pairs(full[: len(pairs)], pairs)
    assert same_pairs(full[len(pairs) :], pairs.swap())


# Wide rows and back -----------------------------------------------------------------------------


@pytest.mark.parametrize("widths", [(2, 2, 2), (3, 0, 0), (1, 2, 0), (2, 0, 1), (0, 1, 1)])
def test_rows_round_trip(widths):
    pairs = cases.random_pairs(5, widths=widths)
    rows = pairs.to_rows()
    assert rows.shape == pairs.shape == (14, 2 * widths[0] + widths[1] + widths[2])
    back = Pairs.from_rows(rows, n_symmetric=widths[1], n_antisymmetric=widths[2])
    assert np.array_equal(back.to_rows(), rows)
    assert (back.n_object_features, back.n_symmetric, back.n_antisymmetric) == widths


def test_rows_follow_formula_1():
    pairs = Pairs([[1.0, 2.0], [3.0, 4.0]], [0], [1], symmetric=[[5.0]], antisymmetric=[[6.0]])
    assert pairs.to_rows().tolist() == [[1.0, 2.0, 5.0, 6.0, 3.0, 4.0]]
    assert pairs.swap().to_rows().tolist() == [[3.0, 4.0, 5.0, -6.0, 1.0, 2.0]]


def test_equal_objects_are_recognised():
    pairs = cases.random_pairs(6, n=60, m=5, widths=(2, 0, 0))
    back = Pairs.from_rows(pairs.to_rows())
    assert back.n_objects == 5
    assert len(back) == 60


def test_rows_of_an_object_with_itself():
    back = Pairs.from_rows([[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
    assert back.first[0] == back.second[0]
    assert back.first[1] != back.second[1]


def test_look_alikes_with_an_antisymmetric_feature_stay_two_objects():
    back = Pairs.from_rows([[1.0, 9.0, 1.0], [1.0, -9.0, 1.0], [1.0, 0.0, 1.0]], n_antisymmetric=1)
    assert back.to_rows().tolist() == [[1.0, 9.0, 1.0], [1.0, -9.0, 1.0], [1.0, 0.0, 1.0]]
    assert (back.first[:2] != back.second[:2]).all()
    assert back.first[2] == back.second[2]


def test_sparse_rows_round_trip():
    pairs = cases.sparse_twin(cases.random_pairs(7))
    rows = pairs.to_rows()
    assert sp.issparse(rows)
    back = Pairs.from_rows(rows, n_symmetric=2, n_antisymmetric=2)
    assert sp.issparse(back.objects)
    assert np.array_equal(back.to_rows().toarray(), rows.toarray())
    assert np.array_equal(rows.toarray(), cases.random_pairs(7).to_rows())


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_matrix, sp.coo_array])
def test_sparse_objects_of_any_format(make):
    dense_pairs = cases.random_pairs(8, widths=(3, 0, 0))
    pairs = Pairs(make(dense_pairs.objects), dense_pairs.first, dense_pairs.second)
    assert same_pairs(pairs, dense_pairs)
    assert same_pairs(pairs.swap(), dense_pairs.swap())
    assert same_pairs(pairs.compact(), dense_pairs)


@given(
    widths=st.tuples(st.integers(1, 3), st.integers(0, 2), st.integers(0, 2)),
    n=st.integers(1, 8),
    m=st.integers(2, 4),
    seed=st.integers(0, 10_000),
)
def test_law_rows_and_swap_commute(widths, n, m, seed):
    pairs = cases.random_pairs(seed, n=n, m=m, widths=widths)
    pairs = Pairs(
        np.round(pairs.objects), pairs.first, pairs.second, pairs.symmetric, pairs.antisymmetric
    )
    back = Pairs.from_rows(pairs.swap().to_rows(), widths[1], widths[2])
    assert same_pairs(back.swap(), pairs)
    assert same_pairs(pairs.compact(), pairs)
    assert same_pairs(pairs.compact().swap(), pairs.swap().compact())


# Slicing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        3,
        -1,
        np.int64(2),
        slice(2, 9, 3),
        [4, 0, 4],
        np.array([5, 1]),
        [],
        np.arange(14) % 2 == 0,
        (np.arange(14) % 3 == 0).tolist(),
        (np.array([1, 2]), Ellipsis),
        (np.array([1, 2]), slice(None)),
    ],
    ids=repr,
)
def test_slicing_takes_pairs(key):
    pairs = cases.random_pairs(9)
    rows = key[0] if isinstance(key, tuple) else key
    expected = np.atleast_2d(pairs.to_rows()[rows])
    taken = pairs[key]
    assert isinstance(taken, Pairs)
    assert len(taken) == len(expected)
    assert np.array_equal(taken.to_rows(), expected)


@pytest.mark.parametrize("key", [(slice(None), 0), (slice(None), [1]), (0, 1, 2)])
def test_slicing_features_is_refused(key):
    with pytest.raises(IndexError, match="expected one over pairs"):
        cases.random_pairs(10)[key]


def test_index_out_of_range():
    with pytest.raises(IndexError):
        cases.random_pairs(11)[99]


def test_iteration_gives_single_pairs():
    pairs = cases.random_pairs(12, n=4)
    singles = list(pairs)
    assert [len(single) for single in singles] == [1] * 4
    assert np.array_equal(np.vstack([single.to_rows() for single in singles]), pairs.to_rows())


def test_scikit_learn_splits_pairs():
    pairs, y = cases.random_pairs(13, n=20), np.arange(20)
    train, test, y_train, y_test = train_test_split(pairs, y, test_size=5, random_state=0)
    assert (len(train), len(test)) == (15, 5)
    assert np.array_equal(train.to_rows(), pairs.to_rows()[y_train])
    assert np.array_equal(test.to_rows(), pairs.to_rows()[y_test])
    seen = [part for _, part in KFold(4).split(pairs)]
    assert sorted(np.concatenate(seen)) == list(range(20))


def test_sizes_and_printing():
    pairs = cases.random_pairs(14, n=3, m=4, widths=(5, 1, 2))
    assert (len(pairs), pairs.shape, pairs.ndim, pairs.n_objects) == (3, (3, 13), 2, 4)
    assert pairs.dtype == np.float64
    assert repr(pairs) == (
        "Pairs(3 pairs of 4 objects; features: 5 object, 1 symmetric, 2 antisymmetric)"
    )


def test_pickle():
    pairs = cases.random_pairs(15)
    assert same_pairs(pickle.loads(pickle.dumps(pairs)), pairs)


def test_nothing_of_the_users_is_written_to():
    objects, first = np.array([[1.0], [2.0]]), np.array([0, 1])
    symmetric = np.array([[1.0], [2.0]])
    pairs = Pairs(objects, first, [1, 0], symmetric=symmetric)
    pairs.first[:] = 0
    pairs.symmetric[:] = 0.0
    assert first.tolist() == [0, 1]
    assert symmetric.tolist() == [[1.0], [2.0]]


# One canonical form -----------------------------------------------------------------------------


def test_compact_table_does_not_depend_on_the_order_of_anything():
    pairs = cases.random_pairs(16, n=20, m=9)
    order = np.random.default_rng(0).permutation(9)
    position = np.argsort(order)
    shuffled = Pairs(
        pairs.objects[order],
        position[pairs.second],
        position[pairs.first],
        pairs.symmetric,
        -pairs.antisymmetric,
    )[::-1]
    one, two = pairs.compact(), shuffled.compact()
    assert np.array_equal(one.objects, two.objects)
    assert np.array_equal(one.first, two.second[::-1])


def test_compact_merges_equal_objects_and_drops_unused_ones():
    pairs = Pairs([[1.0], [2.0], [1.0], [9.0]], [0, 1], [1, 2], ids=list("abad"))
    compact = pairs.compact()
    assert compact.n_objects == 2
    assert sorted(compact.objects[:, 0]) == [1.0, 2.0]
    assert compact.first[0] == compact.second[1]
    assert set(compact.ids) == {"a", "b"}


def test_objects_of_different_ids_stay_apart():
    pairs = Pairs([[1.0], [1.0], [2.0]], [0, 1], [2, 2], ids=["x", "y", "z"])
    assert pairs.compact().n_objects == 3
    assert list(pairs.compact().ids[pairs.compact().first]) == ["x", "y"]


def test_codes_of_ids_depend_on_the_ids_alone():
    one = Pairs([[1.0], [2.0]], [0], [1], ids=["x", "y"]).id_codes
    two = Pairs([[5.0], [1.0], [2.0]], [0], [1], ids=["y", "w", "x"]).id_codes
    assert one[0] == two[2]
    assert one[1] == two[0]
    assert len({*one, *two}) == 3
    numbers = Pairs(np.zeros((3, 0)), [0], [1], ids=[1, 2, 3]).id_codes
    assert np.array_equal(numbers, Pairs(np.zeros((3, 0)), [0], [1], ids=[1.0, 2.0, 3.0]).id_codes)
    assert not np.isin(numbers, Pairs(np.zeros((3, 0)), [0], [1], ids=list("123")).id_codes).any()
    assert Pairs([[1.0]], [], []).id_codes is None


def test_compact_of_zeros_of_both_signs():
    compact = Pairs([[0.0], [-0.0]], [0], [1]).compact()
    assert compact.n_objects == 1


def test_no_pairs_at_all():
    empty = cases.random_pairs(17)[:0]
    assert len(empty) == 0
    assert empty.swap().to_rows().shape == (0, 8)
    assert len(empty.compact()) == 0
    assert len(Pairs.from_rows(np.zeros((0, 4)))) == 0


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["objects", "symmetric", "antisymmetric"])
def test_features_that_are_not_finite(place, bad):
    parts = {
        "objects": np.ones((2, 2)),
        "symmetric": np.ones((1, 2)),
        "antisymmetric": np.ones((1, 2)),
    }
    parts[place][0, 1] = bad
    kind = "NaN" if np.isnan(bad) else "infinite"
    message = rf"got 1 {kind} value\(s\) in {place}; expected finite numbers .*impute or drop"
    with pytest.raises(ValueError, match=message):
        Pairs(first=[0], second=[1], **parts)


def test_sparse_features_that_are_not_finite():
    with pytest.raises(ValueError, match=r"got 1 NaN value\(s\) in objects"):
        Pairs(sp.csr_array([[1.0, np.nan]]), [0], [0])


@pytest.mark.parametrize(("index", "wrong"), [([0, 2], 2), ([0, -1], -1)])
def test_index_out_of_the_table(index, wrong):
    for ends in ({"first": index, "second": [0, 1]}, {"first": [0, 1], "second": index}):
        with pytest.raises(ValueError, match=rf"got object number {wrong} in .*expected 0 to 1"):
            Pairs(np.ones((2, 1)), **ends)


@pytest.mark.parametrize("index", [[0.0, 1.0], [True, False], ["a", "b"]])
def test_index_that_is_no_integer(index):
    with pytest.raises(ValueError, match=r"got first of type .*expected integers.*from_frame"):
        Pairs(np.ones((2, 1)), index, [0, 1])


def test_index_of_two_dimensions():
    with pytest.raises(ValueError, match=r"got first with 2 dimension\(s\)"):
        Pairs(np.ones((2, 1)), [[0]], [1])


def test_lengths_that_differ():
    with pytest.raises(ValueError, match="got 2 entries in first and 1 in second; expected the sa"):
        Pairs(np.ones((2, 1)), [0, 1], [1])
    for kind in ("symmetric", "antisymmetric"):
        with pytest.raises(ValueError, match=rf"got {kind} group features of shape \(3, 1\) for 2"):
            Pairs(np.ones((2, 1)), [0, 1], [1, 0], **{kind: np.zeros((3, 1))})
    with pytest.raises(ValueError, match="got 1 ids for 2 objects"):
        Pairs(np.ones((2, 1)), [0], [1], ids=["a"])


def test_tables_of_wrong_kind():
    with pytest.raises(ValueError, match=r"got objects with 1 dimension\(s\); expected a 2-D"):
        Pairs([1.0, 2.0], [0], [1])
    with pytest.raises(ValueError, match=r"got objects of type .*encode text and categories"):
        Pairs([["red"], ["blue"]], [0], [1])
    with pytest.raises(ValueError, match="Complex data not supported"):
        Pairs([[1j], [2j]], [0], [1])


def test_an_object_with_itself_cannot_have_a_direction():
    with pytest.raises(ValueError, match="pair 1 is an object with itself but has a nonzero"):
        Pairs(np.ones((2, 1)), [0, 1], [1, 1], antisymmetric=[[1.0], [1.0]])


def test_group_features_of_one_column_may_be_flat():
    assert Pairs(np.ones((2, 1)), [0], [1], symmetric=[3.0]).symmetric.tolist() == [[3.0]]


@pytest.mark.parametrize(
    ("columns", "n_symmetric", "n_antisymmetric"), [(3, 0, 0), (4, 1, 0), (4, -2, 0), (2, 2, 2)]
)
def test_rows_that_cannot_be_two_objects(columns, n_symmetric, n_antisymmetric):
    message = r"got rows with n_features.*expected .*2\*n1 \+ n_symmetric \+ n_antisymmetric"
    with pytest.raises(ValueError, match=message):
        Pairs.from_rows(np.ones((2, columns)), n_symmetric, n_antisymmetric)


def test_complete_lists_every_unordered_pair_once():
    pairs = Pairs.complete(np.arange(8.0).reshape(4, 2), ids=list("abcd"))
    listed = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    assert sorted(listed) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert pairs.ids.tolist() == list("abcd")


@pytest.mark.parametrize("name", ["n_symmetric", "n_antisymmetric"])
@pytest.mark.parametrize("count", [0.5, "one", None])
def test_counts_of_group_features_that_are_no_counts_are_refused(name, count):
    with pytest.raises(ValueError, match=f"got {name}={count!r}; expected a whole number"):
        Pairs.from_rows(np.zeros((3, 4)), **{name: count})
