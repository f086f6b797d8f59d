"""Names in model files and the classes they stand for.

A file can name these classes and no others; where a class lives is written here, never in a file.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

#: Modules of the package, or of scikit-learn, and the classes in them that model files may hold.
_HOMES = {
    module: names.split()
    for module, names in {
        "pairity.kernels": "Additive Balanced Bilinear Derived Diffusion DirectSum Drift EvenPart"
        " Gaussian Identity Linear MetricLearning Mixed Nystroem OddPart OrderInvariant Polynomial"
        " Precomputed Product SkewBalanced Standardized Tensor TensorMetric",
        "pairity.kernels.algebra": "EntrywiseProduct Scaled Sum",
        "pairity.kernels.elementary": "OnRescaled",
        "pairity.kernels.landmarks": "FeatureError LandmarkFeatures",
        "pairity.kernels.nystroem": "Approximated",
        "pairity.kernels.standardized": "Rescaled Scaling",
        "pairity.estimators.kernel_machines": "PairLogistic PairSVC PairSVR",
        "pairity.estimators.ridge": "PairRidge",
        "pairity.estimators.semi_supervised": "LaplacianPairSVC TransductivePairSVC",
        "pairity.estimators.derived_features": "DerivedFeatures",
        "pairity.estimators.neighbour_features": "NeighbourMeans",
        "pairity.estimators.object_effects": "EffectColumns Effects",
        "pairity.estimators.transformers": "ObjectTransformer",
        "pairity.estimators.past_rates": "PastRates",
        "pairity.estimators.stored_trees": "StoredTrees",
        "pairity.estimators.symmetrized": "Symmetrized",
        "pairity.model_selection": "ObjectKFold ObjectShuffleSplit PairKFold PairShuffleSplit Repeated"
        " TimeSplit",
        "pairity.model_selection.automatic": "PairClassifierCV PairRegressorCV",
        "pairity.model_selection.automatic_model": "Member",
        "pairity.model_selection.boosted": "MeanOfTrees",
        "pairity.model_selection.calibrated": "CalibratedPairClassifier PairDrawClassifier",
        "pairity.model_selection.searches": "PairLogisticCV PairRidgeCV PairSVCCV",
        "pairity.model_selection.combination": "Combination",
        "pairity.model_selection.curves": "DrawModel Isotonic Sigmoid",
        "pairity.pairs.encoding": "ColumnEncoding TableEncoding",
        "pairity.pairs.same_objects": "KnownObjects",
        "pairity.solvers.certificate": "Certificate",
        "pairity.solvers.choices": "Chunking ConjugateGradients Dense LowRank Newton Primal SMO Spectral"
        " Splitting",
        "pairity.solvers.low_rank.function": "LowRankModel",
        "pairity.solvers.switching": "Switch",
        "pairity.training.model": "PairModel",
        "pairity.training.read": "Observations",
        "pairity.io.label_columns": "LabelNames",
        "pairity.io.recipe": "Columns Filling Recipe",
        "pairity.io.store": "ModelMetadata",
        "sklearn.decomposition": "PCA TruncatedSVD",
        "sklearn.ensemble": "HistGradientBoostingClassifier HistGradientBoostingRegressor",
        "sklearn.impute": "SimpleImputer",
        "sklearn.linear_model": "LinearRegression LogisticRegression Ridge",
        "sklearn.model_selection": "KFold StratifiedKFold",
        "sklearn.pipeline": "Pipeline",
        "sklearn.preprocessing": "MaxAbsScaler MinMaxScaler Normalizer PowerTransformer"
        " QuantileTransformer RobustScaler StandardScaler",
    }.items()
}

_MODULES = {name: module for module, names in _HOMES.items() for name in names}
_registered: dict[str, type[Any]] = {}


def register(cls: type[Any], name: str | None = None) -> type[Any]:
    """Let model files hold objects of a class of yours: a kernel, an estimator or a dataclass.

    Call it before :func:`~pairity.save` and before :func:`~pairity.load`; it can be used as a
    decorator.  Kernels are stored by their constructor parameters, estimators by parameters and
    fitted attributes, dataclasses by their fields: all of them plain values, arrays, pairs, or
    objects of registered classes.

    Parameters
    ----------
    cls : type
        Subclass of :class:`~pairity.kernels.Kernel` or of scikit-learn's ``BaseEstimator``, or a
        dataclass.
    name : str, optional
        Its name in files; the name of the class by default.
    """
    name = cls.__name__ if name is None else name
    if not (isinstance(cls, type) and (issubclass(cls, BaseEstimator) or is_dataclass(cls))):
        raise TypeError(
            f"got {cls!r}; expected a class: a kernel, an estimator or a dataclass, whose data can be"
            " written down."
        )
    if name in _MODULES or _registered.get(name, cls) is not cls:
        raise ValueError(
            f"got the name {name!r}, which stands for another class in model files; expected a name"
            " of its own: pass name=..."
        )
    _registered[name] = cls
    return cls


def is_registered(name: str) -> bool:
    """Whether a file may name a class so."""
    return name in _registered or name in _MODULES


def class_of(name: str) -> type[Any]:
    """Class that a name stands for."""
    known: type[Any] = _registered.get(name) or getattr(import_module(_MODULES[name]), name)
    return known


def is_own(cls: type[Any]) -> bool:
    """Whether a class is one that is declared here, and none of a user's."""
    return cls.__name__ in _MODULES and class_of(cls.__name__) is cls


def name_of(cls: type[Any]) -> str | None:
    """Name of a class in files; None for a class that files do not hold."""
    own = cls.__name__ if is_own(cls) else None
    return next((name for name, known in _registered.items() if known is cls), own)
