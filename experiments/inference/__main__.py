"""``python -m experiments.inference [PART ...]``: what is not measured yet, or some parts of it.

The parts are coverage, regression, suggestions, judges and speed (which wants a machine to itself).

Results go to experiments/results/inference.json as they come; --again measures what is there as well.
``python -m docs.making.tables`` brings the tables of docs/uncertainty.md up to date.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from experiments.inference import coverage, judging, speed, suggestions
from experiments.inference.report import RESULTS

PARTS = ["coverage", "regression", "suggestions", "judges", "speed"]
#: Simulations for a number of objects where the model is right, and those of them with rankings.
RUNS, RANKED = {20: 1000, 100: 1000, 500: 400}, {20: 1000, 100: 1000, 500: 30}
#: Simulations with clusters, where it is not right, and of regression; seeds.
CLUSTERED_RUNS, MISSPECIFIED_RUNS, REGRESSION_RUNS, SEEDS = 400, 200, 200, 20


def main() -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(prog="python -m experiments.inference", description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PART")
    parser.add_argument("--again", action="store_true", help="measure what is there as well")
    given = parser.parse_args()
    parts = given.parts
    if not set(parts) <= set(PARTS):
        parser.error(f"got {' '.join(parts)}; expected some of {', '.join(PARTS)}.")
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if given.again:
        kept = {name: part for name, part in kept.items() if name not in parts}
    if "coverage" in parts:
        for case in coverage.CASES:
            _measure(kept, "coverage", case.name, lambda case=case: _covered(case))
    if "regression" in parts:
        _measure(kept, "regression", None, _regression)
    if "suggestions" in parts:
        for name in suggestions.CONTESTS:
            _measure(
                kept,
                "suggestions",
                name,
                lambda name=name: suggestions.votes_needed(name, SEEDS),
            )
    if "judges" in parts:
        _measure(kept, "judges", None, lambda: judging.judged(SEEDS))
    if "speed" in parts:
        _measure(kept, "speed", None, speed.measured)


def _covered(case: coverage.Case) -> dict[str, Any]:
    runs = RUNS[case.n_objects], RANKED[case.n_objects]
    if case.clustered or case.truth != "as modelled":
        runs = (CLUSTERED_RUNS if case.clustered else MISSPECIFIED_RUNS,) * 2
    return asdict(coverage.coverage(case, *runs))


def _regression() -> dict[str, Any]:
    right, wide = (coverage.regression_coverage(REGRESSION_RUNS, width) for width in (1.5, 4.5))
    return {"right": right, "wide": wide, "runs": REGRESSION_RUNS}


def _measure(
    kept: dict[str, Any], part: str, name: str | None, measured: Callable[[], dict[str, Any]]
) -> None:
    """Measure what is not there, and keep it."""
    if part in kept and (name is None or name in kept[part]):
        return
    found = measured()
    print(part, name or "", json.dumps(found), flush=True)
    # another part may have been measured meanwhile
    on_file = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for place in (kept, on_file):
        if name is None:
            place[part] = found
        else:
            place.setdefault(part, {})[name] = found
    RESULTS.write_text(json.dumps(on_file, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
