"""What belongs together in a fitted model, compared.

Values of the right kinds (:mod:`pairity.files.fitted`) make a model only if they fit together: a
bias of exactly 0 in an antisymmetric function, coefficients of the support pairs, curves that grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from pairity.calibration.classifier import CalibratedPairClassifier
from pairity.calibration.draw_classifier import PairDrawClassifier
from pairity.calibration.draws import DrawModel
from pairity.calibration.isotonic import Isotonic
from pairity.calibration.sigmoid import Sigmoid
from pairity.calibration.trainer import parity_of as law_of
from pairity.estimators.base import PairMachine
from pairity.exceptions import ModelFileError
from pairity.files.fitted import is_fitted
from pairity.kernels.algebra import Kernel
from pairity.kernels.classes import spread_sample
from pairity.kernels.expansion import expand, parity_of
from pairity.kernels.scaling import Scaling
from pairity.lowrank.design import Layout
from pairity.lowrank.model import LowRankModel
from pairity.model import PairModel
from pairity.pairs import Pairs
from pairity.parity import SYMMETRIES, Parity
from pairity.transform.derived_columns import DerivedFeatures
from pairity.transform.object_transformer import ObjectTransformer
from pairity.tuning.classifiers import PairLogisticCV, PairSVCCV
from pairity.tuning.search import PairSearch

__all__ = ["check_laws"]

#: Support pairs whose kernel values are looked at.
_SAMPLE = 1000


def check_laws(parts: list[Any]) -> None:
    """Refuse fitted values that do not belong together."""
    for part in parts:
        for kind, law in _LAWS.items():
            if isinstance(part, kind) and (is_dataclass(part) or is_fitted(part)):
                law(part)


def _need(holds: Any, what: str) -> None:
    if not holds:
        raise ModelFileError(f"got {what} whose parts do not fit together; expected a fitted one.")


def _finite(*arrays: Any) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


# Functions of pairs -------------------------------------------------------------------------------


def _check_function(model: PairModel) -> None:
    what, support = "a fitted function", model.support
    _need(model.coefficients.shape == (len(support),), what)
    _need(_finite(model.coefficients, model.bias), what)
    _need(model.parity is not Parity.ODD or model.bias == 0.0, what)
    _need(_has_part(model.kernel, model.parity, support.n_symmetric, support.n_antisymmetric), what)
    # fit has computed the norm, and found it finite
    _need(_finite(np.square(model.coefficients).sum()), what)
    _need(_finite(model.kernel.diagonal(spread_sample(support, _SAMPLE))), what)


def _check_low_rank(model: LowRankModel) -> None:
    what, bases = "a low-rank function", model.bases
    _need(
        _finite(
            np.square(model.parameters).sum(), *(basis for basis in bases if basis is not None)
        ),
        what,
    )
    _need(all(basis is None or basis.ndim == 2 for basis in bases), what)
    _need(model.parameters.ndim == 1 and isinstance(model.with_bias, bool), what)
    _need(model.n_symmetric >= 0 and model.n_antisymmetric >= 0, what)
    _need(len(bases) == len(model.form.kernels), what)
    widths = tuple(basis.shape[1] for basis in bases if basis is not None)
    if len(widths) == len(bases):  # widths of sparse features are not kept
        left = len(model.parameters) - Layout(widths, model.form, 0).size
        _need(left == 0 or (left > 0 and model.form.groups), what)


def _has_part(kernel: Kernel, parity: Parity | None, *group: int) -> bool:
    """Whether a kernel has a part of this parity, as far as its formula tells."""
    known = parity_of(kernel, *group)
    return not expand(kernel, *group).vanishes and (None in (known, parity) or known is parity)


def _check_scaling(scaling: Scaling) -> None:
    rows = vars(scaling).values()
    _need(_finite(*rows) and all(row.ndim == 1 for row in rows), "a scaling")
    _need(len(scaling.object_shift) == len(scaling.object_factor), "a scaling")
    _need(len(scaling.symmetric_shift) == len(scaling.symmetric_factor), "a scaling")


# Machines and searches ----------------------------------------------------------------------------


def _check_machine(machine: PairMachine) -> None:
    what, model = f"a fitted {type(machine).__name__}", machine._model
    _need(model.parity is SYMMETRIES[machine.symmetry], what)
    _need(machine.intercept_ == model.bias and machine.n_iter_ >= 1, what)
    _need(machine.objective_ == machine.certificate_.dual, what)
    _check_read(machine, what)
    if isinstance(model, LowRankModel):
        _need(machine.feature_widths_[1:] == (model.n_symmetric, model.n_antisymmetric), what)
        _need(not {"_dual", "support_", "support_pairs_", "dual_coef_"} & set(vars(machine)), what)
        return
    pairs, dual = machine.support_pairs_, machine._dual
    _need(machine.feature_widths_ == _widths(pairs) and pairs is model.support, what)
    _need(np.array_equal(machine.dual_coef_, model.coefficients), what)
    _need(np.array_equal(dual[np.flatnonzero(dual)], machine.dual_coef_), what)
    rows = machine.support_
    _need(len(rows) == len(pairs) and (np.diff(rows) > 0).all() and (rows >= 0).all(), what)


def _check_read(estimator: Any, what: str) -> None:
    """What reading the training pairs leaves behind."""
    objects, symmetric, antisymmetric = widths = estimator.feature_widths_
    _need(min(widths) >= 0, what)
    _need(estimator.n_features_in_ == 2 * objects + symmetric + antisymmetric, what)
    for name in ("n_symmetric", "n_antisymmetric"):
        count = getattr(estimator, name, 0)
        _need(isinstance(count, int | np.integer) and count >= 0, what)
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        _need(names.shape == (estimator.n_features_in_,), what)
        _need(all(isinstance(name, str) for name in names.tolist()), what)
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        n_classes = 3 if isinstance(estimator, PairDrawClassifier) else 2
        _need(classes.shape == (n_classes,) and classes.dtype.kind in "biufUOM", what)
        _need(classes.dtype.kind != "f" or _finite(classes), what)
        labels = classes.tolist()
        _need(len(set(labels)) == n_classes, what)
        _need(n_classes == 3 or labels == sorted(labels), what)


def _widths(pairs: Pairs) -> tuple[int, int, int]:
    return pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric


def _check_search(search: PairSearch) -> None:
    what, kept = f"a fitted {type(search).__name__}", search.best_estimator_
    _check_read(search, what)
    _need(type(kept) is search._learner_type and kept.symmetry == search.symmetry, what)
    _need(kept.feature_widths_ == search.feature_widths_, what)
    _need(_same(getattr(kept, "classes_", None), getattr(search, "classes_", None)), what)
    _need({"kernel", search._strength} == set(search.best_params_), what)
    settings = search.cv_results_["params"]
    _need(0 <= search.best_index_ < len(settings) and search.n_splits_ >= 1, what)
    _need(all(len(column) == len(settings) for column in search.cv_results_.values()), what)
    decisions, (targets, weights) = search.held_out_decisions_, search._held_out
    _need(decisions.shape == search.held_out_rows_.shape == targets.shape == weights.shape, what)
    if isinstance(search, PairSVCCV | PairLogisticCV):
        _check_slope(search.slope_, search.offset_, law_of(search), what)


def _same(one: Any, two: Any) -> bool:
    return (one is None) == (two is None) and (one is None or np.array_equal(one, two))


# Probabilities ------------------------------------------------------------------------------------


def _check_slope(slope: float, offset: float, parity: Parity | None, what: str) -> None:
    _need(_finite(slope, offset) and slope >= 0.0, what)
    _need(parity is not Parity.ODD or offset == 0.0, what)


def _check_calibrated(model: CalibratedPairClassifier) -> None:
    what, parity, curve = "calibrated probabilities", law_of(model), model.curve_
    _check_wrapper(model, what)
    _need(_same(model.classes_, getattr(model.estimator_, "classes_", None)), what)
    if isinstance(curve, Sigmoid):
        _check_slope(curve.slope, curve.offset, parity, what)
        _need((model.slope_, model.offset_) == (curve.slope, curve.offset), what)
    else:
        _need(not {"slope_", "offset_"} & set(vars(model)), what)
        _need(bool(curve.folded) is (parity is Parity.ODD), what)


def _check_isotonic(curve: Isotonic) -> None:
    knots, chances = curve.knots, curve.chances
    what = "a curve of probabilities"
    _need(knots.ndim == 1 and knots.shape == chances.shape and len(knots), what)
    _need(_finite(knots, chances) and (np.diff(knots) >= 0.0).all(), what)
    _need((chances > 0.0).all() and (chances < 1.0).all(), what)
    steps = np.diff(chances)
    if curve.folded:
        _need(knots[0] == 0.0 and chances[0] == 0.5 and (steps <= 0.0).all(), what)
    else:
        _need((steps >= 0.0).all(), what)


def _check_draws(model: PairDrawClassifier) -> None:
    what, draws = "probabilities of three outcomes", model.draw_model_
    _check_wrapper(model, what)
    _need(law_of(model) is Parity.ODD, what)
    _need((model.slope_, model.threshold_) == (draws.slope, draws.threshold), what)


def _check_draw_model(draws: DrawModel) -> None:
    what = "probabilities of three outcomes"
    _need(_finite(draws.slope, draws.threshold) and draws.slope >= 0.0 < draws.threshold, what)


def _check_wrapper(model: Any, what: str) -> None:
    _check_read(model, what)
    _need(law_of(model) is law_of(model.estimator_), what)
    rows, folds = model.calibration_rows_, model.calibration_folds_
    decisions, pairs = model.calibration_decisions_, model.calibration_pairs_
    _need(len(rows) == len(folds) == len(decisions) == len(pairs) and _finite(decisions), what)


# Transformers -------------------------------------------------------------------------------------


def _check_derived(model: DerivedFeatures) -> None:
    _check_read(model, "DerivedFeatures")
    given = tuple(model.symmetric), tuple(model.antisymmetric)
    _need((model._even, model._odd) == given, "DerivedFeatures")


def _check_transformer(model: ObjectTransformer) -> None:
    _check_read(model, "an ObjectTransformer")
    for name in ("transformer", "symmetric", "antisymmetric"):
        given, fitted = getattr(model, name), getattr(model, f"{name}_")
        _need(type(given) is type(fitted), "an ObjectTransformer")


_LAWS: dict[type[Any], Callable[[Any], None]] = {
    PairModel: _check_function,
    LowRankModel: _check_low_rank,
    Scaling: _check_scaling,
    Isotonic: _check_isotonic,
    DrawModel: _check_draw_model,
    PairMachine: _check_machine,
    PairSearch: _check_search,
    CalibratedPairClassifier: _check_calibrated,
    PairDrawClassifier: _check_draws,
    DerivedFeatures: _check_derived,
    ObjectTransformer: _check_transformer,
}
