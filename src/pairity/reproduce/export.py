"""Tables as CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pairity.reproduce.accuracy_table import AccuracyTable
from pairity.reproduce.comparison import Comparison
from pairity.reproduce.paper import ACCURACIES
from pairity.reproduce.render import mirrored_rows, paper_coefficients
from pairity.reproduce.support_tables import KernelResult, SupportTable

__all__ = ["write_accuracy", "write_support"]

Row = Sequence[object]


def _write(path: Path, header: Row, rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_support(table: SupportTable, directory: Path) -> None:
    """``table1.csv`` and ``table1_summary.csv`` (or 2)."""
    header = (
        *("part", "kernel", "source", "index", "coefficient"),
        *("mirrored_index", "mirrored_coefficient"),
    )
    rows: list[Row] = []
    for result in table.results:
        sources = {
            "pairity": result.shown.coefficients,
            "paper": paper_coefficients(table.number, result.part),
        }
        for source, coefficients in sources.items():
            for row in mirrored_rows(coefficients):
                cells = ["" if cell is None else cell for cell in row]
                rows.append((result.part, result.title, source, *cells))
    _write(directory / f"table{table.number}.csv", header, rows)
    _write_support_summary(table, directory)


def _write_support_summary(table: SupportTable, directory: Path) -> None:
    header = (
        *("part", "kernel", "order_invariant", "run", "shown", "unique", "support_vectors"),
        *("mirrored_difference", "found_bias", "bias", "kkt_violation", "swap_error"),
    )
    rows = [
        _run_row(result, place) for result in table.results for place in range(len(result.runs))
    ]
    _write(directory / f"table{table.number}_summary.csv", header, rows)


def _run_row(result: KernelResult, place: int) -> Row:
    run = result.runs[place]
    return (
        result.part,
        result.title,
        result.order_invariant,
        run.how,
        run is result.shown,
        result.unique,
        int(np.count_nonzero(run.coefficients)),
        run.mirrored_difference,
        run.found_bias,
        run.bias,
        run.violation,
        run.swap_error,
    )


def write_accuracy(tables: Sequence[AccuracyTable], directory: Path) -> None:
    """``table3.csv`` and ``table3_summary.csv``."""
    header = (
        *("scenario", "repetition", "paper_K_P", "paper_K_P^o", "K_P", "K_P^o"),
        *("C_K_P", "C_K_P^o", "K_P_smallest_C", "K_P^o_smallest_C"),
    )
    rows = [
        (
            table.scenario,
            r.number,
            *(ACCURACIES[table.scenario][kernel][r.number - 1] for kernel in ("K_P", "K_P^o")),
            *(round(outcome.accuracy, 6) for outcome in (r.plain, r.invariant)),
            *(outcome.C for outcome in (r.plain, r.invariant)),
            *(round(outcome.accuracy_smallest, 6) for outcome in (r.plain, r.invariant)),
        )
        for table in tables
        for r in table.repetitions
    ]
    _write(directory / "table3.csv", header, rows)
    _write_accuracy_summary(tables, directory)


def _write_accuracy_summary(tables: Sequence[AccuracyTable], directory: Path) -> None:
    header = (
        "scenario",
        "source",
        "mean_K_P",
        "mean_K_P^o",
        "wins",
        "ties",
        "losses",
        "wilcoxon_p",
    )
    rows: list[Row] = []
    for table in tables:
        sources: dict[str, Comparison] = {
            "pairity": table.compare(),
            "pairity, smallest C of a tie": table.compare_smallest(),
            "paper, recomputed": table.compare_paper(),
        }
        for source, c in sources.items():
            means = round(c.mean_plain, 4), round(c.mean_invariant, 4)
            rows.append((table.scenario, source, *means, c.wins, c.ties, c.losses, c.p_value))
    _write(directory / "table3_summary.csv", header, rows)
