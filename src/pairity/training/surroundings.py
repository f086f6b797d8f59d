"""What happens around a fit that breaks a law of pairs: seen here, since nobody else could say it.

scikit-learn treats pairs like any other rows.  Three of its everyday steps then go wrong without a
word, and an estimator is the only one who can notice:

- a scaler before it, on wide rows, that scales the two halves apart: exchanging the halves of a row
  is then no longer exchanging the two objects;
- ``CalibratedClassifierCV`` around an antisymmetric classifier, whose curve has an offset, so that
  P(a, b) + P(b, a) is not 1;
- folds of single rows (``KFold`` and its like), which train on pairs that they test.

The last two are recognised by who calls.  Fits in other processes or threads do not see that, so
that there the clones are looked at which scikit-learn makes before it hands them on.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from pairity.exceptions import LeakageWarning, SwapLawWarning, levels_to_the_caller
from pairity.pairs.arrays import as_dense, distinct_rows
from pairity.pairs.data import Pairs
from pairity.pairs.parity import unordered_keys

#: Modules that call estimators on folds, and hold the splitter under the name ``cv``.
_VALIDATES = {"sklearn.model_selection._validation", "sklearn.model_selection._search"}
#: Splitters that deal out rows as if each were alone: not by time, person or site.
_BY_ROWS = {
    "KFold",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ShuffleSplit",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
}
#: What is looked for in the frames of scikit-learn.
_TELLING = ("cv", "X", "n_jobs")
#: Rows below which columns can have round means by chance, and how round they must be.
_LEAST_ROWS, _ROUND = 10, 1e-7


def warn_of_surroundings(estimator: Any, pairs: Pairs, *, fits: bool) -> None:
    """Warn of a calibration around an antisymmetric classifier, and of folds of repeated pairs."""
    symmetry = getattr(estimator, "symmetry", "none")
    odd = symmetry == "antisymmetric"
    if symmetry == "none" or not (fits or odd):
        return
    for frame in _callers():
        module = frame.f_globals.get("__name__", "")
        if module.startswith("pairity.") and _is_of_another(frame, estimator):
            return  # an estimator around this one has said it
        if module == "sklearn.calibration" and odd and is_classifier(estimator):
            _warn_of_calibration(estimator)
            odd = False
        if fits and module in _VALIDATES:
            splitter = frame.f_locals.get("cv")
            if type(splitter).__name__ in _BY_ROWS:
                _warn_of_folds(pairs, splitter)
                return


def warn_of_work_elsewhere(estimator: Any) -> None:
    """The same when an estimator is cloned for several jobs, whose callers are not seen later."""
    symmetry = getattr(estimator, "symmetry", "none")
    if symmetry == "none":
        return
    seen: dict[str, Any] = {}
    for frame in _callers():
        module = frame.f_globals.get("__name__", "")
        if module.startswith("pairity.") and _is_of_another(frame, estimator):
            return  # an estimator around this one has said it
        if module == "sklearn.calibration" or module in _VALIDATES:
            local = dict(frame.f_locals)
            if hasattr(local.get("self"), "n_jobs"):
                local.setdefault("n_jobs", local["self"].n_jobs)
            seen = {**{name: local[name] for name in _TELLING if name in local}, **seen}
            seen.setdefault("module", module)
    if seen.get("n_jobs") in (None, 1):
        return  # the fit itself will see it
    if seen["module"] == "sklearn.calibration":
        if symmetry == "antisymmetric" and is_classifier(estimator):
            _warn_of_calibration(estimator)
    elif type(seen.get("cv")).__name__ in _BY_ROWS and isinstance(seen.get("X"), Pairs):
        _warn_of_folds(seen["X"], seen["cv"])


def _is_of_another(frame: FrameType, estimator: Any) -> bool:
    owner = frame.f_locals.get("self")
    return owner is not estimator and isinstance(owner, BaseEstimator)


def _callers() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _warn_of_calibration(estimator: Any) -> None:
    warnings.warn(
        "CalibratedClassifierCV fits a curve with an offset, so that P(a, b) + P(b, a) is not 1 and the"
        f" swap law of {type(estimator).__name__} is lost; use"
        f" pairity.CalibratedPairClassifier({type(estimator).__name__}(...)), whose curve keeps it.",
        SwapLawWarning,
        stacklevel=levels_to_the_caller(),
    )


def _warn_of_folds(pairs: Pairs, splitter: Any) -> None:
    """Say so where rows of a training fold repeat pairs: the held-out rows then do as well."""
    pairs = pairs.compact()
    keys = unordered_keys(pairs.first, pairs.second, pairs.n_objects)
    n_repeated = len(keys) - len(np.unique(keys))
    if n_repeated and pairs.n_objects > 1:
        warnings.warn(
            f"{n_repeated} of {len(keys)} training rows observe a pair of objects that another row"
            f" observes too, and {type(splitter).__name__} deals out single rows: pairs that are held"
            " out are then trained on, and the score is too good. Use"
            " cv=pairity.model_selection.PairKFold(5), which keeps all observations of a pair on one"
            " side, or ObjectKFold(5) for pairs of new objects.",
            LeakageWarning,
            stacklevel=levels_to_the_caller(),
        )


# Halves of wide rows ----------------------------------------------------------------------------


def warn_of_halves(rows: Any, width: int) -> None:
    """Warn where a step before has scaled the two objects of wide rows apart."""
    if rows.shape[0] < _LEAST_ROWS or not width:
        return
    halves = as_dense(rows[:, :width]), as_dense(rows[:, rows.shape[1] - width :])
    how = next((name for name, test in _SIGNS.items() if all(map(test, halves))), None)
    if how is None or _hold_the_same(*halves) or _share_objects(*halves):
        return
    warnings.warn(
        f"the columns of the two objects seem to have been scaled apart ({how} in either half of the"
        " rows): exchanging the halves is then no longer exchanging the objects, and the swap law does"
        " not hold for rows before that step. Scale both objects alike:"
        " make_pipeline(ObjectTransformer(StandardScaler()), ...) takes wide rows too; the kernel"
        " 'gaussian' standardises by itself.",
        SwapLawWarning,
        stacklevel=levels_to_the_caller(),
    )


def _hold_the_same(left: Any, right: Any) -> bool:
    """Whether every column has the same values in both halves, so that scaling was the same too."""
    return np.array_equal(np.sort(left, axis=0), np.sort(right, axis=0))


def _share_objects(left: Any, right: Any) -> bool:
    """Whether some object is in both halves as it is: then they were not scaled apart."""
    first, second = np.split(distinct_rows(np.vstack([left, right])).inverse, 2)
    return len(np.intersect1d(first, second)) > 0


def _close(values: Any, target: float) -> bool:
    return bool(np.all(np.abs(values - target) < _ROUND))


def _is_standardised(half: Any) -> bool:
    varies = np.ptp(half, axis=0) > 0.0
    return bool(varies.any()) and _close(half[:, varies].std(axis=0), 1.0)


def _is_robust(half: Any) -> bool:
    low, middle, high = np.percentile(half, [25, 50, 75], axis=0)
    fractions = not np.array_equal(half, np.round(half))
    return fractions and _close(middle, 0.0) and _close(high - low, 1.0)


def _is_in_unit_interval(half: Any) -> bool:
    fractions = not np.array_equal(half, np.round(half))
    return fractions and _close(half.min(axis=0), 0.0) and _close(half.max(axis=0), 1.0)


#: Signs that one half was scaled by itself.
_SIGNS = {
    "standard deviation 1": _is_standardised,
    "median 0 and quartile distance 1": _is_robust,
    "smallest 0 and largest 1": _is_in_unit_interval,
}
