"""Landmarks: the few rows that stand for all objects, and the matrix that makes features of them.

Every choice is made among the distinct rows of a table, in an order that depends on their content
alone: repeated objects, their order and the orientation of pairs change nothing.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.cluster import kmeans_plusplus

from pairity.kernels.algebra import Kernel
from pairity.kernels.features import Features, Matrix, paired_inner_products
from pairity.kernels.standardized import OnRescaled
from pairity.kernels.widths import distinct_sample
from pairity.validation import as_dense

__all__ = ["WAYS", "chosen_landmarks", "whitened"]

WAYS = ("k-means", "leverage", "uniform")
#: Distinct rows among which landmarks are chosen; of more, so many, evenly spread.
_MOST_ROWS = 20_000
#: Rounds of k-means: later ones move the loss by a few percent of itself.
_ROUNDS = 5
#: Rows in a sample that leverage is found from.
_MOST_SAMPLED = 512
#: Distances to centres held at a time.
_BLOCK_ENTRIES = 2_000_000
#: Eigenvalues of k(Z, Z) below this share of the largest are rounding, not similarity.
_NEGLIGIBLE = 1e-10

Places = NDArray[np.intp]


def chosen_landmarks(
    kernel: Kernel, table: Features, n_components: int, way: str, seed: int
) -> Features:
    """At most ``n_components`` landmarks; all distinct rows where there are no more of them.

    k-means takes means of rows: where that is no row like the others (sparse tables, functions of
    users) landmarks are chosen by leverage instead.
    """
    rows = distinct_sample(table, max(_MOST_ROWS, n_components))
    if rows.shape[0] <= n_components:
        return rows
    rng = np.random.default_rng(seed)
    if way == "uniform":
        return rows[_drawn(np.ones(rows.shape[0]), n_components, rng)]
    averages = not sp.issparse(rows) and all(inner.proven for inner in kernel.walk())
    if way == "k-means" and averages:
        return _cluster_means(as_dense(rows), _seen(kernel, rows), n_components, rng)
    return rows[_drawn(_leverage(kernel, rows, n_components, rng), n_components, rng)]


def whitened(kernel: Kernel, landmarks: Features) -> Matrix:
    """``W`` with ``W W' = k(Z, Z)^+``: eigenvectors over the roots of their eigenvalues."""
    if not landmarks.shape[0]:
        return np.zeros((0, 0))
    values, vectors = eigh(kernel.on_features(landmarks, landmarks))
    kept = values > _NEGLIGIBLE * max(float(values[-1]), 0.0)
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))


def _seen(kernel: Kernel, rows: Features) -> Matrix:
    """The numbers that the kernel compares in the end."""
    while isinstance(kernel, OnRescaled):
        rows, kernel = kernel.rescale(rows), kernel.kernel
    return as_dense(rows)


def _cluster_means(rows: Matrix, seen: Matrix, n_clusters: int, rng: np.random.Generator) -> Matrix:
    """Means of the clusters that Lloyd's rounds find in ``seen``, taken over ``rows``.

    Rescaling is affine: the mean of rescaled rows is the rescaled mean.
    """
    seen = seen - seen.mean(axis=0)
    start = int(rng.integers(2**31))
    centres = kmeans_plusplus(seen, n_clusters, random_state=start, n_local_trials=2)[0]
    for _ in range(_ROUNDS):
        centres = _means(seen, _nearest(seen, centres))
    return _means(rows, _nearest(seen, centres))


def _nearest(rows: Matrix, centres: Matrix) -> Places:
    """Place of the centre nearest to each row: ``|z|^2 - 2 <x, z>`` is smallest there."""
    lengths, label = paired_inner_products(centres, centres), np.empty(len(rows), dtype=np.intp)
    step = max(1, _BLOCK_ENTRIES // len(centres))
    for start in range(0, len(rows), step):
        distances = rows[start : start + step] @ (-2.0 * centres.T)
        distances += lengths
        label[start : start + step] = distances.argmin(axis=1)
    return label


def _means(rows: Matrix, label: Places) -> Matrix:
    """Mean of the rows of each label that occurs."""
    _, label, counts = np.unique(label, return_inverse=True, return_counts=True)
    members = sp.csr_array((np.ones(len(rows)), (label, np.arange(len(rows)))))
    return np.asarray(members @ rows) / counts[:, np.newaxis]


def _leverage(
    kernel: Kernel, rows: Features, n_components: int, rng: np.random.Generator
) -> Matrix:
    """Approximate ridge leverage scores of all rows: how little the others explain of each.

    The score of row i is ``[K (K + mu I)^-1]_ii``.  Twice a sample S stands for all rows, first an
    even one, then one drawn by the scores of the first, row j with the weight ``w_j``, one over its
    chance to be drawn:

        min(1, (k(x_i, x_i) - k(x_i, S) (k(S, S) + mu / w)^-1 k(S, x_i)) / mu).

    The ridge mu is what the leading quarter of the eigenvalues leaves of their sum, over the number
    of those: rows that few directions explain have low scores, rows apart from all others high ones.
    """
    size = min(rows.shape[0], 2 * n_components, _MOST_SAMPLED)
    diagonal = kernel.paired(rows, rows)
    scores = np.ones(rows.shape[0])
    for _ in range(2):
        chance = np.minimum(1.0, scores * (size / scores.sum()))
        chosen = _drawn(scores, size, rng)
        scores = _scores(kernel, rows, diagonal, chosen, chance[chosen])
    return scores


def _scores(
    kernel: Kernel, rows: Features, diagonal: Matrix, chosen: Places, chance: Matrix
) -> Matrix:
    """Scores of all rows from those chosen; none is below a millionth of the largest."""
    sample, root = rows[chosen], np.sqrt(chance)
    # rows of the sample over the roots of their chances: then one ridge serves all of them
    values, vectors = eigh(kernel.on_features(sample, sample) / np.outer(root, root))
    values = np.maximum(values, 0.0)
    n_leading = max(1, len(values) // 4)
    beyond = float(values[: len(values) - n_leading].sum()) / n_leading
    ridge = max(beyond, _NEGLIGIBLE * float(values.sum()), np.finfo(np.float64).tiny)
    between = kernel.on_features(rows, sample) @ (vectors / root[:, np.newaxis])
    between *= between
    scores = (diagonal - between @ (1.0 / (values + ridge))) / ridge
    return np.clip(scores, 1e-6 * min(1.0, max(float(scores.max()), 1e-6)), 1.0)


def _drawn(scores: Matrix, size: int, rng: np.random.Generator) -> Places:
    """Places drawn without replacement in proportion to scores, ascending."""
    return np.sort(rng.choice(len(scores), size, replace=False, p=scores / scores.sum()))
