"""``python -m benchmarks [--full] [--only PART]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import everyday, report, scales, suite, votes
from benchmarks.measure import machine

PARTS = {
    "small": lambda full: suite.small(),
    "everyday": everyday.everyday,
    "votes": votes.leaderboards,
    "sparse": lambda full: suite.sparse(),
    "shapes": suite.shapes,
    "strengths": suite.strengths,
    "busy": suite.busy,
    "scales": scales.scales,
    "penalties": suite.penalties,
    "growth": suite.growth,
    "antisymmetric": lambda full: suite.complete("antisymmetric", full),
    "symmetric": lambda full: suite.complete("symmetric", full),
    "regression": suite.regression,
    "ridge": lambda full: suite.ridge() if full else [],
    "large": lambda full: suite.large() if full else [],
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also the long ones")
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="some parts only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    facts, rows = machine(), []
    name = "bench-full" if arguments.full else "bench"
    if arguments.only:
        name += "-" + "-".join(arguments.only)
    for part, measure in PARTS.items():
        if arguments.only and part not in arguments.only:
            continue
        rows += measure(arguments.full)
        report.write(rows, facts, arguments.output, name)
    print(report.markdown(rows, facts))


if __name__ == "__main__":
    main()
