"""Pairs from pandas tables with ids."""

import numpy as np
import pytest
import scipy.sparse as sp

from pairity import Pairs
from pairity.exceptions import PairityWarning

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")

OBJECTS = {"height": [1.0, 2.0, 3.0], "weight": [10, 20, 30]}


def make_objects(ids):
    return pd.DataFrame(OBJECTS, index=pd.Index(ids, tupleize_cols=False))


ID_KINDS = {
    "text": ["ann", "bob", "cy"],
    "whole numbers": [10, 7, 300],
    "mixed": ["ann", 7, (1, 2)],
    "tuples": [("a", 1), ("a", 2), ("b", 1)],
    "dates": list(pd.to_datetime(["2020-01-01", "2020-01-02", "2021-05-05"])),
    "fractions": [0.5, 1.5, -2.0],
    "truth values": [True, False, "maybe"],
}


@pytest.mark.parametrize("ids", ID_KINDS.values(), ids=ID_KINDS.keys())
def test_ids_of_any_type(ids):
    a, b, c = ids
    frame = pd.DataFrame({"one": pd.Series([a, c, b]), "two": pd.Series([b, a, c])})
    pairs = Pairs.from_frame(frame, first="one", second="two", objects=make_objects(ids))
    assert pairs.first.tolist() == [0, 2, 1]
    assert pairs.second.tolist() == [1, 0, 2]
    assert pairs.objects.tolist() == [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]
    assert pairs.ids.tolist() == ids


def test_dates_of_different_precision_are_the_same_dates():
    days = pd.to_datetime(["2020-01-01", "2020-01-02", "2021-05-05"])
    frame = pd.DataFrame({"one": days.as_unit("s")[:1], "two": days.as_unit("s")[1:2]})
    objects = pd.DataFrame(OBJECTS, index=days.as_unit("ns"))
    pairs = Pairs.from_frame(frame, first="one", second="two", objects=objects)
    assert (pairs.first[0], pairs.second[0]) == (0, 1)


def test_ids_in_a_column_and_chosen_features():
    objects = pd.DataFrame({"name": ["x", "y"], **{k: v[:2] for k, v in OBJECTS.items()}})
    frame = pd.DataFrame({"one": ["y"], "two": ["x"], "gap": [3.5], "lead": [-2]})
    pairs = Pairs.from_frame(
        frame,
        first="one",
        second="two",
        objects=objects,
        id="name",
        symmetric=["gap"],
        antisymmetric=["lead"],
    )
    assert pairs.to_rows().tolist() == [[2.0, 20.0, 3.5, -2.0, 1.0, 10.0]]
    assert pairs.ids.tolist() == ["x", "y"]
    chosen = Pairs.from_frame(
        frame, first="one", second="two", objects=objects, id="name", features=["weight"]
    )
    assert chosen.to_rows().tolist() == [[20.0, 10.0]]


def test_without_objects_each_id_is_an_indicator():
    frame = pd.DataFrame({"winner": ["b", "a"], "loser": ["c", "b"]})
    pairs = Pairs.from_frame(frame, first="winner", second="loser")
    assert sp.issparse(pairs.objects)
    assert pairs.ids.tolist() == ["a", "b", "c"]
    assert pairs.to_rows().toarray().tolist() == [[0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0]]


@pytest.mark.parametrize("ids", ID_KINDS.values(), ids=ID_KINDS.keys())
def test_without_objects_ids_of_any_type(ids):
    a, b, c = ids
    frame = pd.DataFrame({"one": pd.Series([a, c, b]), "two": pd.Series([b, a, c])})
    pairs = Pairs.from_frame(frame, first="one", second="two")
    assert pairs.n_objects == 3
    assert [pairs.ids.tolist()[place] for place in pairs.first] == [
        pairs.ids.tolist()[place] for place in pairs.second[[1, 2, 0]]
    ]
    assert len(set(pairs.first.tolist())) == 3


def test_columns_of_different_types_name_the_same_objects():
    frame = pd.DataFrame({"one": pd.Series([1, 2]), "two": pd.Series(["b", 1], dtype=object)})
    pairs = Pairs.from_frame(frame, first="one", second="two")
    assert pairs.n_objects == 3
    assert pairs.first[0] == pairs.second[1]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=repr)
@pytest.mark.parametrize(
    "objects", [None, make_objects(["a", "b", "c"])], ids=["no table", "table"]
)
def test_missing_ids(missing, objects):
    frame = pd.DataFrame({"one": ["a", "b"], "two": pd.Series(["b", missing], dtype=object)})
    with pytest.raises(ValueError, match=r"got 1 missing id\(s\) in column 'two'; expected"):
        Pairs.from_frame(frame, first="one", second="two", objects=objects)


def test_unknown_ids():
    frame = pd.DataFrame({"one": ["a", "zoe", "zoe"], "two": ["b", "a", "b"]})
    message = r"got the id 'zoe' in column 'one' that the objects do not have \(2 rows\);"
    with pytest.raises(ValueError, match=message):
        Pairs.from_frame(frame, first="one", second="two", objects=make_objects(list("abc")))
    frame["one"] = ["yan", "zoe", "zoe"]
    message = r"got 2 ids in column 'one' .* \(3 rows\), the first 'yan'"
    with pytest.raises(ValueError, match=message):
        Pairs.from_frame(frame, first="one", second="two", objects=make_objects(list("abc")))


def test_repeated_ids():
    frame = pd.DataFrame({"one": ["a"], "two": ["b"]})
    with pytest.raises(ValueError, match=r"got object id 'b' more than once; .*drop the repeated"):
        Pairs.from_frame(frame, first="one", second="two", objects=make_objects(["a", "b", "b"]))


@pytest.mark.parametrize(
    "names",
    [
        {"first": "nope"},
        {"second": "nope"},
        {"symmetric": ["nope"]},
        {"antisymmetric": ["nope"]},
        {"features": ["nope"]},
        {"id": "nope"},
    ],
    ids=str,
)
def test_missing_columns(names):
    frame = pd.DataFrame({"one": ["a"], "two": ["b"]})
    with pytest.raises(ValueError, match=r"got no column 'nope'; expected one of \["):
        Pairs.from_frame(
            frame,
            **{"first": "one", "second": "two", "objects": make_objects(list("abc")), **names},
        )


def test_text_columns_are_named():
    frame = pd.DataFrame({"one": ["a"], "two": ["b"], "venue": ["home"]})
    objects = make_objects(list("abc"))
    with pytest.raises(ValueError, match=r"got column 'venue' of type .*expected numbers: encode"):
        Pairs.from_frame(frame, first="one", second="two", objects=objects, symmetric=["venue"])
    objects["team"] = ["red", "blue", "red"]
    with pytest.raises(ValueError, match=r"got column 'team' of type .*expected numbers: encode"):
        Pairs.from_frame(frame, first="one", second="two", objects=objects)


@pytest.mark.parametrize("dtype", ["float64", "Float64", "Int64"])
def test_missing_numbers_are_called_missing(dtype):
    frame = pd.DataFrame({"one": ["a", "b"], "two": ["b", "c"]})
    frame["gap"] = pd.Series([1, None], dtype=dtype)
    with pytest.raises(ValueError, match=r"got 1 NaN value\(s\) in symmetric"):
        Pairs.from_frame(
            frame, first="one", second="two", objects=make_objects(list("abc")), symmetric=["gap"]
        )


def test_truth_values_are_numbers():
    frame = pd.DataFrame({"one": ["a"], "two": ["b"], "same": [True]})
    pairs = Pairs.from_frame(frame, first="one", second="two", symmetric=["same"])
    assert pairs.symmetric.tolist() == [[1.0]]


def test_ids_that_are_names_only():
    frame = pd.DataFrame({"one": ["a", "b"], "two": ["b", "c"], "gap": [1.0, 2.0]})
    options = {"first": "one", "second": "two", "symmetric": ["gap"]}
    named = Pairs.from_frame(frame, ids="names", **options)
    assert named.objects.shape == (3, 0)
    assert named.ids.tolist() == ["a", "b", "c"]
    assert (named.first == Pairs.from_frame(frame, **options).first).all()
    with pytest.raises(ValueError, match=r"got ids='none'; expected one of"):
        Pairs.from_frame(frame, ids="none", **options)


def test_objects_that_are_no_table():
    frame = pd.DataFrame({"one": ["a"], "two": ["b"]})
    message = r"got objects of type csr_array; expected a table with named columns.*Pairs\(objects"
    with pytest.raises(ValueError, match=message):
        Pairs.from_frame(frame, first="one", second="two", objects=sp.csr_array(np.eye(2)))


@pytest.mark.parametrize("first", [["one"], np.array([0, 1])], ids=str)
def test_names_that_are_values(first):
    frame = pd.DataFrame({"one": ["a", "b"], "two": ["b", "a"]})
    with pytest.raises(ValueError, match=r"got \w+ .* as the name of a column; expected one name"):
        Pairs.from_frame(frame, first=first, second="two")


@pytest.mark.parametrize("name", ["id", "team_id", "teamId", "Unnamed: 0"])
def test_ids_taken_for_features(name):
    frame = pd.DataFrame({"one": [0, 1], "two": [1, 2]})
    objects = pd.DataFrame({name: [5, 6, 7], "size": [1.0, 2.0, 3.0]})
    ends = {"first": "one", "second": "two"}
    with pytest.warns(PairityWarning, match=f"column '{name}' of the objects .* like an id"):
        Pairs.from_frame(frame, objects=objects, **ends)
    for options in ({"features": ["size", name]}, {"features": ["size"]}):
        Pairs.from_frame(frame, objects=objects, **ends, **options)  # said so: no warning
    others = objects.rename(columns={name: "paid"}).assign(rank_id=[1, 1, 2], id=[0.5, 1.5, 2.5])
    Pairs.from_frame(frame, objects=others, **ends)
