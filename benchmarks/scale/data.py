"""A made-up tournament: objects with 10 features, who wins depends on them in a curved way.

The chance that a is ahead of b comes from ``2 sin(u'x_a / 2) - 2 sin(u'x_b / 2)`` (a strength) plus
``tanh(x_a)' A tanh(x_b) / 2`` with A skew (no strength can say it) and noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

N_FEATURES = 10
_NOISE = 0.3


@dataclass
class Tournament:
    n_objects: int
    seed: int = 0

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.objects = rng.normal(size=(self.n_objects, N_FEATURES))
        strength = rng.normal(size=N_FEATURES)
        skew = rng.normal(size=(N_FEATURES, N_FEATURES))
        self._strengths = 2.0 * np.sin(self.objects @ strength / 2.0)
        bent = np.tanh(self.objects)
        self._left, self._right = bent @ (skew - skew.T) / 2.0, bent
        self._noise = _NOISE * np.std(self._truth(*self._draw(rng, 20_000)))

    def _draw(self, rng, n_pairs):
        first = rng.integers(0, self.n_objects, n_pairs)
        second = (first + rng.integers(1, self.n_objects, n_pairs)) % self.n_objects
        return first, second

    def _truth(self, first, second):
        strength = self._strengths[first] - self._strengths[second]
        return strength + np.einsum("ij,ij->i", self._left[first], self._right[second])

    def draw(self, n_pairs: int, seed: int):
        """Pairs and labels -1 and +1."""
        rng = np.random.default_rng((self.seed, seed))
        first, second = self._draw(rng, n_pairs)
        value = self._truth(first, second) + self._noise * rng.normal(size=n_pairs)
        return first, second, np.where(value > 0, 1, -1)

    def write(self, folder: Path, n_pairs: int, n_files: int) -> None:
        """Objects, and pairs in files of equal size with row groups of 500,000 pairs."""
        (folder / "pairs").mkdir(parents=True, exist_ok=True)
        columns = [f"x{number}" for number in range(N_FEATURES)]
        table = pd.DataFrame(self.objects, columns=columns)
        table.insert(0, "id", np.arange(self.n_objects))
        table.to_parquet(folder / "objects.parquet", index=False)
        for number in range(n_files):
            first, second, won = self.draw(n_pairs // n_files, number)
            pairs = pd.DataFrame({"a": first, "b": second, "won": won.astype(np.int8)})
            path = folder / "pairs" / f"{number:03d}.parquet"
            pairs.to_parquet(path, index=False, row_group_size=500_000)
