"""Judges: how reliable each is, and how much each prefers what is shown first.

With f the function of the pairs, as a :class:`~pairity.PairLogistic` has it, the vote of judge j on the
pair (a, b), shown in this order, is

    log-odds(a is preferred) = slope_j f(a, b) + bias_j.

A slope of 1 is that of the typical judge, 0 that of one who answers at random, a negative one that
of one who means the opposite; a bias above 0 prefers the first position.  All are estimated
together: f with the penalty of the model, slopes with the prior ``N(1, t^2)`` and biases with
``N(b, s^2)``, so that judges of few votes are shrunk towards the others.  The variances of the
priors and b are those that make the votes most likely (EM with the Laplace approximation), and f is
an odd function as before: position speaks through the biases alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from pairity.exceptions import ConvergenceWarning, levels_to_the_caller
from pairity.inspection.fitted_function import as_frame
from pairity.inspection.linear_part import LinearPart
from pairity.pairs.arrays import Places, Vector, sums_at
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Orientation, Parity
from pairity.solvers.primal_design import Design
from pairity.training.read import Observations

#: Rounds at most, and the change of slopes and biases that ends them.
_MOST_ROUNDS, _SETTLED = 300, 1e-4
#: Variances of the priors, at first and at least.
_FIRST_VARIANCE, _LEAST_VARIANCE = 0.25, 1e-4
#: Newton steps for one judge in a round, and how far one may go.
_STEPS, _FAR = 3, 2.0


@dataclass(frozen=True, eq=False)
class Judges:
    """Judges with their slopes and biases; the function without their faults decides about pairs.

    ``rank_objects(judges, objects)`` ranks by it.

    Attributes
    ----------
    names : ndarray
        Judges, sorted.
    slopes, slope_errors : ndarray
        Reliabilities and their standard errors.
    biases, bias_errors : ndarray
        Log-odds in favour of the first position.
    n_votes : ndarray
        Votes of each (sums of weights).
    common_bias, slope_spread, bias_spread : float
        b, t and s of the priors.
    n_rounds : int
        Rounds of the iteration.
    """

    names: NDArray[Any]
    slopes: Vector
    slope_errors: Vector
    biases: Vector
    bias_errors: Vector
    n_votes: Vector
    common_bias: float
    slope_spread: float
    bias_spread: float
    n_rounds: int
    parameters: Vector
    part: LinearPart

    @property
    def observed_(self) -> Observations:
        """What was judged."""
        return self.part.observed

    def decision_function(self, pairs: Pairs) -> Vector:
        """f for the typical judge, shape (n,), exactly odd under a swap."""
        compact = pairs.compact()
        order = Orientation.of_compact(compact)
        rows = self.part.span.features(compact.with_swapped(order.turned))[1].rows
        if rows.shape[1] != len(self.parameters):
            raise ValueError(
                "got objects that no judge has seen; expected those of the training pairs."
            )
        return order.restored(Parity.ODD, np.asarray(rows @ self.parameters))

    def to_frame(self) -> Any:
        """Return a pandas table, the least reliable first."""
        columns = {
            "judge": self.names,
            "votes": self.n_votes,
            "slope": self.slopes,
            "slope_error": self.slope_errors,
            "bias": self.biases,
            "bias_error": self.bias_errors,
        }
        return as_frame(columns).sort_values("slope", kind="stable").reset_index(drop=True)


def judges(model: Any, judge: ArrayLike) -> Judges:
    """Slopes and biases of judges, and the function without their faults.

    Parameters
    ----------
    model : fitted antisymmetric PairLogistic, or a search around one
        Its kernel an inner product of few features (``"linear"``, ``Identity()``), its rows written as
        they were shown: the first object in the first position.
    judge : array-like of shape (n,)
        Who voted, for each row that the model was fitted to.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairLogistic, Pairs
    >>> from pairity.inspection import judges
    >>> random = np.random.default_rng(0)
    >>> first, second = random.integers(0, 4, 900), random.integers(4, 8, 900)
    >>> who = random.integers(0, 3, 900)
    >>> won = np.where(random.random(900) < 0.95, first + 4 > second, first + 4 < second)
    >>> won[who == 2] = random.random((who == 2).sum()) < 0.5  # the last one tosses a coin
    >>> votes = Pairs(np.eye(8), first, second)
    >>> model = PairLogistic("antisymmetric", kernel="linear").fit(votes, np.where(won, 1, -1))
    >>> int(judges(model, who).slopes.argmin())
    2
    """
    part = LinearPart.of(model)
    if part.parity is not Parity.ODD or not np.isin(part.observed.targets, (-1.0, 1.0)).all():
        raise ValueError(
            f"got {type(part.machine).__name__} with symmetry={part.machine.symmetry!r}; expected an"
            " antisymmetric PairLogistic: judges say who is ahead."
        )
    names, codes = part.named_clusters(judge)
    return _Votes(part, codes).estimated(names)


class _Votes:
    """Votes with their judges, and the iteration over functions, judges and priors."""

    def __init__(self, part: LinearPart, codes: Places) -> None:
        self.part, self.codes = part, codes
        self.n_judges = int(codes.max()) + 1
        self.rows, self.weights = part.span.rows, part.observed.weights
        self.signs = part.observed.targets
        self.parameters = part.parameters.copy()
        self.slopes, self.biases = np.ones(self.n_judges), np.zeros(self.n_judges)
        self.common = 0.0
        self.slope_variance = self.bias_variance = _FIRST_VARIANCE

    def _sums(self, values: Vector) -> Vector:
        return sums_at(self.codes, self.weights * values, self.n_judges)

    def _slopes_of_losses(self, values: Vector) -> tuple[Vector, Vector]:
        """Outcomes less their chances, and variances of outcomes; odd and even, bit for bit."""
        odds = self.slopes[self.codes] * values + self.biases[self.codes]
        return self.signs * expit(-self.signs * odds), expit(odds) * expit(-odds)

    def estimated(self, names: NDArray[Any]) -> Judges:
        """Rounds until nothing changes."""
        n_rounds, change = 0, np.inf
        values = np.asarray(self.rows @ self.parameters)
        while change >= _SETTLED and n_rounds < _MOST_ROUNDS:
            n_rounds += 1
            before = np.concatenate([self.slopes, self.biases])
            self._fit_function()
            values = np.asarray(self.rows @ self.parameters)
            for _ in range(_STEPS):
                self._fit_judges(values)
            self._fit_priors(values)
            change = np.abs(np.concatenate([self.slopes, self.biases]) - before).max()
        if change >= _SETTLED:
            warnings.warn(
                f"judges did not settle in {_MOST_ROUNDS} rounds: slopes and biases still change by"
                f" {change:.2g} in a round. They are as good as that; leave out judges of one or two"
                " votes.",
                ConvergenceWarning,
                stacklevel=levels_to_the_caller(),
            )
        slope_errors, bias_errors = np.sqrt(self._variances(values))
        return Judges(
            names,
            self.slopes,
            slope_errors,
            self.biases,
            bias_errors,
            self._sums(np.ones(len(self.codes))),
            self.common,
            float(np.sqrt(self.slope_variance)),
            float(np.sqrt(self.bias_variance)),
            n_rounds,
            self.parameters,
            self.part,
        )

    def _fit_function(self) -> None:
        """A Newton step on the parameters: rows times slopes, biases as offsets."""
        strength, slopes = self.part.scale, self.slopes[self.codes]
        miss, bend = self._slopes_of_losses(np.asarray(self.rows @ self.parameters))
        pull = strength * self.weights * slopes * miss
        bend = strength * self.weights * slopes**2 * bend
        design = Design(self.rows, has_bias=False)
        gradient = self.parameters - design.transposed(pull)
        self.parameters = self.parameters - design.solver(bend, 1e-8)(gradient)

    def _curvatures(self, values: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        miss, bend = self._slopes_of_losses(values)
        of_slope = self._sums(bend * values**2) + 1.0 / self.slope_variance
        of_bias = self._sums(bend) + 1.0 / self.bias_variance
        return miss, of_slope, of_bias, self._sums(bend * values)

    def _fit_judges(self, values: Vector) -> None:
        """A Newton step on the slope and the bias of each judge."""
        miss, of_slope, of_bias, of_both = self._curvatures(values)
        slope_pull = self._sums(miss * values) - (self.slopes - 1.0) / self.slope_variance
        bias_pull = self._sums(miss) - (self.biases - self.common) / self.bias_variance
        determinant = of_slope * of_bias - of_both**2
        slope_step = (of_bias * slope_pull - of_both * bias_pull) / determinant
        bias_step = (of_slope * bias_pull - of_both * slope_pull) / determinant
        self.slopes = self.slopes + np.clip(slope_step, -_FAR, _FAR)
        self.biases = self.biases + np.clip(bias_step, -_FAR, _FAR)

    def _variances(self, values: Vector) -> tuple[Vector, Vector]:
        """Posterior variances of slopes and biases."""
        _, of_slope, of_bias, of_both = self._curvatures(values)
        determinant = of_slope * of_bias - of_both**2
        return of_bias / determinant, of_slope / determinant

    def _fit_priors(self, values: Vector) -> None:
        """The mean bias, and mean squares about the means of the priors, posterior variance included."""
        slope_variances, bias_variances = self._variances(values)
        self.common = float(self.biases.mean())
        squares = (self.slopes - 1.0) ** 2 + slope_variances
        self.slope_variance = max(float(squares.mean()), _LEAST_VARIANCE)
        squares = (self.biases - self.common) ** 2 + bias_variances
        self.bias_variance = max(float(squares.mean()), _LEAST_VARIANCE)
