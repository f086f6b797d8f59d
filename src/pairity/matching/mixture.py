"""An unsupervised start: two classes of pairs told apart by how their similarities go together.

The model of Fellegi and Sunter (JASA 64, 1969), fitted by EM: each similarity is cut into levels,
missing being a level of its own, and levels are independent within matches and within others,

    P(levels) = p  prod_c m_c(level_c) + (1 - p) prod_c u_c(level_c).

The log-odds of a match are ``log p/(1-p) + sum_c log m_c/u_c``: evidence of columns that adds up.
EM starts from pairs that lead all other candidates of both of their records (:mod:`.pair_features`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from pairity.pairs.arrays import Matrix, Places, Vector

#: Similarities at which a level ends; pseudo-observations of each level; steps, and change to stop at.
_CUTS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.88, 0.94, 0.999)
_SMOOTHING, _STEPS, _LEAST_CHANGE = 0.5, 200, 1e-5
#: Prior shares are kept within.
_LEAST_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class Mixture:
    """Levels of matches and of others, and how many matches there are."""

    names: tuple[str, ...]  # of the similarities
    share: float  # prior share p of matches among the candidates
    evidence: tuple[Vector, ...]  # log m_c/u_c of each level, the first of which is "missing"
    n_steps: int  # of EM

    def weights(self, levels: Places) -> Matrix:
        """Evidence of each similarity for each pair, shape (n, similarities)."""
        return np.column_stack([table[levels[:, c]] for c, table in enumerate(self.evidence)])

    def log_odds(self, levels: Places) -> Vector:
        """Log-odds of a match."""
        return float(logit(self.share)) + self.weights(levels).sum(axis=1)


def levels_of(values: Matrix, missing: np.ndarray) -> Places:
    """Level of each similarity: 0 where missing, then 1, 2, ... from unlike to equal."""
    found = 1 + np.searchsorted(np.array(_CUTS), values, side="left")
    return np.where(missing, 0, found).astype(np.intp)


def fit_mixture(
    names: tuple[str, ...], levels: Places, start: Vector, most_matches: float
) -> Mixture:
    """EM from first chances of a match; no more matches than ``most_matches`` are expected."""
    n_levels = len(_CUTS) + 2
    chance, step = start, 0
    for step in range(1, _STEPS + 1):
        share = min(float(chance.mean()), most_matches / max(len(chance), 1))
        share = float(np.clip(share, _LEAST_SHARE, 1.0 - _LEAST_SHARE))
        tables = tuple(
            np.log(_frequencies(column, chance, n_levels))
            - np.log(_frequencies(column, 1.0 - chance, n_levels))
            for column in levels.T
        )
        mixture = Mixture(names, share, tables, step)
        new = expit(mixture.log_odds(levels))
        change = float(np.abs(new - chance).max(initial=0.0))
        chance = new
        if change < _LEAST_CHANGE:
            break
    return mixture


def _frequencies(levels: Places, chance: Vector, n_levels: int) -> Vector:
    found = np.bincount(levels, chance, n_levels) + _SMOOTHING
    return found / found.sum()
