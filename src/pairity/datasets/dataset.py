"""What a loader returns, and how the files in ``data/`` are read."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.pairs import Pairs

__all__ = ["PairDataset", "read_table", "read_text"]


@dataclass(frozen=True, eq=False)
class PairDataset:
    """Labelled pairs with the groups that a leak-free split keeps together.

    Attributes
    ----------
    name : str
        What the data are.
    pairs : Pairs
        The pairs.
    y : ndarray of int of shape (n,)
        Labels, +1 or -1.
    groups : ndarray of shape (n,)
        One value per pair; for ``GroupKFold`` and its kin.
    feature_names, symmetric_names : tuple of str
        Names of the object features and of the symmetric group features.
    provenance : str
        Source, licence and known results.
    object_groups : ndarray of shape (m,) or None
        One value per object; for ``ObjectKFold(object_groups=...)`` and its kin.
    """

    name: str
    pairs: Pairs
    y: NDArray[np.int64]
    groups: NDArray[Any]
    feature_names: tuple[str, ...]
    symmetric_names: tuple[str, ...] = ()
    provenance: str = ""
    object_groups: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.y)


def read_text(name: str) -> str:
    """A text file that comes with the package."""
    return (files("pairity.datasets") / "data" / name).read_text(encoding="utf-8")


def read_table(name: str) -> list[dict[str, str]]:
    """Rows of a CSV file that comes with the package."""
    return list(csv.DictReader(read_text(name).splitlines()))
