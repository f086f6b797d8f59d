"""``python -m experiments.football [--data FOLDER] [--output FOLDER] [--jobs N]``."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from experiments.football import figure, report
from experiments.football.matches import FILE
from experiments.football.protocol import SPLITS, run_alone

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "experiments" / "results", ROOT / "docs" / "probabilities.md"
#: The shared data lie beside the repository; they are read in place.
DATA = ROOT.parent / "shared" / "data"


def main() -> None:
    """Run both splits, write the files, and bring the page up to date."""
    parser = argparse.ArgumentParser(prog="python -m experiments.football", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the shared data")
    parser.add_argument("--output", type=Path, default=None, help="folder for the files")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    if not (arguments.data / FILE).exists():
        sys.exit(f"got no {FILE} in {arguments.data}; expected the shared set: name it by --data.")
    start = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, context) as pool:
        splits = list(pool.map(run_alone, [(split, arguments.data) for split in SPLITS]))
    results = {"splits": splits}
    folder = arguments.output or RESULTS
    report.write(results, folder)
    figure.draw(results, folder / "football.png")
    if arguments.output is None and PAGE.exists():
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(report.with_table(page, report.markdown(results)), encoding="utf-8")
    print(report.markdown(results))
    print(
        f"football.json, football.md, football.png in {folder}; {time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
