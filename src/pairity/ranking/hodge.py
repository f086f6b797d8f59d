"""HodgeRank: the scores that explain a flow best, and what no scores can explain.

Every flow splits into three parts, orthogonal in ``<X, Y> = sum_e w_e X_e Y_e`` (the discrete
Hodge decomposition; Jiang, Lim, Yao and Ye, "Statistical ranking and combinatorial Hodge theory",
Mathematical Programming 127, 2011):

    Y = gradient + curl + harmonic,    |Y|^2 = |gradient|^2 + |curl|^2 + |harmonic|^2.

The gradient part is ``s_i - s_j`` with the scores s of weighted least squares; the curl part
circulates in triangles (local inconsistency, rock-paper-scissors); the harmonic part circulates
in longer loops that no triangles fill (it is 0 where all pairs are compared).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from pairity.pairs import Pairs
from pairity.ranking.curl import compares_all, curl_part, solve_least_squares
from pairity.ranking.flow import Places, PreferenceFlow, Vector, observed_flow

__all__ = ["HodgeParts", "decompose", "hodge_rank", "least_squares_scores"]


@dataclass(frozen=True, eq=False)
class HodgeParts:
    """A flow and its three parts.

    Attributes
    ----------
    flow : PreferenceFlow
        The flow.
    scores : ndarray of shape (m,)
        Least-squares scores, of mean 0 in each connected part.
    components : ndarray of shape (m,)
        Connected part of each object; scores of different parts do not compare.
    gradient, curl, harmonic : ndarray of shape (n_edges,)
        The parts, adding up to ``flow.values``; the last two are ``None`` if not asked for.
    """

    flow: PreferenceFlow
    scores: Vector
    components: Places
    gradient: Vector
    curl: Vector | None
    harmonic: Vector | None

    @property
    def n_components(self) -> int:
        """Number of connected parts."""
        return int(self.components.max(initial=-1)) + 1

    @property
    def gradient_share(self) -> float:
        """Part of ``|Y|^2`` that the scores explain; 1 for a flow that is all ties."""
        total = self._square(self.flow.values)
        return self._square(self.gradient) / total if total > 0 else 1.0

    @property
    def cyclic_share(self) -> float:
        """Part of ``|Y|^2`` that no ranking can explain: curl and harmonic together."""
        return self._share(self.flow.values - self.gradient)

    @property
    def curl_share(self) -> float:
        """Part of ``|Y|^2`` that circulates in triangles."""
        return np.nan if self.curl is None else self._share(self.curl)

    @property
    def harmonic_share(self) -> float:
        """Part of ``|Y|^2`` that circulates in longer loops only."""
        return np.nan if self.harmonic is None else self._share(self.harmonic)

    def _square(self, values: Vector) -> float:
        return float(np.sum(self.flow.weights * values**2))

    def _share(self, values: Vector) -> float:
        total = self._square(self.flow.values)
        return self._square(values) / total if total > 0 else 0.0

    def __str__(self) -> str:
        parts = ""
        if self.n_components > 1:
            parts = f"; {self.n_components} parts without comparisons between them"
        return (
            f"{len(self.flow)} comparisons of {self.flow.n_objects} objects{parts}:"
            f" {self.gradient_share:.1%} explained by scores, {self.curl_share:.1%} cyclic in"
            f" triangles, {self.harmonic_share:.1%} in longer loops"
        )


def least_squares_scores(flow: PreferenceFlow) -> Vector:
    """Scores that minimise ``sum_ij w_ij (s_i - s_j - Y_ij)^2``, of mean 0 in each part.

    Where all objects of a part are compared with equal weights they are ``sum_j Y_ij / m``.
    """
    components = flow.components()
    sizes = np.bincount(components)
    if len(flow) and np.ptp(flow.weights) == 0.0 and compares_all(flow):
        return flow.per_object(flow.values, -1.0) / sizes[components]
    root = np.sqrt(flow.weights)
    scaled = sp.csr_array(sp.diags_array(root) @ flow.gradient())
    scores = solve_least_squares(scaled, root * flow.values)
    return np.asarray(scores - (np.bincount(components, scores) / sizes)[components])


def decompose(flow: PreferenceFlow, *, curl: bool = True) -> HodgeParts:
    """Split a flow into its parts; ``curl=False`` leaves the cyclic remainder in one piece."""
    scores = least_squares_scores(flow)
    gradient = scores[flow.first] - scores[flow.second]
    rest = flow.values - gradient
    around = curl_part(flow, rest) if curl else None
    harmonic = None if around is None else rest - around
    return HodgeParts(flow, scores, flow.components(), gradient, around, harmonic)


def hodge_rank(
    pairs: Pairs, y: ArrayLike, sample_weight: ArrayLike | None = None, *, curl: bool = True
) -> HodgeParts:
    """HodgeRank of observed outcomes, without any model.

    Parameters
    ----------
    pairs : Pairs
        Who was compared with whom; the rows of ``pairs.objects`` are the objects.
    y : array-like of shape (n,)
        Outcomes: above 0 where the first object is ahead, 0 for a tie.  Several observations of
        a pair are averaged.
    sample_weight : array-like of shape (n,), optional
        How much each observation counts.
    curl : bool
        Tell curl and harmonic parts apart.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.ranking import hodge_rank
    >>> game = Pairs(np.eye(3), first=[0, 1, 2], second=[1, 2, 0])  # rock, scissors, paper
    >>> round(hodge_rank(game, [1, 1, 1]).gradient_share, 12)
    0.0
    """
    return decompose(observed_flow(pairs, y, sample_weight), curl=curl)
