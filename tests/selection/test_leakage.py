"""The report counts what a plain reading of the definitions counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import random_pairs
from pairity import Pairs
from pairity.model_selection import leakage_report


def naive_report(pairs, train, test):
    """The definitions, one pair at a time; objects are told apart by row."""
    seen = {end for row in train for end in (pairs.first[row], pairs.second[row])}
    met = {end for row in test for end in (pairs.first[row], pairs.second[row])}

    def new(row):
        return (pairs.first[row] not in seen) + (pairs.second[row] not in seen)

    def key(row):
        return frozenset((pairs.first[row], pairs.second[row]))

    dropped = set(range(len(pairs))) - set(train) - set(test)
    known = {key(row) for row in train}
    return {
        "n_train": len(set(train)),
        "n_test": len(set(test)),
        "n_dropped": len(dropped),
        "n_crossing": sum(new(row) == 1 for row in dropped),
        "n_both_seen": sum(new(row) == 0 for row in set(test)),
        "n_one_new": sum(new(row) == 1 for row in set(test)),
        "n_both_new": sum(new(row) == 2 for row in set(test)),
        "n_shared_objects": len(seen & met),
        "n_shared_pairs": len(known & {key(row) for row in test}),
        "n_repeated": sum(key(row) in known for row in set(test)),
        "n_shared_rows": len(set(train) & set(test)),
    }


@given(
    seed=st.integers(0, 500),
    train=st.lists(st.integers(0, 19)),
    test=st.lists(st.integers(0, 19)),
)
def test_counts_are_those_of_the_definitions(seed, train, test):
    pairs = random_pairs(seed, n=20, m=9)
    report = leakage_report(pairs, train, test)
    expected = naive_report(pairs, train, test)
    assert {name: getattr(report, name) for name in expected} == expected
    assert report.n_both_seen + report.n_one_new + report.n_both_new == report.n_test
    masks = [np.isin(np.arange(20), side) for side in (train, test)]
    assert leakage_report(pairs, *masks) == report
    assert leakage_report(pairs.swap(), train, test) == report


def test_mirror_images_are_found():
    pairs = Pairs(np.eye(3), [0, 1], [1, 0])
    report = leakage_report(pairs, [0], [1])
    assert (report.n_shared_pairs, report.n_repeated, report.is_clean) == (1, 1, False)
    assert report.setting == "both objects seen"


def test_ids_hide_no_equal_features():
    pairs = Pairs([[1.0], [2.0], [1.0], [2.0]], [0, 2], [1, 3], ids=list("abcd"))
    report = leakage_report(pairs, [0], [1])
    assert (report.n_both_new, report.n_repeated, report.n_lookalikes) == (1, 0, 1)
    assert not report.is_clean
    assert "1 test pairs have the features of a training pair" in str(report)
    unnamed = leakage_report(Pairs(pairs.objects, pairs.first, pairs.second), [0], [1])
    assert (unnamed.n_both_seen, unnamed.n_repeated) == (1, 1)


def test_groups_on_both_sides_are_counted():
    pairs = Pairs(np.eye(6), [0, 2, 4], [1, 3, 5])
    report = leakage_report(pairs, [0], [1, 2], groups=["x", "x", "y"])
    assert report.n_shared_groups == 1
    assert not report.is_clean
    assert "1 groups" in str(report)
    assert leakage_report(pairs, [0], [2]).is_clean


def test_rows_are_read_like_pairs():
    pairs = random_pairs(2, n=20, m=6)
    train, test = [0, 1, 2, 3], [5, 6]
    rows = leakage_report(pairs.to_rows(), train, test, n_symmetric=2, n_antisymmetric=2)
    assert rows == leakage_report(pairs, train, test)


def test_settings_have_names():
    pairs = Pairs(np.eye(6), [0, 0, 0, 2, 3], [1, 1, 2, 3, 4])
    assert leakage_report(pairs, [0], [2]).setting == "one object new"
    assert leakage_report(pairs, [0], [3]).setting == "both objects new"
    assert leakage_report(pairs, [0], [1, 2]).setting == "mixed"
    assert leakage_report(pairs, [0], []).setting == "no test pairs"


@pytest.mark.parametrize("side", [[7], [-4], [[0]], [0.5], [True]])
def test_sides_that_are_no_rows_are_refused(side):
    with pytest.raises(ValueError, match="got test that is neither a mask of 3 nor row numbers"):
        leakage_report(Pairs(np.eye(3), [0, 1, 2], [1, 2, 0]), [0], side)


def test_groups_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="expected one per pair"):
        leakage_report(Pairs(np.eye(2), [0], [1]), [0], [], groups=[1, 2])
