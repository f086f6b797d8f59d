"""Labels from a column: the larger one is always the positive one."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")

from pairity.io.label_columns import LabelNames, labels_of_column  # noqa: E402


def read(values, **options):
    return labels_of_column(pd.Series(values, name="y"), **options)


def test_numbers_stay_what_they_are():
    for values in ([-1, 1, 1], [0, 1, 0], [2.0, 5.0, 2.0], [True, False, True]):
        labels = read(values)
        assert labels.values.tolist() == values
        assert labels.names is None


def test_texts_need_a_positive_one():
    with pytest.raises(ValueError, match=r"got the labels lost, won in column 'y'.*--positive"):
        read(["won", "lost"])
    labels = read(["won", "lost", "won"], positive="won")
    assert labels.values.tolist() == [1, -1, 1]
    assert labels.names.of(np.array([-1, 1, 0])).tolist() == ["lost", "won", "tie"]
    assert labels.counts == {"lost": 1, "won": 2}


def test_a_smaller_number_may_be_the_positive_one():
    labels = read([0, 1, 0], positive="0")
    assert labels.values.tolist() == [1, -1, 1]
    assert labels.names.of(labels.values).tolist() == [0, 1, 0]


def test_one_label_alone_has_a_name_for_its_opposite():
    labels = read(["won", "won"], positive="won")
    assert labels.names.of(np.array([1, -1])).tolist() == ["won", "not won"]


def test_three_outcomes():
    labels = read(["w", "d", "l", "w"], positive="w", draw="d")
    assert labels.values.tolist() == [1, 0, -1, 1]
    assert labels.names.of(labels.values).tolist() == ["w", "d", "l", "w"]
    numbers = read([1, 0, -1], draw="0")
    assert numbers.values.tolist() == [1, 0, -1]
    assert numbers.names is None


def test_rows_are_left_out_by_their_label():
    labels = read([1, 0, -1, 0], dropped=["0"])
    assert labels.values.tolist() == [1, -1]
    assert labels.kept.tolist() == [0, 2]
    assert labels.n_dropped == 2


def test_targets_of_a_regression():
    assert read([1, 2, 5], numeric=True).values.tolist() == [1.0, 2.0, 5.0]
    with pytest.raises(ValueError, match="got texts in column 'y'; expected numbers"):
        read(["a", "b"], numeric=True)


BAD = {
    "missing": ([1, None, -1], {}, r"got 1 missing label\(s\) in column 'y'"),
    "three": ([1, 0, -1], {}, r"got 3 labels in column 'y': -1, 0, 1; expected 2: .*--draw"),
    "four": ([1, 2, 3, 4], {"draw": "2"}, r"got 4 labels .*expected 3"),
    "unknown positive": (["a", "b"], {"positive": "c"}, "got --positive c, which no row"),
    "unknown draw": ([1, -1], {"draw": "0"}, "got --draw 0, which no row"),
    "unknown drop": ([1, -1], {"dropped": ["0"]}, "got --drop-label 0, which no row"),
    "all dropped": ([1, 1], {"dropped": ["1"]}, "got no row of column 'y' left"),
}


@pytest.mark.parametrize(("values", "options", "message"), BAD.values(), ids=BAD.keys())
def test_labels_that_are_none(values, options, message):
    with pytest.raises(ValueError, match=message):
        read(values, **options)


def test_names_and_values_are_as_many():
    with pytest.raises(ValueError, match="got 1 names for 2 labels"):
        LabelNames([-1, 1], ["a"])
