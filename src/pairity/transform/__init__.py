"""Transformers of pairs: features in, features out, and the swap law kept.

=======================  ======================================================================
``ObjectTransformer``    any scikit-learn transformer (scaler, quantiles, PCA, one-hot) on the
                         table of objects, and where told on group features
``DerivedFeatures``      differences, sums and products of the two objects as group features
=======================  ======================================================================

Both take and return :class:`~pairity.Pairs`, learn from the objects of the training pairs alone,
and stand in scikit-learn's pipelines and searches before any learner of pairs.
"""

from pairity.transform.derived_columns import DerivedFeatures
from pairity.transform.names import PairNames
from pairity.transform.object_transformer import ObjectTransformer

__all__ = ["DerivedFeatures", "ObjectTransformer", "PairNames"]
