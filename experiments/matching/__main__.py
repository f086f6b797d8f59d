"""``python -m experiments.matching [products restaurants citations people ...]``: measure, print, keep.

People are 100,000 against 100,000, with labels 10,000; ``people=N`` takes others.  Results are in
``experiments/results/matching.json``; runs that are not asked for keep theirs.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.matching.commands import run_match
from experiments.matching.forest import forest_scores
from experiments.matching.people import people
from experiments.matching.real_tables import citations, products, restaurants

RESULTS = Path(__file__).resolve().parents[1] / "results" / "matching.json"


def real(name: str, folder: Path) -> dict[str, Any]:
    """With labels, with none, and a tuned forest in the place of the automatic model.

    Where all matches are known, all of them are the test without labels.
    """
    tables = REAL[name](folder)
    labels, test, output = "labelled.csv", "test.csv", ("--output", "matches.csv")
    every = "all.csv" if (folder / "all.csv").exists() else test
    return {
        "labels": run_match(folder, *tables, "--labels", labels, "--held-out", test, *output),
        "none": run_match(folder, *tables, "--held-out", every, *output),
        "forest": forest_scores(folder, tables, labels, test),
    }


def made_people(folder: Path, n: int = 100_000) -> dict[str, Any]:
    """Persons made up, without labels."""
    tables, test = _people(folder, n)
    return {"none": run_match(folder, *tables, *test)}


def labelled_people(folder: Path, n: int = 10_000) -> dict[str, Any]:
    """Fewer, with the labels of 100 of them: a model takes longer to ask than evidence."""
    tables, test = _people(folder, n)
    return {"labels": run_match(folder, *tables, "--labels", "some.csv", *test)}


def _people(folder: Path, n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    for name, table in zip(("left.csv", "right.csv"), people(n), strict=True):
        table.to_csv(folder / name, index=False)
    ids = pd.DataFrame({"a": [f"a{row}" for row in range(n // 2)]})
    ids["b"] = ids["a"].str.replace("a", "b")
    ids.iloc[:100].to_csv(folder / "some.csv", index=False)
    ids.iloc[100:].to_csv(folder / "others.csv", index=False)
    return ("left.csv", "right.csv"), ("--held-out", "others.csv", "--output", "people.csv")


REAL = {"products": products, "restaurants": restaurants, "citations": citations}
JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    **{name: partial(real, name) for name in REAL},
    "people": made_people,
    "labelled-people": labelled_people,
}


def run(names: list[str]) -> None:
    """Measure some jobs, and keep the results beside those that were kept."""
    for asked in names or JOBS:
        name, _, size = asked.partition("=")
        with tempfile.TemporaryDirectory() as folder:
            found = JOBS[name](Path(folder), *([int(size)] if size else []))
        print(json.dumps({asked: found}, indent=2), flush=True)
        kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(kept | {asked: found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(sys.argv[1:])
