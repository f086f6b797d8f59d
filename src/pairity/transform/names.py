"""Names of the columns of pairs: of objects, and of the two kinds of group features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairNames"]


@dataclass(frozen=True)
class PairNames:
    """Names of object features, symmetric and antisymmetric group features.

    In the order of the wide rows of formula (1), ``[x_a | x_ab | x~_ab | x_b]``, the object
    features stand twice: ``price(a)``, ..., ``price(b)``.
    """

    objects: tuple[str, ...]
    symmetric: tuple[str, ...] = ()
    antisymmetric: tuple[str, ...] = ()

    @classmethod
    def numbered(cls, n_objects: int, n_symmetric: int, n_antisymmetric: int) -> PairNames:
        """``x0, x1, ...``, ``symmetric0, ...`` and ``antisymmetric0, ...``."""
        return cls(
            tuple(f"x{place}" for place in range(n_objects)),
            tuple(f"symmetric{place}" for place in range(n_symmetric)),
            tuple(f"antisymmetric{place}" for place in range(n_antisymmetric)),
        )

    @classmethod
    def read(
        cls, names: Sequence[str] | None, n_objects: int, n_symmetric: int, n_antisymmetric: int
    ) -> PairNames:
        """Names as users give them: once per feature, or those of wide rows; or numbered."""
        if names is None:
            return cls.numbered(n_objects, n_symmetric, n_antisymmetric)
        given = [str(name) for name in names]
        narrow = n_objects + n_symmetric + n_antisymmetric
        if len(given) == narrow:
            objects = given[:n_objects]
        elif len(given) == narrow + n_objects:
            objects = [name.removesuffix("(a)") for name in given[:n_objects]]
            if [f"{name}(b)" for name in objects] != given[narrow:]:
                objects = given[:n_objects]
        else:
            raise ValueError(
                f"got {len(given)} names of features; expected {narrow} (object, symmetric,"
                f" antisymmetric) or {narrow + n_objects}, those of wide rows [x_a | x_ab | x~_ab |"
                " x_b]: pass one name per column."
            )
        middle = n_objects + n_symmetric
        return cls(tuple(objects), tuple(given[n_objects:middle]), tuple(given[middle:narrow]))

    def wide(self) -> NDArray[Any]:
        """Names of the columns of :meth:`pairity.Pairs.to_rows`."""
        names = [
            *(f"{name}(a)" for name in self.objects),
            *self.symmetric,
            *self.antisymmetric,
            *(f"{name}(b)" for name in self.objects),
        ]
        return np.array(names, dtype=object)
