"""How certain scores and ranks are, from the covariance of the scores.

Intervals are ``s -+ q error``: with q of the normal distribution (Student's, where the covariance is
from few refits or clusters) for one object, and with q the quantile of the largest
``|s - truth| / error`` for all objects of a connected part together.  Where the posterior is known not
to be normal, both ends are its own quantiles (:mod:`pairity.inspection.posterior_shape`).  Two objects
are told apart where their difference exceeds its error by the quantile of the largest such ratio over
all pairs of the part; then, at the level asked for, every statement of who is ahead holds at once, and
so do the ranges of ranks that count them (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic
Studies 91, 2024).  Quantiles are those of draws from the normal distribution with that covariance, with
a seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from pairity.inspection.posterior_shape import Shape
from pairity.pairs.arrays import Mask, Matrix, Places, Vector

#: Draws at most and at least, and differences that are looked at in all of them.
_MOST_DRAWS, _FEWEST_DRAWS, _DIFFERENCES = 4000, 400, 400_000_000
#: Draws whose differences stay near the processor.
_DRAWS_AT_A_TIME = 100
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Columns of a table, besides the errors.
_COLUMNS = ("lower", "upper", "lower_all", "upper_all", "best_rank", "worst_rank", "tied")


@dataclass(frozen=True, eq=False)
class Certainty:
    """Errors, intervals and what they say about ranks; one entry per object.

    Attributes
    ----------
    errors : ndarray
        Standard errors of the scores.
    lower, upper : ndarray
        Interval of each score by itself.
    lower_all, upper_all : ndarray
        Intervals that hold all scores of a connected part at once.
    best_rank, worst_rank : ndarray of int
        Ranks that are possible, for all objects at once.
    tied : ndarray of str
        Letters of the groups of neighbours in the ranking that cannot be told apart; objects that
        share a letter are statistically tied.
    chance_best : ndarray
        Probability of being the best of its connected part.
    ahead : ndarray of bool, shape (m, m)
        Whether the object of the row is certainly ahead of that of the column.
    covariance : ndarray of shape (m, m)
        Of the scores.
    level : float
        Coverage aimed at.
    source : str
        "analytic", "bootstrap" or "leave_out".
    """

    errors: Vector
    lower: Vector
    upper: Vector
    lower_all: Vector
    upper_all: Vector
    best_rank: Places
    worst_rank: Places
    tied: NDArray[Any]
    chance_best: Vector
    ahead: Mask
    covariance: Matrix
    level: float
    source: str = "analytic"

    def columns(self) -> dict[str, Any]:
        """Columns of a table."""
        columns = {name: getattr(self, name) for name in (*_COLUMNS, "chance_best")}
        return {"error": self.errors, **columns}


def certainty_of(
    scores: Vector,
    covariance: Matrix,
    components: Places,
    level: float,
    *,
    shape: Shape | None = None,
    degrees: int | None = None,
    random_state: Any = 0,
    source: str = "analytic",
) -> Certainty:
    """What a covariance says about scores, normal or of another shape.

    ``degrees`` are those of freedom where few refits or clusters estimate it.
    """
    m = len(scores)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    shape = Shape.normal(m) if shape is None else shape
    tail = 0.5 + level / 2.0
    one = float(norm.ppf(tail) if degrees is None else student.ppf(tail, degrees))
    reach_all, best = np.zeros(m), np.zeros(m)  # quantiles of all at once
    ahead = np.zeros((m, m), dtype=np.bool_)
    generator = np.random.default_rng(random_state)
    for part in np.unique(components):
        inside = np.flatnonzero(components == part)
        some = np.ix_(inside, inside)
        draws = _draws(covariance[some], degrees, generator)
        known = np.where(errors[inside] > 0.0, errors[inside], np.inf)
        largest = (np.abs(draws) / known).max(axis=1)  # deviation over its error
        reach_all[inside] = max(one, float(np.quantile(largest, level)))
        ahead[some] = _ahead(scores[inside], covariance[some], draws, level)
        winners = np.argmax(scores[inside] + draws, axis=1)
        best[inside] = np.bincount(winners, minlength=len(inside)) / len(draws)
    below, above = shape.ends(errors, one)
    below_all, above_all = shape.ends(errors, reach_all)
    sizes = np.bincount(components)[components] if m else np.zeros(0, dtype=np.intp)
    return Certainty(
        errors,
        scores + below,
        scores + above,
        scores + below_all,
        scores + above_all,
        1 + ahead.sum(axis=0),
        sizes - ahead.sum(axis=1),
        _letters(scores, components, ahead),
        best,
        ahead,
        covariance,
        level,
        source,
    )


def _draws(covariance: Matrix, degrees: int | None, generator: np.random.Generator) -> Matrix:
    """Deviations of scores, shape (number, m)."""
    m = len(covariance)
    number = int(np.clip(_DIFFERENCES // max(1, m * m), _FEWEST_DRAWS, _MOST_DRAWS))
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws: Matrix = generator.normal(size=(number, m)) @ root.T
    if degrees is not None:
        draws *= np.sqrt(degrees / generator.chisquare(degrees, size=(number, 1)))
    return draws


def _ahead(scores: Vector, covariance: Matrix, draws: Matrix, level: float) -> Mask:
    """Whether the score of the row exceeds that of the column by more than chance allows."""
    spread = np.diag(covariance)
    squares = spread[:, np.newaxis] + spread - 2.0 * covariance
    floor = 1e-12 * float(spread.max(initial=0.0))
    known = squares > floor  # two objects that the model cannot tell apart are equal
    inverse = np.where(known, 1.0 / np.sqrt(np.where(known, squares, 1.0)), 0.0)
    some = np.array_split(draws, -(-len(draws) // _DRAWS_AT_A_TIME))
    largest = np.concatenate([_largest_difference(part, inverse) for part in some])
    differences = (scores[:, np.newaxis] - scores) * inverse
    return np.asarray(differences > np.quantile(largest, level))


def _largest_difference(draws: Matrix, inverse: Matrix) -> Vector:
    """``max |d_i - d_j| inverse_ij`` over all i < j, for each draw."""
    largest, columns = np.zeros(len(draws)), np.ascontiguousarray(draws.T)
    for row in range(1, len(columns)):
        apart = columns[:row] - columns[row]
        np.abs(apart, out=apart)
        apart *= inverse[:row, row, np.newaxis]
        np.maximum(largest, apart.max(axis=0), out=largest)
    return largest


def _letters(scores: Vector, components: Places, ahead: Mask) -> NDArray[Any]:
    """Letters of maximal runs, in the order of the scores, of objects that are not told apart."""
    letters = np.full(len(scores), "", dtype=object)
    for part in np.unique(components):
        inside = np.flatnonzero(components == part)
        order = inside[np.argsort(-scores[inside], kind="stable")]
        told_apart = ahead[np.ix_(order, order)]
        told_apart = told_apart | told_apart.T
        start = stop = number = 0
        for end in range(1, len(order) + 1):
            # the run from start may grow as long as its new member is told apart from none in it
            clash = (
                np.flatnonzero(told_apart[start:end, end]) if end < len(order) else [end - start]
            )
            if len(clash):
                if end > stop:  # a, b, ..., z, then with a number: a1, b1, ...
                    turn, place = divmod(number, len(_LETTERS))
                    letters[order[start:end]] += _LETTERS[place] + (str(turn) if turn else "")
                    number, stop = number + 1, end
                start += int(clash[-1]) + 1
    return letters.astype(str)
