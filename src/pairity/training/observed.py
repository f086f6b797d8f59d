"""What a machine was fitted to, kept for what is said about its fit later."""

from __future__ import annotations

from dataclasses import dataclass

from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs


@dataclass(frozen=True, eq=False)
class Observations:
    """What a model was fitted to: the rows of J, in their order.

    ``weights`` are sample weights, class weights included; ``strength`` is C, or ``1 / alpha``.
    """

    pairs: Pairs
    targets: Vector  # numbers, or signs of labels
    weights: Vector
    strength: float
    rows: Places  # which of the rows given
    n_rows: int  # number of rows given

    def __len__(self) -> int:
        return len(self.pairs)
