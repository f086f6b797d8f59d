"""Pairity: learning on pairs of objects with exact swap symmetry or antisymmetry.

Start with :class:`Pairs` (the data), :mod:`pairity.kernels` (what is similar to what) and
:class:`PairSVC` (the model).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairity._version import __version__
from pairity.runtime.lazy import attach

if TYPE_CHECKING:
    from pairity.estimators.derived_features import DerivedFeatures
    from pairity.estimators.kernel_machines import PairLogistic, PairSVC, PairSVR
    from pairity.estimators.ridge import PairRidge
    from pairity.estimators.semi_supervised import LaplacianPairSVC, TransductivePairSVC
    from pairity.estimators.symmetrized import Symmetrized
    from pairity.estimators.transformers import ObjectTransformer
    from pairity.inspection.which_symmetry import parity_report
    from pairity.io.store import load, save
    from pairity.model_selection.automatic import PairClassifierCV, PairRegressorCV
    from pairity.model_selection.calibrated import CalibratedPairClassifier, PairDrawClassifier
    from pairity.model_selection.searches import PairLogisticCV, PairRidgeCV, PairSVCCV
    from pairity.pairs.data import Pairs

__all__ = [
    "CalibratedPairClassifier",
    "DerivedFeatures",
    "LaplacianPairSVC",
    "ObjectTransformer",
    "PairClassifierCV",
    "PairDrawClassifier",
    "PairLogistic",
    "PairLogisticCV",
    "PairRegressorCV",
    "PairRidge",
    "PairRidgeCV",
    "PairSVC",
    "PairSVCCV",
    "PairSVR",
    "Pairs",
    "Symmetrized",
    "TransductivePairSVC",
    "__version__",
    "load",
    "parity_report",
    "save",
]

#: Public names and the modules that hold them; loaded on first use to keep the import cheap.
_HOMES = {
    "CalibratedPairClassifier": "model_selection.calibrated",
    "DerivedFeatures": "estimators.derived_features",
    "LaplacianPairSVC": "estimators.semi_supervised",
    "ObjectTransformer": "estimators.transformers",
    "PairClassifierCV": "model_selection.automatic",
    "PairDrawClassifier": "model_selection.calibrated",
    "PairLogisticCV": "model_selection.searches",
    "PairLogistic": "estimators.kernel_machines",
    "PairRegressorCV": "model_selection.automatic",
    "PairRidgeCV": "model_selection.searches",
    "PairRidge": "estimators.ridge",
    "PairSVCCV": "model_selection.searches",
    "PairSVC": "estimators.kernel_machines",
    "PairSVR": "estimators.kernel_machines",
    "Pairs": "pairs.data",
    "Symmetrized": "estimators.symmetrized",
    "TransductivePairSVC": "estimators.semi_supervised",
    "load": "io.store",
    "parity_report": "inspection.which_symmetry",
    "save": "io.store",
}
#: Public packages and modules.
_MODULES = (
    "active",
    "app",
    "datasets",
    "distributed",
    "estimators",
    "exceptions",
    "inspection",
    "io",
    "kernels",
    "losses",
    "matching",
    "model_selection",
    "operators",
    "pairs",
    "solvers",
    "testing",
    "training",
)

__getattr__, __dir__ = attach("pairity", {"__version__": "_version", **_HOMES}, _MODULES)
