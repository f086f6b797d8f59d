"""Rankings of models and of outcomes: scores, ranks, intervals, the table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import random_pairs
from pairity import Pairs, PairSVC
from pairity.inspection import observed_flow, rank_objects, rank_observed
from pairity.inspection.rank import mean_margins, win_shares
from pairity.kernels import Gaussian, Product


class Margin:
    """A model made of scores, with the method that is asked for."""

    def __init__(self, scores, method="decision_function"):
        self.scores = np.asarray(scores, dtype=float)
        setattr(self, method, getattr(self, f"_{method}"))

    def _decision_function(self, pairs):
        return pairs.objects[pairs.first, 0] - pairs.objects[pairs.second, 0]

    def _predict(self, pairs):
        return self._decision_function(pairs)

    def _predict_proba(self, pairs):
        chance = 1.0 / (1.0 + np.exp(-self._decision_function(pairs)))
        return np.column_stack([1.0 - chance, chance])


@pytest.fixture
def league(rng):
    """Players with a hidden strength, and a model trained on their games."""
    objects = rng.normal(size=(14, 2))
    games = Pairs.complete(objects)[::2]
    strength = objects @ [2.0, 1.0]
    won = np.where(strength[games.first] > strength[games.second], 1, -1)
    model = PairSVC("antisymmetric", kernel="linear", C=10.0).fit(games, won)
    return objects, games, won, model, strength


@pytest.mark.parametrize("method", ["decision_function", "predict", "predict_proba"])
def test_any_antisymmetric_model_can_rank(method, rng):
    strength = rng.normal(size=(12, 1))
    ranking = rank_objects(Margin(strength, method), strength)
    centred = strength[:, 0] - strength.mean()
    assert np.allclose(ranking.scores, centred, atol=1e-9)
    assert np.array_equal(np.argsort(ranking.ranks), np.argsort(-strength[:, 0]))
    assert np.array_equal(ranking.order, np.argsort(-strength[:, 0]))
    assert ranking.cyclic_share < 1e-12
    assert ranking.cycles.n_cyclic == 0


def test_a_linear_model_is_a_ranking_and_a_skew_one_is_not(league):
    objects, games, won, model, strength = league
    ranking = rank_objects(model, objects)
    assert ranking.cyclic_share < 1e-9
    assert np.corrcoef(ranking.scores, strength)[0, 1] > 0.98
    curved = PairSVC("antisymmetric", kernel=Product(Gaussian(1.0)), C=10.0).fit(games, won)
    other = rank_objects(curved, objects)
    assert 0.01 < other.cyclic_share < 0.9
    assert other.parts.harmonic_share == 0.0


@given(seed=st.integers(0, 1000), m=st.integers(2, 12))
def test_mean_margins_and_least_squares_agree_on_complete_sets(seed, m):
    pairs = Pairs.complete(np.zeros((m, 1)))
    y = np.random.default_rng(seed).normal(size=len(pairs))
    mean, squares = rank_observed(pairs, y, method="mean"), rank_observed(pairs, y)
    assert np.allclose(squares.scores, mean.scores * (m - 1) / m, atol=1e-12)
    assert np.array_equal(mean.scores, squares.mean_margins)


@given(seed=st.integers(0, 1000))
def test_means_and_shares_are_those_of_the_definitions(seed):
    pairs, rng = random_pairs(seed, n=30, m=8), np.random.default_rng(seed)
    y, weights = rng.integers(-1, 2, size=30), rng.uniform(0.5, 2.0, size=30)
    flow = observed_flow(pairs, y, weights)
    for place in range(8):
        margins, share, total = 0.0, 0.0, 0.0
        for i, j, value, weight in zip(
            flow.first, flow.second, flow.values, flow.weights, strict=True
        ):
            if place in (i, j):
                value = value if place == i else -value
                margins, total = margins + weight * value, total + weight
                share += weight * (1.0 if value > 0 else 0.5 if value == 0 else 0.0)
        assert mean_margins(flow)[place] == pytest.approx(margins / total if total else 0.0)
        assert win_shares(flow)[place] == pytest.approx(share / total if total else 0.5)


def test_methods_and_ties():
    pairs = Pairs(np.eye(4), [0, 1, 2, 0], [1, 2, 0, 3], ids=list("abcd"))
    ranking = rank_observed(pairs, [1, 1, 1, 3], method="wins")
    assert ranking.win_shares == pytest.approx([2 / 3, 0.5, 0.5, 0.0])
    assert ranking.ranks.tolist() == [1, 2, 2, 4]
    squares = rank_observed(pairs, [1, 1, 1, 3])
    assert squares.ranks.tolist() == [1, 1, 1, 4]  # rounding breaks no tie
    assert list(squares.named_cycles()) == [("a", "b", "c")]
    assert "a > b > c > a by 1" in str(squares)


def test_ranks_stay_within_connected_parts():
    ranking = rank_observed(Pairs(np.eye(5), [0, 2], [1, 3]), [1, -5])
    assert ranking.ranks.tolist() == [1, 2, 2, 1, 1]
    assert ranking.components.tolist() == [0, 0, 1, 1, 2]
    assert ranking.order.tolist() == [0, 1, 3, 2, 4]
    assert "part 1" in str(ranking)


def test_pairs_with_group_features_can_be_ranked_on(rng):
    pairs = random_pairs(1, n=60, m=9)
    y = np.where(pairs.objects[pairs.first, 0] > pairs.objects[pairs.second, 0], 1, -1)
    model = PairSVC("antisymmetric", kernel=Gaussian(2.0)).fit(pairs, y)
    ranking = rank_objects(model, pairs)
    assert len(ranking) == 9
    assert np.allclose(ranking.parts.flow.weights.sum(), 60)


@pytest.mark.parametrize("intervals", ["bootstrap", "leave_out"])
def test_refitted_models_give_intervals(league, intervals):
    objects, games, won, model, _ = league
    options = {"intervals": intervals, "training": (games, won), "n_resamples": 12}
    ranking = rank_objects(model, objects, **options)
    assert (ranking.lower < ranking.upper).all()
    inside = (ranking.lower <= ranking.scores) & (ranking.scores <= ranking.upper)
    assert inside.mean() > 0.7
    again = rank_objects(model, objects, **options)
    assert np.array_equal(ranking.lower, again.lower)
    wider = rank_objects(model, objects, level=0.99, **options)
    assert (wider.upper >= ranking.upper).all()
    assert (wider.upper > ranking.upper).any()
    assert "[" in str(ranking)
    assert model.certificate_ is not None  # the model given is left as it was


def test_bootstrap_intervals_cover_the_truth():
    """Normal margins of known spread: about 90 % of the scores lie in their 90 % intervals."""
    rng = np.random.default_rng(8)
    truth = np.linspace(-1, 1, 10)
    ends = np.tile(np.array(np.triu_indices(10, 1)), 20)
    pairs = Pairs(np.zeros((10, 1)), *ends)
    covered = []
    for _ in range(12):
        y = truth[pairs.first] - truth[pairs.second] + rng.normal(size=len(pairs))
        ranking = rank_observed(pairs, y, intervals="bootstrap", n_cycles=0, n_resamples=100)
        covered += ((ranking.lower <= truth) & (truth <= ranking.upper)).tolist()
    assert 0.82 < np.mean(covered) < 0.97


def test_the_table_is_sorted_and_whole(league):
    objects, games, won, model, _ = league
    names = [f"player {place}" for place in range(14)]
    ranking = rank_objects(model, objects, ids=names)
    frame = ranking.to_frame()
    assert frame["rank"].tolist() == sorted(ranking.ranks.tolist())
    assert frame["id"].tolist() == [names[place] for place in ranking.order]
    assert "lower" not in frame
    text = str(ranking)
    assert text.splitlines()[1].split()[:3] == ["1", "player", str(ranking.order[0])]
    assert "... and 4 more" in text
    wide = rank_observed(games, won, intervals="bootstrap", n_resamples=5).to_frame()
    assert {"lower", "upper", "mean_margin", "win_share", "component"} <= set(wide)


class Even:
    def decision_function(self, pairs):
        return np.ones(len(pairs))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda o, g: rank_objects(Even(), o), r"misses f\(b, a\) = -f\(a, b\) by 2"),
        (lambda o, g: rank_objects(object(), o), "got object; expected a fitted model with"),
        (lambda o, g: rank_objects(Margin(o), o, method="elo"), "method='elo'; expected one of"),
        (lambda o, g: rank_objects(Margin(o), o, ids=["x"]), "1 ids for 14 objects"),
        (lambda o, g: rank_objects(Margin(o), o, intervals="bootstrap"), "without training"),
        (lambda o, g: rank_objects(Margin(o), o, intervals="normal"), "intervals='normal'"),
        (lambda o, g: rank_objects(Margin(o), o, level=90), "level=90; expected a number between"),
        (lambda o, g: rank_objects(Margin(o), o, n_resamples=1), "n_resamples=1; expected"),
        (lambda o, g: rank_objects(Margin(o), o, n_cycles=-1), "n_cycles=-1; expected"),
        (
            lambda o, g: rank_observed(g, np.ones(len(g)), intervals="leave_out"),
            "expected 'bootstrap' for outcomes",
        ),
    ],
)
def test_what_cannot_be_ranked_is_refused(call, sentence, league):
    with pytest.raises(ValueError, match=sentence):
        call(league[0], league[1])


def test_fewer_than_two_objects_rank_too():
    assert rank_objects(Margin([0.0]), np.zeros((1, 1))).ranks.tolist() == [1]
    assert len(rank_objects(Margin([0.0]), np.zeros((0, 1)))) == 0
