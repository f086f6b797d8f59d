"""What scikit-learn does around an estimator of pairs: said where it breaks a law, silent where not."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from pairity import (
    CalibratedPairClassifier,
    ObjectTransformer,
    PairClassifierCV,
    PairLogistic,
    Pairs,
    PairSVC,
)
from pairity.exceptions import LeakageWarning, SwapLawWarning
from pairity.model_selection import ObjectKFold, PairKFold


def games(n=200, n_objects=25, seed=0):
    """Games of players of known strength; some play first only and some second only."""
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(n_objects, 2)) * [1.0, 5.0] + [0.0, 3.0]
    first, second = rng.integers(15, size=n), rng.integers(10, n_objects, size=n)
    second[second == first] = n_objects - 1
    margin = objects[first, 0] - objects[second, 0] + 0.5 * rng.normal(size=n)
    return Pairs(objects, first, second), np.where(margin > 0, 1, -1)


def swapped(rows):
    return np.roll(rows, 2, axis=1)


def model(**options):
    return PairSVC("antisymmetric", kernel="linear", **options)


@pytest.mark.parametrize("scaler", [StandardScaler(), RobustScaler(), MinMaxScaler()], ids=str)
def test_halves_scaled_apart(scaler):
    pairs, y = games()
    rows = pairs.to_rows()
    pipeline = make_pipeline(scaler, model())
    with pytest.warns(SwapLawWarning, match="scaled apart") as caught:
        pipeline.fit(rows, y)
    assert len(caught) == 1
    miss = pipeline.decision_function(rows) + pipeline.decision_function(swapped(rows))
    assert np.abs(miss).max() > 1e-3  # what the warning is about
    with pytest.warns(SwapLawWarning, match="scaled apart"):
        cross_val_score(pipeline, rows, y, cv=PairKFold(3))


def test_halves_scaled_alike():
    """What the warning advises: on wide rows too, and exact."""
    pairs, y = games()
    rows = pairs.to_rows()
    pipeline = make_pipeline(ObjectTransformer(StandardScaler()), model()).fit(rows, y)
    decisions = pipeline.decision_function(rows)
    assert (pipeline.decision_function(swapped(rows)) == -decisions).all()
    same = make_pipeline(ObjectTransformer(StandardScaler()), model()).fit(pairs, y)
    assert same.decision_function(pairs) == pytest.approx(decisions, abs=1e-3)


@pytest.mark.filterwarnings("error")
def test_halves_that_only_look_so():
    """Shares between 0 and 1, objects standardised before, rows that are no pairs: no word."""
    pairs, y = games()
    objects = StandardScaler().fit_transform(pairs.objects)
    model().fit(np.hstack([objects[pairs.first], objects[pairs.second]]), y)
    shares = MinMaxScaler().fit_transform(pairs.objects)
    model().fit(np.hstack([shares[pairs.first], shares[pairs.second]]), y)
    rows = StandardScaler().fit_transform(pairs.to_rows())
    PairSVC("none", kernel="linear").fit(rows, y)


@pytest.mark.parametrize(
    "estimator",
    [
        model(),
        PairLogistic("antisymmetric", kernel="linear"),
        make_pipeline(ObjectTransformer(StandardScaler()), model()),
    ],
    ids=str,
)
def test_calibration_with_an_offset(estimator):
    pairs, y = games()
    outer = CalibratedClassifierCV(estimator, cv=PairKFold(3))
    with pytest.warns(SwapLawWarning, match="use pairity.CalibratedPairClassifier"):
        outer.fit(pairs, y)
    with pytest.warns(SwapLawWarning, match="is not 1"):
        total = outer.predict_proba(pairs)[:, 1] + outer.predict_proba(pairs.swap())[:, 1]
    assert np.abs(total - 1.0).max() > 1e-4
    with pytest.warns(SwapLawWarning, match="is not 1"):
        CalibratedClassifierCV(FrozenEstimator(estimator.fit(pairs, y))).fit(pairs, y)


@pytest.mark.filterwarnings("error")
def test_calibrations_that_keep_the_law():
    """Pairity's own, and scikit-learn's around a symmetric model, which is even whatever the curve."""
    pairs, y = games()
    CalibratedPairClassifier(model()).fit(pairs, y).predict_proba(pairs)
    even = CalibratedClassifierCV(PairSVC("symmetric"), cv=PairKFold(3)).fit(pairs, y)
    assert (even.predict_proba(pairs) == even.predict_proba(pairs.swap())).all()


@pytest.mark.parametrize("cv", [KFold(4), ShuffleSplit(3, random_state=0), 4], ids=str)
@pytest.mark.parametrize("form", ["pairs", "rows"])
def test_folds_of_single_rows(cv, form):
    pairs, y = games()
    data = pairs if form == "pairs" else pairs.to_rows()
    with pytest.warns(LeakageWarning, match=r"of \d+ training rows observe .*cv=.*PairKFold"):
        cross_val_score(model(), data, y, cv=cv)
    with pytest.warns(LeakageWarning, match="deals out single rows"):
        GridSearchCV(model(), {"C": [1.0]}, cv=cv).fit(data, y)


def test_the_outermost_estimator_says_it():
    pairs, y = games()
    with pytest.warns(LeakageWarning) as caught:
        cross_val_score(CalibratedPairClassifier(model()), pairs, y, cv=KFold(2))
    assert len(caught) == 2  # one in each fold, none of those inside


@pytest.mark.filterwarnings("error")
def test_folds_that_are_meant():
    """Splitters of pairs, of times and of groups; and pairs that never come back."""
    pairs, y = games()
    for cv in (PairKFold(3), ObjectKFold(3), TimeSeriesSplit(3)):
        cross_val_score(model(), pairs, y, cv=cv)
    judges = np.arange(len(pairs)) % 6
    cross_val_score(model(), pairs, y, cv=GroupKFold(3), groups=judges)
    once = Pairs.complete(pairs.objects)
    labels = np.where(once.objects[once.first, 0] > once.objects[once.second, 0], 1, -1)
    cross_val_score(model(), once, labels, cv=KFold(3))
    PairClassifierCV("antisymmetric").fit(once[:150], labels[:150])


@pytest.mark.parametrize("step", [StandardScaler(), PCA(2)], ids=str)
def test_pairs_are_no_plain_array(step):
    pairs, y = games()
    with pytest.raises(TypeError, match=r"got Pairs where a plain array .*ObjectTransformer"):
        make_pipeline(step, model()).fit(pairs, y)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_work_in_other_processes_and_threads(backend):
    """Fits do not see there who called; clones are made here."""
    pairs, y = games()
    with parallel_config(backend):
        with pytest.warns(LeakageWarning, match="KFold deals out single rows"):
            cross_val_score(model(), pairs, y, cv=KFold(3), n_jobs=2)
        search = GridSearchCV(model(), {"C": [0.1, 1.0]}, cv=KFold(3), n_jobs=2, refit=False)
        with pytest.warns(LeakageWarning, match="KFold deals out single rows"):
            search.fit(pairs, y)
        nested = make_pipeline(ObjectTransformer(StandardScaler()), model())
        with pytest.warns(SwapLawWarning, match="use pairity.CalibratedPairClassifier"):
            CalibratedClassifierCV(nested, cv=PairKFold(3), n_jobs=2).fit(pairs, y)


@pytest.mark.filterwarnings("error")
def test_work_elsewhere_that_breaks_nothing():
    pairs, y = games()
    cross_val_score(model(), pairs, y, cv=PairKFold(3), n_jobs=2)
    clone(model())
    even = PairSVC("symmetric", kernel="gaussian")
    CalibratedClassifierCV(even, cv=PairKFold(3), n_jobs=2).fit(pairs, y)
