"""Values of a model split into an even and an odd part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.explain.fitted import values_of
from pairity.pairs import Pairs
from pairity.parity import Parity, impose

__all__ = ["EvenOddParts", "even_odd_parts"]

Vector = NDArray[np.float64]


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

    The two parts obey their laws bit for bit and add up to the values to rounding.  For a model
    that is symmetric or antisymmetric by construction one of them is exactly 0.

    Parameters
    ----------
    model : fitted model
        Anything with ``decision_function``, or a regressor with ``predict``.
    pairs : Pairs
        Where to evaluate it.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairRidge, Pairs
    >>> from pairity.explain import even_odd_parts
    >>> from pairity.kernels import Linear, Mixed
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> games = Pairs.complete(strength).with_mirrored()
    >>> margin = strength[games.first, 0] - strength[games.second, 0] + 0.5  # the host's advantage
    >>> kernel = Mixed(Linear(), even=0.1)
    >>> model = PairRidge("none", kernel, alpha=1e-6, fit_intercept=True).fit(games, margin)
    >>> parts = even_odd_parts(model, games[:3])
    >>> parts.even.round(3), parts.odd.round(3)
    (array([0.5, 0.5, 0.5]), array([2., 1., 3.]))
    """
    if not isinstance(pairs, Pairs):
        raise ValueError(
            f"got {type(pairs).__name__}; expected Pairs, which can be swapped: use"
            " Pairs.from_rows(rows, n_symmetric, n_antisymmetric)."
        )
    value, mirrored = values_of(model, pairs), values_of(model, pairs.swap())
    return EvenOddParts(
        np.asarray(impose(Parity.EVEN, value, mirrored)),
        np.asarray(impose(Parity.ODD, value, mirrored)),
    )
