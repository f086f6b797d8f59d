"""Which pair to ask about next: the question that teaches a model most, for what it costs.

A fitted :class:`~pairity.PairLogistic` or :class:`~pairity.PairRidge` has a Gaussian posterior
(:mod:`pairity.training.posterior`).  One more observation of the pair i, of weight w (``2C p (1 - p)``
for labels), takes ``w c_i c_i' / (1 + w v_i)`` off the covariance of what is asked for, with ``v_i``
the variance of f at i and ``c_i`` its covariances with the targets, whatever the answer will be.  So
the expected reduction of their total variance is

    gain_i = w |c_i|^2 / (1 + w v_i),

and, taken greedily, each suggestion knows what those before it will teach: a batch is diverse.

Where signs are asked for, not values, each value counts by its doubt.  With d the density of the value f
at 0 now, ``d = phi(f / sqrt(v)) / sqrt(v)``, an estimate with errors of variance v has the wrong sign
with a probability of about ``d E|error| = d sqrt(2 v / pi)``.  The derivative by v,
``phi(f / sqrt(v)) / (v sqrt(2 pi))``, is what a unit of variance there counts: gains are then numbers of
signs put right, to first order.

=================  ===============================================================================
strategy           targets
=================  ===============================================================================
``"order"``        who is ahead: signs of f at all pairs of the objects of the pool
``"top"``          who leads: signs of f between each of those that lead now and each of the others
``"scores"``       scores of all objects of the pool (least squares over all pairs of them)
``"decisions"``    values of f at the pairs of the pool
``"labels"``       signs of f at the pairs of the pool
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

from pairity.estimators.unwrap import direction
from pairity.inspection.fitted_function import as_frame, require_pairs
from pairity.inspection.flow import differences
from pairity.inspection.linear_part import posterior, probabilistic_machine
from pairity.losses.probabilities import moderated
from pairity.pairs.arrays import Mask, Matrix, Places, Vector, batches
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Orientation, Parity, halved_weight
from pairity.pairs.same_objects import at_the_latest_time, ends_of, together
from pairity.runtime.validation import check_choice, check_count
from pairity.training.kernel_posterior import at_a_time
from pairity.training.posterior import Parameters, Posterior

__all__ = ["Suggestions", "suggest"]

STRATEGIES = ("order", "top", "scores", "decisions", "labels", "uncertainty")
#: Numbers of roots that are held, and pairs and targets together where kernel values are needed.
_MOST_NUMBERS, _MOST_PAIRS = 200_000_000, 3000
#: Variances below this part of the largest are rounding.
_LEAST_SHARE = 1e-12


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Rows of the pool to ask about, best first.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers into the pool.
    gains : ndarray of float
        Expected reduction of the total variance of the targets, or of the number of wrong signs; of
        "uncertainty" the entropy of the outcome.  Over the cost, each after those before it.
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
        ends = self.pairs.first, self.pairs.second
        first, second = ends if self.pool.ids is None else (self.pool.ids[end] for end in ends)
        known = {"gain": self.gains, "decision": self.decisions, "error": self.errors}
        return as_frame({"first": first, "second": second, **known})


def suggest(
    model: Any,
    pool: Pairs,
    n: int = 10,
    strategy: str = "order",
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
    strategy : {"order", "top", "scores", "decisions", "labels", "uncertainty"}
        What to learn about, see the table of :mod:`pairity.active`.
    top : int
        Number of leaders that "top" is to find.
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
    if strategy in ("order", "top", "scores") and known.parity is not Parity.ODD:
        raise ValueError(
            f"got strategy={strategy!r} for a model that ranks nothing; expected 'labels', 'decisions'"
            " or 'uncertainty', or an antisymmetric model."
        )
    price = _costs(costs, len(pool))
    candidates = np.flatnonzero(_open(pool, asked))
    if not len(candidates):
        nothing = np.zeros(0)
        return Suggestions(candidates, nothing, nothing, nothing, pool)
    compact = pool[candidates].compact()  # in the one order, however they are written
    one_order = compact.with_swapped(Orientation.of_compact(compact).turned)
    values, variance = machine._model.decisions(one_order), known.variance(one_order)
    weights, doubt = _one_more(machine, known, values, variance)
    targets = _targets(model, known, one_order, strategy, top)
    batch = _Batch(*_roots(known, one_order, targets), weights, price[candidates], known.scale)
    in_doubt = doubt if strategy == "uncertainty" else None
    rows, gains = batch.chosen(min(n, len(candidates)), in_doubt)
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


def _one_more(
    machine: Any, known: Posterior, values: Vector, variance: Vector
) -> tuple[Vector, Vector]:
    """Information of one more observation, and how uncertain its outcome is.

    ``2C p (1 - p)`` at the mean probability and entropy of labels, ``2/alpha`` and variance of numbers.
    """
    strength = halved_weight(known.parity) * machine.observed_.strength
    if not is_classifier(machine):
        return np.full(len(values), strength), variance
    odds = moderated(values, variance)
    size = np.abs(odds)
    weights = strength * expit(odds) * expit(-odds)
    return weights, expit(-size) * size + np.log1p(np.exp(-size))


@dataclass(frozen=True, eq=False)
class _Targets:
    """What is to be learnt: sums ``combined @ f`` of values at pairs."""

    pairs: Pairs
    combined: sp.csr_array


def _targets(model: Any, known: Posterior, pool: Pairs, strategy: str, top: int) -> _Targets:
    machine = probabilistic_machine(model)
    if strategy == "uncertainty":
        return _Targets(pool[:0], sp.csr_array((0, 0)))
    if strategy == "decisions":
        return _Targets(pool, sp.eye_array(len(pool), format="csr"))
    if strategy == "labels":
        return _signs(machine, known, pool, np.ones(len(pool), dtype=np.bool_))
    every = _all_pairs(pool)
    m = every.n_objects
    scoring = sp.csr_array(1.0 / m * differences(every.first, every.second, m).T)
    if strategy == "scores":
        return _Targets(every, scoring)
    asked_for = np.ones(len(every), dtype=np.bool_)
    if strategy == "top" and top < m:
        scores = direction(model, Parity.ODD) * (scoring @ machine._model.decisions(every))
        leads = np.zeros(m, dtype=np.bool_)
        leads[np.argsort(-scores, kind="stable")[:top]] = True
        asked_for = leads[every.first] != leads[every.second]
    return _signs(machine, known, every, asked_for)


def _all_pairs(pool: Pairs) -> Pairs:
    """All pairs of the objects of a pool, on neutral ground; at its latest time, where it has some."""
    used = pool.without_unused_objects()
    m = used.n_objects
    widths = {"symmetric": used.n_symmetric, "antisymmetric": used.n_antisymmetric}
    neutral = {name: np.zeros((m * (m - 1) // 2, width)) for name, width in widths.items()}
    return at_the_latest_time(Pairs.complete(used.objects, **neutral, ids=used.ids), used)


def _signs(machine: Any, known: Posterior, pairs: Pairs, asked_for: Mask) -> _Targets:
    """Values at some pairs, each by what a unit of its variance counts."""
    variance = known.variance(pairs)
    certain = variance <= _LEAST_SHARE * variance.max(initial=0.0)  # equal objects, say
    some = np.flatnonzero(asked_for & ~certain)
    variance, values = variance[some], machine._model.decisions(pairs)[some]
    counts = np.exp(-0.5 * values**2 / variance) / (2.0 * np.pi * variance)
    entries = np.sqrt(counts), (np.arange(len(some)), some)
    return _Targets(pairs, sp.csr_array(entries, shape=(len(some), len(pairs))))


def _roots(known: Posterior, pairs: Pairs, targets: _Targets) -> tuple[Matrix, Matrix]:
    """Q with ``Q' Q`` the covariances of pairs before the scale, and ``T T'`` for T that of targets."""
    span, n, number = known.span, len(pairs), targets.combined.shape[0]
    if isinstance(span, Parameters):
        if n * len(span.factor) > _MOST_NUMBERS:
            raise ValueError(
                f"got a pool of {n} pairs; expected at most {_MOST_NUMBERS // len(span.factor)} for"
                " this model: pass some of them."
            )
        roots = span.roots(pairs)
        return roots.copy(), _middle(span, targets, len(roots))
    if n + number > _MOST_PAIRS:
        raise ValueError(
            f"got a pool of {n} pairs and {number} values to learn about; expected at most {_MOST_PAIRS}"
            " together for a kernel without few features: pass some of the pairs."
        )
    stacked = together(pairs, targets.pairs, with_groups=True)
    both = sp.block_diag([sp.eye_array(n), targets.combined], format="csr")
    covariance = span.covariance(stacked, sp.csr_array(both))
    values, vectors = np.linalg.eigh((covariance + covariance.T) * 0.5)
    root = np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)
    return root[:, :n].copy(), root[:, n:] @ root[:, n:].T


def _middle(span: Parameters, targets: _Targets, height: int) -> Matrix:
    """``T T'``, some targets at a time."""
    middle = np.zeros((height, height))
    for part in batches(targets.combined.shape[0], max(1, at_a_time(span.budget) // height)):
        some = targets.combined[part]
        used = np.unique(some.indices)
        roots = span.roots(targets.pairs[used], some[:, used])
        if len(roots) != height:  # objects in no training pair are in both, or in none
            raise ValueError(
                "got a pool whose pairs leave out some of its objects; expected objects in use alone:"
                " pool.without_unused_objects()."
            )
        middle += roots @ roots.T
    return middle


@dataclass(eq=False)
class _Batch:
    """Greedy choice with the covariance that is left after each question."""

    pairs: Matrix  # (r, n), used up
    middle: Matrix  # (r, r)
    weights: Vector
    price: Vector
    scale: float

    def chosen(self, number: int, doubt: Vector | None) -> tuple[Places, Vector]:
        """Candidates in their order, and gains when they were chosen."""
        variance = np.sum(self.pairs**2, axis=0)
        first_variance = np.maximum(variance, 1e-300)
        shared = np.zeros(len(variance))
        if doubt is None:
            shared = np.einsum("rn,rn->n", self.pairs, self.middle @ self.pairs)
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
        with_pairs, with_targets = asked @ self.pairs, self.middle @ asked
        size_there = float(asked @ with_targets)
        shared += factor**2 * with_pairs**2 * size_there
        shared -= 2.0 * factor * with_pairs * (with_targets @ self.pairs)
        np.maximum(shared, 0.0, out=shared)
        variance -= factor * with_pairs**2
        np.maximum(variance, 0.0, out=variance)
        # (1 - s a a')^2 = 1 - factor a a'
        step = (1.0 - np.sqrt(1.0 - factor * size)) / size
        self.pairs -= step * np.outer(asked, with_pairs)
        crossed = np.outer(asked, with_targets)
        self.middle = self.middle - step * (crossed + crossed.T)
        self.middle += step**2 * size_there * np.outer(asked, asked)
