"""The linear model inside a fitted machine: covariances of its parameters, plain or clustered.

With explicit features z, the fitted function is ``z' w``, and w has the covariance
``scale P^-1`` with P the precision of :mod:`pairity.training.posterior`.  Parameters are those of the
fit, refined by Newton's method to rounding.  Where observations hang
together (votes of one judge, games of one day), the sandwich

    P^-1 (sum over clusters g of s_g s_g') P^-1  +  scale P^-1 P^-1,

    s_g = sum over the rows of g of theta_i z_i,      theta_i = -d loss_i / d f,

stands for it: what the outcomes add to the estimates (Liang and Zeger, Biometrika 73, 1986), and the
expected square of what the penalty takes from them.  Of independent rows the two make up ``scale P^-1``;
without a penalty the second is nothing.  The first is times ``G / (G - 1) (n - 1) / (n - edf)`` for G
clusters of n rows, as residuals are smaller than errors, and has G - 1 degrees of freedom (Cameron and
Miller, Journal of Human Resources 50, 2015).  Rows that share an object are clusters that overlap: then
the middle is ``sum over objects of s_u s_u' - sum over unordered pairs of s_p s_p'`` (Aronow, Samii and
Assenova, Political Analysis 23, 2015), and what is negative in it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from sklearn.base import clone, is_classifier

from pairity.estimators.uncertainty import WithPosterior, observations_of
from pairity.estimators.unwrap import direction, layers, machine_of
from pairity.losses.loss import Logistic, Squared
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.parity import Parity, halved_weight
from pairity.pairs.same_objects import ends_of
from pairity.solvers.primal_design import Design
from pairity.training.posterior import Parameters, Posterior
from pairity.training.read import Observations, read

#: Newton steps at most, how often one is halved, and the share of the objective that ends them.
_MOST_STEPS, _MOST_HALVINGS, _SETTLED = 100, 40, 1e-14


def posterior(model: Any, training: tuple[Any, ...] | None = None) -> Posterior:
    """The Gaussian posterior of a fitted :class:`~pairity.PairRidge` or ``PairLogistic``.

    Parameters
    ----------
    model : fitted model
        One of the two, or a search around one.
    training : (pairs, y) or (pairs, y, sample_weight), optional
        What it was fitted to; needed for low-rank models, which keep no training pairs.

    Returns
    -------
    Posterior
        With ``variance(pairs)``, ``std(pairs)`` and ``covariance(pairs, combined)``.
    """
    machine = probabilistic_machine(model)
    if training is None:
        return machine._posterior()
    data = read(clone(machine), *training)  # which remembers what it reads
    return machine._posterior(observations_of(machine, data))


def probabilistic_machine(model: Any) -> Any:
    """The machine with a posterior inside a model, or a sentence saying there is none."""
    machine = machine_of(model)
    if not isinstance(machine, WithPosterior):
        raise ValueError(
            f"got {type(machine).__name__}, which has no posterior; expected PairLogistic or PairRidge:"
            " conformal gives sets and intervals of any model, intervals='bootstrap' refits it."
        )
    if any(hasattr(layer, "steps") for layer in layers(model)):
        raise ValueError(
            "got a pipeline; expected the machine in it: pass model[-1], and pairs that the other"
            " steps have transformed."
        )
    return machine


#: Linear parts by what was observed and the direction, as long as that is kept.
_KNOWN: WeakKeyDictionary[Observations, dict[float, LinearPart]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class LinearPart:
    """A fitted function that is linear in few features, and what it was fitted to.

    Signs are those of the label that says that the first object is ahead.
    """

    machine: Any
    observed: Observations
    span: Parameters  # the precision of the parameters, factored
    parameters: Vector
    pulls: Vector  # theta_i = -d loss_i / d f
    loss: Any
    scale: float
    parity: Parity | None

    @classmethod
    def of(cls, model: Any) -> LinearPart:
        """The linear part of a model whose kernel has few explicit features."""
        machine = probabilistic_machine(model)
        known = machine._posterior()
        if not isinstance(known.span, Parameters):
            raise ValueError(
                f"got {machine._model.kernel!r}, which is not an inner product of few features;"
                " expected a linear kernel, Identity() or sums of them: effects, clusters and"
                " judges are those of linear parts."
            )
        turn, kept = direction(model, known.parity), _KNOWN.setdefault(machine.observed_, {})
        if turn not in kept:  # without the machine, which keeps what it was fitted to
            kept[turn] = replace(cls._refined(machine, known, turn), machine=None)
        return replace(kept[turn], machine=machine)

    @classmethod
    def _refined(cls, machine: Any, known: Posterior, turn: float) -> LinearPart:
        """Parameters to rounding, and all that follows from them."""
        old, given = known.span, machine.observed_
        seen = replace(given, targets=turn * given.targets)
        weights = halved_weight(known.parity) * seen.strength * seen.weights
        loss = (Logistic if is_classifier(machine) else Squared)(seen.targets, weights)
        design = Design(old.rows, old.has_bias)
        decisions = turn * machine._model.decisions(seen.pairs)
        start = design.penalty * design.transposed(loss.pull(decisions))
        if old.has_bias:
            start[-1] = turn * machine._model.bias
        parameters = minimise(design, loss, start).parameters
        decisions = design.times(parameters)
        span = old.with_weights(loss.curvature(decisions))
        scale = known.scale
        if not is_classifier(machine):
            squares = float(weights @ (seen.targets - decisions) ** 2)
            scale = squares / max(len(seen) - span.edf, 1e-3 * len(seen))
        pulls = loss.pull(decisions)
        return cls(machine, seen, span, parameters, pulls, loss, scale, known.parity)

    @property
    def design(self) -> Design:
        """Explicit features of the training pairs."""
        return Design(self.span.rows, self.span.has_bias)

    def covariance(self, roots: Matrix, clusters: Any = None) -> Matrix:
        """Covariance of functionals with these roots, shape (r, q); clustered where asked for."""
        if clusters is None:
            return self.scale * (roots.T @ roots)
        span = self.span
        directions = solve_triangular(span.factor, roots, lower=True, trans="T")  # P^-1 t
        used = directions[: span.rows.shape[1]]  # without a constant, which is not penalised
        shrunk = self.scale * (used.T @ used)
        if is_by_object(clusters):
            # one number per row and functional: how much the row moves it
            moved = np.asarray(span.rows @ used)
            if span.has_bias:
                moved = moved + directions[-1]
            return self._dyadic(moved * self.pulls[:, np.newaxis]) + shrunk
        names, codes = self.named_clusters(clusters)
        n_clusters = len(names)
        gathering = _gathering(codes, self.pulls, n_clusters)
        moved = np.asarray((gathering @ span.rows) @ used)
        if span.has_bias:
            moved = moved + np.outer(gathering.sum(axis=1), directions[-1])
        n, edf = len(codes), span.edf
        correction = n_clusters / max(n_clusters - 1, 1) * (n - 1) / max(n - edf, 1.0)
        return correction * (moved.T @ moved) + shrunk

    def degrees(self, clusters: Any) -> int:
        """Degrees of freedom of a clustered covariance: clusters, or objects, less one."""
        if is_by_object(clusters):
            return ends_of(self.observed.pairs).n_objects - 1
        return len(self.named_clusters(clusters)[0]) - 1

    def _dyadic(self, moved: Matrix) -> Matrix:
        """The middle of the sandwich for rows that share objects; rows move functionals so much."""
        ends = ends_of(self.observed.pairs)
        proper = ends.first != ends.second
        by_object = _sums(ends.first, moved, ends.n_objects)
        by_object += _sums(ends.second[proper], moved[proper], ends.n_objects)
        unordered = ends.unordered()
        by_pair = _sums(unordered[proper], moved[proper], int(unordered.max(initial=0)) + 1)
        values, vectors = np.linalg.eigh(by_object.T @ by_object - by_pair.T @ by_pair)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    def named_clusters(self, clusters: ArrayLike) -> tuple[NDArray[Any], Places]:
        """Clusters in order, and the number of the cluster of each row that counts."""
        values: NDArray[Any] = np.asarray(clusters)
        if values.shape not in ((self.observed.n_rows,), (len(self.observed),)):
            raise ValueError(
                f"got clusters of shape {values.shape}; expected one value for each of the"
                f" {self.observed.n_rows} rows that the model was fitted to, or 'object'."
            )
        if len(values) == self.observed.n_rows:
            values = values[self.observed.rows]
        names, codes = np.unique(values, return_inverse=True)
        if len(names) == 1:
            raise ValueError(
                "got one cluster only; expected several: nothing says how clusters differ."
            )
        return names, codes


def is_by_object(by: Any) -> bool:
    """Whether rows that share an object are to hang together."""
    return isinstance(by, str) and by == "object"


def _gathering(codes: Places, entries: Vector, number: int) -> sp.csr_array:
    """The matrix that takes rows, times their entries, to sums by their codes."""
    places = codes, np.arange(len(codes))
    return sp.csr_array((entries, places), shape=(number, len(codes)))


def _sums(codes: Places, rows: Matrix, number: int) -> Matrix:
    return np.asarray(_gathering(codes, np.ones(len(codes)), number) @ rows)


# Newton's method on the parameters, to rounding, also without one effect ------------------------


@dataclass(frozen=True, eq=False)
class Minimum:
    """The smallest value, and the parameters there."""

    value: float
    parameters: Vector


def minimise(design: Design, loss: Any, start: Vector, direction: Vector | None = None) -> Minimum:
    """Minimum of ``F(w) = 1/2 |w|^2 + sum_i loss_i(z_i w)``, on ``direction' w = 0`` if there is one."""
    parameters = start.copy()
    if direction is not None:
        parameters -= direction * (direction @ parameters) / (direction @ direction)

    def value(at: Vector) -> float:
        return 0.5 * float(design.penalty @ at**2) + float(loss.value(design.times(at)).sum())

    last = value(parameters)
    for _ in range(_MOST_STEPS):
        decisions = design.times(parameters)
        gradient = design.penalty * parameters - design.transposed(loss.pull(decisions))
        inverse = design.solver(loss.curvature(decisions), 1e-12)
        step = -inverse(gradient)
        if direction is not None:  # the step on the plane across it
            along = inverse(direction)
            step = step - along * float(direction @ step) / float(direction @ along)
        length = 1.0
        now = value(parameters + step)
        for _ in range(_MOST_HALVINGS):
            if now <= last + _SETTLED * abs(last):
                break
            length /= 2.0
            now = value(parameters + length * step)
        parameters = parameters + length * step
        if last - now <= _SETTLED * abs(last):
            return Minimum(min(now, last), parameters)
        last = now
    return Minimum(last, parameters)
