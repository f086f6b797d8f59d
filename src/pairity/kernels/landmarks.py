"""Landmarks: the few rows that stand for all objects, and the matrix that makes features of them.

Every choice is made among the distinct rows of a table, in an order that depends on their content
alone: repeated objects, their order and the orientation of pairs change nothing.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
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
        return rows[np.sort(rng.choice(rows.shape[0], n_components, replace=False))]
    averages = not sp.issparse(rows) and all(inner.proven for inner in kernel.walk())
    if way == "k-means" and averages:
        return _cluster_means(as_dense(rows), _seen(kernel, rows), n_components, seed)
    scores = _leverage(kernel, rows, n_components, rng)
    chosen = rng.choice(rows.shape[0], n_components, replace=False, p=scores / scores.sum())
    return rows[np.sort(chosen)]


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


def _cluster_means(rows: Matrix, seen: Matrix, n_clusters: int, seed: int) -> Matrix:
    """Means of the clusters that Lloyd's rounds find in ``seen``, taken over ``rows``.

    Rescaling is affine: the mean of rescaled rows is the rescaled mean.
    """
    seen = seen - seen.mean(axis=0)
    centres = kmeans_plusplus(seen, n_clusters, random_state=seed, n_local_trials=2)[0]
    for _ in range(_ROUNDS):
        centres = _means(seen, _nearest(seen, centres))
    return _means(rows, _nearest(seen, centres))


def _nearest(rows: Matrix, centres: Matrix) -> Places:
    """Place of the centre nearest to each row: ``|z|^2 - 2 <x, z>`` is smallest there."""
    distances = rows @ (-2.0 * centres.T)
    distances += paired_inner_products(centres, centres)
    return distances.argmin(axis=1)


def _means(rows: Matrix, label: Places) -> Matrix:
    """Mean of the rows of each label that occurs."""
    _, label, counts = np.unique(label, return_inverse=True, return_counts=True)
    members = sp.csr_array((np.ones(len(rows)), (label, np.arange(len(rows)))))
    return np.asarray(members @ rows) / counts[:, np.newaxis]


def _leverage(
    kernel: Kernel, rows: Features, n_components: int, rng: np.random.Generator
) -> Matrix:
    """Approximate ridge leverage scores of all rows, from a uniform sample S of s among m rows.

    The score of row i is ``[K (K + mu I)^-1]_ii``.  With ``(m / s) k(., S) k(S, .)`` for the sums
    over all rows it becomes

        (k(x_i, x_i) - k(x_i, S) (k(S, S) + mu s / m I)^-1 k(S, x_i)) / mu,

    and the ridge mu is what the eigenvalues beyond the first half of the components leave to each
    of these: rows that the leading directions do not explain get high scores.
    """
    m, half = rows.shape[0], max(1, n_components // 2)
    s = min(m, 2 * n_components)
    sample = rows[np.sort(rng.choice(m, s, replace=False))]
    gram = kernel.on_features(sample, sample)
    values = np.maximum(eigh(gram, eigvals_only=True), 0.0)
    left = float(values[: s - half].sum()) / half
    ridge = max(left, _NEGLIGIBLE * float(values.sum()), np.finfo(np.float64).tiny)  # mu s / m
    gram[np.diag_indices(s)] += ridge
    factor = cho_factor(gram, lower=True)
    between = kernel.on_features(rows, sample)
    explained = paired_inner_products(between, cho_solve(factor, between.T).T)
    scores = kernel.paired(rows, rows) - explained
    return np.maximum(scores, 1e-6 * max(float(scores.max()), np.finfo(np.float64).tiny))
