"""Validation in a report: what is trained on, what is tested, against plain loops."""

from dataclasses import replace

import numpy as np
import pytest
from made import SMALL, limits, matcher, photographs, ranker, tournament
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from pairity import (
    CalibratedPairClassifier,
    PairDrawClassifier,
    PairLogistic,
    PairRidge,
    Pairs,
    PairSVC,
    PairSVCCV,
)
from pairity.app.report.estimates import setting_of
from pairity.app.report.pictures import distribution
from pairity.app.report.subject import Subject, learner_of
from pairity.app.report.unseen import (
    chances_of_fold_decisions,
    hold_out,
    refitted,
    sample_rows,
    with_chances,
)
from pairity.kernels import Gaussian, MetricLearning
from pairity.model_selection import ObjectKFold, PairKFold
from pairity.model_selection.curves import fit_sigmoid, smoothed_targets
from pairity.pairs.parity import Parity


def found(subject, key, **options):
    return hold_out(subject, key, limits(**options), 0, None, None)


def test_decisions_are_those_of_plain_folds():
    pairs, y, _ = tournament()
    model = PairSVC("antisymmetric", kernel="gaussian", C=3.0).fit(pairs, y)
    held = found(Subject.read(model, pairs, y), "both_new")
    plain = [
        clone(model).fit(pairs[train], y[train]).decision_function(pairs[test])
        for train, test in ObjectKFold(3, new=2, random_state=0).split(pairs)
    ]
    assert np.array_equal(held.decisions, np.concatenate(plain))
    assert held.n_folds == 3


@pytest.mark.parametrize(("key", "new"), [("seen", 0), ("one_new", 1), ("both_new", 2)])
def test_settings_keep_what_they_promise(key, new):
    pairs, y, _ = tournament()
    held = found(Subject.read(ranker(pairs, y), pairs, y), key)
    for fold in np.unique(held.folds):
        test = held.rows[held.folds == fold]
        model, tested = held.fitted[fold]
        assert np.array_equal(test, tested)
        known = set(model.support_pairs_.ids.tolist())  # logistic regression: all are support
        ends = zip(pairs.ids[pairs.first[test]], pairs.ids[pairs.second[test]], strict=True)
        assert all((a not in known) + (b not in known) == new for a, b in ends)


def test_classifier_figures_are_the_usual_ones():
    pairs, y = photographs()
    model = matcher(pairs, y)
    subject = Subject.read(model, pairs, y)
    held = found(subject, "seen")
    chances = chances_of_fold_decisions(subject, held)
    setting = setting_of("seen", subject, held, chances, None)
    truth = y[held.rows]
    predicted = model.classes_[(held.decisions > 0).astype(int)]
    figures = {name: one.value for name, one in setting.figures.items()}
    assert figures["accuracy"] == pytest.approx(accuracy_score(truth, predicted))
    assert figures["AUC"] == pytest.approx(roc_auc_score(truth == "same", held.decisions))
    assert figures["log-loss"] == pytest.approx(log_loss(truth == "same", chances[:, 1]))
    share = float(np.mean(truth == "same"))
    assert setting.guess["accuracy"] == pytest.approx(max(share, 1 - share))
    assert setting.guess["log-loss"] == pytest.approx(log_loss(truth, np.full(len(truth), share)))


def test_a_calibrated_model_is_measured_by_what_it_predicts():
    """Its boundary is where a label becomes likelier than not, wherever decisions are 0."""
    pairs, y = photographs()
    plain = PairSVC("symmetric", kernel=MetricLearning(Gaussian(1.0)), C=0.01).fit(pairs, y)
    wrapped = CalibratedPairClassifier(plain, cv=3).fit(pairs, y)
    accuracies = []
    for model in (plain, wrapped):
        subject = Subject.read(model, pairs, y)
        held = found(subject, "seen")
        chances = chances_of_fold_decisions(subject, held)
        setting = setting_of("seen", subject, held, chances, None)
        accuracies.append(setting.figures["accuracy"].value)
    likelier = np.where(chances[:, 1] > 0.5, "same", "other")
    assert accuracies[1] == pytest.approx(accuracy_score(y[held.rows], likelier))
    assert accuracies[0] == pytest.approx(float(np.mean(y == "other")))  # all decisions below 0
    assert accuracies[1] > accuracies[0] + 0.05


def test_no_outcome_helps_to_predict_itself():
    """The probabilities of a fold come from a sigmoid of the other folds."""
    pairs, y = photographs()
    subject = Subject.read(matcher(pairs, y), pairs, y)
    held = found(subject, "seen")
    chances = chances_of_fold_decisions(subject, held)
    mine = held.folds == 1
    signs = np.where(y[held.rows] == "same", 1.0, -1.0)
    weights = np.ones(int((~mine).sum()))
    targets = smoothed_targets(signs[~mine], weights, Parity.EVEN)
    curve = fit_sigmoid(held.decisions[~mine], targets, weights, Parity.EVEN)
    assert np.allclose(chances[mine, 1], expit(curve.log_odds(held.decisions[mine])), rtol=1e-12)


def test_log_odds_of_logistic_regression_are_used_as_they_are():
    pairs, y, _ = tournament()
    subject = Subject.read(ranker(pairs, y), pairs, y)
    held = found(subject, "seen")
    chances = chances_of_fold_decisions(subject, held)
    assert np.allclose(chances[:, 1], expit(held.decisions), rtol=1e-12)


def test_large_log_odds_are_not_cut_on_one_side():
    """Decisions beyond 37, where 1 - expit(f) is 0 or 1: both sides keep what is small, and mirror."""
    pairs, y, _ = tournament()
    subject = Subject.read(ranker(pairs, y), pairs, y)
    held = found(subject, "seen")
    held = replace(held, decisions=np.linspace(-300.0, 300.0, len(held.rows)))
    chances = chances_of_fold_decisions(subject, held)
    assert (chances > 0.0).all()
    loss, win = np.log(chances).T
    assert np.allclose(win - loss, held.decisions, rtol=1e-12, atol=1e-12)
    turned = chances_of_fold_decisions(subject, replace(held, decisions=-held.decisions))
    assert np.array_equal(turned, chances[:, ::-1])
    shown = distribution(subject, "seen", held, chances)
    assert max(map(abs, shown.edges)) <= 300.0


def test_an_antisymmetric_guess_knows_nothing_of_the_order_of_writing():
    pairs, y, _ = tournament()
    turned = y > 0  # winners first throughout
    first = np.where(turned, pairs.first, pairs.second)
    second = np.where(turned, pairs.second, pairs.first)
    winners = Pairs(pairs.objects, first, second, ids=pairs.ids)
    plain, sorted_ = (
        setting_of("seen", s, h, chances_of_fold_decisions(s, h), None)
        for s in (Subject.read(ranker(p, z), p, z) for p, z in ((pairs, y), (winners, np.abs(y))))
        for h in (found(s, "seen"),)
    )
    assert plain.guess == {"accuracy": 0.5, "AUC": 0.5, "log-loss": pytest.approx(np.log(2.0))}
    assert sorted_.guess == plain.guess
    for name, one in plain.figures.items():
        assert sorted_.figures[name].value == pytest.approx(one.value, rel=1e-6)


def test_a_search_is_not_searched_again():
    pairs, y, _ = tournament(12)
    model = PairSVCCV("antisymmetric", kernel=["linear", "gaussian"], Cs=[0.1, 1.0]).fit(pairs, y)
    subject = Subject.read(CalibratedPairClassifier(model).fit(pairs, y), pairs, y)
    assert isinstance(subject.learner, PairSVC)
    assert learner_of(model) is model.best_estimator_
    refitted, converged = subject.refit(np.arange(40))
    assert converged
    assert refitted.C == subject.machine.C
    assert repr(refitted.kernel) == repr(subject.machine.kernel)


def test_fewer_folds_where_objects_are_few_and_a_reason_where_there_are_none():
    pairs, y, _ = tournament(5)
    subject = Subject.read(ranker(pairs, y), pairs, y)
    held = hold_out(subject, "both_new", limits(folds=5), 0, None, None)
    assert not len(held.rows)
    setting = setting_of("both_new", subject, held, None, None)
    assert setting.figures == {}
    assert setting.note.startswith("Not measured: ")


def test_groups_of_one_label_are_held_out_several_at_a_time():
    pairs, y = photographs()
    subject = Subject.read(matcher(pairs, y), pairs, y)
    kind = np.repeat(np.arange(4), 5)
    held = hold_out(subject, "both_new", limits(folds=4), 0, None, kind)
    assert held.n_folds == 2
    assert set(y[held.rows]) == {"same", "other"}
    held = hold_out(subject, "one_new", limits(folds=4), 0, None, kind)
    assert "all have the label 'other'" in held.reason


def test_groups_are_never_on_both_sides():
    pairs, y, _ = tournament()
    group = np.arange(len(pairs)) % 7
    subject = Subject.read(ranker(pairs, y), pairs, y)
    held = hold_out(subject, "seen", SMALL, 0, group, None)
    plain = list(PairKFold(3, random_state=0).split(pairs, y, group))
    for fold, (train, test) in enumerate(plain):
        assert not set(group[train]) & set(group[test])
        assert np.array_equal(held.rows[held.folds == fold], test)


def test_a_sample_keeps_whole_pairs_and_has_the_size_asked_for(rng):
    unordered = rng.integers(40, size=200)
    rows = sample_rows(unordered, 90, 3)
    assert len(rows) == len(np.unique(rows)) == 90
    inside = set(unordered[rows].tolist())
    outside = set(np.delete(unordered, rows).tolist())
    assert len(inside & outside) <= 1  # the pair at which it was full
    assert np.array_equal(sample_rows(unordered, 200, 3), np.arange(200))


def test_draws_and_numbers_are_measured_too():
    pairs, _, margin = tournament()
    y = np.sign(np.round(margin)).astype(int)
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear")).fit(pairs, y)
    subject = Subject.read(model, pairs, y)
    held = found(subject, "seen")
    chances = chances_of_fold_decisions(subject, held)
    assert chances.shape == (len(pairs), 3)
    setting = setting_of("seen", subject, held, chances, None)
    happened = chances[np.arange(len(pairs)), y[held.rows] + 1]
    assert setting.figures["log-loss"].value == pytest.approx(-np.log(happened).mean())
    assert setting.figures["accuracy"].value > setting.guess["accuracy"]

    ridge = PairRidge("antisymmetric", kernel="linear").fit(pairs, margin)
    subject = Subject.read(ridge, pairs, margin)
    held = found(subject, "seen")
    setting = setting_of("seen", subject, held, None, None)
    error = held.decisions - margin[held.rows]
    assert setting.figures["root mean square error"].value == pytest.approx(
        np.sqrt(np.mean(error**2))
    )
    assert setting.figures["R²"].value == pytest.approx(
        1 - np.sum(error**2) / np.sum(margin[held.rows] ** 2)
    )


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda m, p, y: (m, p.to_rows(), y), "expected Pairs"),
        (lambda m, p, y: (PairSVC("symmetric"), p, y), "without a fitted learner"),
        (lambda m, p, y: (m, p, y[:-1]), "expected one per pair"),
        (lambda m, p, y: (m, p, np.where(y > 0, 7, y)), r"got label .*7.* in row"),
        (lambda m, p, y: (m, p[:0], y[:0]), "got 0 pairs"),
    ],
)
def test_what_cannot_be_reported_is_refused(spoil, message):
    pairs, y, _ = tournament(8)
    with pytest.raises(ValueError, match=message):
        Subject.read(*spoil(ranker(pairs, y), pairs, y))


def test_pairs_with_times_are_foretold_from_earlier_ones():
    """Curves too: what happens later changes no probability before it."""
    pairs, y, _ = tournament()
    times = np.random.default_rng(3).permutation(len(pairs)).astype(float)
    timed = Pairs(pairs.objects, pairs.first, pairs.second, ids=pairs.ids, time=times)
    assert refitted(pairs)[0] == "seen"
    assert refitted(timed)[0] == "later"
    model = PairSVC("antisymmetric", kernel="gaussian").fit(timed, y)
    subject = Subject.read(model, timed, y)
    every = found(subject, "later")
    held, chances = with_chances(subject, every)
    assert np.unique(held.folds).tolist() == [1, 2]  # the first decisions only make curves
    for fold, (fitted, tested) in enumerate(every.fitted):
        assert np.array_equal(every.rows[every.folds == fold], tested)
        assert fitted.support_pairs_.time.max() < times[tested].min()
    last = times >= times[held.rows[held.folds == 2]].min()
    other = Subject.read(model, timed, np.where(last, -y, y))
    again, changed = with_chances(other, found(other, "later"))
    early = held.folds < 2
    assert np.array_equal(held.rows, again.rows)
    assert np.array_equal(chances[early], changed[early])
