"""Which training pairs drive a decision, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.explain.fitted import fitted_function
from pairity.model import PairModel
from pairity.operators.pair_operator import PairOperator
from pairity.orientation import Orientation
from pairity.pairs import Pairs
from pairity.parity import impose
from pairity.validation import check_count

__all__ = ["Influences", "contributions", "influential_pairs"]

#: Kernel values that are held at a time.
_ENTRIES = 4_000_000

Matrix = NDArray[np.float64]


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
    rest : ndarray of shape (q,)
        What all other training pairs add together.
    decisions : ndarray of shape (q,)
        The decisions.
    intercept : float
        The constant that all decisions share.
    asked : tuple of (first, second)
        Names of the pairs asked for: ids, or row numbers of their objects.
    training : tuple of (first, second) or None
        Names of the training pairs in ``rows``, arrays of shape (q, k), where they are known.
    n_support : int
        Number of training pairs that contribute at all.
    """

    rows: NDArray[np.intp]
    contributions: Matrix
    rest: NDArray[np.float64]
    decisions: NDArray[np.float64]
    intercept: float
    asked: tuple[NDArray[Any], NDArray[Any]]
    training: tuple[NDArray[Any], NDArray[Any]] | None
    n_support: int

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for place, decision in enumerate(self.decisions):
            first, second = self.asked[0][place], self.asked[1][place]
            yield (
                f"pair {place} ({first}, {second}): decision {decision:+.4g} ="
                f" {self.intercept:+.4g} intercept, {self.contributions[place].sum():+.4g} from"
                f" {self.rows.shape[1]} training pairs, {self.rest[place]:+.4g} from"
                f" {self.n_support - self.rows.shape[1]} others"
            )
            for rank, row in enumerate(self.rows[place]):
                yield f"  {self.contributions[place, rank]:+.4g}  row {row}{self._name(place, rank)}"

    def _name(self, place: int, rank: int) -> str:
        if self.training is None:
            return ""
        return f" ({self.training[0][place, rank]}, {self.training[1][place, rank]})"

    def to_frame(self) -> Any:
        """A pandas table: one line for each pair asked for and training pair."""
        import pandas

        q, k = self.rows.shape
        columns: dict[str, Any] = {
            "pair": np.repeat(np.arange(q), k),
            "first": np.repeat(self.asked[0], k),
            "second": np.repeat(self.asked[1], k),
            "decision": np.repeat(self.decisions, k),
            "training_row": self.rows.ravel(),
            "contribution": self.contributions.ravel(),
        }
        if self.training is not None:
            columns["training_first"] = self.training[0].ravel()
            columns["training_second"] = self.training[1].ravel()
        return pandas.DataFrame(columns)


def contributions(model: Any, pairs: Any) -> Matrix:
    """What each support pair adds to each decision, shape (q, number of support pairs).

    Entry (i, j) is ``theta_j K(pair_i, j)`` with the projected kernel; rows add up to
    ``decision - intercept`` to rounding.  For swapped pairs the entries are the same, or exact
    negatives, bit for bit.  Columns are in the order of ``support_`` of the learner.

    Parameters
    ----------
    model : fitted learner of pairs, or a pipeline or search around one
    pairs : Pairs or wide rows
    """
    _, function, seen = fitted_function(model, pairs)
    blocks = list(_blocks(function, seen))
    return np.vstack(blocks) if blocks else np.zeros((0, len(function.coefficients)))


def _blocks(function: PairModel, pairs: Pairs) -> Iterator[Matrix]:
    """Contributions of some pairs at a time: cut the same way for pairs and swapped pairs."""
    step = max(1, _ENTRIES // max(1, len(function.coefficients)))
    for start in range(0, len(pairs), step):
        batch = pairs[start : start + step].compact()
        yield _projected_values(function, batch) * function.coefficients


def _projected_values(function: PairModel, pairs: Pairs) -> Matrix:
    """Values of the projected kernel, each pair evaluated in one order alone."""
    if function.parity is None:
        return _kernel_values(function, pairs)
    order = Orientation.of_compact(pairs)
    pairs = pairs.with_swapped(order.turned)
    value, mirrored = _kernel_values(function, pairs), _kernel_values(function, pairs.swap())
    return order.restored(function.parity, impose(function.parity, value, mirrored))


def _kernel_values(function: PairModel, pairs: Pairs) -> Matrix:
    operator = PairOperator(function.kernel, pairs, function.support)
    return operator.block(slice(None), slice(None))


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
    >>> from pairity.explain import influential_pairs
    >>> strength, names = np.array([[3.0], [1.0], [2.0], [0.0]]), ["Ann", "Bob", "Cy", "Di"]
    >>> games = Pairs(strength, first=[0, 1, 2, 3], second=[1, 2, 3, 0], ids=names)
    >>> model = PairSVC("antisymmetric", "linear", C=0.05).fit(games, [1, -1, 1, -1])
    >>> print(influential_pairs(model, Pairs(strength, [0], [2], ids=names), n=2))
    pair 0 (Ann, Cy): decision +0.3333 = +0 intercept, +0.2 from 2 training pairs, +0.1333 from 2 others
      +0.1  row 0 (Ann, Bob)
      +0.1  row 2 (Cy, Di)
    """
    check_count(n, "n")
    learner, function, seen = fitted_function(model, pairs)
    support = learner.support_
    kept = min(int(n), len(support))
    chosen = np.zeros((len(seen), kept), dtype=np.intp)
    largest, totals = np.zeros((len(seen), kept)), np.zeros(len(seen))
    start = 0
    for block in _blocks(function, seen):
        part = slice(start, start + len(block))
        chosen[part] = np.argsort(-np.abs(block), axis=1, kind="stable")[:, :kept]
        largest[part] = np.take_along_axis(block, chosen[part], axis=1)
        totals[part] = block.sum(axis=1)
        start += len(block)
    rows = support[chosen]
    return Influences(
        rows=rows,
        contributions=largest,
        rest=totals - largest.sum(axis=1),
        decisions=function.decisions(seen),
        intercept=float(function.bias),
        asked=_names(pairs if isinstance(pairs, Pairs) else seen),
        training=_training_names(learner, rows, chosen, training),
        n_support=len(support),
    )


def _names(pairs: Pairs) -> tuple[NDArray[Any], NDArray[Any]]:
    names = np.arange(pairs.n_objects) if pairs.ids is None else pairs.ids
    return names[pairs.first], names[pairs.second]


def _training_names(
    learner: Any, rows: NDArray[np.intp], chosen: NDArray[np.intp], training: Pairs | None
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Names of the chosen training pairs, in the order in which they were trained on."""
    if training is None:
        support = learner.support_pairs_
        if support.ids is None:
            return None
        first, second = _names(support)
        return first[chosen], second[chosen]
    highest = int(rows.max(initial=-1))
    full = learner.training_set == "full" and learner.symmetry != "none"
    if highest >= len(training) * (2 if full else 1):
        raise ValueError(
            f"got {len(training)} training pairs for a model that learned from row {highest};"
            " expected those it was fitted to: pass what was given to fit."
        )
    first, second = _names(training.with_mirrored() if full else training)
    return first[rows], second[rows]
