"""Estimators and transformers: thin public classes in the manner of scikit-learn."""

from typing import TYPE_CHECKING

from pairity.runtime.lazy import attach

if TYPE_CHECKING:
    from pairity.estimators.derived_features import DerivedFeatures
    from pairity.estimators.kernel_machines import PairLogistic, PairSVC, PairSVR
    from pairity.estimators.neighbour_features import NeighbourMeans
    from pairity.estimators.ridge import PairRidge
    from pairity.estimators.semi_supervised import LaplacianPairSVC, TransductivePairSVC
    from pairity.estimators.symmetrized import Symmetrized
    from pairity.estimators.transformers import ObjectTransformer, PairNames

__all__ = [
    "DerivedFeatures",
    "LaplacianPairSVC",
    "NeighbourMeans",
    "ObjectTransformer",
    "PairLogistic",
    "PairNames",
    "PairRidge",
    "PairSVC",
    "PairSVR",
    "Symmetrized",
    "TransductivePairSVC",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "DerivedFeatures": "derived_features",
        "LaplacianPairSVC": "semi_supervised",
        "NeighbourMeans": "neighbour_features",
        "ObjectTransformer": "transformers",
        "PairLogistic": "kernel_machines",
        "PairNames": "transformers",
        "PairRidge": "ridge",
        "PairSVC": "kernel_machines",
        "PairSVR": "kernel_machines",
        "Symmetrized": "symmetrized",
        "TransductivePairSVC": "semi_supervised",
    },
)
