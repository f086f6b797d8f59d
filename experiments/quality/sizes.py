"""More data must not hurt: ``python -m experiments.quality.sizes [--sets ...] [--sizes ...]``.

The automatic model with its defaults on the first so many pairs of a set in random order, and its
log-loss about the same test pairs: tennis (a row of features for each appearance, later matches
test), a made-up league whose home advantage grows with distance, and the same with 20,000 teams for
hundreds of thousands of pairs and more.  Each measurement runs in a process of its own and is kept in
``experiments/results/sizes.json`` at once; what is there is not measured again.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.quality.shapes import appearances
from experiments.quality.task import DATA
from pairity import PairClassifierCV, Pairs
from pairity.exceptions import PairityWarning

RESULTS = Path(__file__).resolve().parents[1] / "results" / "sizes.json"
FIGURE = RESULTS.parents[2] / "docs" / "images" / "sizes.png"
#: Pairs to train on, of each set.
SIZES = {
    "tennis": (1_000, 3_000, 12_000, 13_000, 50_000),
    "league": (1_000, 3_000, 12_000, 13_000, 50_000),
    "large league": (20_000, 200_000, 2_000_000),
}
#: Days of tennis: first history, first training match, first and last test match.
DAYS = 20050101, 20070901, 20100601, 20100901
#: Test pairs of the leagues, and their teams.
TEST, TEAMS = 20_000, {"league": 300, "large league": 20_000}

Labelled = tuple[Pairs, np.ndarray]


def tennis(number: int) -> tuple[Labelled, Labelled]:
    """Training matches before the summer of 2010, test matches after."""
    table = pd.read_csv(DATA / "antisymmetric_tennis" / "matches.csv.gz")
    table = table[(table.date >= DAYS[0]) & (table.date < DAYS[3])]
    rows, names, days = appearances(table, DAYS[1])
    first = 2 * np.arange(len(days))
    rng = np.random.default_rng(0)
    turned = rng.random(len(days)) < 0.5
    pairs, y = Pairs(rows, first, first + 1, ids=names).with_swapped(turned), 1 - 2 * turned
    test = days >= str(DAYS[2])
    train = rng.permutation(np.flatnonzero(~test))[:number]
    if len(train) < number:
        raise ValueError(f"got {len(train)} matches; expected {number}: other days.")
    return (pairs[train].without_unused_objects(), y[train]), (pairs[test], y[test])


def league(number: int, n_teams: int) -> tuple[Labelled, Labelled]:
    """Strength bends with wealth and has a part of its own; home grows with the guests' way."""
    rng = np.random.default_rng(0)
    places, wealth = rng.random((n_teams, 2)), rng.normal(size=(n_teams, 2))
    strength = np.sin(2.0 * wealth[:, 0]) + 0.5 * wealth[:, 1] + 0.7 * rng.normal(size=n_teams)
    both = []
    for count in (TEST, number):
        first = rng.integers(n_teams, size=count)
        second = (first + rng.integers(1, n_teams, size=count)) % n_teams
        away = np.linalg.norm(places[first] - places[second], axis=1)
        home = rng.choice([-1.0, 1.0], size=count)
        odds = strength[first] - strength[second] + home * 2.0 * away
        y = np.where(rng.random(count) < 1.0 / (1.0 + np.exp(-odds)), 1, -1)
        ids = np.arange(n_teams)
        group = away[:, np.newaxis], home[:, np.newaxis]
        both.append((Pairs(wealth, first, second, *group, ids=ids), y))
        truth = float(np.mean(np.logaddexp(0.0, -y * odds)))
        print(f"{count} games, log-loss of the truth {truth:.4f}", file=sys.stderr)
    return both[1], both[0]


def measure(name: str, number: int) -> dict:
    """Loss, seconds and memory of one fit."""
    made = tennis(number) if name == "tennis" else league(number, TEAMS[name])
    (pairs, y), (new, truth) = made
    started, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", PairityWarning)
        model = PairClassifierCV("antisymmetric").fit(pairs, y)
    seconds = time.perf_counter() - started
    used = time.process_time() - processor
    odds = model.decision_function(new)
    losses = np.logaddexp(0.0, -truth * odds)
    return {
        "set": name,
        "pairs": number,
        "test_pairs": len(truth),
        "log_loss": float(losses.mean()),
        "standard_error": float(losses.std() / np.sqrt(len(losses))),
        "held_out": -model.best_score_,
        "seconds": seconds,
        "processor_seconds": used,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        "weights": model.weights_,
        "warnings": sorted({str(one.message) for one in said}),
    }


def draw(rows: list[dict]) -> None:
    """Loss over pairs, a line for each set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["set"] for row in rows))
    figure, axes = plt.subplots(1, len(names), figsize=(3.4 * len(names), 3.0), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        some = sorted((row for row in rows if row["set"] == name), key=lambda row: row["pairs"])
        sizes, losses = ([row[key] for row in some] for key in ("pairs", "log_loss"))
        axis.errorbar(sizes, losses, [row["standard_error"] for row in some], marker="o", capsize=2)
        axis.set(xscale="log", title=name, xlabel="training pairs")
        axis.grid(alpha=0.3)
    axes[0, 0].set_ylabel("test log-loss")
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=110, metadata={"Software": None})


def main() -> None:
    """Measure what is not on file, then draw."""
    parser = argparse.ArgumentParser(prog="python -m experiments.quality.sizes")
    parser.add_argument("--sets", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--again", action="store_true", help="measure what is on file, too")
    parser.add_argument("--one", nargs=2, metavar=("SET", "PAIRS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one[0], int(given.one[1]))))
        return
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    for name in given.sets:
        for number in SIZES[name]:
            if given.sizes and number not in given.sizes:
                continue
            same = [row for row in rows if (row["set"], row["pairs"]) == (name, number)]
            if same and not given.again:
                continue
            command = [sys.executable, "-m", "experiments.quality.sizes"]
            command += ["--one", name, str(number)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            rows = [row for row in rows if row not in same] + [json.loads(answer.stdout)]
            RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
            print(name, number, {key: rows[-1][key] for key in ("log_loss", "seconds")}, flush=True)
    draw([row for row in rows if sum(one["set"] == row["set"] for one in rows) > 1])


if __name__ == "__main__":
    main()
