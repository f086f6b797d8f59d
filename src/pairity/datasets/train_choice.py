"""Stated choices between two train offers: antisymmetric."""

from __future__ import annotations

import numpy as np

from pairity.datasets.dataset import PairDataset, read_table, read_text
from pairity.pairs import Pairs

__all__ = ["load_train_choice"]

_FEATURES = ("price", "time", "change", "comfort")


def load_train_choice() -> PairDataset:
    """2,929 choices of 235 travellers between two of 1,785 train offers.

    ``y`` is +1 where the first offer was taken.  Offers are described by price (cents of
    guilders), time (minutes), number of changes and comfort class (0 is best).  ``groups`` are
    the travellers: a traveller makes several choices, so a split must not cut through one.

    Examples
    --------
    >>> from pairity.datasets import load_train_choice
    >>> load_train_choice().pairs
    Pairs(2929 pairs of 1785 objects; features: 4 object, 0 symmetric, 0 antisymmetric)
    """
    table = read_table("train_choices.csv")
    rows = np.array(
        [[float(row[name + side]) for side in "12" for name in _FEATURES] for row in table]
    )
    return PairDataset(
        name="train choice",
        pairs=Pairs.from_rows(rows),
        y=np.array([int(row["y"]) for row in table]),
        groups=np.array([int(row["id"]) for row in table]),
        feature_names=_FEATURES,
        provenance=read_text("train_choices_PROVENANCE.md"),
    )
