"""``python -m benchmarks.scale [one-process] [curve] [cluster]``: all of them by default.

Each part is kept in ``benchmarks/results/scale-*.json``; the figures and the tables of
``docs/scale.md`` come from these files.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.scale import cluster, curve, one_process, report

RESULTS = Path(__file__).resolve().parents[1] / "results"
PARTS = {
    "one-process": one_process.run,
    "curve": curve.run,
    "cluster": cluster.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}")
    chosen = parser.parse_args().parts or list(PARTS)
    for name in chosen:
        found = {"machine": machine(), "found": PARTS[name]()}
        path = RESULTS / f"scale-{name}.json"
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    report.draw(RESULTS)


if __name__ == "__main__":
    main()
