"""``python -m benchmarks.drift [--sizes 62500 125000 250000 500000]``: strengths that drift, growing.

Matches of 5,000 players over ten years, each size in a fresh process: seconds of the processor and of
the clock for one fit, peak memory, and its certificate.  Writes ``drift.json`` among the results, and
the picture of docs/time.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from pairity import PairLogistic, Pairs
from pairity.kernels import Drift, Identity

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
SIZES = (62_500, 125_000, 250_000, 500_000)
PLAYERS, DAYS = 5_000, 3_650
KINDS = ("exponential", "wiener", "matern")


def season(n: int) -> tuple[Pairs, np.ndarray]:
    """Matches of players whose strengths rise and fall, in the order of time."""
    random = np.random.default_rng(0)
    first = random.integers(PLAYERS, size=n)
    second = (first + random.integers(1, PLAYERS, size=n)) % PLAYERS
    day = np.sort(random.integers(DAYS, size=n)).astype(float)
    mean, phase = random.normal(size=PLAYERS), random.uniform(0.0, 6.0, size=PLAYERS)
    strength = [mean[who] + np.sin(phase[who] + day / 500.0) for who in (first, second)]
    won = np.where(strength[0] - strength[1] + random.logistic(size=n) > 0, 1, -1)
    objects = np.zeros((PLAYERS, 0))
    return Pairs(objects, first, second, ids=np.arange(PLAYERS), time=day), won


def measure(n: int, kind: str) -> dict[str, Any]:
    """One fit in this process; a first one on few matches loads what is compiled."""
    model = PairLogistic("antisymmetric", kernel=Identity() * Drift(700.0, kind))
    model.fit(*season(5_000))
    pairs, won = season(n)
    clock, processor = time.perf_counter(), time.process_time()
    model.fit(pairs, won)
    return {
        "matches": n,
        "kind": kind,
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        "holds": model.certificate_.holds,
        "certificate": str(model.certificate_),
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Seconds of the processor and megabytes over the number of matches."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        for axes, what in zip(panels, ("processor", "megabytes"), strict=True):
            axes.plot([row["matches"] for row in own], [row[what] for row in own], "o-", label=kind)
    for axes, what in zip(panels, ("seconds of the processor", "megabytes"), strict=True):
        axes.set_xlabel("matches of 5,000 players")
        axes.set_ylabel(what)
        axes.set_ylim(bottom=0.0)
        axes.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure each size in a process of its own, write, draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--one", nargs=2, metavar=("N", "KIND"), help="measure in this process")
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(measure(int(arguments.one[0]), arguments.one[1])))
        return
    rows = []
    for kind in arguments.kinds:
        for size in arguments.sizes:
            command = [sys.executable, "-m", "benchmarks.drift", "--one", str(size), kind]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            print(rows[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "drift.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    draw(rows, ROOT / "docs" / "images" / "drift.png")


if __name__ == "__main__":
    main()
