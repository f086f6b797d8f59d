"""Landmarks: the few rows that stand for all objects, and the features made of them.

With landmarks Z the kernel k is replaced by

    k(x, Z) k(Z, Z)^+ k(Z, z) = <phi(x), phi(z)>,    phi(x) = k(x, Z) W,    W W' = k(Z, Z)^+.

Landmarks are chosen among the distinct rows of a table, in an order that depends on their content
alone: repeated objects, their order and the orientation of pairs change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.cluster import kmeans_plusplus

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.elementary import (
    _ObjectKernel,
    distinct_sample,
    inner_products,
    paired_inner_products,
)
from pairity.pairs.arrays import Features, Matrix, Places, as_dense, batches, distinct_rows

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
        compared = as_dense(kernel.compared(rows))
        return _cluster_means(as_dense(rows), compared, n_components, rng)
    return rows[_drawn(_leverage(kernel, rows, n_components, rng), n_components, rng)]


def _cluster_means(rows: Matrix, compared: Matrix, size: int, rng: np.random.Generator) -> Matrix:
    """Means of the clusters that Lloyd's rounds find in ``compared``, taken over ``rows``.

    Rescaling is affine: the mean of rescaled rows is the rescaled mean.
    """
    compared = compared - compared.mean(axis=0)
    start = int(rng.integers(2**31))
    centres = kmeans_plusplus(compared, size, random_state=start, n_local_trials=2)[0]
    for _ in range(_ROUNDS):
        centres = _means(compared, _nearest(compared, centres))
    return _means(rows, _nearest(compared, centres))


def _nearest(rows: Matrix, centres: Matrix) -> Places:
    """Place of the centre nearest to each row: ``|z|^2 - 2 <x, z>`` is smallest there."""
    lengths, label = paired_inner_products(centres, centres), np.empty(len(rows), dtype=np.intp)
    for part in batches(len(rows), _BLOCK_ENTRIES // len(centres)):
        distances = rows[part] @ (-2.0 * centres.T)
        distances += lengths
        label[part] = distances.argmin(axis=1)
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


@dataclass(frozen=True)
class FeatureError:
    """What landmark features lose of a kernel on some rows; 0.0 is nothing, 1.0 everything."""

    share: float
    """``1 - sum |phi(x)|^2 / sum k(x, x)``: share of the trace."""
    largest: float
    """The largest ``1 - |phi(x)|^2 / k(x, x)`` of a row."""
    n_components: int
    """Number of features."""


@dataclass(eq=False, repr=False)
class LandmarkFeatures(_ObjectKernel):
    """``<phi(x), phi(z)>`` with ``phi(x) = k(x, Z) W``: what fitting :class:`Nystroem` leaves behind."""

    kernel: Kernel  # k, of features
    landmarks: Features  # Z, (n_landmarks, n_columns)
    whitening: Matrix  # W with W W' = k(Z, Z)^+, (n_landmarks, n_components)

    of_few_features = True

    def check(self) -> None:
        """Refuse what is no kernel, and a matrix that does not fit the landmarks."""
        if not isinstance(self.kernel, Kernel):
            raise KernelError(f"got {self.kernel!r} for landmark features; expected a kernel.")
        shapes = np.shape(self.landmarks), np.shape(self.whitening)
        if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][0] != shapes[1][0]:
            raise KernelError(
                f"got landmarks of shape {shapes[0]} and a whitening of shape {shapes[1]}; expected a"
                " row of each for every landmark."
            )
        super().check()

    @classmethod
    def of(
        cls, kernel: Kernel, table: Features, n_components: int, way: str, seed: int
    ) -> LandmarkFeatures:
        """Features of a kernel whose parameters are known, from the rows of a table."""
        landmarks = chosen_landmarks(kernel, table, n_components, way, seed)
        if not landmarks.shape[0]:
            return cls(kernel, landmarks, np.zeros((0, 0)))
        # eigenvectors over the roots of their eigenvalues
        values, vectors = eigh(kernel.on_features(landmarks, landmarks))
        kept = values > _NEGLIGIBLE * max(float(values[-1]), 0.0)
        whitening = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))
        return cls(kernel, landmarks, whitening)

    def explicit(self, features: Features) -> Matrix:
        """``k(x, Z) W``, shape (rows, components), a block of rows at a time."""
        rows = np.empty((features.shape[0], self.whitening.shape[1]))
        for part in self._blocks(features):
            rows[part] = self.kernel.on_features(features[part], self.landmarks) @ self.whitening
        return rows

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``<phi(x_i), phi(z_j)>``."""
        rows = self.explicit(left)
        return inner_products(rows, rows if right is left else self.explicit(right))

    def paired(self, left: Features, right: Features) -> Matrix:
        """``<phi(x_i), phi(z_i)>``."""
        values = np.empty(left.shape[0])
        for part in self._blocks(left):
            sides = self._explicit_once(left[part]), self._explicit_once(right[part])
            values[part] = paired_inner_products(*sides)
        return values

    def error(self, table: Features) -> FeatureError:
        """What the features lose of the kernel on the rows of a table."""
        exact, kept = np.empty(table.shape[0]), np.empty(table.shape[0])
        for part in self._blocks(table):
            rows, features = table[part], self.explicit(table[part])
            exact[part] = self.kernel.paired(rows, rows)
            kept[part] = paired_inner_products(features, features)
        lost = exact - kept
        share = float(lost.sum() / exact.sum()) if exact.sum() > 0.0 else 0.0
        largest = float((lost[exact > 0.0] / exact[exact > 0.0]).max(initial=0.0))
        return FeatureError(max(share, 0.0), largest, self.whitening.shape[1])

    def _explicit_once(self, features: Features) -> Matrix:
        """The features of rows that occur many times, as the ends of pairs do."""
        distinct = distinct_rows(features)
        return self.explicit(features[distinct.representative])[distinct.inverse]

    def _blocks(self, table: Features) -> Iterator[slice]:
        return batches(table.shape[0], _BLOCK_ENTRIES // max(1, *self.whitening.shape))
