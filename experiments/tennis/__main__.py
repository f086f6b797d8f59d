"""``python -m experiments.tennis [--data FOLDER] [--output FOLDER] [--processes 2]``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from experiments.tennis.matches import FILE, read_matches
from experiments.tennis.protocol import run

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "experiments" / "results"
#: The shared data lie beside the repository; they are read in place.
DATA = ROOT.parent / "shared" / "data"
WORK = ROOT / "build" / "tennis"


def main() -> None:
    """Run, and write the file."""
    parser = argparse.ArgumentParser(prog="python -m experiments.tennis", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the shared data")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for the file")
    parser.add_argument("--work", type=Path, default=WORK, help="folder that keeps what is done")
    parser.add_argument("--processes", type=int, default=2, help="parts of the walk side by side")
    arguments = parser.parse_args()
    if not (arguments.data / FILE).exists():
        sys.exit(f"got no {FILE} in {arguments.data}; expected the shared set: name it by --data.")
    arguments.work.mkdir(parents=True, exist_ok=True)
    results = run(read_matches(arguments.data), arguments.work, arguments.processes)
    text = json.dumps(results, indent=1) + "\n"
    (arguments.output / "tennis.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
