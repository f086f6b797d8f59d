"""From decisions to probabilities that keep the swap law, of two outcomes and of three.

============================  ==================================================================
``CalibratedPairClassifier``  probabilities of two labels, from any classifier of pairs
``PairDrawClassifier``        probabilities of win, draw and loss, from an antisymmetric estimator
============================  ==================================================================

Both fit clones of an estimator on folds that do not leak, fit a small model of the outcomes to
the decisions about held-out pairs, and refit the estimator on all pairs.  ``trainer`` and
``held_out`` do the first, ``sigmoid``, ``isotonic`` and ``draws`` are the small models,
fitted by ``newton``.
"""

from pairity.calibration.classifier import CalibratedPairClassifier
from pairity.calibration.draw_classifier import PairDrawClassifier
from pairity.calibration.draws import DrawModel
from pairity.calibration.isotonic import Isotonic
from pairity.calibration.sigmoid import Sigmoid

__all__ = [
    "CalibratedPairClassifier",
    "DrawModel",
    "Isotonic",
    "PairDrawClassifier",
    "Sigmoid",
]
