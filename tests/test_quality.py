"""The quality experiment: splits keep their promise, columns obey the swap, a run goes on."""

import json

import numpy as np
import pytest
from experiments.quality import report
from experiments.quality.columns import (
    Scale,
    differences,
    even_columns,
    likeness_columns,
    odd_interactions,
    raw_columns,
)
from experiments.quality.contests import history
from experiments.quality.elo import Elo, fit_elo
from experiments.quality.identities import Indicators, Rates, out_of_fold_sides
from experiments.quality.linear import BradleyTerry, Logistic, Setting, fit_linear
from experiments.quality.measure import kept_or_measured, measure, seed
from experiments.quality.measures import accuracy, averaged, log_loss, scores, violation
from experiments.quality.method import problem_of
from experiments.quality.methods import OURS
from experiments.quality.ours import Automatic
from experiments.quality.plain import View, view_names
from experiments.quality.shapes import appearances
from experiments.quality.splits import thinned
from experiments.quality.task import DATA, SETTINGS, Task
from experiments.quality.tasks import MAKERS, load_tasks
from experiments.quality.vectors import DoubledSVC
from experiments.tables import tables_in
from pandas import DataFrame, read_csv
from sklearn import metrics

from pairity import Pairs
from pairity.datasets import make_tournament
from pairity.model_selection import PairKFold, leakage_report

#: Settings for each method in these tests.
FEW = 2


def tiny_task(symmetry="antisymmetric", **options):
    """Games of 15 players, or whether two of them are both strong or both weak."""
    games = make_tournament(15, flipped=0.1, seed=3)
    y = games.y
    if symmetry == "symmetric":
        strength = games.pairs.objects[:, 0]
        y = np.where(strength[games.pairs.first] * strength[games.pairs.second] > 0, 1, -1)
    return Task(
        name="tiny",
        question="who wins?",
        symmetry=symmetry,
        setting="both seen",
        pairs=games.pairs,
        y=y,
        outer=PairKFold(3),
        inner=PairKFold(2, random_state=1),
        why="made up",
        features="strength and style",
        **{"identities": True, "n_splits": 2, **options},
    )


# Tasks ------------------------------------------------------------------------------------------


def test_a_task_without_its_data_is_skipped_with_a_reason(tmp_path):
    loaded = load_tasks(["chess", "trains"], tmp_path)
    assert list(loaded.tasks) == ["trains"]
    assert loaded.skipped == {"chess": "no games.csv in the data folder"}


@pytest.mark.parametrize("name", ["trains", "diabetes", "restaurants", "digits", "chess", "routes"])
def test_splits_keep_what_the_setting_promises(name):
    loaded = load_tasks([name])
    if loaded.skipped:
        pytest.skip(loaded.skipped[name])
    task = loaded.tasks[name]
    assert task.setting in SETTINGS
    assert task.symmetry in ("symmetric", "antisymmetric")
    assert set(np.unique(task.y)) == {-1, 1}
    splits = task.outer_splits()
    assert len(splits) == task.n_splits >= 3
    for train, test in splits:
        check_split(task, train, test)
        pairs, y = task.part(train)
        groups = None if task.groups is None else task.groups[train]
        inner = list(task.inner_splitter().split(pairs, y, groups))
        assert len(inner) == 3
        for fit, held in inner:
            check_split(task, train[fit], train[held])


def check_split(task, train, test):
    groups = None if task.setting == "time" else task.groups
    found = leakage_report(task.pairs, train, test, groups=groups)
    assert found.n_shared_rows == 0
    if task.setting == "time":
        assert max(task.groups[train]) < min(task.groups[test])
        return
    assert found.n_repeated == 0
    assert not found.n_shared_groups
    promised = {"both seen": found.n_both_seen, "one new": found.n_one_new}
    promised |= {"both new": found.n_both_new, "pairs held out": found.n_test}
    assert promised[task.setting] == found.n_test > 0


def test_football_looks_at_the_past_alone():
    path = DATA / "antisymmetric_intl_football" / "results.csv"
    if not path.exists():
        pytest.skip("no results.csv in the data folder")
    matches = read_csv(path).head(600)
    kept = {100, 300, 500}
    features, meetings = history(matches, kept)
    later = matches.copy()
    later.loc[500:, ["home_score", "away_score"]] = 9, 0
    again, met_again = history(later, kept)
    np.testing.assert_array_equal(again, features)
    np.testing.assert_array_equal(met_again, meetings)
    later.loc[400:, ["home_score", "away_score"]] = 9, 0
    assert not np.array_equal(history(later, kept)[0], features)


def test_thinned_rows_have_the_share_asked_for(rng):
    y = np.where(rng.random(400) < 0.7, 1, -1)
    rows = rng.permutation(400)[:300]
    kept = thinned(y, rows, 0.4)
    assert set(kept) <= set(rows)
    assert abs(np.mean(y[kept] > 0) - 0.4) < 0.01
    assert np.sum(y[kept] < 0) >= np.sum(y[rows] < 0) - 1  # the scarce class stays


@pytest.mark.parametrize("name", ["few-trains", "few-wines"])
def test_few_pairs_have_nothing_in_common_with_test_pairs(name):
    task = load_tasks([name]).tasks[name]
    splits = task.outer_splits()
    assert len(splits) == 8
    assert len({tuple(train) for train, _ in splits}) == 8, "other pairs in each split"
    for train, test in splits:
        assert len(train) == 80
        found = leakage_report(task.pairs, train, test, groups=task.groups)
        assert not found.n_shared_rows
        assert not found.n_repeated
        assert not found.n_shared_groups
        assert task.setting != "both new" or found.n_both_new == found.n_test > 1000


def test_tennis_looks_at_days_before_alone():
    table = DataFrame(
        {
            "date": [20100101, 20100101, 20100102, 20100102],
            "winner": ["a", "c", "a", "b"],
            "loser": ["b", "d", "c", "d"],
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.quality.shapes.EXPERIENCE", 1)
        rows, names, days = appearances(table, 20100101)
    assert names.tolist() == ["a", "c", "b", "d"], "none is known on the first day"
    assert days.tolist() == ["20100102"] * 2
    np.testing.assert_allclose(rows[:, 0], [1516.0, 1516.0, 1484.0, 1484.0])
    np.testing.assert_allclose(rows[:, 1], np.log(2.0))


# Columns ----------------------------------------------------------------------------------------


@pytest.fixture
def pairs(rng):
    first, second = rng.integers(12, size=40), rng.integers(12, size=40)
    apart = first != second
    first, second = first[apart], second[apart]
    group = rng.normal(size=(2, len(first), 2))
    return Pairs(rng.normal(size=(12, 3)), first, second, group[0], group[1])


def test_columns_take_a_swap_as_they_say(pairs):
    swapped = pairs.swap()
    for odd in (differences, odd_interactions):
        np.testing.assert_array_equal(odd(swapped), -odd(pairs))
    for even in (even_columns, likeness_columns):
        np.testing.assert_array_equal(even(swapped), even(pairs))
    assert not np.array_equal(raw_columns(swapped), raw_columns(pairs))
    scale = Scale.of(pairs, common=False)
    np.testing.assert_array_equal(
        raw_columns(scale.apply(swapped)), raw_columns(scale.apply(pairs).swap())
    )


def test_a_common_scale_keeps_the_proportions_of_columns(pairs):
    scaled = np.asarray(Scale.of(pairs, common=True).apply(pairs).objects)
    objects = np.asarray(pairs.objects)
    np.testing.assert_allclose(
        scaled.std(axis=0) / objects.std(axis=0), scaled[:, 0].std() / objects[:, 0].std()
    )


def test_indicators_are_odd_or_even_and_unknown_objects_have_none(pairs):
    for odd, sign in ((True, -1.0), (False, 1.0)):
        found = Indicators.of(pairs[:10], odd)
        columns = found.columns(pairs).toarray()
        np.testing.assert_array_equal(found.columns(pairs.swap()).toarray(), sign * columns)
        known = np.isin(pairs.first, [*pairs.first[:10], *pairs.second[:10]])
        np.testing.assert_array_equal(columns.max(axis=1) > 0, known | ((columns > 0).any(axis=1)))
        assert columns.shape[1] == len({*pairs.first[:10], *pairs.second[:10]})


def test_rates_count_wins():
    games = Pairs(np.zeros((3, 0)), [0, 0, 1], [1, 2, 2], ids=["a", "b", "c"])
    rates = Rates.of(games, np.array([1, 1, -1]), odd=True)
    left, right = rates.sides(games)
    np.testing.assert_allclose(left[0], [(2 + 2.5) / (2 + 5), np.log(3)])  # a won both games
    np.testing.assert_allclose(right[0], [(0 + 2.5) / (2 + 5), np.log(3)])  # b lost both
    unknown = Rates.of(games[:1], np.array([1]), odd=True).sides(games)[1][1]
    np.testing.assert_array_equal(unknown, [0.5, 0.0])


def test_no_label_describes_its_own_pair(pairs, rng):
    y = rng.choice([-1, 1], size=len(pairs))
    turned = y.copy()
    turned[5] *= -1
    same = ((pairs.first == pairs.first[5]) & (pairs.second == pairs.second[5])) | (
        (pairs.first == pairs.second[5]) & (pairs.second == pairs.first[5])
    )
    before = np.hstack(out_of_fold_sides(pairs, y, True, False))
    after = np.hstack(out_of_fold_sides(pairs, turned, True, False))
    np.testing.assert_array_equal(after[same], before[same])
    assert not np.array_equal(after, before)


def test_rates_of_one_new_object_hide_one_side(pairs, rng):
    y = rng.choice([-1, 1], size=len(pairs))
    left, right = out_of_fold_sides(pairs, y, True, True)
    assert np.all((left[:, 1] == 0.0) | (right[:, 1] == 0.0))
    assert (left[:, 1] > 0.0).any()
    assert (right[:, 1] > 0.0).any()


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_views_give_both_orders_unless_they_are_even(symmetry):
    task = tiny_task(symmetry)
    problem = problem_of(task, task.outer_splits()[0][0])
    for name in ("raw", "engineered", *view_names(problem)):
        view = View.of(name, problem, problem.pairs, problem.y)
        rows, labels = view.training_rows(problem, problem.pairs, problem.y)
        times = 1 if view.even else 2
        assert len(rows) == len(labels) == times * len(problem.y)
        assert view.even == np.array_equal(
            view.rows(problem.pairs), view.rows(problem.pairs.swap())
        )


# Measures ---------------------------------------------------------------------------------------


def test_measures_agree_with_scikit_learn(rng):
    probability, truth = rng.random(50), rng.random(50) < 0.4
    assert log_loss(probability, truth) == pytest.approx(metrics.log_loss(truth, probability))
    assert accuracy(probability, truth) == np.mean((probability > 0.5) == truth)
    assert accuracy(np.array([0.5, 0.9]), np.array([True, False])) == 0.25


def test_violation_is_zero_for_the_law_and_seen_otherwise(rng):
    given = rng.random(50)
    assert violation(given, given, odd=False) == {"largest": 0.0, "mean": 0.0, "flipped": 0.0}
    swapped = given.copy()
    swapped[3] = 1.0 - given[3]
    found = violation(given, swapped, odd=False)
    assert found["largest"] == pytest.approx(abs(2.0 * given[3] - 1.0))
    assert found["flipped"] == 1 / 50
    assert violation(given, 1.0 - given, odd=True)["largest"] < 1e-15
    assert violation(given, given, odd=True)["flipped"] == 1.0


def test_averaging_makes_any_model_obey(rng):
    given, swapped = rng.random((2, 50))
    for odd in (True, False):
        there, back = averaged(given, swapped, odd), averaged(swapped, given, odd)
        assert violation(there, back, odd)["largest"] < 1e-15


def test_scores_do_not_depend_on_the_order_pairs_are_written_in(rng):
    given, y = rng.random(50), rng.choice([-1, 1], size=50)
    flip = rng.random(50) < 0.5
    turned = scores(
        np.where(flip, 1 - given, given),
        np.where(flip, given, 1 - given),
        np.where(flip, -y, y),
        True,
    )
    assert turned == pytest.approx(scores(given, 1 - given, y, True))


# Methods ----------------------------------------------------------------------------------------


def test_bradley_terry_is_at_the_optimum_of_its_likelihood():
    task = tiny_task()
    problem = problem_of(task, task.outer_splits()[0][0])
    C = 0.7
    model = fit_linear(problem, problem.pairs, problem.y, Setting("identity", True, C))
    columns = Indicators.of(problem.pairs, True).columns(problem.pairs)
    residual = (problem.y > 0) - model.probability(problem.pairs)
    np.testing.assert_allclose(C * (columns.T @ residual), model.coef, atol=1e-4)


def test_elo_moves_the_winner_up_by_what_was_not_expected():
    games = Pairs(np.zeros((2, 0)), [0, 1], [1, 0], antisymmetric=[[1.0], [1.0]], ids=["a", "b"])
    model = fit_elo(games, np.array([1, 1]), 20.0, 0.0)
    first = 10.0
    second = 20.0 * (1.0 - 1.0 / (1.0 + 10.0 ** (2.0 * first / 400.0)))
    assert model.ratings == pytest.approx({"a": first - second, "b": second - first})


@pytest.mark.parametrize("symmetry", ["antisymmetric", "symmetric"])
def test_every_method_learns_a_tiny_task(symmetry):
    task = tiny_task(symmetry)
    split = task.outer_splits()[0]
    for method in (Logistic(), DoubledSVC(), BradleyTerry(), Elo()):
        if method.applies(task):
            found = measure(task, split, method, FEW)
            assert found["averaged"]["auc"] > 0.6, method.name
            assert found["violation"]["largest"] < 1e-2


def test_our_model_obeys_the_swap_to_the_last_bit():
    task = tiny_task()
    train, test = task.outer_splits()[0]
    model = Automatic().fit(problem_of(task, train))
    pairs = task.pairs[test]
    there, back = model.probability(pairs), model.probability(pairs.swap())
    assert (there + back == 1.0).all()


# The run ----------------------------------------------------------------------------------------


class Broken(Elo):
    """Must not be asked when a result is kept."""

    def fit(self, problem):
        raise AssertionError("fitted again")


def test_a_run_goes_on_where_it_was_cut(tmp_path):
    task = tiny_task()
    split = task.outer_splits()[0]
    found = kept_or_measured(task, 0, split, Elo(), tmp_path, FEW)
    assert kept_or_measured(task, 0, split, Broken(), tmp_path, FEW) == found
    for changed in ({"n_settings": FEW + 1}, {"again": True}):
        with pytest.raises(AssertionError, match="fitted again"):
            kept_or_measured(task, 0, split, Broken(), tmp_path, **{"n_settings": FEW, **changed})
    with pytest.raises(AssertionError, match="fitted again"):
        kept_or_measured(task, 0, task.outer_splits()[1], Broken(), tmp_path, FEW)


def test_results_on_file_are_not_measured_again(tmp_path):
    task = tiny_task()
    split = task.outer_splits()[0]
    found = kept_or_measured(task, 0, split, Elo(), tmp_path / "one", FEW)
    seed(tmp_path / "two", [found])
    assert kept_or_measured(task, 0, split, Broken(), tmp_path / "two", FEW) == found


def results_of(losses):
    """Made-up results of two methods on one task."""
    rows = [
        {
            "task": "tiny",
            "split": split,
            "method": method,
            "n_train": 10,
            "n_test": 5,
            "seconds": 1.0,
            "averaged": {"accuracy": 0.5, "auc": 0.5, "log_loss": loss},
            "plain": {"accuracy": 0.5, "auc": 0.5, "log_loss": loss},
            "violation": {"largest": 0.0, "mean": 0.0, "flipped": 0.0},
        }
        for method, values in losses.items()
        for split, loss in enumerate(values)
    ]
    task = {"name": "tiny", "question": "?", "symmetry": "symmetric", "setting": "time"}
    tasks = [{**task, "n_objects": 3, "n_pairs": 15}]
    return {"tasks": tasks, "methods": list(losses), "skipped": {}, "results": rows}


def test_the_comparison_is_paired_and_signed():
    results = results_of({OURS: [0.5, 0.6, 0.7], "elo": [0.51, 0.63, 0.72]})
    found = report.compare(results, "tiny", "log_loss")
    assert (found.peer, found.holds) == ("elo", True)
    assert found.gain == pytest.approx(20.0)
    assert found.error == pytest.approx(10.0 / np.sqrt(3.0))
    worse = report.compare(results_of({OURS: [0.6, 0.7], "elo": [0.5, 0.59]}), "tiny", "log_loss")
    assert not worse.holds
    assert "+20 ± 6 (elo)" in report.markdown(results)


def test_the_page_shows_what_was_measured():
    kept = report.RESULTS / "quality.json"
    page = report.PAGE.read_text(encoding="utf-8")
    if not kept.exists():
        assert "not measured yet" in tables_in(page)
        return
    results = json.loads(kept.read_text(encoding="utf-8"))
    assert tables_in(page).strip() == report.markdown(results).strip()
    assert {task["name"] for task in results["tasks"]} <= set(MAKERS)
    assert all(
        row["violation"]["largest"] == 0.0 for row in results["results"] if row["method"] == OURS
    )
