"""Are two images of the same digit?  1,500 pairs of 300 images, asked about 3,000 of 300 others.

metric-learn beside kernels: scikit-learn's digits, 64 pixels divided by 16; settings as they come.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from pairity import Pairs

Images = np.ndarray


def pairs_of(images: slice, n: int, seed: int) -> tuple[Pairs, np.ndarray]:
    """Pairs of some images, one half of them of the same digit, and which those are."""
    table, digits = load_digits(return_X_y=True)
    table, digits = table[images] / 16.0, digits[images]
    random = np.random.default_rng(seed)
    first, second = random.integers(0, len(table), (2, 40 * n))
    same = digits[first] == digits[second]
    proper = first != second
    rows = np.concatenate(
        [np.flatnonzero(proper & same)[: n // 2], np.flatnonzero(proper & ~same)[: n // 2]]
    )
    return Pairs(table, first[rows], second[rows]), np.where(same[rows], 1, -1)


def area(name: str) -> float:
    """Area under the curve on pairs of new images."""
    train, y = pairs_of(slice(0, 300), 1500, 0)
    test, labels = pairs_of(slice(300, 600), 3000, 1)
    return float(roc_auc_score(labels, METHODS[name](train, y, test)))


def _both(pairs: Pairs) -> Images:
    return np.stack([pairs.objects[pairs.first], pairs.objects[pairs.second]], axis=1)


def with_pairity(train: Pairs, y: np.ndarray, test: Pairs) -> np.ndarray:
    """The automatic choice among kernels."""
    from pairity import PairSVCCV

    return PairSVCCV("symmetric").fit(train, y).decision_function(test)


def with_metric_kernel(train: Pairs, y: np.ndarray, test: Pairs) -> np.ndarray:
    """A learned metric, as those of metric-learn are."""
    from pairity import PairSVC
    from pairity.kernels import Linear, MetricLearning

    model = PairSVC("symmetric", kernel=MetricLearning(Linear())).fit(train, y)
    return model.decision_function(test)


def with_euclid(train: Pairs, y: np.ndarray, test: Pairs) -> np.ndarray:
    """No learning: minus the Euclidean distance."""
    return -np.linalg.norm(np.subtract(*_both(test).transpose(1, 0, 2)), axis=1)


def with_metric_learn(train: Pairs, y: np.ndarray, test: Pairs) -> np.ndarray:
    """Information-theoretic metric learning (ITML)."""
    from metric_learn import ITML

    return ITML(random_state=0).fit(_both(train), y).decision_function(_both(test))


METHODS = {
    "PairSVCCV": with_pairity,
    "PairSVC, MetricLearning(Linear())": with_metric_kernel,
    "metric-learn, ITML": with_metric_learn,
    "Euclidean distance, nothing learned": with_euclid,
}
