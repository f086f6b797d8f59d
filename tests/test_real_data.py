"""Real data that stand beside the repository; skipped where they are not."""

from pathlib import Path

import numpy as np
import pytest

from pairity import Pairs, PairSVC

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TRAINS = DATA / "antisymmetric_train_choice" / "train_choices.csv"

pytestmark = pytest.mark.skipif(
    not TRAINS.exists(), reason="the data folder is not beside the repository"
)


def choices():
    """Train offers (price, time, changes, comfort), standardised over all of them, and choices."""
    columns = ["price", "time", "change", "comfort"]
    with TRAINS.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    table = np.loadtxt(TRAINS, delimiter=",", skiprows=1)
    offers = [
        table[:, [names.index(f"{column}{side}") for column in columns]] for side in ("1", "2")
    ]
    stacked = np.vstack(offers)
    centre, spread = stacked.mean(axis=0), stacked.std(axis=0)
    rows = np.hstack([(offer - centre) / spread for offer in offers])
    return rows, table[:, names.index("y")].astype(int)


def test_train_choices():
    """A no-intercept logit on the four differences is right in 69.7 % of the 2,929 choices.

    The number is that of PROVENANCE.md beside the data.  "Cheaper wins" is right in 68.0 %.
    """
    rows, y = choices()
    assert len(rows) == 2929
    pairs = Pairs.from_rows(rows)
    assert pairs.n_objects < 2 * len(rows)
    decided = pairs.first != pairs.second  # two equal offers have no better one
    model = PairSVC("antisymmetric", kernel="linear", C=1.0).fit(pairs[decided], y[decided])
    assert model.certificate_.holds
    assert model.intercept_ == 0.0
    assert model.score(pairs, y) == pytest.approx(0.697, abs=0.015)
    decisions = model.decision_function(pairs)
    assert np.array_equal(model.decision_function(pairs.swap()), -decisions)
    assert (decisions[~decided] == 0.0).all()
    weights = model.dual_coef_ @ (
        model.support_pairs_.to_rows()[:, :4] - model.support_pairs_.to_rows()[:, 4:]
    )
    assert (weights < 0.0).all(), "dearer, slower, more changes, less comfort: all are worse"
