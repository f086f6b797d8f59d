"""Which label says that the first object is ahead: rankings follow ``positive``, or ask for it."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

from pairity import (
    CalibratedPairClassifier,
    PairClassifierCV,
    PairLogistic,
    PairLogisticCV,
    Pairs,
    PairSVC,
    Symmetrized,
)
from pairity.active import suggest
from pairity.app.report.subject import Subject
from pairity.inspection import effects, judges, rank_objects
from pairity.io import load, save
from pairity.model_selection import PairKFold

#: Two labels, and the one that says that the first object is ahead.
LABELS = [(("left", "right"), "left"), ((1, 2), 1), ((2.0, 5.0), 5.0), (("a", "b"), "b")]


def votes(m=6, n=240, seed=0):
    random = np.random.default_rng(seed)
    first = random.integers(0, m, n)
    second = (first + random.integers(1, m, n)) % m
    style = random.normal(size=(n, 1))
    odds = 0.8 * (second - first) + 0.5 * style[:, 0]  # the first objects are the best
    won = random.random(n) < expit(odds)
    return Pairs(np.eye(m), first, second, antisymmetric=style), won


def everyone(pairs):
    flat = np.zeros((pairs.n_objects * (pairs.n_objects - 1) // 2, 1))
    return Pairs.complete(pairs.objects, antisymmetric=flat)


def labelled(won, both, positive):
    other = both[0] if both[1] == positive else both[1]
    return np.where(won, positive, other)


@pytest.mark.parametrize(("both", "positive"), LABELS)
def test_rankings_effects_and_judges_follow_it(both, positive):
    pairs, won = votes()
    plain = PairLogistic("antisymmetric", kernel="linear").fit(pairs, np.where(won, 1, -1))
    model = PairLogistic("antisymmetric", kernel="linear", positive=positive)
    model.fit(pairs, labelled(won, both, positive))
    assert model.classes_.tolist() == sorted(both)
    expected = rank_objects(plain, everyone(pairs), intervals="analytic")
    ranking = rank_objects(model, everyone(pairs), intervals="analytic")
    assert ranking.meaning == f"label {positive}: the first object is ahead"
    assert ranking.meaning in str(ranking)
    for name in ("scores", "lower", "upper"):
        np.testing.assert_allclose(getattr(ranking, name), getattr(expected, name), atol=1e-8)
    one, two = (effects(each, kinds=["antisymmetric"]) for each in (plain, model))
    np.testing.assert_allclose(one.estimates, two.estimates, atol=1e-9)
    assert two.estimates[0] > 0.0
    who = np.arange(len(pairs)) % 7
    np.testing.assert_allclose(judges(model, who).biases, judges(plain, who).biases, atol=1e-6)
    for strategy in ("order", "top"):
        rows = [suggest(each, everyone(pairs), 5, strategy, top=2).rows for each in (plain, model)]
        assert rows[0].tolist() == rows[1].tolist()


@pytest.mark.parametrize("both", [("left", "right"), (1, 2), (-2, -1)], ids=repr)
def test_who_is_ahead_is_not_guessed(both):
    pairs, won = votes()
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, np.where(won, *both))
    assert set(model.predict(pairs)) <= set(both)  # labels need no meaning
    wanted = r"says that the first object is ahead: pass positive="
    with pytest.raises(ValueError, match=wanted):
        rank_objects(model, everyone(pairs))
    with pytest.raises(ValueError, match=wanted):
        effects(model)
    with pytest.raises(ValueError, match=wanted):
        judges(model, np.arange(len(pairs)) % 5)
    with pytest.raises(ValueError, match=wanted):
        suggest(model, everyone(pairs), strategy="top", top=2)
    model.set_params(positive=both[0])  # the fit is the same
    assert rank_objects(model, everyone(pairs)).ranks[0] == 1


@pytest.mark.parametrize("both", [(-1, 1), (0, 1), (False, True), (-3.0, 0.5)], ids=repr)
def test_some_labels_speak_for_themselves(both):
    pairs, won = votes()
    y = np.where(won, both[1], both[0])
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, y)
    assert rank_objects(model, everyone(pairs)).ranks[0] == 1
    model.set_params(positive=both[0])
    assert rank_objects(model, everyone(pairs)).ranks[0] == 6


@pytest.mark.parametrize(
    "model",
    [
        PairSVC("antisymmetric", kernel="linear", positive="left"),
        PairLogisticCV("antisymmetric", kernel="linear", positive="left"),
        CalibratedPairClassifier(PairSVC("antisymmetric", kernel="linear", positive="left")),
        Symmetrized(LogisticRegression(), "antisymmetric", positive="left"),
        PairClassifierCV("antisymmetric", positive="left"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_has_it(model, tmp_path):
    pairs, won = votes()
    model.fit(pairs, np.where(won, "left", "right"))
    assert model.classes_.tolist() == ["left", "right"]
    ranking = rank_objects(model, everyone(pairs))
    assert ranking.ranks[0] == 1
    assert ranking.meaning == "label left: the first object is ahead"
    save(model, tmp_path / "model.pairity")
    again = rank_objects(load(tmp_path / "model.pairity"), everyone(pairs))
    assert np.array_equal(again.scores, ranking.scores)


def test_scores_of_scikit_learn_are_not_turned():
    pairs, won = votes()
    y = np.where(won, "left", "right")
    model = PairLogistic("antisymmetric", kernel="linear", positive="left")
    folds = list(PairKFold(3, new=(0, 1, 2)).split(pairs))
    assert cross_val_score(model, pairs, y, scoring="roc_auc", cv=folds).min() > 0.6
    assert cross_val_score(model, pairs, y, scoring="neg_log_loss", cv=folds).min() > -0.69
    assert roc_auc_score(y, model.fit(pairs, y).decision_function(pairs)) > 0.6


def test_reports_say_it():
    pairs, won = votes(n=120)
    y = np.where(won, "left", "right")
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, y)
    with pytest.raises(ValueError, match="pass positive="):
        Subject.read(model, pairs, y)
    subject = Subject.read(model.set_params(positive="left"), pairs, y)
    assert subject.ahead == "label left: the first object is ahead"


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_it_is_one_of_the_labels(symmetry):
    pairs, won = votes()
    model = PairLogistic(symmetry, kernel="linear", positive="up")
    with pytest.raises(ValueError, match=r"got positive='up', which is none of the labels 'left'"):
        model.fit(pairs, np.where(won, "left", "right"))
