"""Tuning: kernel and strength chosen on held-out pairs, for little more than one fit.

========================  ====================================================================
``PairSVCCV``             support vector classifier; ``kernel="auto"`` by default
``PairLogisticCV``        logistic regression
``PairRidgeCV``           ridge regression
``plot_validation_curve`` the scores as a picture
========================  ====================================================================

``families`` names the kernels that "auto" combines, ``combination`` weighs them by ridge
regression on ``landmarks``, ``folds`` follows a path of strengths on every fold with one set of
Gram matrices, ``criteria`` and ``results`` judge held-out decisions, ``search`` puts it together.
"""

from pairity.tuning.classifiers import PairLogisticCV, PairSVCCV
from pairity.tuning.combination import Combination
from pairity.tuning.plots import plot_validation_curve
from pairity.tuning.regression import PairRidgeCV

__all__ = [
    "Combination",
    "PairLogisticCV",
    "PairRidgeCV",
    "PairSVCCV",
    "plot_validation_curve",
]
