"""Pairity: learning on pairs of objects with exact swap symmetry or antisymmetry.

Start with :class:`Pairs` (the data), :mod:`pairity.kernels` (what is similar to what) and
:class:`PairSVC` (the model).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pairity._version import __version__

if TYPE_CHECKING:
    from pairity.calibration.classifier import CalibratedPairClassifier
    from pairity.calibration.draw_classifier import PairDrawClassifier
    from pairity.estimators.laplacian import LaplacianPairSVC
    from pairity.estimators.logistic import PairLogistic
    from pairity.estimators.ridge import PairRidge
    from pairity.estimators.svc import PairSVC
    from pairity.estimators.svr import PairSVR
    from pairity.estimators.transductive import TransductivePairSVC
    from pairity.evidence.report import parity_report
    from pairity.files.store import load, save
    from pairity.pairs import Pairs
    from pairity.transform.derived_columns import DerivedFeatures
    from pairity.transform.object_transformer import ObjectTransformer
    from pairity.tuning.classifiers import PairLogisticCV, PairSVCCV
    from pairity.tuning.regression import PairRidgeCV

__all__ = [
    "CalibratedPairClassifier",
    "DerivedFeatures",
    "LaplacianPairSVC",
    "ObjectTransformer",
    "PairDrawClassifier",
    "PairLogistic",
    "PairLogisticCV",
    "PairRidge",
    "PairRidgeCV",
    "PairSVC",
    "PairSVCCV",
    "PairSVR",
    "Pairs",
    "TransductivePairSVC",
    "__version__",
    "load",
    "parity_report",
    "save",
]

#: Public names and the modules that hold them; loaded on first use to keep the import cheap.
_HOMES = {
    "CalibratedPairClassifier": "pairity.calibration.classifier",
    "DerivedFeatures": "pairity.transform.derived_columns",
    "LaplacianPairSVC": "pairity.estimators.laplacian",
    "ObjectTransformer": "pairity.transform.object_transformer",
    "PairDrawClassifier": "pairity.calibration.draw_classifier",
    "PairLogisticCV": "pairity.tuning.classifiers",
    "PairLogistic": "pairity.estimators.logistic",
    "PairRidgeCV": "pairity.tuning.regression",
    "PairRidge": "pairity.estimators.ridge",
    "PairSVCCV": "pairity.tuning.classifiers",
    "PairSVC": "pairity.estimators.svc",
    "PairSVR": "pairity.estimators.svr",
    "Pairs": "pairity.pairs",
    "TransductivePairSVC": "pairity.estimators.transductive",
    "load": "pairity.files",
    "parity_report": "pairity.evidence.report",
    "save": "pairity.files",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in (
        "calibration",
        "datasets",
        "evidence",
        "explain",
        "files",
        "graphs",
        "kernels",
        "metrics",
        "ranking",
        "report",
        "selection",
        "testing",
        "tuning",
        "transform",
    ):
        return import_module(f"pairity.{name}")
    raise AttributeError(f"module 'pairity' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
