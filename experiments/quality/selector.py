"""Is the choice of ``kernel="auto"`` reliable?  ``python -m experiments.quality.selector``.

On outer splits of the real tasks the weights of the kernel families are found on inner folds of the
training pairs.  Then, on test pairs that no choice has seen, the sum is compared with each family
alone, with equal weights, and with the single family that the inner folds would have picked.  All
are ridge regressions on the same landmarks with the shift that is best on the test pairs, so that
what differs is the kernel.  Regret is the log-loss above that of the best single family in
hindsight: below 0 where a sum beats every single kernel.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from experiments.quality.task import Task
from experiments.quality.tasks import load_tasks
from pairity.kernels.standardized import Scaling
from pairity.model_selection.combination import choose_combination, fit_families
from pairity.model_selection.curves import CrossEntropy
from pairity.model_selection.landmark_ridge import LandmarkRidge
from pairity.pairs.parity import SYMMETRIES, Parity

RESULTS = Path(__file__).resolve().parents[1] / "results"
#: Pairs in whose kernel functions models are expanded.
LANDMARKS = 500


def regrets(task: Task, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Log-losses on the test pairs: of the choice, of equal weights, of single families."""
    parity = SYMMETRIES[task.symmetry]
    rows = np.concatenate([train, test])
    pairs, labels = task.pairs[rows].compact(), task.y[rows].astype(float)
    inside = np.arange(len(train))
    groups = None if task.groups is None else task.groups[train]
    splits = list(task.inner_splitter().split(task.pairs[train], task.y[train], groups))
    criterion = CrossEntropy(parity)
    weights = np.ones(len(rows))
    found = choose_combination(
        pairs[inside], labels[inside], weights[inside], parity, splits, criterion
    )
    landmarks = np.sort(np.random.default_rng(0).permutation(len(train))[:LANDMARKS])
    training = pairs[inside]
    scaling = Scaling.of(training, found.scale)
    families = fit_families(training, parity, scaling, landmarks, evaluated=pairs)
    names = families.names
    ridge = LandmarkRidge(
        families.matrices,
        landmarks,
        labels,
        weights,
        [(inside, np.arange(len(train), len(rows)))],
        criterion,
        has_bias=parity is not Parity.ODD,
    )
    singles = {
        name: ridge.evaluate(one).loss for name, one in zip(names, np.eye(len(names)), strict=True)
    }
    picked = min(found.family_losses, key=found.family_losses.__getitem__)
    chosen = np.array([found.weights.get(name, 0.0) for name in names])
    return {
        "best single": min(singles.values()),
        "picked single": singles[picked],
        "equal": ridge.evaluate(np.full(len(names), 1.0 / len(names))).loss,
        "auto": ridge.evaluate(chosen).loss,
    }


def markdown(found: dict[str, list[dict[str, float]]]) -> str:
    """Mean regret over splits, task by task."""
    lines = [
        "# Is the automatic kernel reliable?",
        "",
        __doc__.split("\n\n", 1)[1].strip().replace("\n", " "),
        "",
        "| task | splits | best single, log-loss | regret of auto | of equal weights"
        " | of the single picked |",
        "|---|---|---|---|---|---|",
    ]
    for name, splits in found.items():
        best = np.array([split["best single"] for split in splits])
        columns = []
        for way in ("auto", "equal", "picked single"):
            regret = np.array([split[way] for split in splits]) - best
            columns.append(f"{regret.mean():+.4f} (worst {regret.max():+.4f})")
        lines.append(f"| {name} | {len(splits)} | {best.mean():.4f} | {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write ``results/selector.{md,json}``."""
    parser = argparse.ArgumentParser(prog="python -m experiments.quality.selector")
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {}
    for name, task in load_tasks(arguments.tasks).tasks.items():
        for train, test in task.outer_splits(arguments.splits):
            found.setdefault(name, []).append(regrets(task, train, test))
            print(
                name, {key: round(value, 4) for key, value in found[name][-1].items()}, flush=True
            )
        (RESULTS / "selector.json").write_text(json.dumps(found, indent=1) + "\n")
        (RESULTS / "selector.md").write_text(markdown(found))
    print(markdown(found))


if __name__ == "__main__":
    main()
