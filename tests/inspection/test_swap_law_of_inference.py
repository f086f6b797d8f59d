"""Intervals, effects, judges and conformal intervals obey the swap law bit for bit."""

import numpy as np
import pytest
from scipy.special import expit

from pairity import PairLogistic, PairRidge, Pairs, PairSVR
from pairity.inspection import conformal, effects, judges, rank_objects
from pairity.kernels import Gaussian

M, N = 9, 400
random = np.random.default_rng(0)
FIRST = random.integers(0, M, N)
SECOND = (FIRST + random.integers(1, M, N)) % M
STYLE, STRENGTH = random.normal(size=(N, 2)), random.normal(size=M)
ODDS = STRENGTH[FIRST] - STRENGTH[SECOND] + 0.5 * STYLE[:, 0]
WON = np.where(random.random(N) < expit(ODDS), 1, -1)
JUDGE = random.integers(0, 12, N)
PAIRS = Pairs(np.eye(M), FIRST, SECOND, antisymmetric=STYLE)
EVERYONE = Pairs.complete(np.eye(M), antisymmetric=np.zeros((M * (M - 1) // 2, 2)))
SOME = random.random(len(EVERYONE)) < 0.5


@pytest.mark.parametrize("model", [PairLogistic, PairRidge])
@pytest.mark.parametrize(
    ("kernel", "by"),
    [("linear", None), ("linear", JUDGE), ("linear", "object"), (Gaussian(1.0), None)],
)
def test_rankings_do_not_depend_on_the_order_of_writing(model, kernel, by):
    fitted = model("antisymmetric", kernel=kernel).fit(PAIRS, WON)
    straight, *others = (
        rank_objects(fitted, pairs, intervals="analytic", by=by)
        for pairs in (EVERYONE, EVERYONE.swap(), EVERYONE.with_swapped(SOME))
    )
    for other in others:
        assert (straight.scores == other.scores).all()
        for name, column in straight.certainty.columns().items():
            assert (column == other.certainty.columns()[name]).all(), name


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_covariances_of_swapped_pairs(symmetry):
    fitted = PairLogistic(symmetry, kernel=Gaussian(1.0)).fit(PAIRS, WON)
    known = fitted._posterior()
    straight, swapped = (
        known.covariance(pairs) for pairs in (EVERYONE, EVERYONE.with_swapped(SOME))
    )
    signs = np.where(SOME, -1.0, 1.0) if symmetry == "antisymmetric" else np.ones(len(SOME))
    assert (swapped == straight * np.outer(signs, signs)).all()
    assert np.diag(straight).min() > 0.0


@pytest.mark.parametrize("clusters", [None, JUDGE, "object"])
def test_effects_of_swapped_votes(clusters):
    """The same votes written the other way round have the same effects."""
    model = PairLogistic("antisymmetric", kernel="linear")
    straight = effects(model.fit(PAIRS, WON), clusters=clusters)
    swapped = effects(model.fit(PAIRS.swap(), -WON), clusters=clusters)
    for name in ("estimates", "errors", "lower", "upper", "p_values", "covariance"):
        assert (getattr(straight, name) == getattr(swapped, name)).all(), name


def test_effects_for_the_other_label():
    """If the other label says that the first is ahead, every effect has the other sign."""
    one, two = (
        effects(PairLogistic("antisymmetric", kernel="linear", positive=positive).fit(PAIRS, WON))
        for positive in (1, -1)
    )
    assert (one.estimates == -two.estimates).all()
    assert (one.errors == two.errors).all()
    assert (one.lower == -two.upper).all()


def test_judges_of_swapped_votes():
    """Judges are as reliable, and prefer the other position."""
    model = PairLogistic("antisymmetric", kernel="linear")
    straight = judges(model.fit(PAIRS, WON), JUDGE)
    swapped = judges(model.fit(PAIRS.swap(), -WON), JUDGE)
    assert (straight.slopes == swapped.slopes).all()
    assert (straight.biases == -swapped.biases).all()
    assert (straight.slope_errors == swapped.slope_errors).all()
    decided = straight.decision_function(EVERYONE)
    assert (decided == swapped.decision_function(EVERYONE)).all()
    assert (decided == -straight.decision_function(EVERYONE.swap())).all()


def test_conformal_intervals_mirror():
    model = PairSVR("antisymmetric", kernel=Gaussian(1.0)).fit(PAIRS, ODDS)
    found = conformal(model, PAIRS, ODDS)
    (low, high), (low_swapped, high_swapped) = (
        found.predict_interval(pairs).T for pairs in (EVERYONE, EVERYONE.swap())
    )
    assert (low < high).all()
    assert (low == -high_swapped).all()
    assert (high == -low_swapped).all()
