"""The numbers of a report against the functions that users call, for every kind of model."""

import dataclasses

import numpy as np
import pytest
from made import SMALL, limits, matcher, photographs, ranker, tournament
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pairity import (
    CalibratedPairClassifier,
    ObjectTransformer,
    PairDrawClassifier,
    PairLogistic,
    PairRidge,
    Pairs,
    PairSVC,
    PairSVCCV,
    PairSVR,
)
from pairity.app.report import Limits, gather
from pairity.app.report.compared import cluster_order
from pairity.app.report.pictures import check_swap
from pairity.app.report.subject import Subject
from pairity.inspection import contributions, group_objects, permutation_importance, rank_objects

LINEAR = {"symmetry": "antisymmetric", "kernel": "linear"}


@pytest.fixture(scope="module")
def games():
    return tournament()


@pytest.fixture(scope="module")
def report(games):
    pairs, y, _ = games
    return gather(ranker(pairs, y), pairs, y, limits=SMALL, feature_names=["strength", "hair"])


@pytest.fixture(scope="module")
def album():
    pairs, y = photographs()
    model = matcher(pairs, y)
    return model, pairs, y, gather(model, pairs, y, limits=SMALL)


@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (PairSVC(**LINEAR), "labels"),
        (PairLogistic(**LINEAR), "labels"),
        (PairSVR(**LINEAR), "numbers"),
        (PairRidge(**LINEAR), "numbers"),
        (PairSVCCV(**LINEAR, Cs=[0.1, 1.0], cv=3), "labels"),
        (CalibratedPairClassifier(PairSVC(**LINEAR), cv=3), "labels"),
        (CalibratedPairClassifier(PairSVC(**LINEAR), cv=3, method="isotonic"), "labels"),
        (PairDrawClassifier(PairLogistic(**LINEAR), cv=3), "draws"),
        (make_pipeline(ObjectTransformer(StandardScaler()), PairSVC(**LINEAR)), "labels"),
        (PairSVC("none", kernel="gaussian"), "labels"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_every_kind_of_model_has_a_report(games, model, targets):
    pairs, y, margin = games
    target = {"labels": y, "numbers": margin, "draws": np.sign(np.round(margin)).astype(int)}
    model.fit(pairs, target[targets])
    found = gather(model, pairs, target[targets], limits=SMALL)
    assert found.model.kind == targets
    assert [setting.key for setting in found.settings] == ["seen", "one_new", "both_new"]
    assert all(setting.figures for setting in found.settings)
    assert found.certificate.holds
    odd = found.model.symmetry == "antisymmetric"
    assert (found.ranking is not None) == odd
    assert (found.matrix is not None) == odd
    assert found.swap is None or found.swap.holds
    assert found.reliability is not None
    assert found.distribution is not None


def test_the_ranking_is_that_of_rank_objects(games, report):
    pairs, y, _ = games
    plain = rank_objects(ranker(pairs, y), pairs.objects, ids=pairs.ids, intervals="analytic")
    order = plain.order
    assert [one.name for one in report.ranking.objects] == plain.ids[order].tolist()
    assert np.allclose([one.score for one in report.ranking.objects], plain.scores[order])
    assert np.allclose([one.lower for one in report.ranking.objects], plain.lower[order])
    assert np.allclose([one.upper for one in report.ranking.objects], plain.upper[order])
    assert report.ranking.shares.triangles == pytest.approx(plain.parts.curl_share, abs=1e-12)
    assert all(one.n_observed == 17 for one in report.ranking.objects)


def test_the_matrix_is_what_the_model_says_in_the_order_of_the_ranking(games, report):
    pairs, y, _ = games
    names = [one.name for one in report.ranking.objects]
    assert list(report.matrix.names) == names
    place = {name: row for row, name in enumerate(pairs.ids.tolist())}
    model = ranker(pairs, y)
    first, second = place[names[2]], place[names[9]]
    both = Pairs(pairs.objects, [first, second], [second, first], ids=pairs.ids)
    chance = model.predict_proba(both)[:, 1]
    assert report.matrix.values[2, 9] == pytest.approx(chance[0])
    assert report.matrix.values[9, 2] == pytest.approx(chance[1])
    assert np.isnan(report.matrix.values.diagonal()).all()
    off = ~np.eye(18, dtype=bool)
    assert np.array_equal((report.matrix.values + report.matrix.values.T)[off], np.ones(off.sum()))


def test_groups_are_those_of_group_objects(album):
    model, pairs, _, found = album
    plain = group_objects(model, pairs.objects, ids=pairs.ids)
    several = [set(plain.members(k).tolist()) for k in range(plain.n_groups)]
    assert [set(members) for members in found.groups.groups] == [g for g in several if len(g) > 1]
    assert found.groups.n_single == sum(len(g) == 1 for g in several)
    assert found.ranking is None
    assert np.array_equal(found.matrix.values, found.matrix.values.T, equal_nan=True)


def test_alike_objects_are_neighbours_in_the_matrix():
    kind = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])
    similarity = np.where(kind[:, None] == kind[None, :], 1.0, -1.0)
    ordered = kind[cluster_order(similarity)]
    assert np.count_nonzero(np.diff(ordered)) == 2


def test_importance_is_that_of_permutation_importance(games):
    pairs, y, _ = games
    model = ranker(pairs, y)
    one_fold = limits(explained=1000, shuffles=4)
    found = gather(model, pairs, y, limits=one_fold, feature_names=["strength", "hair"])
    assert [drop.name for drop in found.features] == ["strength", "hair"]
    subject = Subject.read(model, pairs, y)
    from pairity.app.report.unseen import hold_out

    held = hold_out(subject, "seen", one_fold, 0, None, None)
    drops = [
        permutation_importance(fold, pairs[rows], y[rows], n_repeats=4, random_state=0).drops
        for fold, rows in held.fitted
    ]
    sizes = [len(rows) for _, rows in held.fitted]
    expected = np.average([drop.mean(axis=1) for drop in drops], axis=0, weights=sizes)
    assert [drop.mean for drop in found.features] == pytest.approx(expected.tolist())


def test_importance_for_matches_is_measured_by_auc(album):
    _, _, _, found = album
    assert found.features_note.startswith("Drop of the AUC")
    assert found.features[0].mean > 0.05


def test_influence_is_the_mean_size_of_contributions(games, report):
    pairs, y, _ = games
    model = ranker(pairs, y)
    drawn = np.sort(np.random.default_rng(0).permutation(len(pairs))[: SMALL.explained])
    sizes = np.abs(contributions(model, pairs[drawn])).mean(axis=0)
    best = int(np.argmax(sizes))
    row = model.support_[best]
    found = report.influential[0]
    assert (found.first, found.second) == (
        pairs.ids[pairs.first[row]],
        pairs.ids[pairs.second[row]],
    )
    assert found.influence == pytest.approx(sizes[best])
    assert found.share == pytest.approx(sizes[best] / sizes.sum())
    assert found.label == str(y[row])


def test_surprises_come_first(report):
    surprise = [one.surprise for one in report.surprising]
    assert surprise == sorted(surprise, reverse=True)
    assert all(one.surprise == pytest.approx(1.0 - one.predicted) for one in report.surprising)
    assert report.surprising[0].predicted < 0.5


def test_histogram_and_reliability_count_every_pair(report):
    assert sum(map(sum, report.distribution.counts.values())) == 153
    assert sum(one.count for one in report.reliability.bins) == 153
    assert all(one.predicted >= 0.5 for one in report.reliability.bins)


def test_a_search_tells_its_weights_and_its_curve(games):
    pairs, y, _ = games
    model = PairSVCCV("antisymmetric", kernel=["auto", "linear"], Cs=[10.0, 0.1], cv=3).fit(
        pairs, y
    )
    found = gather(model, pairs, y, limits=SMALL).search
    assert dict(found.weights) == pytest.approx(model.combination_.weights)
    assert [curve.kernel for curve in found.curves] == ["sum of families", "linear"]
    assert found.curves[0].strengths == (0.1, 10.0)
    means = model.cv_results_["mean_test_score"]
    assert found.curves[0].means == pytest.approx([-means[1], -means[0]])  # a loss is above 0
    assert (found.best, found.best_kernel) == (
        model.best_params_["C"],
        model.best_index_ // 2,
    )


class Careless:
    """A model that obeys its law but for one pair in ten, and only a little there."""

    def __init__(self, model):
        self.model = model

    def decision_function(self, pairs):
        values = self.model.decision_function(pairs)
        spoiled = (pairs.first > pairs.second) & (pairs.first % 10 == 3)
        return np.where(spoiled, np.nextafter(values, np.inf), values)


def test_the_check_of_the_swap_law_finds_one_bit(games):
    pairs, y, _ = games
    subject = Subject.read(ranker(pairs, y), pairs, y)
    assert check_swap(subject, 0).holds
    assert check_swap(subject, 0).n_self == 18
    spoiled = dataclasses.replace(subject, model=Careless(subject.model))
    found = check_swap(spoiled, 0)
    assert not found.holds
    assert 0.0 < found.largest_miss < 1e-12


def test_objects_and_pairs_set_aside(album):
    model, pairs, y, _ = album
    half = Pairs.complete(pairs.objects[:8], ids=pairs.ids[:8])
    test = photographs(seed=3)
    found = gather(
        model, pairs, y, limits=SMALL, objects=half, test=test, test_name="other photographs"
    )
    assert sorted(found.matrix.names) == sorted(pairs.ids[:8].tolist())
    given = found.settings[-1]
    assert (given.key, given.name, given.n_pairs) == ("given", "other photographs", 190)
    assert given.figures["accuracy"].value == pytest.approx(model.score(*test))
    with pytest.raises(ValueError, match="got 8 objects to compare; expected at most 5"):
        gather(model, pairs, y, limits=limits(objects=5), objects=half)


def test_models_with_group_features_compare_observed_pairs(games):
    pairs, y, margin = games
    with_group = Pairs(
        pairs.objects, pairs.first, pairs.second, symmetric=np.abs(margin)[:, None], ids=pairs.ids
    )[:120]
    model = PairSVC("antisymmetric", kernel="gaussian").fit(with_group, y[:120])
    found = gather(model, with_group, y[:120], limits=SMALL)
    assert "Observed pairs alone" in found.ranking.note
    known = np.isfinite(found.matrix.values).sum()
    assert known == 240
    home = Pairs(
        pairs.objects, pairs.first, pairs.second, antisymmetric=np.ones((153, 1)), ids=pairs.ids
    )
    model = PairSVC(**LINEAR).fit(home, y)
    found = gather(model, home, y, limits=SMALL)
    assert "neutral ground" in found.ranking.note
    assert {drop.kind for drop in found.features} == {"object", "antisymmetric"}


def test_large_data_are_sampled_and_the_report_says_so(games):
    pairs, y, _ = games
    found = gather(ranker(pairs, y), pairs, y, limits=limits(pairs=90, objects=10, shown=6))
    assert found.settings[0].n_pairs <= 90
    assert "A sample was validated" in {notice.title for notice in found.notices}
    assert len(found.ranking.objects) == 10
    assert (found.ranking.level, found.ranking.n_refits) == (0.9, 0)  # no refit is needed
    assert len(found.matrix.names) == 6
    assert "6 of 10 objects" in found.matrix.note


def test_the_same_seed_gives_the_same_numbers(games, report):
    pairs, y, _ = games
    again = gather(ranker(pairs, y), pairs, y, limits=SMALL, feature_names=["strength", "hair"])
    one, two = dataclasses.asdict(report), dataclasses.asdict(again)
    assert np.array_equal(one["matrix"].pop("values"), two["matrix"].pop("values"), equal_nan=True)
    assert one == two


def test_limits_are_whole_numbers():
    with pytest.raises(ValueError, match="got pairs=0"):
        Limits(pairs=0)
    with pytest.raises(ValueError, match="at least 2 folds"):
        Limits(folds=1)
