"""ObjectTransformer: any scikit-learn transformer on the objects of pairs.

Some transformers (PCA through a matrix product) give a row other bits in another table.  So the
table that a transformer sees is made from the *distinct* rows in an order that depends on their
content alone: it is the same for pairs and for swapped pairs, and so is the outcome.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from pairity.estimators.transformer import PairNames, PairTransformer, object_numbers
from pairity.pairs.data import ObjectTable, Pairs
from pairity.pairs.distinct import distinct_rows
from pairity.pairs.parity import Parity, impose
from pairity.runtime.validation import as_dense, as_feature_table


@dataclass(eq=False, repr=False)
class ObjectTransformer(PairTransformer):
    """Apply a scikit-learn transformer to the objects of pairs, and where told to group features.

    ``fit`` sees each distinct object of the pairs given once, however often it occurs, and no
    object of other pairs: in a pipeline nothing leaks from the test pairs.  Two rows of the
    object table are the same object when their features are equal, and their ids where there are
    any.  ``transform`` returns :class:`~pairity.Pairs` over the objects in use.

    Group features of the two kinds get transformers of their own:

    ``symmetric``
        Any transformer ``t``, fitted to the rows of ``x_ab``.
    ``antisymmetric``
        Must stay a function that changes sign with its argument.  ``t`` is fitted to all rows of
        ``x~_ab`` and their negatives (the order in which a pair is written is arbitrary), and its
        odd part is used,

            g(x) = (t(x) - t(-x)) / 2,      g(-x) == -g(x) bit for bit.

        So ``StandardScaler`` divides by the root mean square and does not centre.  A transformer
        without an odd part, such as an absolute value, is refused.

    The swap law of a pipeline holds bit for bit: ``transform(pairs.swap())`` is
    ``transform(pairs).swap()``.

    Parameters
    ----------
    transformer : scikit-learn transformer or None
        For the object features.  ``None`` leaves them as they are.
    symmetric, antisymmetric : scikit-learn transformer or None
        For the group features; ``None`` leaves them as they are.

    Attributes
    ----------
    transformer_, symmetric_, antisymmetric_ : fitted transformers, or None
    n_objects_seen_ : int
        Number of distinct objects in ``fit``.
    feature_widths_, n_features_in_ : widths of the pairs in ``fit``, and of their wide rows

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pairity import ObjectTransformer, Pairs, PairSVC
    >>> offers = np.array([[100.0, 2.0], [80.0, 3.0], [120.0, 1.0], [90.0, 2.5]])  # price, hours
    >>> pairs = Pairs(offers, first=[0, 1, 2, 3], second=[1, 2, 3, 0])
    >>> model = make_pipeline(ObjectTransformer(StandardScaler()), PairSVC("antisymmetric"))
    >>> model.fit(pairs, [-1, 1, -1, 1]).predict(Pairs(offers, first=[0, 1], second=[1, 1]))
    array([-1,  0])
    """

    transformer: Any
    _: KW_ONLY
    symmetric: Any = None
    antisymmetric: Any = None

    def fit(self, X: Any, y: Any = None) -> ObjectTransformer:
        """Fit to the distinct objects and the group features of pairs; targets are not looked at."""
        pairs = self._read(X, reset=True)
        roles = ("transformer", "symmetric", "antisymmetric")
        for role, width in zip(roles, self.feature_widths_, strict=True):
            _check_transformer(getattr(self, role), role, width)
        used = pairs.without_unused_objects()
        rows = np.unique(object_numbers(used), return_index=True)[1]  # ordered by content
        both = np.vstack([pairs.antisymmetric, -pairs.antisymmetric]) + 0.0
        if pairs.n_antisymmetric:  # an order that swapping a pair leaves alone
            both = both[np.lexsort(both.T[::-1])]
        self.n_objects_seen_ = len(rows)
        self.transformer_ = _fitted(self.transformer, _positive_zeros(used.objects[rows]))
        self.symmetric_ = _fitted(self.symmetric, pairs.symmetric)
        self.antisymmetric_ = _fitted(self.antisymmetric, both)
        done = self._apply(pairs)
        self._widths_out = done.n_object_features, done.n_symmetric, done.n_antisymmetric
        lost = pairs.antisymmetric.any() and not done.antisymmetric.any()
        if self.antisymmetric is not None and lost:
            raise ValueError(
                f"got antisymmetric={self.antisymmetric!r}, whose odd part (t(x) - t(-x)) / 2 is zero"
                " on these pairs; expected a function that changes sign with its argument: features"
                " that do not, such as |x|, are symmetric ones (DerivedFeatures makes them)."
            )
        return self

    def _transformed(self, pairs: Pairs) -> Pairs:
        if len(pairs):
            return self._apply(pairs)
        none, (objects, *group) = np.zeros(0, dtype=np.intp), self._widths_out
        return Pairs(np.zeros((0, objects)), none, none, *(np.zeros((0, width)) for width in group))

    def _apply(self, pairs: Pairs) -> Pairs:
        pairs = pairs.without_unused_objects()
        objects, symmetric, antisymmetric = pairs.objects, pairs.symmetric, pairs.antisymmetric
        if self.transformer_ is not None:
            objects = _per_distinct_row(self.transformer_, objects, "objects")
        if self.symmetric_ is not None:
            symmetric = as_dense(_applied(self.symmetric_, symmetric, "symmetric group features"))
        if self.antisymmetric_ is not None:
            # g(x) = (t(x) - t(-x)) / 2: g(-x) == -g(x), and 0.0 at 0, exactly
            both, name = np.vstack([antisymmetric, -antisymmetric]), "antisymmetric group features"
            values = as_dense(_per_distinct_row(self.antisymmetric_, both, name))
            antisymmetric = impose(Parity.ODD, *np.split(values, 2))
        return Pairs(objects, pairs.first, pairs.second, symmetric, antisymmetric, ids=pairs.ids)

    def _names_out(self, names: PairNames) -> PairNames:
        given = names.objects, names.symmetric, names.antisymmetric
        fitted = self.transformer_, self.symmetric_, self.antisymmetric_
        return PairNames(*map(_names_of_columns, fitted, given, self._widths_out))


def _check_transformer(transformer: Any, role: str, width: int) -> None:
    """Refuse what is no transformer, needs targets, or has no columns to work on."""
    if transformer is None:
        return
    if not (hasattr(transformer, "fit") and hasattr(transformer, "transform")):
        raise ValueError(
            f"got {role}={transformer!r}; expected a scikit-learn transformer such as"
            " StandardScaler(), or None to leave the features as they are."
        )
    if isinstance(transformer, type):
        raise ValueError(
            f"got the class {transformer.__name__} as {role}; expected an instance: write"
            f" {transformer.__name__}()."
        )
    if get_tags(transformer).target_tags.required:
        raise ValueError(
            f"got {role}={transformer!r}, which needs targets; expected one that does not: targets"
            " belong to pairs, not to objects."
        )
    if not width:
        kind = "object features" if role == "transformer" else f"{role} group features"
        raise ValueError(
            f"got {role}={transformer!r} for pairs without {kind}; expected some: pass None, or"
            " pairs that have them."
        )


def _fitted(transformer: Any, table: Any) -> Any:
    return None if transformer is None else clone(transformer).fit(table)


def _names_of_columns(transformer: Any, names: tuple[str, ...], width: int) -> tuple[str, ...]:
    if transformer is None:
        return names
    try:
        out = transformer.get_feature_names_out(np.array(names, dtype=object))
    except AttributeError:  # a function, say: it does not tell what its columns are
        stem = type(transformer).__name__.lower()
        return tuple(f"{stem}{column}" for column in range(width))
    return tuple(map(str, out))


def _positive_zeros(table: ObjectTable) -> ObjectTable:
    """-0.0 as 0.0: equal rows have equal bits."""
    return table if sp.issparse(table) else table + 0.0


def _applied(transformer: Any, table: ObjectTable, name: str) -> ObjectTable:
    """Outcome of a fitted transformer: one row for each row, finite numbers."""
    out = as_feature_table(transformer.transform(table), f"{name} after {transformer!r}")
    if out.shape[0] != table.shape[0]:
        raise ValueError(
            f"got {out.shape[0]} rows from {transformer!r} for {table.shape[0]} {name}; expected one"
            " row each: use a transformer that keeps the rows."
        )
    return out


def _per_distinct_row(transformer: Any, table: ObjectTable, name: str) -> ObjectTable:
    """Transform every row; equal rows get equal bits, in any arrangement."""
    distinct = distinct_rows(table)
    rows = _positive_zeros(table[distinct.representative])
    return _applied(transformer, rows, name)[distinct.inverse]
