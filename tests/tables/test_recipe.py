"""From tables to pairs: ids by their text, missing numbers by a rule made in training."""

import datetime

import numpy as np
import pytest
import scipy.sparse as sp

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")

from pairity.io import Columns, Objects, Recipe  # noqa: E402
from pairity.io.recipe import Filling  # noqa: E402
from pairity.pairs.from_tables import text_of  # noqa: E402

NAN = float("nan")


def make_objects(ids, **columns):
    table = pd.DataFrame({"id": pd.Series(list(ids), dtype=object), **columns})
    return Objects.read(table, "id", list(columns), "objects.csv")


def make_frame(first, second, **columns):
    ends = {"a": pd.Series(first, dtype=object), "b": pd.Series(second, dtype=object)}
    return pd.DataFrame({**ends, **columns})


IDS = {
    "texts": ["ann", "bob", "cy"],
    "whole numbers": [10, 7, 300],
    "fractions": [0.5, 1.5, -2.0],
    "mixed": ["ann", 7, 2.5],
    "dates": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
    "truth values": [True, False, "maybe"],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS.keys())
def test_ids_of_any_type(ids):
    a, b, c = ids
    objects, frame = make_objects(ids, x=[1.0, 2.0, 3.0]), make_frame([a, c], [b, a])
    recipe = Recipe.learn(frame, objects, Columns("a", "b", features=("x",)), "p", impute=False)
    pairs = recipe.pairs(frame, objects, "p")
    assert pairs.first.tolist() == [0, 2]
    assert pairs.second.tolist() == [1, 0]
    alone = Objects.named_in(frame, Columns("a", "b"), "p")
    assert sorted(map(str, alone.ids)) == sorted(map(str, ids))


def test_an_id_is_its_text():
    """Whole numbers of a Parquet file, the same as texts of a CSV file, or as fractions."""
    objects = make_objects(["7", "10"], x=[1.0, 2.0])
    recipe = Recipe(Columns("a", "b", features=("x",)), identity=False)
    for first, second in (([7], [10]), ([7.0], [10.0]), (["7"], ["10"])):
        pairs = recipe.pairs(make_frame(first, second), objects, "p")
        assert (pairs.first.tolist(), pairs.second.tolist()) == ([0], [1])
    assert text_of(7.5) == "7.5"
    assert text_of(np.float64(3)) == "3"


def test_ids_alone_are_indicators():
    frame = make_frame(["b", "a"], ["c", "b"])
    objects = Objects.named_in(frame, Columns("a", "b"), "p")
    recipe = Recipe.learn(frame, objects, Columns("a", "b"), "p", impute=False)
    pairs = recipe.pairs(frame, objects, "p")
    assert sp.issparse(pairs.objects)
    assert pairs.objects.toarray().tolist() == np.eye(3).tolist()
    assert pairs.ids.tolist() == ["a", "b", "c"]
    assert recipe.feature_names(objects)["objects"] == ["is a", "is b", "is c"]


COLUMNS = Columns("a", "b", features=("x", "z"), symmetric=("gap",), antisymmetric=("lead",))


def imputed():
    """Object d is in no training pair: its numbers make no medians."""
    objects = make_objects("abcd", x=[1.0, NAN, 4.0, 1000.0], z=[5.0, 6.0, 7.0, NAN])
    frame = make_frame(["a", "b", "c"], ["b", "c", "a"], gap=[2.0, NAN, 8.0], lead=[NAN, -1.0, 1.0])
    return objects, frame, Recipe.learn(frame, objects, COLUMNS, "p", impute=True)


def test_the_rule_is_made_on_training_objects_alone():
    objects, _, recipe = imputed()
    assert recipe.filling == Filling([2.5, 6.0], [0])
    assert recipe.symmetric_filling == Filling([5.0], [0])
    assert recipe.antisymmetric_filling == Filling([0.0], [0])
    table = recipe.object_table(objects)
    assert table.tolist() == [
        [1.0, 5.0, 0.0],
        [2.5, 6.0, 1.0],
        [4.0, 7.0, 0.0],
        [1000.0, 6.0, 0.0],  # z was whole in training: filled without a flag
    ]


def test_flags_of_group_features_are_symmetric():
    objects, frame, recipe = imputed()
    pairs = recipe.pairs(frame, objects, "p")
    assert pairs.symmetric.tolist() == [[2.0, 0.0, 1.0], [5.0, 1.0, 0.0], [8.0, 0.0, 0.0]]
    assert pairs.antisymmetric.tolist() == [[0.0], [-1.0], [1.0]]
    assert recipe.feature_names(objects) == {
        "objects": ["x", "z", "x missing"],
        "symmetric": ["gap", "gap missing", "lead missing"],
        "antisymmetric": ["lead"],
    }


def test_the_rule_stays_the_same_later():
    _, _, recipe = imputed()
    later = make_objects("xy", x=[NAN, 9.0], z=[NAN, NAN])
    frame = make_frame(["x"], ["y"], gap=[NAN], lead=[NAN])
    pairs = recipe.pairs(frame, later, "p")
    assert pairs.objects.tolist() == [[2.5, 6.0, 1.0], [9.0, 6.0, 0.0]]
    assert pairs.symmetric.tolist() == [[5.0, 1.0, 1.0]]


def test_without_a_rule_missing_numbers_are_refused():
    objects, frame, _ = imputed()
    recipe = Recipe.learn(frame, objects, COLUMNS, "p", impute=False)
    with pytest.raises(ValueError, match=r"in p: column 'gap' \(1\); expected none.*--impute"):
        recipe.pairs(frame, objects, "p")
    whole = frame.assign(gap=1.0, lead=0.0)
    with pytest.raises(ValueError, match=r"in objects\.csv: column 'x' \(1\), 'z' \(1\); expected"):
        recipe.pairs(whole, objects, "p")


def test_columns_that_cannot_be_filled_or_used():
    empty = make_objects("ab", x=[NAN, NAN])
    frame, columns = make_frame(["a"], ["b"]), Columns("a", "b", features=("x",))
    with pytest.raises(ValueError, match=r"got column 'x' of objects\.csv without a single number"):
        Recipe.learn(frame, empty, columns, "p", impute=True)
    with pytest.raises(ValueError, match=r"got 1 infinite number\(s\) in column 'x'"):
        make_objects("ab", x=[1.0, float("inf")])
    with pytest.raises(ValueError, match=r"got texts in column 'x' of objects\.csv"):
        make_objects("ab", x=["1", "b"])


def test_ids_that_are_wrong():
    objects, columns = make_objects("ab", x=[1.0, 2.0]), Columns("a", "b", features=("x",))
    recipe = Recipe(columns, identity=False)
    with pytest.raises(
        ValueError, match=r"got the id 'z' in column 'b' that objects\.csv does not"
    ):
        recipe.pairs(make_frame(["a"], ["z"]), objects, "p")
    with pytest.raises(ValueError, match=r"got 1 missing id\(s\) in column 'a' of p"):
        recipe.pairs(make_frame([None], ["b"]), objects, "p")
    with pytest.raises(ValueError, match=r"got the id 'a' in 2 rows of objects\.csv"):
        make_objects("aba", x=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="got the id '7' in 2 rows"):
        make_objects([7, "7"], x=[1.0, 2.0])


@pytest.mark.parametrize("parts", [([NAN], []), (["x"], []), ([1.0], [1]), ([1.0], ["a"])])
def test_rules_that_cannot_be(parts):
    with pytest.raises(ValueError, match="rule for missing numbers"):
        Filling(*parts)
