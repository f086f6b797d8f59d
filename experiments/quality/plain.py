"""Rows for models that know nothing of pairs: each pair in both orders, in one of several views."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.quality.columns import Scale, even_columns, mixed_columns, raw_columns
from experiments.quality.identities import Rates, out_of_fold_sides
from experiments.quality.method import Labels, Problem
from pairity import Pairs


def view_names(problem: Problem) -> list[str]:
    """Views to choose from; where objects come back, past rates take the place of raw columns."""
    if problem.identities:
        return ["engineered", "engineered, rates", "raw, engineered, rates"]
    return ["raw", "engineered", "raw, engineered"]


@dataclass(frozen=True, eq=False)
class View:
    """Columns of one kind, fitted to training pairs.

    ``raw`` columns are [x_a, x_b, group features]; ``engineered`` ones are differences and sums
    (antisymmetric tasks) or sums, absolute differences, products, distance and cosine (symmetric
    tasks), which are even by themselves; ``rates`` are past rates of the two objects.
    """

    name: str
    odd: bool
    scale: Scale
    rates: Rates | None

    @classmethod
    def of(cls, name: str, problem: Problem, pairs: Pairs, y: Labels) -> View:
        """Fit scale and rates."""
        rates = Rates.of(pairs, y, problem.odd) if "rates" in name else None
        return cls(name, problem.odd, Scale.of(pairs, problem.common_scale), rates)

    @property
    def even(self) -> bool:
        """Whether a swap leaves the columns as they are."""
        return not self.odd and "raw" not in self.name

    def rows(self, pairs: Pairs) -> np.ndarray:
        """Columns of pairs as they are written."""
        sides = None if self.rates is None else self.rates.sides(pairs)
        return self._columns(self.scale.apply(pairs), sides)

    def training_rows(
        self, problem: Problem, pairs: Pairs, y: Labels
    ) -> tuple[np.ndarray, np.ndarray]:
        """Both orders of the training pairs, and whether the label is +1.

        Rows that are the same in both orders are given once: twice would only cost time.
        """
        sides = swapped = None
        if self.rates is not None:
            sides = out_of_fold_sides(pairs, y, self.odd, problem.setting == "one new")
            swapped = sides[::-1]
        scaled = self.scale.apply(pairs)
        if self.even:
            return self._columns(scaled, sides), y > 0
        rows = [self._columns(scaled, sides), self._columns(scaled.swap(), swapped)]
        return np.vstack(rows), np.concatenate([y, -y if self.odd else y]) > 0

    def _columns(self, scaled: Pairs, sides: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
        parts = []
        if "raw" in self.name:
            parts.append(raw_columns(scaled))
        if "engineered" in self.name:
            parts.append(mixed_columns(scaled) if self.odd else even_columns(scaled))
        if sides is not None:
            left, right = sides
            parts += [left + right, left - right if self.odd else np.abs(left - right)]
        return np.hstack(parts)
