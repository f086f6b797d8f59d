"""Small models and data for tests of reports."""

from dataclasses import replace

import numpy as np

from pairity import PairLogistic, Pairs, PairSVC
from pairity.app.report import Limits
from pairity.kernels import Gaussian, MetricLearning

#: Enough for every part of a report, and quick.
SMALL = Limits(folds=3, refits=3, shuffles=2, explained=60)


def tournament(n_objects=18, seed=0, ids=None):
    """Games of objects with two features, the first of which counts; a few upsets."""
    generator = np.random.default_rng(seed)
    objects = generator.normal(size=(n_objects, 2))
    pairs = Pairs.complete(objects, ids=ids or [f"team {row}" for row in range(n_objects)])
    margin = objects[pairs.first, 0] - objects[pairs.second, 0]
    y = np.where(margin + 0.3 * generator.normal(size=len(pairs)) > 0, 1, -1)
    return pairs, y, margin


def photographs(seed=0, ids=None):
    """Objects of four kinds, and whether two are of the same kind."""
    generator = np.random.default_rng(seed)
    kind = np.repeat(np.arange(4), 5)
    objects = 3.0 * generator.normal(size=(4, 2))[kind] + 0.5 * generator.normal(size=(20, 2))
    pairs = Pairs.complete(objects, ids=ids or [f"photo {row}" for row in range(20)])
    return pairs, np.where(kind[pairs.first] == kind[pairs.second], "same", "other")


def ranker(pairs, y):
    return PairLogistic("antisymmetric", kernel="linear").fit(pairs, y)


def matcher(pairs, y):
    kernel = MetricLearning(Gaussian(1.0))
    return PairSVC("symmetric", kernel=kernel, C=1.0, class_weight="balanced").fit(pairs, y)


def limits(**options):
    return replace(SMALL, **options)
