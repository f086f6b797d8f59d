"""Choosing and judging models: splits that do not leak, searches, probabilities, scores.

A pair and its mirror image, and all its repetitions, are one thing; an object that occurs in a
training pair is known.  Which objects of a test pair are known decides what an accuracy means:

============================  ==================================================================
``PairKFold``                 pairs held out, both objects known from other pairs
``ObjectKFold``               objects held out: both new (``new=2``, Section 6 of the paper),
                              exactly one new (``new=1``), at least one (``new=(1, 2)``)
``PairShuffleSplit``          random shares of the pairs instead of folds
``ObjectShuffleSplit``        random shares of the objects
``TimeSplit``                 the past trains, what came next tests
``walk_forward``              each period foretold from all pairs before it
``Repeated``                  any of them several times
``leakage_report``            what a split lets through, whoever made it
``PairClassifierCV``          the automatic classifier: kernels, boosted trees and a linear model,
                              weighed on held-out pairs
``PairRegressorCV``           the same for real targets
``PairSVCCV``                 support vector classifier, its kernel and strength chosen on held-out
                              pairs for little more than one fit; ``kernel="auto"`` by default
``PairLogisticCV``            the same for logistic regression
``PairRidgeCV``               the same for ridge regression
``plot_validation_curve``     the scores as a picture
``CalibratedPairClassifier``  probabilities of two labels that keep the swap law, from any
                              classifier of pairs
``PairDrawClassifier``        probabilities of win, draw and loss, from an antisymmetric estimator
``brier_score``               mean squared error of probabilities
``log_loss``                  mean of minus the logarithm of the probability of what happened
``ranked_probability_score``  squared error of cumulated probabilities, for ordered outcomes
``DatedForecasts``            all these over time, period by period
``probabilities_of_odds``     what decimal odds imply: a baseline
``reliability_curve``         observed frequencies beside predicted ones, with Wilson intervals
``plot_reliability``          the same as a diagram
============================  ==================================================================

Splitters work in ``cross_val_score`` and ``GridSearchCV``, on :class:`~pairity.Pairs` and on wide
rows, on complete and incomplete sets.  ``splitter.report(pairs)`` says where the pairs went, also
how many were dropped because they cross a split.  What counts as the same object is in
:mod:`pairity.pairs.same_objects`; objects in groups are held out together with ``object_groups``.
Lower is better for the three scores, and ``average=False`` gives one value a row, for paired
comparisons of two models.
"""

from pairity.model_selection.automatic import PairClassifierCV, PairRegressorCV
from pairity.model_selection.calibrated import CalibratedPairClassifier, PairDrawClassifier
from pairity.model_selection.combination import Combination
from pairity.model_selection.curves import DrawModel, Isotonic, Sigmoid
from pairity.model_selection.forecasts import (
    DatedForecasts,
    WalkForward,
    probabilities_of_odds,
    walk_forward,
)
from pairity.model_selection.leakage import LeakageReport, leakage_report
from pairity.model_selection.metrics import (
    ReliabilityCurve,
    brier_score,
    log_loss,
    ranked_probability_score,
    reliability_curve,
)
from pairity.model_selection.plots import plot_reliability, plot_validation_curve
from pairity.model_selection.searches import PairLogisticCV, PairRidgeCV, PairSVCCV
from pairity.model_selection.splitter import PairKFold
from pairity.model_selection.splitters import (
    ObjectKFold,
    ObjectShuffleSplit,
    PairShuffleSplit,
    Repeated,
    TimeSplit,
)

__all__ = [
    "CalibratedPairClassifier",
    "Combination",
    "DatedForecasts",
    "DrawModel",
    "Isotonic",
    "LeakageReport",
    "ObjectKFold",
    "ObjectShuffleSplit",
    "PairClassifierCV",
    "PairDrawClassifier",
    "PairKFold",
    "PairLogisticCV",
    "PairRegressorCV",
    "PairRidgeCV",
    "PairSVCCV",
    "PairShuffleSplit",
    "ReliabilityCurve",
    "Repeated",
    "Sigmoid",
    "TimeSplit",
    "WalkForward",
    "brier_score",
    "leakage_report",
    "log_loss",
    "plot_reliability",
    "plot_validation_curve",
    "probabilities_of_odds",
    "ranked_probability_score",
    "reliability_curve",
    "walk_forward",
]
