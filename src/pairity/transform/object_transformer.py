"""ObjectTransformer: any scikit-learn transformer on the objects of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pairity.pairs import Pairs
from pairity.transform.base import PairTransformer
from pairity.transform.names import PairNames
from pairity.transform.tables import (
    apply_per_object,
    apply_per_row,
    apply_with_odd_part,
    each_object_once,
    with_both_signs,
)

__all__ = ["ObjectTransformer"]

_ROLES = ("transformer", "symmetric", "antisymmetric")


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

    def __init__(
        self, transformer: Any, *, symmetric: Any = None, antisymmetric: Any = None
    ) -> None:
        self.transformer = transformer
        self.symmetric = symmetric
        self.antisymmetric = antisymmetric

    def fit(self, X: Any, y: Any = None) -> ObjectTransformer:
        """Fit to the distinct objects, and to the group features, of some pairs.

        Parameters
        ----------
        X : Pairs
            Training pairs.
        y : ignored
            Targets belong to pairs, not to objects.
        """
        pairs = self._read(X, reset=True)
        for role, width in zip(_ROLES, self.feature_widths_, strict=True):
            _check_transformer(getattr(self, role), role, width)
        objects = each_object_once(pairs)
        self.n_objects_seen_ = int(objects.shape[0])
        self.transformer_ = _fitted(self.transformer, objects)
        self.symmetric_ = _fitted(self.symmetric, pairs.symmetric)
        self.antisymmetric_ = _fitted(self.antisymmetric, with_both_signs(pairs))
        done = self._apply(pairs)
        self._widths_out = done.n_object_features, done.n_symmetric, done.n_antisymmetric
        if self.antisymmetric is not None:
            _refuse_no_odd_part(self.antisymmetric, pairs.antisymmetric, done.antisymmetric)
        return self

    def transform(self, X: Any) -> Pairs:
        """The same pairs with transformed features, over a table of the objects in use."""
        check_is_fitted(self)
        pairs = self._read(X, reset=False)
        return self._apply(pairs) if len(pairs) else _no_pairs(*self._widths_out)

    def _apply(self, pairs: Pairs) -> Pairs:
        pairs = pairs.without_unused_objects()
        objects, symmetric, antisymmetric = pairs.objects, pairs.symmetric, pairs.antisymmetric
        if self.transformer_ is not None:
            objects = apply_per_object(self.transformer_, objects)
        if self.symmetric_ is not None:
            symmetric = apply_per_row(self.symmetric_, symmetric)
        if self.antisymmetric_ is not None:
            antisymmetric = apply_with_odd_part(self.antisymmetric_, antisymmetric)
        return Pairs(objects, pairs.first, pairs.second, symmetric, antisymmetric, ids=pairs.ids)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of ``transform(pairs).to_rows()``.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the object, symmetric and antisymmetric features, or of the wide rows.
        """
        check_is_fitted(self)
        names = PairNames.read(input_features, *self.feature_widths_)
        given = names.objects, names.symmetric, names.antisymmetric
        fitted = self.transformer_, self.symmetric_, self.antisymmetric_
        return PairNames(*map(_names_out, fitted, given, self._widths_out)).wide()


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


def _no_pairs(n_objects: int, n_symmetric: int, n_antisymmetric: int) -> Pairs:
    """No pairs of no objects, with columns all the same."""
    none = np.zeros(0, dtype=np.intp)
    group = np.zeros((0, n_symmetric)), np.zeros((0, n_antisymmetric))
    return Pairs(np.zeros((0, n_objects)), none, none, *group)


def _fitted(transformer: Any, table: Any) -> Any:
    return None if transformer is None else clone(transformer).fit(table)


def _refuse_no_odd_part(
    transformer: Any, before: NDArray[np.float64], after: NDArray[np.float64]
) -> None:
    if before.any() and not after.any():
        raise ValueError(
            f"got antisymmetric={transformer!r}, whose odd part (t(x) - t(-x)) / 2 is zero on these"
            " pairs; expected a function that changes sign with its argument: features that do not,"
            " such as |x|, are symmetric ones (DerivedFeatures makes them)."
        )


def _names_out(transformer: Any, names: tuple[str, ...], width: int) -> tuple[str, ...]:
    if transformer is None:
        return names
    try:
        out = transformer.get_feature_names_out(np.array(names, dtype=object))
    except AttributeError:  # a function, say: it does not tell what its columns are
        stem = type(transformer).__name__.lower()
        return tuple(f"{stem}{place}" for place in range(width))
    return tuple(map(str, out))
