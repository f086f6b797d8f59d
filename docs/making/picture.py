"""``python -m docs.making.picture``: the picture of the README, from results and embedded data.

Left, training times of ``benchmarks/results/bench.json``.  Right, by how much P(a,b) + P(b,a)
misses 1 on choices between train offers of held-out travellers: of scikit-learn's SVC on doubled rows,
calibrated by scikit-learn, and of ``PairSVC`` with the same kernel and C, calibrated by Pairity.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from benchmarks.report import growth_series
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

from pairity import CalibratedPairClassifier, Pairs, PairSVC
from pairity.datasets import load_train_choice
from pairity.kernels import Gaussian

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "pairity.png"
RESULTS = ROOT / "benchmarks" / "results" / "bench.json"
#: Width of the kernel, and travellers to train and to test on.
SIGMA, TRAVELLERS = 3.0, 50


def growth() -> dict[str, list[tuple[int, float]]]:
    """Pairs and seconds of each system, complete sets."""
    series = growth_series(json.loads(RESULTS.read_text(encoding="utf-8"))["rows"])
    return {system: series[system] for system in ("pairity", "scikit-learn")}


def _halves() -> tuple[Pairs, np.ndarray, Pairs]:
    """Training pairs with labels, and pairs of other travellers; scaled by the training offers."""
    data = load_train_choice()
    travellers = np.unique(data.groups)
    train = np.isin(data.groups, travellers[:TRAVELLERS])
    test = np.isin(data.groups, travellers[TRAVELLERS : 2 * TRAVELLERS])
    seen = data.pairs[train].without_unused_objects().objects
    offers = (data.pairs.objects - seen.mean(axis=0)) / seen.std(axis=0)
    pairs = Pairs(offers, data.pairs.first, data.pairs.second)
    return pairs[train], data.y[train], pairs[test]


def swap_errors() -> dict[str, np.ndarray]:
    """P(a,b) + P(b,a) - 1 on held-out pairs."""
    train, y, test = _halves()
    both = np.vstack([train.to_rows(), train.swap().to_rows()])
    doubled = CalibratedClassifierCV(SVC(gamma=0.5 / SIGMA**2, C=1.0), cv=5)
    doubled.fit(both, np.concatenate([y, -y]))
    ours = CalibratedPairClassifier(PairSVC("antisymmetric", kernel=Gaussian(SIGMA), C=1.0)).fit(
        train, y
    )
    there, back = (doubled.predict_proba(part.to_rows())[:, 1] for part in (test, test.swap()))
    mine, mine_back = (ours.predict_proba(part)[:, 1] for part in (test, test.swap()))
    return {"scikit-learn": there + back - 1.0, "pairity": mine + mine_back - 1.0}


def draw(path: Path) -> None:
    """Write the picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    colours = {"pairity": "#3949ab", "scikit-learn": "#ef6c00"}
    chart, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained")
    for system, points in growth().items():
        left.loglog(*zip(*points, strict=True), "o-", color=colours[system], label=system)
    left.set(xlabel="unordered pairs", ylabel="training time, s", title="Exact SVM on all pairs")
    left.grid(alpha=0.3)
    left.legend(frameon=False)
    errors = swap_errors()
    edges = np.linspace(-0.07, 0.07, 57)
    for system, values in errors.items():
        label = (
            "calibrated SVC,\ndoubled rows" if system == "scikit-learn" else "pairity:\nexactly 0"
        )
        right.hist(values, bins=edges, color=colours[system], alpha=0.8, label=label)
    right.set(
        xlabel="P(a,b) + P(b,a) - 1",
        ylabel="held-out pairs",
        yscale="log",
        title="What a swap does to probabilities",
    )
    right.legend(frameon=False, fontsize="small", loc="upper left")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(chart)


if __name__ == "__main__":
    draw(PICTURE)
