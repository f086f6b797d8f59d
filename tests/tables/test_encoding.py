"""Columns of any type: encoded as in training, kept in model files, from any kind of table."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")

import pairity  # noqa: E402
from pairity import PairLogistic, Pairs  # noqa: E402
from pairity.exceptions import DataError  # noqa: E402
from pairity.io import ModelMetadata, read_model_file  # noqa: E402
from pairity.pairs import TableEncoding  # noqa: E402

WINES = pd.DataFrame(
    {
        "id": ["w1", "w2", "w3", "w4", "w5", "w6"],
        "colour": ["red", "white", "red", None, "white", "red"],
        "price": [10.0, 20.0, None, 40.0, 50.0, 60.0],
        "made": pd.to_datetime(
            ["2001-01-01", "2002-01-01", None, "2001-01-01", "2003-07-02", "1999-12-31"]
        ),
        "notes": [
            "dry and long",
            "dry",
            "sweet, long finish",
            "long",
            "very sweet",
            "oak and dry wood",
        ],
        "organic": [True, False, True, True, False, False],
    }
)
FEATURES = ["colour", "price", "made", "notes", "organic"]


@pytest.fixture(scope="module")
def encoding():
    return TableEncoding.learn(WINES, FEATURES, kinds={"notes": "text"})


def test_every_kind_of_column(encoding):
    assert encoding.kinds == {
        "colour": "category",
        "price": "number",
        "made": "date",
        "notes": "text",
        "organic": "number",
    }
    block = pd.DataFrame(encoding.apply(WINES), columns=encoding.columns)
    assert block["colour=red"].tolist() == [1, 0, 1, 0, 0, 1]
    assert block["colour missing"].tolist() == [0, 0, 0, 1, 0, 0]
    assert block["price"].tolist() == [10, 20, 40, 40, 50, 60]  # the median of what is there
    assert block["price missing"].tolist() == [0, 0, 1, 0, 0, 0]
    assert block["made (year)"][0] == pytest.approx(2001.0, abs=0.01)
    assert block["made (year)"][4] == pytest.approx(2003.5, abs=0.01)
    assert block["organic"].tolist() == [1, 0, 1, 1, 0, 0]
    words = block[[name for name in block if name.startswith("notes: ")]]
    assert {"notes: dry", "notes: long", "notes: and"} <= set(words)
    lengths = np.sqrt((words**2).sum(axis=1))
    np.testing.assert_allclose(lengths[[0, 1, 3]], 1.0)
    assert lengths[4] == 0.0  # no word that training has twice


def test_new_values(encoding):
    new = pd.DataFrame(
        {
            "colour": ["rosé"],
            "price": ["$12.50"],
            "made": ["2004-01-01"],
            "notes": [None],
            "organic": [True],
        }
    )
    row = dict(zip(encoding.columns, encoding.apply(new)[0], strict=True))
    assert row["colour=red"] == row["colour=white"] == row["colour missing"] == 0.0
    assert row["price"] == 12.5
    with pytest.raises(DataError, match="got 'cheap' in column 'price'; expected a number"):
        encoding.apply(new.assign(price="cheap"))
    with pytest.raises(DataError, match="got no column 'price'"):
        encoding.apply(new.drop(columns="price"))


def test_bad_columns_are_refused():
    with pytest.raises(DataError, match="without a single value"):
        TableEncoding.learn(pd.DataFrame({"a": [None, None]}))
    with pytest.raises(DataError, match="got 'colour' for column 'a'"):
        TableEncoding.learn(pd.DataFrame({"a": [1]}), kinds={"a": "colour"})


def make_pairs(encoding, wines=WINES, games=None):
    games = (
        pd.DataFrame({"a": ["w1", "w2", "w5"], "b": ["w3", "w4", "w6"]}) if games is None else games
    )
    return Pairs.from_frame(games, first="a", second="b", objects=wines, id="id", encoding=encoding)


def test_pairs_of_columns_of_any_type(encoding):
    pairs = make_pairs(encoding)
    assert pairs.n_object_features == len(encoding.columns)
    assert (pairs.objects == encoding.apply(WINES)).all()
    games = pd.DataFrame({"a": ["w1", "w2"], "b": ["w3", "w4"], "league": ["x", "y"]})
    with_group = Pairs.from_frame(
        games,
        first="a",
        second="b",
        objects=WINES,
        id="id",
        symmetric=["league"],
        encoding=encoding,
        symmetric_encoding=TableEncoding.learn(games, ["league"], kinds={"league": "category"}),
    )
    assert with_group.symmetric.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_tables_of_other_libraries(encoding):
    pa = pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")
    games = pd.DataFrame({"a": ["w1", "w2", "w5"], "b": ["w3", "w4", "w6"]})
    expected = make_pairs(encoding)
    arrow = make_pairs(encoding, pa.Table.from_pandas(WINES), pa.Table.from_pandas(games))
    assert (arrow.to_rows() == expected.to_rows()).all()
    mapping = make_pairs(encoding, WINES.to_dict("list"), games.to_dict("list"))
    assert (mapping.to_rows() == expected.to_rows()).all()
    with pytest.raises(
        ValueError, match="got pairs of type list; expected a table with named columns"
    ):
        make_pairs(encoding, games=[1, 2])


def test_polars_tables(encoding):
    pl = pytest.importorskip("polars", reason="polars comes with the extra of developers")
    games = pl.DataFrame({"a": ["w1", "w2", "w5"], "b": ["w3", "w4", "w6"]})
    found = make_pairs(encoding, pl.from_pandas(WINES), games)
    assert (found.to_rows() == make_pairs(encoding).to_rows()).all()


def test_the_encoding_is_kept_in_the_model_file(encoding, tmp_path):
    pairs = make_pairs(encoding)
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, [1, -1, 1])
    kept = ModelMetadata(feature_names={"objects": encoding.columns}, extra={"encoding": encoding})
    pairity.save(model, tmp_path / "wines.pairity", kept)
    again = read_model_file(tmp_path / "wines.pairity").metadata.extra["encoding"]
    assert again == encoding
    assert (again.apply(WINES) == encoding.apply(WINES)).all()


def test_the_shell_takes_columns_of_any_type(tmp_path, monkeypatch):
    pytest.importorskip("click", reason="click comes with the command line extra")
    from click.testing import CliRunner

    from pairity.app.cli.commands import main

    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    n = 40
    wines = pd.DataFrame(
        {
            "id": [f"w{row}" for row in range(n)],
            "colour": random.choice(["red", "white"], n),
            "price": random.uniform(5, 50, n).round(2),
            "made": pd.date_range("2001-01-01", periods=n).astype(str),
        }
    )
    wines.loc[3, "price"] = None
    score = (wines["colour"] == "red") + wines["price"].fillna(20) / 50
    first = random.integers(0, n, 200)
    second = (first + random.integers(1, n, 200)) % n
    votes = pd.DataFrame({"a": wines["id"][first].to_numpy(), "b": wines["id"][second].to_numpy()})
    votes["place"] = random.choice(["home", "away"], 200)
    votes["won"] = (score[first].to_numpy() > score[second].to_numpy()).astype(int)
    wines.to_csv("wines.csv", index=False)
    votes.to_csv("votes.csv", index=False)
    shared = [
        "--first",
        "a",
        "--second",
        "b",
        "--label",
        "won",
        "--objects",
        "wines.csv",
        "--symmetry",
        "antisymmetric",
    ]
    shared += ["--learner", "logistic", "--kernel", "linear", "--symmetric-feature", "place"]
    plain = CliRunner().invoke(main, ["fit", "votes.csv", *shared, "--output", "m.pairity"])
    assert plain.exit_code == 2
    done = CliRunner().invoke(
        main, ["fit", "votes.csv", *shared, "--encode", "--json", "--output", "m.pairity"]
    )
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["columns taken as"] == {
        "colour": "category",
        "price": "number",
        "made": "date",
        "place": "category",
    }
    names = read_model_file(tmp_path / "m.pairity").metadata.feature_names
    assert names["objects"] == [
        "colour=red",
        "colour=white",
        "price",
        "price missing",
        "made (year)",
    ]
    assert names["symmetric"] == ["place=away", "place=home"]
    new = wines.assign(id=[f"n{row}" for row in range(n)])
    new.loc[5, "colour"] = "rosé"
    new.to_csv("new.csv", index=False)
    pd.DataFrame({"a": ["n1", "n2"], "b": ["n5", "n4"], "place": "home"}).to_csv(
        "ask.csv", index=False
    )
    asked = CliRunner().invoke(
        main, ["predict", "m.pairity", "ask.csv", "--objects", "new.csv", "--output", "out.csv"]
    )
    assert asked.exit_code == 0, asked.output
    assert len(pd.read_csv("out.csv")) == 2
    ranked = CliRunner().invoke(
        main, ["rank", "m.pairity", "--pairs", "votes.csv", "--output", "r.csv"]
    )
    assert ranked.exit_code == 0, ranked.output
