"""``python -m experiments.quality [--tasks ...] [--methods ...] [--splits N] [--quick]``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from experiments.quality import report
from experiments.quality.measure import seed
from experiments.quality.method import N_SETTINGS
from experiments.quality.methods import METHODS
from experiments.quality.run import Plan, run_plan
from experiments.quality.task import DATA
from experiments.quality.tasks import MAKERS
from experiments.tables import with_tables

ROOT = Path(__file__).resolve().parents[2]
#: Splits and settings of a quick look.
QUICK = 2, 4


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments.quality", description=__doc__)
    parser.add_argument("--tasks", nargs="+", choices=list(MAKERS), metavar="TASK")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), metavar="METHOD")
    parser.add_argument("--splits", type=int, help="outer splits of each task, at least 2")
    parser.add_argument("--quick", action="store_true", help="2 splits, 4 settings: a first look")
    parser.add_argument("--again", nargs="+", choices=list(METHODS), default=[], metavar="METHOD")
    parser.add_argument("--jobs", type=int, default=2, help="processes of one thread each")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the shared data")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "quality")
    return parser


def main() -> None:
    """Run, print the tables, write the files, and bring the page up to date if the run is whole."""
    parser = _parser()
    given = parser.parse_args()
    splits, settings = QUICK if given.quick else (None, N_SETTINGS)
    splits = given.splits or splits
    if given.jobs < 1 or (splits is not None and splits < 2):
        parser.error(
            f"got --splits {splits} --jobs {given.jobs}; expected at least 2 splits, for a spread,"
            " and at least 1 process."
        )
    plan = Plan(
        tasks=tuple(given.tasks or MAKERS),
        methods=tuple(given.methods or METHODS),
        data=given.data,
        cache=given.cache / "quick" if given.quick else given.cache,
        splits=splits,
        n_settings=settings,
        again=tuple(given.again),
    )
    start = time.perf_counter()
    if not given.quick and (report.RESULTS / "quality.json").exists():
        kept = json.loads((report.RESULTS / "quality.json").read_text(encoding="utf-8"))
        seed(plan.cache, kept["results"])
    results = run_plan(plan, given.jobs)
    if not results["results"]:
        sys.exit(f"got no data in {given.data}; expected the shared sets: name them by --data.")
    whole = not (given.tasks or given.methods or splits or results["skipped"])
    folder = report.RESULTS if whole else plan.cache
    report.write_tables(results, folder)
    if whole:
        page = report.PAGE.read_text(encoding="utf-8")
        report.PAGE.write_text(with_tables(page, report.markdown(results)), encoding="utf-8")
    print(report.markdown(results))
    print(f"quality.json and quality.md in {folder} ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
