"""What a reproduction leaves: console tables, CSV files, figures."""

from __future__ import annotations

import csv
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from pairity.app.cli.showcase import count_steps, make_table
from pairity.app.reproduce.render import mirrored_rows


@pytest.fixture
def console():
    return Console(file=StringIO(), width=130)


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("number", [1, 2])
def test_support_tables_are_printed_and_written(number, tmp_path, console):
    make_table(f"table{number}", tmp_path, console)
    text = console.file.getvalue()
    assert f"Table {number}(a): linear" in text
    assert {1: "(19)  0.2019", 2: "(24) -1.0000"}[number] in text  # the paper's
    assert {1: "0.2: no draw can give less than 0.780, so impossible", 2: "about 0.07"}[
        number
    ] in text
    names = {f"table{number}.csv", f"table{number}_summary.csv", f"table{number}.png"}
    assert {path.name for path in tmp_path.iterdir()} == names
    rows = read(tmp_path / f"table{number}.csv")
    assert {row["source"] for row in rows} == {"pairity", "paper"}
    assert (tmp_path / f"table{number}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    summary = read(tmp_path / f"table{number}_summary.csv")
    assert len(summary) == 5 * 3 + 2
    shown = [row for row in summary if row["shown"] == "True"]
    assert len(shown) == 7
    for row in shown:
        small = float(row["mirrored_difference"]) < 1e-6
        assert small == (row["order_invariant"] == "True")


def test_table_3_is_printed_and_written(tmp_path, console):
    ticks = []
    make_table("table3", tmp_path, console, tick=lambda: ticks.append(1), repetitions=1)
    assert len(ticks) == count_steps(["table3"], repetitions=1) == 2
    text = console.file.getvalue()
    for figure in ("89.48", "94.52", "92.46", "94.74", "1.7e-04", "1.5e-03"):
        assert figure in text
    rows = read(tmp_path / "table3.csv")
    assert [(row["scenario"], row["repetition"]) for row in rows] == [("3", "1"), ("4", "1")]
    assert rows[0]["paper_K_P"] == "92.5"
    assert len(read(tmp_path / "table3_summary.csv")) == 6
    assert (tmp_path / "table3.png").stat().st_size > 10_000


def test_steps_of_a_whole_run():
    assert count_steps(["table1", "table2", "table3"]) == 42


def test_mirrored_rows_keep_a_support_vector_without_its_mirror_image():
    coefficients = np.zeros(32)
    coefficients[1], coefficients[7], coefficients[23] = 0.25, 1.0, -1.0
    assert mirrored_rows(coefficients) == [(2, 0.25, 18, None), (8, 1.0, 24, -1.0)]
