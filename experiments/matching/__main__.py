"""``python -m experiments.matching [products restaurants people forest]``: measure, print, keep.

People are 100,000 against 100,000; ``people=N`` takes others.  Results are in
``experiments/results/matching.json``; runs that are not asked for keep theirs.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.matching import real_tables
from experiments.matching.commands import run_match
from experiments.matching.forest import forest_scores
from experiments.matching.people import people

RESULTS = Path(__file__).resolve().parents[1] / "results" / "matching.json"


def products(folder: Path) -> dict[str, Any]:
    """Amazon and Google: with the labels of the published split, and with none."""
    real_tables.products(folder)
    tables, test = ("amazon.csv", "google.csv"), ("--held-out", "test.csv")
    return {
        "labels": run_match(
            folder, *tables, "--labels", "labelled.csv", *test, "--output", "matches.csv"
        ),
        "none": run_match(folder, *tables, *test, "--output", "matches.csv"),
    }


def restaurants(folder: Path) -> dict[str, Any]:
    """Two guides: with half of the matches as labels, and with none."""
    real_tables.restaurants(folder)
    tables = ("fodors.csv", "zagats.csv")
    labels = ("--labels", "labelled-places.csv", "--held-out", "test-places.csv")
    return {
        "labels": run_match(folder, *tables, *labels, "--output", "places.csv"),
        "none": run_match(folder, *tables, "--held-out", "matches.csv", "--output", "places.csv"),
    }


def made_people(folder: Path, n: int = 100_000) -> dict[str, Any]:
    """Persons made up: without labels, and with those of 500 of them."""
    for name, table in zip(("left.csv", "right.csv"), people(n), strict=True):
        table.to_csv(folder / name, index=False)
    ids = pd.DataFrame({"a": [f"a{row}" for row in range(n // 2)]})
    ids["b"] = ids["a"].str.replace("a", "b")
    ids.iloc[:500].to_csv(folder / "some.csv", index=False)
    ids.iloc[500:].to_csv(folder / "others.csv", index=False)
    tables, test = ("left.csv", "right.csv"), ("--held-out", "others.csv", "--output", "people.csv")
    return {
        "none": run_match(folder, *tables, *test),
        "labels": run_match(folder, *tables, "--labels", "some.csv", *test),
    }


def forest(folder: Path) -> dict[str, Any]:
    """A tuned random forest on the features of Amazon and Google."""
    real_tables.products(folder)
    return forest_scores(folder)


JOBS = {"products": products, "restaurants": restaurants, "people": made_people, "forest": forest}


def run(names: list[str]) -> dict[str, Any]:
    """Results of some jobs beside those that were kept."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for asked in names or JOBS:
        name, _, size = asked.partition("=")
        with tempfile.TemporaryDirectory() as folder:
            kept[asked] = JOBS[name](Path(folder), *([int(size)] if size else []))
        print(json.dumps({asked: kept[asked]}, indent=2), flush=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return kept


if __name__ == "__main__":
    run(sys.argv[1:])
