"""What a column holds is told by its content."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the matching extra")

from pairity.exceptions import DataError  # noqa: E402
from pairity.matching import Records  # noqa: E402
from pairity.pairs.column_kinds import (  # noqa: E402
    Kind,
    day_in,
    kind_of_column,
    number_in,
    plain_text,
    plain_texts,
)

COLUMNS = {
    Kind.TEXT: [
        "adobe photoshop elements 5.0 upgrade for windows",
        "the sims 2: pets expansion pack",
    ],
    Kind.NAME: ["Anna Blum", "Jürgen Groß", "O'Neill"],
    Kind.NUMBER: ["12.99", "$1,299.00", "7", "-3.5"],
    Kind.DATE: ["2001-12-31", "1999/01/02", "17.05.1980"],
    Kind.CODE: ["310/246-1501", "818/762-1221", "213-850-7777"],
    Kind.GEO: ["48.2082, 16.3738", "-33.86, 151.21"],
}


@pytest.mark.parametrize("kind", COLUMNS, ids=lambda kind: kind.value)
def test_kinds_by_content(kind):
    assert kind_of_column(plain_texts([*COLUMNS[kind], None, float("nan"), ""])) is kind


def test_numbers_that_name_something_are_codes():
    assert kind_of_column(plain_texts(["01020", "90210", "10001"])) is Kind.CODE
    assert kind_of_column(plain_texts([90210, 10001, 94103])) is Kind.CODE
    assert kind_of_column(plain_texts([1984, 2001, 1999])) is Kind.NUMBER
    assert kind_of_column(plain_texts(["", None])) is None


def test_values_are_read_plainly():
    assert plain_text("  Café   NOIR ") == "cafe noir"
    assert [plain_text(value) for value in (None, float("nan"), "N/A", 7.0)] == ["", "", "", "7"]
    assert number_in("$1,299.50") == 1299.5
    assert np.isnan(number_in("windows 98"))
    assert day_in("2001-12-31") - day_in("31.12.2000") == 365.0
    assert np.isnan(day_in("2001-13-41"))


def test_columns_of_one_table_only_are_named():
    left = pd.DataFrame(
        {"id": [1, 2], "name": ["a b", "c d"], "age": [3, 4], "empty": [None, None]}
    )
    right = pd.DataFrame({"id": [1], "name": ["a b"], "town": ["x"], "empty": [None]})
    records = Records.read(left, right)
    assert records.kinds == {"name": "name"}
    assert records.left_out == {
        "age": "in one table only",
        "town": "in one table only",
        "empty": "no value",
    }
    assert records.ids.tolist() == ["1", "2", "1"]
    assert Records.read(left, kinds={"name": "text"}, ignore=["age"]).kinds == {"name": "text"}


def test_latitude_and_longitude_are_one_place():
    table = pd.DataFrame({"lat": [48.2, 48.3], "lon": [16.4, None], "name": ["a", "b"]})
    records = Records.read(table)
    assert records.kinds == {"name": "name", "lat, lon": "geo"}
    assert records.columns[-1].missing.tolist() == [False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "key"}, "got no column 'key'"),
        ({"kinds": {"name": "tune"}}, "got 'tune' for column 'name'; expected one of text, name"),
        ({"ignore": ["name"]}, "got no column to compare"),
    ],
)
def test_bad_tables_are_refused(change, message):
    table = pd.DataFrame({"id": [1, 2], "name": ["a", "b"]})
    with pytest.raises(DataError, match=message):
        Records.read(table, **change)
    with pytest.raises(DataError, match="got the id '1' in 2 rows"):
        Records.read(pd.DataFrame({"id": [1, 1], "name": ["a", "b"]}))
