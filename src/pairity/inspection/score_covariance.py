"""Covariance of scores: through the posterior of the model, or from models fitted again.

A score is a sum of decisions, ``s = B f`` with B the least squares of a flow or the mean over its
comparisons, so that its covariance is ``B Cov(f) B'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier

from pairity.inspection.flow import PreferenceFlow, compares_all
from pairity.inspection.linear_part import (
    LinearPart,
    is_by_object,
    posterior,
    probabilistic_machine,
)
from pairity.inspection.posterior_shape import Shape, shape_of
from pairity.pairs.arrays import Mask, Matrix, Places, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import unordered
from pairity.pairs.same_objects import connected_parts, ends_of, together
from pairity.training.posterior import Parameters

#: Decisions of a calibrated model may be off a multiple of those inside by this part of the largest.
_TOLERANCE = 1e-6
#: Objects whose scores have a covariance matrix.
_MOST_OBJECTS = 5000


# Through the posterior --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spread:
    """Covariance of scores, shape (m, m), and their shape where it is known not to be normal.

    ``degrees`` are those of freedom, where few clusters or refits estimate it.
    """

    covariance: Matrix
    shape: Shape | None = None
    degrees: int | None = None


def analytic_spread(
    model: Any, pairs: Pairs, flow: PreferenceFlow, decisions: Vector, method: str, clusters: Any
) -> Spread:
    """How the scores of a model vary: through its posterior, or clustered."""
    if method == "wins":
        raise ValueError(
            "got intervals='analytic' for method='wins', a count; expected method='least_squares' or"
            " 'mean', or intervals='bootstrap'."
        )
    if flow.n_objects > _MOST_OBJECTS:
        raise ValueError(
            f"got {flow.n_objects} objects; expected at most {_MOST_OBJECTS} for analytic intervals:"
            " rank fewer, or leave intervals out."
        )
    machine = probabilistic_machine(model)
    combined = _score_weights(flow, method) @ _edges_of(pairs, flow)
    slope = slope_of(decisions, machine._model.decisions(pairs))
    if clusters is not None:
        part = LinearPart.of(model)
        roots = part.span.roots(pairs, combined)
        covariance = _at_least(part.covariance(roots), part.covariance(roots, clusters))
        return Spread(slope**2 * covariance, degrees=part.degrees(clusters))
    known = posterior(model)
    if not (is_classifier(machine) and isinstance(known.span, Parameters)):
        return Spread(slope**2 * known.covariance(pairs, combined))
    roots, observed = known.span.roots(pairs, combined), machine.observed_
    shape = shape_of(known, observed, machine._model.decisions(observed.pairs), roots)
    return Spread(slope**2 * (known.scale * (roots.T @ roots)), shape.times(slope))


def _at_least(independent: Matrix, clustered: Matrix) -> Matrix:
    """A covariance by clusters, with errors of at least those of independent rows.

    Few clusters tell too little: an object that one judge alone has seen fits that judge's votes, and
    would have next to no error (Angrist and Pischke, Mostly Harmless Econometrics, 2009, section 8.2).
    """
    floor, found = np.diag(independent), np.diag(clustered)
    factors = np.sqrt(np.maximum(floor / np.maximum(found, 1e-300), 1.0))
    return clustered * np.outer(factors, factors)


def slope_of(outer: Vector, inner: Vector) -> float:
    """The multiple of the decisions of the machine inside that a model decides by."""
    size = float(inner @ inner)
    slope = float(outer @ inner) / size if size > 0.0 else 1.0
    miss = np.abs(outer - slope * inner).max(initial=0.0)
    if miss > _TOLERANCE * np.abs(outer).max(initial=0.0):
        raise ValueError(
            "got a model whose decisions are no multiple of those of the machine inside (isotonic"
            " calibration, say); expected one: rank by the machine itself, or use"
            " intervals='bootstrap'."
        )
    return slope


def _score_weights(flow: PreferenceFlow, method: str) -> Any:
    """B with ``s = B Y`` for the values Y of a flow, shape (m, n_edges)."""
    gradient = flow.gradient()
    if method == "mean":
        totals = flow.per_object(flow.weights, 1.0)
        each = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        return sp.diags_array(each) @ gradient.T @ sp.diags_array(flow.weights)
    if len(flow) and np.ptp(flow.weights) == 0.0 and compares_all(flow):
        components = flow.components()
        sizes = np.bincount(components)[components].astype(np.float64)
        return sp.diags_array(1.0 / sizes) @ gradient.T
    weighted = gradient.T @ sp.diags_array(flow.weights)
    inverse = np.linalg.pinv((weighted @ gradient).toarray(), hermitian=True)
    return sp.csr_array(inverse @ weighted)


def _edges_of(pairs: Pairs, flow: PreferenceFlow) -> sp.csr_array:
    """The matrix that takes decisions about pairs to the values of a flow: means, with signs."""
    low, high, swapped = unordered(pairs.first, pairs.second)
    known = flow.first * flow.n_objects + flow.second
    edge = np.searchsorted(known, low * flow.n_objects + high)
    counts = np.bincount(edge, minlength=len(flow))
    entries = np.where(swapped, -1.0, 1.0) / counts[edge]
    return sp.csr_array((entries, (edge, np.arange(len(pairs)))), shape=(len(flow), len(pairs)))


# From models fitted again -----------------------------------------------------------------------


def spread_of_refits(replicates: Matrix, source: str) -> Spread:
    """How scores of models fitted again, shape (number, m), vary.

    Of a bootstrap it is the covariance of the replicates, of a jackknife K - 1 times as much.  The
    delete-a-group jackknife is ``(K - 1) / K sum_k (s_(k) - mean)(s_(k) - mean)'`` over the K scores
    without group k (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11).
    """
    number, centred = len(replicates), replicates - replicates.mean(axis=0)
    factor = (number - 1) / number if source == "leave_out" else 1.0 / (number - 1)
    return Spread(factor * (centred.T @ centred), degrees=number - 1)


def refitted(
    model: Any,
    training: tuple[Pairs, ArrayLike],
    score: Callable[[Any], Vector],
    source: str,
    by: Any,
    number: int,
    random_state: Any,
) -> Spread:
    """Fit a model again to units of its training data drawn with replacement, or without a fold."""
    pairs, y = training[0], np.asarray(training[1])
    generator = np.random.default_rng(random_state)
    if is_by_object(by):
        ends = ends_of(pairs)
        units, n_units = [ends.first, ends.second], ends.n_objects
    else:
        units = [unit_codes(pairs, by)]
        n_units = int(units[0].max(initial=-1)) + 1
    draw = _drawn if source == "bootstrap" else _left_out
    rows = draw(units, n_units, number, generator)
    scores = [score(clone(model).fit(pairs[some], y[some])) for some in rows]
    return spread_of_refits(np.stack(scores), source)


def unit_codes(pairs: Pairs, by: Any) -> Places:
    """Number of the unit of each row: its unordered pair, or the group given."""
    if isinstance(by, str) and by == "pair":
        return ends_of(pairs).unordered()
    values = np.asarray(by)
    if values.shape != (len(pairs),):
        raise ValueError(
            f"got by={by!r}; expected 'pair', 'object', or one value (a judge, a day) for each of the"
            f" {len(pairs)} training rows."
        )
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def _drawn(
    units: list[Places], n_units: int, number: int, generator: np.random.Generator
) -> Iterator[Places]:
    """Rows of units drawn with replacement; of objects, as often as both ends together."""
    each = np.arange(len(units[0]))
    for _ in range(number):
        drawn = generator.integers(0, n_units, size=n_units)
        copies = np.bincount(drawn, minlength=n_units)
        yield np.repeat(each, np.prod([copies[codes] for codes in units], axis=0))


def _left_out(
    units: list[Places], n_units: int, number: int, generator: np.random.Generator
) -> Iterator[Places]:
    """Rows without one of ``number`` folds of the units, all of nearly equal size."""
    if n_units < number:
        raise ValueError(
            f"got {n_units} units to leave out in {number} folds; expected at least as many units:"
            " lower n_resamples."
        )
    folds = generator.permutation(np.arange(n_units) % number)
    for k in range(number):
        yield np.flatnonzero(np.all([folds[codes] != k for codes in units], axis=0))


# Which objects were compared at all -------------------------------------------------------------


def comparable(model_pairs: Pairs, pairs: Pairs) -> Mask:
    """Which pairs lie within one connected part of the training pairs; all, where features connect.

    Objects that are known by their names alone, an indicator column each or no features at all,
    compare only where comparisons lead from one to the other.
    """
    if not known_by_name(model_pairs):
        return np.ones(len(pairs), dtype=np.bool_)
    both = together(model_pairs, pairs)
    ends, n = ends_of(both), len(model_pairs)
    parts = connected_parts(ends.first[:n], ends.second[:n], ends.n_objects)
    return parts[ends.first[n:]] == parts[ends.second[n:]]


def known_by_name(pairs: Pairs) -> bool:
    """Whether each object has a column of its own, and no other feature."""
    if pairs.n_object_features == 0:
        return pairs.ids is not None
    table = sp.csr_array(pairs.objects)
    table.eliminate_zeros()
    columns = np.bincount(table.indices, minlength=table.shape[1])
    return bool((np.diff(table.indptr) == 1).all() and (columns <= 1).all())
