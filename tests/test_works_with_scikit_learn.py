"""Every row of the page "works with scikit-learn"."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RandomizedSearchCV,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from pairity import NeighbourMeans, ObjectTransformer, Pairs, PairSVC, Symmetrized
from pairity.exceptions import SwapLawWarning
from pairity.model_selection import PairKFold

PAGE = Path(__file__).resolve().parents[1] / "docs" / "works-with-scikit-learn.md"
FOLDS = PairKFold(3)


def games():
    rng = np.random.default_rng(0)
    objects = rng.normal(size=(18, 3))
    pairs = Pairs.complete(objects)
    return pairs, np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)


PAIRS, Y = games()


def machine():
    return PairSVC("antisymmetric", kernel="linear")


def obeys(model):
    decide = getattr(model, "decision_function", None) or (
        lambda p: model.predict_proba(p)[:, 1] - 0.5
    )
    return (decide(PAIRS.swap()) == -decide(PAIRS)).all()


def fitted(model):
    return obeys(model.fit(PAIRS, Y))


def searched(kind, grid, **options):
    return fitted(kind(machine(), grid, cv=FOLDS, **options))


def folds(cv, groups=None):
    return cross_val_score(machine(), PAIRS, Y, cv=cv, groups=groups).mean() > 0.8


def split_off():
    train, test, y, rest = train_test_split(PAIRS, Y, random_state=0)
    return obeys(machine().fit(train, y)) and machine().fit(train, y).score(test, rest) > 0.8


def scaled(step):
    return fitted(make_pipeline(ObjectTransformer(step), machine()))


def calibrated():
    with pytest.warns(SwapLawWarning, match="CalibratedPairClassifier"):
        CalibratedClassifierCV(machine(), cv=FOLDS).fit(PAIRS, Y)
    return True


ROWS = {
    "clone": lambda: fitted(clone(machine())),
    "pickle": lambda: obeys(pickle.loads(pickle.dumps(machine().fit(PAIRS, Y)))),
    "Pipeline": lambda: fitted(make_pipeline(NeighbourMeans(), machine())),
    "StandardScaler": lambda: scaled(StandardScaler()),
    "PCA": lambda: scaled(PCA(2)),
    "GridSearchCV": lambda: searched(GridSearchCV, {"C": [0.1, 1.0]}),
    "RandomizedSearchCV": lambda: searched(
        RandomizedSearchCV, {"C": [0.1, 1.0]}, n_iter=2, random_state=0
    ),
    "cross_val_score": lambda: folds(FOLDS),
    "cross_val_predict": lambda: len(cross_val_predict(machine(), PAIRS, Y, cv=FOLDS)) == len(Y),
    "train_test_split": split_off,
    "GroupKFold": lambda: folds(GroupKFold(3), np.arange(len(Y)) % 5),
    "TimeSeriesSplit": lambda: folds(TimeSeriesSplit(3)),
    "CalibratedClassifierCV": calibrated,
    "HistGradientBoostingClassifier": lambda: fitted(
        Symmetrized(HistGradientBoostingClassifier(max_iter=5), "antisymmetric")
    ),
    "check_estimator": lambda: len(list(estimator_checks_generator(machine()))) > 30,
}


def test_every_row_is_tested():
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, re.M) == list(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_row(row):
    assert ROWS[row]()
