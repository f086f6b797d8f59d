"""Row groups gathered into parts, and pairs turned into numbers."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity.distributed.parts import (
    Columns,
    FramePart,
    ParquetPart,
    encode,
    find_files,
    ids_of,
    parquet_parts,
    pin,
)
from pairity.exceptions import DataError


def write(path, n_rows, row_group_size=10):
    frame = pd.DataFrame({"a": np.arange(n_rows), "b": np.arange(n_rows) + 1})
    frame.to_parquet(path, row_group_size=row_group_size, index=False)
    return str(path)


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=5).filter(any),
    most=st.integers(1, 100),
    multiple=st.integers(1, 4),
)
def test_parts_hold_every_row_group_once_and_in_order(tmp_path_factory, sizes, most, multiple):
    folder = tmp_path_factory.mktemp("parts")
    files = [write(folder / f"{number}.parquet", size) for number, size in enumerate(sizes)]
    pinned = [pin(path) for path in files]
    parts = parquet_parts(pinned, ["a", "b"], most, multiple)
    groups = [group for part in parts for group in part.groups]
    expected = [
        (path, number)
        for path, size in zip(pinned, sizes, strict=True)
        for number in range(-(-size // 10))
    ]
    assert groups == expected
    total = sum(sizes)
    wanted = math.ceil(math.ceil(total / most) / multiple) * multiple
    assert len(parts) <= min(wanted, len(expected))
    largest = max(sum(len(frame) for _, frame in part.frames(["a"])) for part in parts)
    assert largest <= total / wanted + 10  # within a row group of even


def test_files_are_found_by_path_folder_and_pattern(tmp_path):
    one, two = write(tmp_path / "one.parquet", 3), write(tmp_path / "two.parquet", 3)
    assert find_files(one) == [one]
    assert find_files(tmp_path) == [one, two]
    assert find_files(str(tmp_path / "*.parquet")) == [one, two]
    assert find_files([two, one]) == [two, one]
    with pytest.raises(DataError, match="holds no file"):
        find_files(tmp_path / "x*.parquet")
    with pytest.raises(DataError, match="which is no file"):
        find_files([one, tmp_path / "three.parquet"])
    with pytest.raises(DataError, match="without rows"):
        parquet_parts([pin(write(tmp_path / "none.parquet", 0))], ["a"], 10)
    with pytest.raises(DataError, match=r"no column 'c' in .*one.parquet"):
        parquet_parts([pin(one)], ["a", "c"], 10)


@pytest.mark.parametrize(
    "ids",
    [
        np.array(["x", "y", "z"]),
        np.array([10, 20, 30]),
        pd.date_range("2026-01-01", periods=3).to_numpy(),
    ],
    ids=["texts", "whole numbers", "dates"],
)
def test_ids_of_any_type_become_row_numbers(tmp_path, ids):
    frame = pd.DataFrame({"a": ids[[2, 0]], "b": ids[[1, 2]], "t": [0.5, 1.5]})
    frame.to_parquet(tmp_path / "pairs.parquet", index=False)
    part = ParquetPart(((pin(str(tmp_path / "pairs.parquet")), 0),))
    columns = Columns("a", "b", symmetric=("t",))
    (piece,) = encode(part, columns, pd.Index(ids), odd=True)
    assert piece.first.tolist() == [2, 0]
    assert piece.second.tolist() == [1, 2]
    assert piece.symmetric.tolist() == [[0.5], [1.5]]
    assert sorted(ids_of(part, columns)) == sorted(pd.Index(ids))


def test_ids_of_another_type_are_said_to_be(tmp_path):
    part = FramePart(4, pd.DataFrame({"a": ["1"], "b": ["2"]}))
    with pytest.raises(DataError, match=r"'1' \(str\) .* of partition 4.*their ids are like .*1"):
        list(encode(part, Columns("a", "b"), pd.Index([1, 2]), odd=False))


def test_features_that_are_no_numbers_are_refused():
    part = FramePart(0, pd.DataFrame({"a": [1], "b": [2], "g": ["near"]}))
    with pytest.raises(DataError, match=r"column 'g' of type .* in partition 0"):
        list(encode(part, Columns("a", "b", ("g",)), pd.Index([1, 2]), odd=False))


@pytest.mark.parametrize("dtype", ["float64", "Float64", "Int64"])
def test_missing_features_are_called_missing(dtype):
    frame = pd.DataFrame({"a": [1, 2], "b": [2, 1], "g": pd.Series([1, None], dtype=dtype)})
    with pytest.raises(
        DataError, match=r"got NaN or infinity in row 1 of partition 0 among \['g'\]"
    ):
        list(encode(FramePart(0, frame), Columns("a", "b", ("g",)), pd.Index([1, 2]), odd=False))


def test_a_swapped_feature_of_an_object_with_itself_is_refused():
    part = FramePart(0, pd.DataFrame({"a": [1, 2], "b": [2, 2], "g": [1.0, 1.0]}))
    columns = Columns("a", "b", antisymmetric=("g",))
    with pytest.raises(DataError, match="row 1 of partition 0 that pairs 2 with itself"):
        list(encode(part, columns, pd.Index([1, 2]), odd=False))
