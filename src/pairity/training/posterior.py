"""The Gaussian posterior of a fitted function of pairs: how sure it is, pair by pair and jointly.

Ridge regression is the mean of a Gaussian process, and a logistic machine its Laplace approximation
(Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, sections 2.2 and 3.4).  With
K the kernel of the halved problem, W the second derivatives of the losses at the fit and z the
explicit features of the kernel, the covariance of f at the pairs * and + is

    scale (K_*+ - K_*J (K_J + W^-1)^-1 K_J+)  =  scale z_*' (1 + Z' W Z)^-1 z_+ .

==========  ==========================  =========================================================
loss        W                           scale: prior variance of f over the kernel
==========  ==========================  =========================================================
squared     w = 2/alpha                 ``sum w (y - f)^2 / (n - edf)``, edf the trace of the hat
                                        matrix: the noise of a row is then ``scale alpha/2``
logistic    2C p (1 - p)                2C: the penalty ``|f|^2 / 2`` beside ``2C`` log-likelihoods
==========  ==========================  =========================================================

(``alpha`` and ``C`` where no symmetry is asked for; all times the sample weights.)  A constant that
is not penalised has a flat prior.

Kernels of few features go by features, others by one factorisation up to some thousand pairs.  Beyond
that some of the pairs are landmarks, with features ``phi = L_m^-1 k_m``: what they leave of the prior
variance, ``rest = K_** - |phi|^2``, counts as noise of the training pairs (``1/w + rest``) and is added
to the variance of others (FITC; Snelson and Ghahramani, 2006), so that a pair far from all landmarks
keeps its prior variance.  Strengths that drift go along their chains instead, object by object
(:mod:`pairity.training.kernel_posterior`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from pairity.kernels.algebra import Kernel
from pairity.kernels.classes import project
from pairity.operators.blockwise import along_chains
from pairity.operators.explicit_rows import ExplicitFeatures, explicit_form, tables_of
from pairity.operators.words import Block
from pairity.pairs.arrays import Matrix, Vector, as_dense, batches
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Orientation, Parity, halved_weight
from pairity.runtime.resources import Budget
from pairity.solvers.primal_design import Design
from pairity.training.kernel_posterior import (
    Chained,
    Dense,
    Landmarks,
    at_a_time,
    effective_number,
    lower_factor,
    solved,
)
from pairity.training.read import Observations

#: Explicit features up to which their second derivatives are factored.
_MOST_FEATURES = 4000
#: Training pairs up to which their kernel matrix is factored; copies of what is factored on the way.
_MOST_PAIRS, _COPIES = 5000, 4.0


@dataclass(frozen=True, eq=False)
class Posterior:
    """Variances and covariances of the values of a fitted function.

    Attributes
    ----------
    scale : float
        Prior variance over the kernel.
    noise : float
        Variance of an observation of weight 1 about the function; NaN for labels.
    is_exact : bool
        Whether all training pairs were used, not landmarks among them or objects one by one.
    """

    parity: Parity | None
    scale: float
    noise: float
    is_exact: bool
    span: Any

    @cached_property
    def edf(self) -> float:
        """Effective number of parameters: trace of the hat matrix."""
        return float(self.span.edf)

    def variance(self, pairs: Pairs) -> Vector:
        """Variance of f, shape (n,): the same for pairs and swapped pairs, bit for bit."""
        pairs = pairs.compact()
        if self.parity is None:
            return self.scale * self.span.variance(pairs)
        order = Orientation.of_compact(pairs)
        values = self.scale * self.span.variance(pairs.with_swapped(order.turned))
        return np.where(order.alike, 0.0, values) if self.parity is Parity.ODD else values

    def std(self, pairs: Pairs) -> Vector:
        """Standard deviation of f, shape (n,)."""
        return np.sqrt(self.variance(pairs))

    def covariance(self, pairs: Pairs, combined: Any = None) -> Matrix:
        """Covariance of the values f, or of the sums ``combined @ f``, shape (q, q).

        Of swapped pairs it is the same bit for bit, with the signs that the parity gives.
        """
        combined = sp.csr_array(sp.eye_array(len(pairs)) if combined is None else combined)
        pairs = pairs.compact()
        if self.parity is not None:  # each pair in one order alone: the same for swapped pairs
            order = Orientation.of_compact(pairs)
            pairs = pairs.with_swapped(order.turned)
            combined = combined * order.restored(self.parity, np.ones(len(pairs)))
        matrix = self.scale * self.span.covariance(pairs, sp.csr_array(combined))
        return (matrix + matrix.T) * 0.5


_KNOWN: WeakKeyDictionary[Observations, Posterior] = WeakKeyDictionary()


def posterior_of(
    model: Any, observed: Observations, kind: str, *, has_bias: bool, budget: Budget
) -> Posterior:
    """The posterior of a fitted function; ``kind`` of its loss is "squared" or "logistic".

    It is kept as long as the observations are.
    """
    if observed in _KNOWN:
        return _KNOWN[observed]
    pairs, parity = observed.pairs, model.parity
    kernel = project(model.kernel, parity, pairs)
    decisions = model.decisions(pairs)
    strength = halved_weight(parity) * observed.strength
    weights = strength * observed.weights
    if kind == "logistic":
        weights = weights * expit(decisions) * expit(-decisions)
    span = _span(kernel, pairs, weights, has_bias and parity is not Parity.ODD, budget)
    scale, noise = strength, np.nan
    if kind == "squared":
        squares = float(weights @ (observed.targets - decisions) ** 2)
        scale = squares / max(len(pairs) - span.edf, 1e-3 * len(pairs))
        noise = scale / strength
    exact = isinstance(span, Parameters | Dense)
    _KNOWN[observed] = Posterior(parity, scale, noise, exact, span)
    return _KNOWN[observed]


def _span(kernel: Kernel, pairs: Pairs, weights: Vector, has_bias: bool, budget: Budget) -> Any:
    """Covariances before the scale, for pairs in one order: ``edf``, ``variance``, ``covariance``."""
    form = explicit_form(kernel, pairs)
    tables = tables_of(form, (pairs,)) if form else None
    if tables is not None:
        features = ExplicitFeatures(form, tables[0])
        side = features.n_columns + 1
        fits = side <= _MOST_FEATURES and budget.holds(side, side, copies=_COPIES)
        if features.are_few and fits:
            return Parameters(form, pairs, weights, has_bias, budget)
    if len(pairs) <= _MOST_PAIRS and budget.holds(len(pairs), len(pairs), copies=_COPIES):
        return Dense(kernel, pairs, weights, has_bias, budget)
    chained = None if has_bias else along_chains(kernel, pairs[:1].without_unused_objects())
    if chained is not None and chained.form.sign is not None:
        return Chained(kernel, pairs, weights)
    return Landmarks(kernel, pairs, weights, has_bias, budget)


# By explicit features ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Parameters:
    """``z' (1 + Z' W Z)^-1 z`` with the precision of the parameters factored."""

    form: tuple[Block, ...]
    pairs: Pairs
    weights: Vector
    has_bias: bool
    budget: Budget

    def features(self, *others: Pairs) -> list[ExplicitFeatures]:
        """Explicit features of the training pairs, and of others in the same space."""
        tables = tables_of(self.form, (self.pairs, *others))
        assert tables is not None
        return [ExplicitFeatures(self.form, table) for table in tables]

    @cached_property
    def rows(self) -> Any:
        """Explicit features of the training pairs."""
        return self.features()[0].rows

    def with_weights(self, weights: Vector) -> Parameters:
        """The same for other weights."""
        other = replace(self, weights=weights)
        other.__dict__["rows"] = self.rows
        return other

    @cached_property
    def factor(self) -> Matrix:
        """L with ``L L'`` the precision."""
        return self._factored(self.rows)

    def _factored(self, rows: Any) -> Matrix:
        design = Design(rows, self.has_bias)
        lower = np.tril(design.curvature(self.weights))
        precision = lower + np.tril(lower, -1).T
        precision[np.diag_indices(len(precision))] += design.penalty
        return lower_factor(precision, "a precision of parameters")

    @property
    def edf(self) -> float:
        """Effective number of parameters."""
        return effective_number(self.factor, self.rows.shape[1])

    def roots(self, pairs: Pairs, combined: Any = None) -> Matrix:
        """Q with ``Q' Q`` the covariance, shape (r, n), of values or of sums of them."""
        trained, features = self.features(pairs)
        factor = self.factor
        if features.n_columns != self.rows.shape[1]:  # objects that were in no training pair
            factor = self._factored(trained.rows)
        rows = features.rows
        ones = np.ones((rows.shape[0], 1))
        if combined is not None:
            rows, ones = combined @ rows, combined @ ones
        table = as_dense(rows)
        if self.has_bias:
            table = np.hstack([table, ones])
        return solved(factor, table.T)

    def variance(self, pairs: Pairs) -> Vector:
        """Variance of each value."""
        values = np.empty(len(pairs))
        for part in batches(len(pairs), at_a_time(self.budget) // len(self.factor)):
            values[part] = np.sum(self.roots(pairs[part]) ** 2, axis=0)
        return values

    def covariance(self, pairs: Pairs, combined: sp.csr_array) -> Matrix:
        """Covariance of sums of values."""
        roots = self.roots(pairs, combined)
        return roots.T @ roots
