"""Which training pairs drive a decision, and how a model splits into an even and an odd part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.inspection.fitted_function import (
    as_frame,
    fitted_function,
    object_names,
    require_pairs,
    values_of,
)
from pairity.operators.pair_operator import PairOperator
from pairity.pairs.arrays import Matrix, Places, Vector, batches
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Orientation, Parity, impose
from pairity.runtime.validation import check_count
from pairity.training.model import PairModel

Names = tuple[NDArray[Any], NDArray[Any]]  # of the first and of the second objects

#: Kernel values that are held at a time.
_ENTRIES = 4_000_000


@dataclass(frozen=True, eq=False)
class EvenOddParts:
    """``f = even + odd`` on some pairs.

    Attributes
    ----------
    even : ndarray of shape (n,)
        ``(f(a, b) + f(b, a)) / 2``: the same for swapped pairs, bit for bit.
    odd : ndarray of shape (n,)
        ``(f(a, b) - f(b, a)) / 2``: the exact negative for swapped pairs, 0.0 for (a, a).
    """

    even: Vector
    odd: Vector

    @property
    def odd_share(self) -> float:
        """``sum odd^2 / sum (even^2 + odd^2)``: 0 for an even function, 1 for an odd one."""
        odd, even = float(self.odd @ self.odd), float(self.even @ self.even)
        return odd / (odd + even) if odd + even > 0.0 else float("nan")


def even_odd_parts(model: Any, pairs: Pairs) -> EvenOddParts:
    """Split the values of a fitted model into what stays and what changes sign under a swap.

    The model is anything with ``decision_function``, or a regressor with ``predict``.  The two
    parts obey their laws bit for bit and add up to the values to rounding.  For a model that is
    symmetric or antisymmetric by construction one of them is exactly 0.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairRidge, Pairs
    >>> from pairity.inspection import even_odd_parts
    >>> from pairity.kernels import Linear, Mixed
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> games = Pairs.complete(strength).with_mirrored()
    >>> margin = strength[games.first, 0] - strength[games.second, 0] + 0.5  # the host's advantage
    >>> kernel = Mixed(Linear(), even=0.1)
    >>> model = PairRidge("none", kernel=kernel, alpha=1e-6, fit_intercept=True).fit(games, margin)
    >>> parts = even_odd_parts(model, games[:3])
    >>> parts.even.round(3), parts.odd.round(3)
    (array([0.5, 0.5, 0.5]), array([2., 1., 3.]))
    """
    require_pairs(pairs, ", which can be swapped")
    value, mirrored = values_of(model, pairs), values_of(model, pairs.swap())
    return EvenOddParts(*(impose(parity, value, mirrored) for parity in Parity))


@dataclass(frozen=True, eq=False)
class Influences:
    """The training pairs with the largest contributions to each of q decisions.

    ``decisions[i] = intercept + sum(contributions[i]) + rest[i]``, to rounding.

    Attributes
    ----------
    rows : ndarray of int of shape (q, k)
        Rows of the training set, as in ``support_``: on the full training set rows from n on are
        the mirrored ones.
    contributions : ndarray of shape (q, k)
        What each of them adds to the decision, largest in size first.
    rest, decisions : ndarray of shape (q,)
        What all other training pairs add together, and the decisions.
    intercept : float
        The constant that all decisions share.
    asked, training : tuple of (first, second)
        Names of the pairs asked for (ids, or row numbers of their objects), and of the training
        pairs in ``rows``, arrays of shape (q, k); ``None`` where these are not known.
    n_support : int
        Number of training pairs that contribute at all.
    """

    rows: Places
    contributions: Matrix
    rest: Vector
    decisions: Vector
    intercept: float
    asked: Names
    training: Names | None
    n_support: int

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines, kept = [], self.rows.shape[1]
        for pair, (first, second) in enumerate(zip(*self.asked, strict=True)):
            lines.append(
                f"pair {pair} ({first}, {second}): decision {self.decisions[pair]:+.4g} ="
                f" {self.intercept:+.4g} intercept, {self.contributions[pair].sum():+.4g} from"
                f" {kept} training pairs, {self.rest[pair]:+.4g} from {self.n_support - kept} others"
            )
            for rank, row in enumerate(self.rows[pair]):
                name = ""
                if self.training is not None:
                    name = f" ({self.training[0][pair, rank]}, {self.training[1][pair, rank]})"
                lines.append(f"  {self.contributions[pair, rank]:+.4g}  row {row}{name}")
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """A pandas table: one line for each pair asked for and training pair."""
        q, k = self.rows.shape
        first, second = (None, None) if self.training is None else map(np.ravel, self.training)
        return as_frame(
            {
                "pair": np.repeat(np.arange(q), k),
                "first": np.repeat(self.asked[0], k),
                "second": np.repeat(self.asked[1], k),
                "decision": np.repeat(self.decisions, k),
                "training_row": self.rows.ravel(),
                "contribution": self.contributions.ravel(),
                "training_first": first,
                "training_second": second,
            }
        )


def contributions(model: Any, pairs: Any) -> Matrix:
    """What each support pair adds to each decision, shape (q, number of support pairs).

    Entry (i, j) is ``theta_j K(pair_i, j)`` with the projected kernel; rows add up to
    ``decision - intercept`` to rounding.  For swapped pairs the entries are the same, or exact
    negatives, bit for bit.  Columns are in the order of ``support_`` of the learner.  Parameters
    are those of :func:`influential_pairs`.
    """
    _, function, seen = fitted_function(model, pairs)
    blocks = list(_blocks(function, seen))
    return np.vstack(blocks) if blocks else np.zeros((0, len(function.coefficients)))


def _blocks(function: PairModel, pairs: Pairs) -> Iterator[Matrix]:
    """Contributions of some pairs at a time: cut the same way for pairs and swapped pairs.

    The projected kernel is evaluated in one order of each pair alone.
    """

    def kernel_values(some: Pairs) -> Matrix:
        return PairOperator(function.kernel, some, function.support).block(slice(None), slice(None))

    for rows in batches(len(pairs), _ENTRIES // max(1, len(function.coefficients))):
        batch = pairs[rows].compact()
        if function.parity is None:
            values = kernel_values(batch)
        else:
            order = Orientation.of_compact(batch)
            batch = batch.with_swapped(order.turned)
            value, mirrored = kernel_values(batch), kernel_values(batch.swap())
            values = order.restored(function.parity, impose(function.parity, value, mirrored))
        yield values * function.coefficients


def influential_pairs(
    model: Any, pairs: Any, n: int = 5, *, training: Pairs | None = None
) -> Influences:
    """Return the training pairs that drive each decision: those with the largest contributions.

    The function of every learner is a sum over training pairs,

        f(a, b) = intercept + sum_j theta_j K(ab, j),

    and a contribution is one term of it.  Contributions to swapped pairs are the same
    (symmetric), or exact negatives (antisymmetric).

    Parameters
    ----------
    model : fitted learner of pairs, or a pipeline or search around one
    pairs : Pairs or wide rows
        Pairs whose decisions are to be explained.
    n : int
        Number of training pairs to name for each.
    training : Pairs, optional
        What the model was fitted to, to name training pairs by their ids (or by the row numbers
        of their objects).  Without it they are named by the ids that the model kept.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVC
    >>> from pairity.inspection import influential_pairs
    >>> strength, names = np.array([[3.0], [1.0], [2.0], [0.0]]), ["Ann", "Bob", "Cy", "Di"]
    >>> games = Pairs(strength, first=[0, 1, 2, 3], second=[1, 2, 3, 0], ids=names)
    >>> model = PairSVC("antisymmetric", kernel="linear", C=0.05).fit(games, [1, -1, 1, -1])
    >>> print(influential_pairs(model, Pairs(strength, [0], [2], ids=names), n=2))
    pair 0 (Ann, Cy): decision +0.3333 = +0 intercept, +0.2 from 2 training pairs, +0.1333 from 2 others
      +0.1  row 0 (Ann, Bob)
      +0.1  row 2 (Cy, Di)
    """
    check_count(n, "n")
    learner, function, seen = fitted_function(model, pairs)
    support, kept = learner.support_, min(int(n), len(learner.support_))
    chosen, largest = [np.zeros((0, kept), dtype=np.intp)], [np.zeros((0, kept))]
    totals = [np.zeros(0)]
    for block in _blocks(function, seen):
        chosen.append(np.argsort(-np.abs(block), axis=1, kind="stable")[:, :kept])
        largest.append(np.take_along_axis(block, chosen[-1], axis=1))
        totals.append(block.sum(axis=1))
    columns, added = np.concatenate(chosen), np.concatenate(largest)
    rows = support[columns]
    return Influences(
        rows=rows,
        contributions=added,
        rest=np.concatenate(totals) - added.sum(axis=1),
        decisions=function.decisions(seen),
        intercept=float(function.bias),
        asked=_names(pairs if isinstance(pairs, Pairs) else seen),
        training=_training_names(learner, rows, columns, training),
        n_support=len(support),
    )


def _names(pairs: Pairs) -> Names:
    names = object_names(pairs.ids, pairs.n_objects)
    return names[pairs.first], names[pairs.second]


def _training_names(
    learner: Any, rows: Places, columns: Places, training: Pairs | None
) -> Names | None:
    """Names of the chosen training pairs, in the order in which they were trained on."""
    if training is None:
        if learner.support_pairs_.ids is None:
            return None
        first, second = _names(learner.support_pairs_)
        return first[columns], second[columns]
    highest = int(rows.max(initial=-1))
    full = learner.training_set == "full" and learner.symmetry != "none"
    if highest >= len(training) * (2 if full else 1):
        raise ValueError(
            f"got {len(training)} training pairs for a model that learned from row {highest};"
            " expected those it was fitted to: pass what was given to fit."
        )
    first, second = _names(training.with_mirrored() if full else training)
    return first[rows], second[rows]
