"""CSV and Parquet in and out."""

import gzip

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")

from pairity.io import read_table, write_table  # noqa: E402
from pairity.io.tables import kind_of  # noqa: E402
from pairity.pairs.from_tables import column_of  # noqa: E402


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "pq", "CSV"])
def test_numbers_and_texts_come_back_exactly(ending, tmp_path, rng):
    table = pd.DataFrame(
        {
            "name": ["a", "b,c", 'd"e', "\u00e9\U0001f600"],
            "x": [0.1 + 0.2, -1e-300, 12345678901234567.0, rng.normal()],
            "n": [1, -2, 3, 2**53],
            "flag": [True, False, True, True],
        }
    )
    path = tmp_path / f"table.{ending}"
    write_table(table, path)
    again = read_table(path, texts=["name"])
    assert again["x"].to_numpy().tobytes() == table["x"].to_numpy().tobytes()
    for name in ("name", "n", "flag"):
        assert again[name].tolist() == table[name].tolist()


def test_ids_are_read_as_they_stand(tmp_path):
    path = written(tmp_path / "t.csv", "id,x\n007,1\nNA,2\nNone,3\n1.0,\n")
    table = read_table(path, texts=["id"])
    assert table["id"].tolist() == ["007", "NA", "None", "1.0"]
    assert table["x"].isna().tolist() == [False, False, False, True]


def test_an_id_is_missing_where_there_is_nothing(tmp_path):
    table = read_table(written(tmp_path / "t.csv", "id,x\n,1\nb,NA\n"), texts=["id"])
    assert table["id"].isna().tolist() == [True, False]
    assert table["x"].isna().tolist() == [False, True]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    table = read_table(written(tmp_path / "t.csv", "id,x\na,1\n", "utf-8-sig"))
    assert list(table.columns) == ["id", "x"]


BAD = {
    "nothing": ("", "without content"),
    "names only": ("a,b\n", "without rows"),
    "a name twice": ("a,b,a\n1,2,3\n", "got 2 columns named 'a'"),
    "long line": ("a,b\n1,2\n1,2,3\n", "cannot be read as text in columns"),
    "all lines long": ("a,b\n1,2,3\n4,5,6\n", "cannot be read as text in columns"),
    "open quote": ('a,b\n"1,2\n3,4\n', "cannot be read as text in columns"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_text_that_is_no_table(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_table(written(tmp_path / "t.csv", text))


def test_bytes_that_are_no_text(tmp_path):
    with pytest.raises(ValueError, match="cannot be read as text in columns"):
        read_table(written(tmp_path / "t.csv", "a,b\n\u00e9,2\n", "latin-1"))


def test_parquet_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="is no Parquet file"):
        read_table(written(tmp_path / "t.parquet", "a,b\n"))
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "missing.parquet")
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "missing.csv")


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.parquet.gz", "csv"])
def test_other_endings(name, tmp_path):
    with pytest.raises(ValueError, match=r"expected a name that ends in \.csv"):
        kind_of(tmp_path / name)


def test_compressed_text_is_compressed(tmp_path):
    write_table(pd.DataFrame({"a": [1]}), tmp_path / "t.csv.gz")
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()) == b"a\n1\n"


def test_columns_of_several_types_are_texts_in_parquet(tmp_path):
    table = pd.DataFrame({"label": np.array([1, "tie", -1], dtype=object)})
    write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")["label"].tolist() == ["1", "tie", "-1"]


def test_an_index_with_a_name_is_a_column(tmp_path):
    table = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index([7, 8], name="id"))
    table.to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").columns) == ["id", "x"]


def test_a_missing_column_is_named_with_those_there_are():
    table = pd.DataFrame({"one": [1], "two": [2]})
    assert column_of(table, "two", "t.csv").tolist() == [2]
    with pytest.raises(ValueError, match=r"got no column 'tow' in t\.csv; expected .*\(one, two\)"):
        column_of(table, "tow", "t.csv")


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (lambda whole: whole[: len(whole) // 2], "cut short"),
        (lambda whole: whole[:5], "cut short"),
        (lambda whole: whole[:-6] + bytes([whole[-6] ^ 255]) + whole[-5:], "damaged"),
        (lambda whole: b"first,second\n1,2\n", "damaged"),
    ],
    ids=["half", "header", "checksum", "not compressed"],
)
def test_compressed_files_that_are_not_whole(tmp_path, damage, word):
    rows = "".join(f"{number},{number**2}\n" for number in range(500))
    path = tmp_path / "t.csv.gz"
    path.write_bytes(damage(gzip.compress(f"first,second\n{rows}".encode())))
    with pytest.raises(
        ValueError, match=rf"got .*t\.csv\.gz, which is {word}.*; expected a whole gzip"
    ):
        read_table(path)


@pytest.mark.parametrize(
    ("values", "back"),
    [
        ([2**63, 1], [2**63, 1]),
        ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        ([2**64, 1], [str(2**64), "1"]),
        ([2**63, -1], [str(2**63), "-1"]),
    ],
    ids=["unsigned", "signed", "too large", "too wide"],
)
def test_large_whole_numbers_in_parquet(tmp_path, values, back):
    write_table(pd.DataFrame({"id": pd.Series(values, dtype=object)}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")["id"].tolist() == back
