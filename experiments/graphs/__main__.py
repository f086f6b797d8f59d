"""``python -m experiments.graphs [--seeds N] [--only TASK] [--data FOLDER] [--jobs N]``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from experiments.graphs import figure, report
from experiments.graphs.run import DATA, SEEDS, TASKS, default_jobs, run_all
from experiments.tables import with_tables

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "experiments" / "results", ROOT / "docs" / "graph-experiment.md"


def main() -> None:
    """Run, print the tables, write the files, and bring the page up to date if the run is whole."""
    parser = argparse.ArgumentParser(prog="python -m experiments.graphs", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="splits of each task, at least 2")
    parser.add_argument("--only", choices=sorted(TASKS), action="append", help="some tasks only")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the shared data")
    parser.add_argument("--jobs", type=int, default=default_jobs(), help="processes")
    parser.add_argument("--output", type=Path, default=None, help="folder for the files")
    arguments = parser.parse_args()
    if arguments.seeds < 2 or arguments.jobs < 1:
        parser.error(
            f"got --seeds {arguments.seeds} --jobs {arguments.jobs}; expected at least 2 seeds, for a"
            " spread, and at least 1 process."
        )
    start = time.perf_counter()
    results = run_all(
        arguments.only or list(TASKS), arguments.seeds, arguments.data, arguments.jobs
    )
    for name, reason in results["skipped"].items():
        print(f"{name} skipped: {reason}", file=sys.stderr)
    if not results["scores"]:
        sys.exit(f"got no data in {arguments.data}; expected the shared sets: name them by --data.")
    whole = not arguments.only and not results["skipped"] and arguments.seeds == SEEDS
    folder = arguments.output or (RESULTS if whole else ROOT / "build" / "experiments")
    report.write_tables(results, folder, "graphs")
    figure.draw(results, folder / "graphs.png")
    if whole and arguments.output is None:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_tables(page, report.markdown(results)), encoding="utf-8")
    print(report.markdown(results))
    print(f"graphs.json, graphs.md, graphs.png in {folder} ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
