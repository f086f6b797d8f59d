"""Results of tennis matches in the order of time: the winner is the first object of a pair."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from pairity import Pairs

FILE = Path("antisymmetric_tennis") / "matches.csv.gz"


def read_matches(folder: Path) -> Pairs:
    """All matches of two different players; players are known by their names alone."""
    frame = pd.read_csv(folder / FILE, dtype={"date": str})
    frame = frame[frame["winner"] != frame["loser"]]
    names, codes = np.unique(frame[["winner", "loser"]].astype(str), return_inverse=True)
    first, second = codes.reshape(-1, 2).T
    dates = pd.to_datetime(frame["date"], format="%Y%m%d")
    return Pairs(np.zeros((len(names), 0)), first, second, ids=names, time=dates)
