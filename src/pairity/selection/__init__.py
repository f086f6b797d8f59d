"""Splits of pairs that do not leak, in scikit-learn's splitter protocol.

A pair and its mirror image, and all its repetitions, are one thing; an object that occurs in a
training pair is known.  Which objects of a test pair are known decides what an accuracy means:

=======================  ==========================================================
``PairKFold``            pairs held out, both objects known from other pairs
``ObjectKFold``          objects held out: both new (``new=2``, Section 6 of the paper),
                         exactly one new (``new=1``), at least one (``new=(1, 2)``)
``PairShuffleSplit``     random shares of the pairs instead of folds
``ObjectShuffleSplit``   random shares of the objects
``TimeSplit``            the past trains, what came next tests
``Repeated``             any of them several times
``leakage_report``       what a split lets through, whoever made it
=======================  ==========================================================

All work in ``cross_val_score`` and ``GridSearchCV``, on :class:`~pairity.Pairs` and on wide rows,
on complete and incomplete sets.  ``splitter.report(pairs)`` says where the pairs went, also how
many were dropped because they cross a split.  What counts as the same object is in
:mod:`pairity.selection.identity`; objects in groups are held out together with
``object_groups``.
"""

from pairity.selection.draws import ObjectShuffleSplit, PairShuffleSplit, Repeated
from pairity.selection.folds import ObjectKFold, PairKFold
from pairity.selection.leakage import LeakageReport, leakage_report
from pairity.selection.time_order import TimeSplit

__all__ = [
    "LeakageReport",
    "ObjectKFold",
    "ObjectShuffleSplit",
    "PairKFold",
    "PairShuffleSplit",
    "Repeated",
    "TimeSplit",
    "leakage_report",
]
