"""A model that is saved or loaded, tried out: values, laws, and decisions about a few pairs.

Values of the right kinds (:mod:`pairity.io.fitted_state`) make a model only if they fit together: a
bias of exactly 0 in an antisymmetric function, coefficients of the support pairs, curves that grow.
Whatever passes here behaves as a model that ``fit`` could have made: it decides about pairs of its
widths with finite numbers, and obeys its swap law bit for bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pairity.estimators.derived_features import DerivedFeatures
from pairity.estimators.machine import PairMachine
from pairity.estimators.neighbour_features import NeighbourMeans
from pairity.estimators.object_effects import Effects
from pairity.estimators.past_rates import PastRates
from pairity.estimators.stored_trees import StoredTrees
from pairity.estimators.symmetrized import Symmetrized
from pairity.estimators.transformers import ObjectTransformer
from pairity.exceptions import ModelFileError, gist
from pairity.io.fitted_state import check_values, is_fitted, parts_of
from pairity.io.registry import is_own
from pairity.io.rehearsal import rehearse, steps_of
from pairity.kernels.atoms import expand
from pairity.kernels.classes import parity_of
from pairity.kernels.elementary import spread_sample
from pairity.kernels.standardized import Scaling
from pairity.model_selection.automatic_model import AutomaticModel
from pairity.model_selection.boosted import MeanOfTrees
from pairity.model_selection.calibrated import CalibratedPairClassifier, PairDrawClassifier
from pairity.model_selection.curves import DrawModel, Isotonic, Sigmoid
from pairity.model_selection.held_out import parity_of as law_of
from pairity.model_selection.search import PairSearch
from pairity.model_selection.searches import PairLogisticCV, PairSVCCV
from pairity.pairs.derived import common_parity
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.solvers.low_rank.design import Layout
from pairity.solvers.low_rank.function import LowRankModel
from pairity.training.model import PairModel
from pairity.training.read import Observations

#: Support pairs whose kernel values are looked at.
_SAMPLE = 1000

#: What must hold, one after the other: a law stops at the first that does not.
Holds = Iterator[Any]


def check_model(model: Any) -> None:
    """Refuse a model that no ``fit`` could have made."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            parts = list(parts_of(model))
            check_values(parts)
            for part in parts:
                _check_laws(part)
            steps = steps_of(model)
            if all(is_own(type(part)) for part in parts if isinstance(part, BaseEstimator)):
                rehearse(model, steps[0])
    except ModelFileError:
        raise
    except Exception as error:  # whatever parts that do not fit lead to
        raise ModelFileError(
            f"got a model that cannot be used ({gist(error, 200)}); expected one as fit leaves it."
        ) from None


def _check_laws(part: Any) -> None:
    if isinstance(part, BaseEstimator) and not is_fitted(part):
        return
    for kind, (what, law) in _LAWS.items():
        if isinstance(part, kind) and not all(law(part)):
            what = what.format(type(part).__name__)
            raise ModelFileError(
                f"got {what} whose parts do not fit together; expected a fitted one."
            )


def _finite(*arrays: Any) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


def _same(one: Any, two: Any) -> bool:
    return (one is None) == (two is None) and (one is None or np.array_equal(one, two))


# Functions of pairs -------------------------------------------------------------------------------


def _function(model: PairModel) -> Holds:
    support = model.support
    group = support.n_symmetric, support.n_antisymmetric
    yield model.coefficients.shape == (len(support),)
    yield _finite(model.coefficients, model.bias)
    yield model.parity is not Parity.ODD or model.bias == 0.0
    known = parity_of(model.kernel, *group)  # as far as the formula tells
    yield not expand(model.kernel, *group).vanishes
    yield None in (known, model.parity) or known is model.parity
    # fit has computed the norm, and found it finite
    yield _finite(np.square(model.coefficients).sum())
    yield _finite(model.kernel.diagonal(spread_sample(support, _SAMPLE)))


def _low_rank(model: LowRankModel) -> Holds:
    bases = [basis for basis in model.bases if basis is not None]
    yield _finite(np.square(model.parameters).sum(), *bases)
    yield all(basis.ndim == 2 for basis in bases)
    yield model.parameters.ndim == 1 and isinstance(model.with_bias, bool)
    yield model.n_symmetric >= 0 and model.n_antisymmetric >= 0
    yield len(model.bases) == len(model.form.kernels)
    if len(bases) == len(model.bases):  # widths of sparse features are not kept
        widths = tuple(basis.shape[1] for basis in bases)
        left = len(model.parameters) - Layout(widths, model.form, 0).size
        yield left == 0 or (left > 0 and model.form.groups)


def _scaling(scaling: Scaling) -> Holds:
    rows = vars(scaling).values()
    yield _finite(*rows) and all(row.ndim == 1 for row in rows)
    yield len(scaling.object_shift) == len(scaling.object_factor)
    yield len(scaling.symmetric_shift) == len(scaling.symmetric_factor)


# Machines and searches ----------------------------------------------------------------------------


def _read(estimator: Any) -> Holds:
    """What reading the training pairs leaves behind."""
    objects, symmetric, antisymmetric = widths = estimator.feature_widths_
    yield min(widths) >= 0
    yield estimator.n_features_in_ == 2 * objects + symmetric + antisymmetric
    for name in ("n_symmetric", "n_antisymmetric"):
        count = getattr(estimator, name, 0)
        yield isinstance(count, int | np.integer) and count >= 0
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        yield names.shape == (estimator.n_features_in_,)
        yield all(isinstance(name, str) for name in names.tolist())
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        n_classes = 3 if isinstance(estimator, PairDrawClassifier) else 2
        yield classes.shape == (n_classes,) and classes.dtype.kind in "biufUOM"
        yield classes.dtype.kind != "f" or _finite(classes)
        labels = classes.tolist()
        yield len(set(labels)) == n_classes
        yield n_classes == 3 or labels == sorted(labels)


def _machine(machine: Any) -> Holds:
    model, widths = machine._model, machine.feature_widths_
    yield model.parity is SYMMETRIES[machine.symmetry]
    yield machine.intercept_ == model.bias and machine.n_iter_ >= 1
    yield machine.objective_ == machine.certificate_.dual
    yield from _read(machine)
    if isinstance(model, LowRankModel):
        yield widths[1:] == (model.n_symmetric, model.n_antisymmetric)
        yield not {"_dual", "support_", "support_pairs_", "dual_coef_"} & set(vars(machine))
        return
    pairs, dual, rows = machine.support_pairs_, machine._dual, machine.support_
    yield widths == (pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric)
    yield pairs is model.support
    yield np.array_equal(machine.dual_coef_, model.coefficients)
    yield np.array_equal(dual[np.flatnonzero(dual)], machine.dual_coef_)
    yield len(rows) == len(pairs) and (np.diff(rows) > 0).all() and (rows >= 0).all()
    observed = getattr(machine, "observed_", None)
    if observed is not None:
        seen = observed.pairs
        yield widths == (seen.n_object_features, seen.n_symmetric, seen.n_antisymmetric)


def _observations(observed: Observations) -> Holds:
    sizes = {len(part) for part in (observed.pairs, observed.targets, observed.weights)}
    yield sizes == {len(observed.rows)} and observed.rows.ndim == observed.targets.ndim == 1
    yield _finite(observed.targets, observed.weights) and (observed.weights >= 0.0).all()
    yield observed.strength > 0.0 and np.isfinite(observed.strength)
    yield (np.diff(observed.rows) > 0).all() and (observed.rows >= 0).all()
    yield len(observed.rows) == 0 or observed.rows[-1] < observed.n_rows


def _search(search: Any) -> Holds:
    kept = search.best_estimator_
    yield from _read(search)
    yield type(kept) is search._learner_type and kept.symmetry == search.symmetry
    yield kept.feature_widths_ == search.feature_widths_
    yield _same(getattr(kept, "classes_", None), getattr(search, "classes_", None))
    yield {"kernel", search._strength} == set(search.best_params_)
    settings = search.cv_results_["params"]
    yield 0 <= search.best_index_ < len(settings) and search.n_splits_ >= 1
    yield all(len(column) == len(settings) for column in search.cv_results_.values())
    decisions, (targets, weights) = search.held_out_decisions_, search._held_out
    yield decisions.shape == search.held_out_rows_.shape == targets.shape == weights.shape
    if isinstance(search, PairSVCCV | PairLogisticCV):
        yield _sigmoid(search.slope_, search.offset_, law_of(search))


# Probabilities ------------------------------------------------------------------------------------


def _sigmoid(slope: float, offset: float, parity: Parity | None) -> bool:
    return _finite(slope, offset) and slope >= 0.0 and (parity is not Parity.ODD or offset == 0.0)


def _wrapper(model: Any) -> Holds:
    yield from _read(model)
    yield law_of(model) is law_of(model.estimator_)
    rows, folds = model.calibration_rows_, model.calibration_folds_
    decisions, pairs = model.calibration_decisions_, model.calibration_pairs_
    yield len(rows) == len(folds) == len(decisions) == len(pairs) and _finite(decisions)


def _calibrated(model: CalibratedPairClassifier) -> Holds:
    parity, curve = law_of(model), model.curve_
    yield from _wrapper(model)
    yield _same(model.classes_, getattr(model.estimator_, "classes_", None))
    if isinstance(curve, Sigmoid):
        yield _sigmoid(curve.slope, curve.offset, parity)
        yield (model.slope_, model.offset_) == (curve.slope, curve.offset)
    else:
        yield not {"slope_", "offset_"} & set(vars(model))
        yield bool(curve.folded) is (parity is Parity.ODD)


def _isotonic(curve: Isotonic) -> Holds:
    knots, chances, steps = curve.knots, curve.chances, np.diff(curve.chances)
    yield knots.ndim == 1 and knots.shape == chances.shape and len(knots)
    yield _finite(knots, chances) and (np.diff(knots) >= 0.0).all()
    yield (chances > 0.0).all() and (chances < 1.0).all()
    if curve.folded:
        yield knots[0] == 0.0 and chances[0] == 0.5 and (steps <= 0.0).all()
    else:
        yield (steps >= 0.0).all()


def _draw_classifier(model: PairDrawClassifier) -> Holds:
    yield from _wrapper(model)
    yield law_of(model) is Parity.ODD
    draws = model.draw_model_
    yield (model.slope_, model.threshold_) == (draws.slope, draws.threshold)


def _draw_model(draws: DrawModel) -> Holds:
    yield _finite(draws.slope, draws.threshold) and draws.slope >= 0.0 < draws.threshold


def _trees(trees: StoredTrees) -> Holds:
    nodes = len(trees.values)
    own, columns = np.arange(nodes), (trees.features, trees.thresholds, trees.left, trees.right)
    yield all(column.shape == (nodes,) for column in columns)
    yield _finite(trees.values, trees.baseline) and not np.isnan(trees.thresholds).any()
    yield trees.roots.ndim == 1 and ((trees.roots >= 0) & (trees.roots < nodes)).all()
    yield ((trees.features >= 0) & (trees.features < trees.n_columns)).all()
    for side in (trees.left, trees.right):  # forward alone, so that every walk ends
        yield ((side >= own) & (side < nodes)).all()
    yield ((trees.left == own) == (trees.right == own)).all()


def _effects(model: Effects) -> Holds:
    columns, parameters = model.columns, model.parameters
    yield common_parity(columns.parts) is columns.parity
    yield _finite(parameters, model.bias, columns.shift, columns.factor)
    yield columns.shift.shape == columns.factor.shape and (np.diff(columns.keys) > 0).all()
    yield parameters.shape == (sum(columns.widths),)
    yield columns.parity is Parity.EVEN or (model.bias == 0.0 and not columns.shift.any())
    yield min(model.object_weight, model.pair_weight) >= 0.0


def _automatic(model: AutomaticModel) -> Holds:
    yield from _read(model)
    yield model.members_.keys() == model.weights_.keys() and model.members_
    parity = law_of(model)
    for name, member in model.members_.items():
        yield member.weight == model.weights_[name] and member.weight >= 0.0
        yield _sigmoid(member.curve.slope, member.curve.offset, parity)
        if isinstance(member.model, Effects):
            yield member.model.columns.parity is parity
        elif isinstance(member.model, PairModel):
            yield member.model.parity is parity
        else:
            several = isinstance(member.model, MeanOfTrees)
            for one in member.model.models if several else (member.model,):
                yield one.symmetry == model.symmetry
                yield one.feature_widths_ == model.feature_widths_


def _mean_of_trees(mean: MeanOfTrees) -> Holds:
    yield len(mean.models) > 0 and all(isinstance(one, Symmetrized) for one in mean.models)


def _rates(rates: PastRates) -> Holds:
    yield rates.rates.shape == (len(rates.known), 2) and _finite(rates.rates, rates.mean)


def _symmetrized(model: Symmetrized) -> Holds:
    yield from _read(model)
    yield model._n_fitted >= 0 and (model.ids == "ignore") is (model.rates_ is None)
    yield hasattr(model.estimator_, "predict")


# Transformers -------------------------------------------------------------------------------------


def _derived(model: DerivedFeatures) -> Holds:
    yield from _read(model)
    yield (model._even, model._odd) == (tuple(model.symmetric), tuple(model.antisymmetric))


def _neighbours(model: NeighbourMeans) -> Holds:
    yield from _read(model)
    graph = model.graph_
    widths = graph.n_object_features, graph.n_symmetric, graph.n_antisymmetric
    yield widths == tuple(model.feature_widths_)
    yield bool((graph.first != graph.second).all())


def _transformer(model: ObjectTransformer) -> Holds:
    yield from _read(model)
    for name in ("transformer", "symmetric", "antisymmetric"):
        yield type(getattr(model, name)) is type(getattr(model, f"{name}_"))


_LAWS: dict[type[Any], tuple[str, Callable[[Any], Holds]]] = {
    PairModel: ("a fitted function", _function),
    LowRankModel: ("a low-rank function", _low_rank),
    Observations: ("observations", _observations),
    Scaling: ("a scaling", _scaling),
    Isotonic: ("a curve of probabilities", _isotonic),
    DrawModel: ("probabilities of three outcomes", _draw_model),
    PairMachine: ("a fitted {}", _machine),
    PairSearch: ("a fitted {}", _search),
    CalibratedPairClassifier: ("calibrated probabilities", _calibrated),
    PairDrawClassifier: ("probabilities of three outcomes", _draw_classifier),
    AutomaticModel: ("a fitted {}", _automatic),
    Effects: ("a linear model with effects", _effects),
    StoredTrees: ("boosted trees", _trees),
    MeanOfTrees: ("a mean of trees", _mean_of_trees),
    PastRates: ("past rates", _rates),
    Symmetrized: ("a fitted {}", _symmetrized),
    DerivedFeatures: ("DerivedFeatures", _derived),
    NeighbourMeans: ("NeighbourMeans", _neighbours),
    ObjectTransformer: ("an ObjectTransformer", _transformer),
}
