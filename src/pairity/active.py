"""Which pair to ask about next: the question that teaches a model most, for what it costs.

A fitted :class:`~pairity.PairLogistic` or :class:`~pairity.PairRidge` has a Gaussian posterior
(:mod:`pairity.training.posterior`).  One more observation of the pair i, of weight w (``2C p (1 - p)``
for labels), takes ``w c_i c_i' / (1 + w v_i)`` off the covariance of what is asked for, with ``v_i``
the variance of f at i and ``c_i`` its covariances with the targets, whatever the answer will be.  So
the expected reduction of their total variance is

    gain_i = w |c_i|^2 / (1 + w v_i),

and, taken greedily, each suggestion knows what those before it will teach: a batch is diverse.

=================  ===============================================================================
strategy           targets
=================  ===============================================================================
``"scores"``       scores of all objects of the pool (least squares over all pairs of them)
``"top"``          scores of those that lead now
``"decisions"``    values of f at the pairs of the pool
``"uncertainty"``  none: the outcome that is least certain, by the posterior mean of the probability
                   and, between equals, by the variance
=================  ===============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import is_classifier

from pairity.inspection.fitted_function import as_frame, require_pairs, together
from pairity.inspection.linear_part import posterior, probabilistic_machine
from pairity.losses.probabilities import moderated
from pairity.pairs.arrays import Mask, Matrix, Places, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Orientation, Parity, halved_weight
from pairity.pairs.same_objects import ends_of
from pairity.runtime.validation import check_choice, check_count
from pairity.training.posterior import Parameters, Posterior

__all__ = ["Suggestions", "suggest"]

STRATEGIES = ("scores", "top", "decisions", "uncertainty")
#: Numbers of roots that are held, and pairs and targets together where kernel values are needed.
_MOST_NUMBERS, _MOST_PAIRS = 200_000_000, 3000


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Rows of the pool to ask about, best first.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers into the pool.
    gains : ndarray of float
        Expected reduction of the total variance of the targets, of "uncertainty" the entropy of
        the outcome; over the cost, each after those before it.
    decisions, errors : ndarray of float
        Values of the fitted function there, and their standard deviations now.
    pool : Pairs
        The candidates.
    """

    rows: Places
    gains: Vector
    decisions: Vector
    errors: Vector
    pool: Pairs

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def pairs(self) -> Pairs:
        """The pairs to ask about."""
        return self.pool[self.rows]

    def to_frame(self) -> Any:
        """Return a pandas table, best first."""
        chosen, ids = self.pairs, self.pool.ids
        ends = (chosen.first, chosen.second)
        first, second = ends if ids is None else (ids[end] for end in ends)
        columns = {
            "first": first,
            "second": second,
            "gain": self.gains,
            "decision": self.decisions,
            "error": self.errors,
        }
        return as_frame(columns)


def suggest(
    model: Any,
    pool: Pairs,
    n: int = 10,
    strategy: str = "scores",
    *,
    top: int = 10,
    costs: ArrayLike | None = None,
    asked: Pairs | None = None,
) -> Suggestions:
    """Pairs of a pool to ask about next.

    Parameters
    ----------
    model : fitted PairLogistic or PairRidge, or a search or calibration around one
        What is known so far.
    pool : Pairs
        Candidates; each row at most once.  ``Pairs.complete(objects, ids=...)`` are all pairs.
    n : int
        Number of suggestions; fewer where the pool has fewer.
    strategy : {"scores", "top", "decisions", "uncertainty"}
        What to learn about, see the table of :mod:`pairity.active`.
    top : int
        Number of leaders that "top" is about.
    costs : array-like of shape (len(pool),), optional
        What each question costs; gains are divided by it.
    asked : Pairs, optional
        Pairs that are not to be asked again, in either order.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairLogistic, Pairs
    >>> from pairity.active import suggest
    >>> seen = Pairs(np.eye(4), [0, 0, 1], [1, 2, 2])
    >>> model = PairLogistic("antisymmetric", kernel="linear").fit(seen, [1, 1, 1])
    >>> found = suggest(model, Pairs.complete(np.eye(4)), n=2)
    >>> bool((np.maximum(found.pairs.first, found.pairs.second) == 3).all())  # 3 was in no pair
    True
    """
    require_pairs(pool)
    check_count(n, "n")
    check_count(top, "top")
    check_choice(strategy, "strategy", STRATEGIES)
    machine = probabilistic_machine(model)
    known = posterior(model)
    if strategy in ("scores", "top") and known.parity is not Parity.ODD:
        raise ValueError(
            f"got strategy={strategy!r} for a model that ranks nothing; expected 'decisions' or"
            " 'uncertainty', or an antisymmetric model."
        )
    price = _costs(costs, len(pool))
    candidates = np.flatnonzero(_open(pool, asked))
    if not len(candidates):
        nothing = np.zeros(0)
        return Suggestions(candidates, nothing, nothing, nothing, pool)
    one_order = _oriented(pool[candidates])
    values, variance = machine._model.decisions(one_order), known.variance(one_order)
    weights = _weights(machine, known, values, variance)
    if strategy == "uncertainty":
        targets, combined = one_order[:0], sp.csr_array((0, 0))
    elif strategy == "decisions":
        targets, combined = one_order, sp.eye_array(len(one_order), format="csr")
    else:
        targets, combined = _score_targets(machine, one_order, top if strategy == "top" else None)
    roots = _roots(known, one_order, targets, combined)
    batch = _Batch(*roots, weights, price[candidates], known.scale)
    doubt = _entropy(machine, values, variance) if strategy == "uncertainty" else None
    rows, gains = batch.chosen(min(n, len(candidates)), doubt)
    decisions = machine._model.decisions(pool[candidates[rows]])
    return Suggestions(candidates[rows], gains, decisions, np.sqrt(variance[rows]), pool)


def _costs(costs: ArrayLike | None, n_pairs: int) -> Vector:
    if costs is None:
        return np.ones(n_pairs)
    price = np.asarray(costs, dtype=np.float64)
    if price.shape != (n_pairs,) or not (np.isfinite(price).all() and (price > 0.0).all()):
        raise ValueError(
            f"got costs of shape {price.shape}; expected a finite number above 0 for each of the"
            f" {n_pairs} pairs of the pool."
        )
    return price


def _open(pool: Pairs, asked: Pairs | None) -> Mask:
    """Which pairs of the pool were not asked about, and are of two objects."""
    proper = pool.first != pool.second
    if asked is None:
        return proper
    require_pairs(asked)
    keys = ends_of(together(asked, pool)).unordered()
    return proper & ~np.isin(keys[len(asked) :], keys[: len(asked)])


def _oriented(pairs: Pairs) -> Pairs:
    """The pairs in the one order that does not depend on how they are written."""
    compact = pairs.compact()
    return compact.with_swapped(Orientation.of_compact(compact).turned)


def _weights(machine: Any, known: Posterior, values: Vector, variance: Vector) -> Vector:
    """Information of one more observation: ``2C p (1 - p)`` at the mean probability, or ``2/alpha``."""
    strength = halved_weight(known.parity) * machine.observed_.strength
    if not is_classifier(machine):
        return np.full(len(values), strength)
    moderate = moderated(values, variance)
    return strength * expit(moderate) * expit(-moderate)


def _entropy(machine: Any, values: Vector, variance: Vector) -> Vector:
    """How uncertain an outcome is: entropy of a label, variance of a number."""
    if not is_classifier(machine):
        return variance
    moderate = np.abs(moderated(values, variance))
    chance = expit(-moderate)
    return chance * moderate + np.log1p(np.exp(-moderate))


def _score_targets(machine: Any, pairs: Pairs, top: int | None) -> tuple[Pairs, sp.csr_array]:
    """All pairs of the objects of a pool, on neutral ground, and what makes scores of them."""
    used = pairs.without_unused_objects()
    m = used.n_objects
    neutral = [
        np.zeros((m * (m - 1) // 2, width)) for width in (used.n_symmetric, used.n_antisymmetric)
    ]
    every = Pairs.complete(
        used.objects, symmetric=neutral[0], antisymmetric=neutral[1], ids=used.ids
    )
    rows = np.concatenate([every.first, every.second])
    signs = np.repeat([1.0 / m, -1.0 / m], len(every))
    columns = np.tile(np.arange(len(every)), 2)
    combined = sp.csr_array((signs, (rows, columns)), shape=(m, len(every)))
    if top is None:
        return every, combined
    scores = combined @ machine._model.decisions(every)
    return every, combined[np.argsort(-scores, kind="stable")[:top]]


def _roots(
    known: Posterior, pairs: Pairs, targets: Pairs, combined: sp.csr_array
) -> tuple[Matrix, Matrix]:
    """Columns whose inner products are covariances before the scale: of pairs, and of targets."""
    span, n = known.span, len(pairs)
    if isinstance(span, Parameters):
        if n * len(span.factor) > _MOST_NUMBERS:
            raise ValueError(
                f"got a pool of {n} pairs; expected at most {_MOST_NUMBERS // len(span.factor)} for"
                " this model: pass some of them."
            )
        if targets is pairs:
            both = span.roots(pairs)
            return both, both
        if not combined.shape[0]:
            return span.roots(pairs), np.zeros((len(span.factor), 0))
        found = span.roots(pairs), span.roots(targets, combined)
        return _same_height(*found)
    number = n if targets is pairs else n + combined.shape[0]
    if number > _MOST_PAIRS:
        raise ValueError(
            f"got a pool of {n} pairs and {number - n} scores; expected at most {_MOST_PAIRS} together"
            " for a kernel without few features: pass some of the pairs."
        )
    if targets is pairs or not combined.shape[0]:
        root = _root_of(span.covariance(pairs, sp.eye_array(n, format="csr")))
        return root, root if targets is pairs else root[:, :0]
    stacked = _stacked(pairs, targets)
    both = sp.block_diag([sp.eye_array(n), combined], format="csr")
    root = _root_of(span.covariance(stacked, sp.csr_array(both)))
    return root[:, :n], root[:, n:]


def _same_height(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Both as they are; objects in no training pair are in both, or in none."""
    if len(left) != len(right):
        raise ValueError(
            "got a pool whose pairs leave out some of its objects; expected objects in use alone:"
            " pool.without_unused_objects()."
        )
    return left, right


def _stacked(one: Pairs, other: Pairs) -> Pairs:
    joined = together(one, other)
    groups = [
        np.concatenate([getattr(side, name) for side in (one, other)])
        for name in ("symmetric", "antisymmetric")
    ]
    return joined.with_features(joined.objects, *groups)


def _root_of(covariance: Matrix) -> Matrix:
    values, vectors = np.linalg.eigh((covariance + covariance.T) * 0.5)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)


class _Batch:
    """Greedy choice with the covariance that is left after each question."""

    def __init__(
        self, pairs: Matrix, targets: Matrix, weights: Vector, price: Vector, scale: float
    ) -> None:
        self.pairs, self.targets = pairs.copy(), targets.copy()  # (r, n) and (r, q)
        self.weights, self.price, self.scale = weights, price, scale

    def chosen(self, number: int, doubt: Vector | None) -> tuple[Places, Vector]:
        """Candidates in their order, and gains when they were chosen."""
        variance = np.sum(self.pairs**2, axis=0)
        first_variance = np.maximum(variance, 1e-300)
        shared = np.zeros(len(variance))
        if doubt is None:
            shared = np.einsum("rn,rn->n", self.pairs, self.targets @ (self.targets.T @ self.pairs))
        is_open = np.ones(len(variance), dtype=np.bool_)
        rows, gains = [], []
        for _ in range(number):
            if doubt is None:
                gain = self.scale * self.weights * shared / (1.0 + self.weights * variance)
            else:  # what other answers will tell is no longer in doubt
                gain = doubt * variance / first_variance
            gain = np.where(is_open, gain / self.price, -np.inf)
            row = int(np.argmax(gain))
            rows.append(row)
            gains.append(float(gain[row]))
            is_open[row] = False
            self._observe(row, variance, shared)
        return np.array(rows, dtype=np.intp), np.array(gains)

    def _observe(self, row: int, variance: Vector, shared: Vector) -> None:
        """One observation: ``Cov - w c c' / (1 + w v)``, of variances and of sums of squares."""
        asked, weight = self.pairs[:, row].copy(), float(self.weights[row])
        size = float(asked @ asked)
        if size <= 0.0:
            return
        factor = weight / (1.0 + weight * size)
        with_pairs, with_targets = asked @ self.pairs, asked @ self.targets
        back = (self.targets @ with_targets) @ self.pairs
        shared += factor**2 * with_pairs**2 * float(with_targets @ with_targets)
        shared -= 2.0 * factor * with_pairs * back
        np.maximum(shared, 0.0, out=shared)
        variance -= factor * with_pairs**2
        np.maximum(variance, 0.0, out=variance)
        # (1 - s a a')^2 = 1 - factor a a'
        step = (1.0 - np.sqrt(1.0 - factor * size)) / size
        self.pairs -= step * np.outer(asked, with_pairs)
        self.targets -= step * np.outer(asked, with_targets)
