"""What transformers of pairs share, and scikit-learn's transformers on the objects of pairs.

Some transformers (PCA through a matrix product) give a row other bits in another table.  So the
table that a transformer sees is made from the *distinct* rows in an order that depends on their
content alone: it is the same for pairs and for swapped pairs, and so is the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pairity.pairs.arrays import as_dense, distinct_rows
from pairity.pairs.data import ObjectTable, Pairs
from pairity.pairs.parity import Parity, impose
from pairity.runtime.validation import as_feature_table
from pairity.training.read import read_pairs


class PairTransformer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Base of transformers that take :class:`~pairity.Pairs` and return them.

    ``set_output`` does not apply: the output is no table but pairs.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(auto_wrap_output_keys=None, **options)

    def transform(self, X: Any) -> Pairs:
        """The same pairs with other features, over a table of the objects in use."""
        check_is_fitted(self)
        return self._transformed(read_pairs(self, X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of ``transform(pairs).to_rows()``.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the object, symmetric and antisymmetric features, or of the wide rows.
        """
        check_is_fitted(self)
        return self._names_out(PairNames.read(input_features, *self.feature_widths_)).wide()

    def _transformed(self, pairs: Pairs) -> Pairs:
        """Pairs of the right widths, transformed."""
        raise NotImplementedError

    def _names_out(self, names: PairNames) -> PairNames:
        """Names of the features after this, from those before it."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: sparse rows welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class PairNames:
    """Names of object features, symmetric and antisymmetric group features.

    In the order of the wide rows of formula (1), ``[x_a | x_ab | x~_ab | x_b]``, the object
    features stand twice: ``price(a)``, ..., ``price(b)``.
    """

    objects: tuple[str, ...]
    symmetric: tuple[str, ...] = ()
    antisymmetric: tuple[str, ...] = ()

    @classmethod
    def read(
        cls, names: Sequence[str] | None, n_objects: int, n_symmetric: int, n_antisymmetric: int
    ) -> PairNames:
        """Names as users give them: once per feature, or those of wide rows; or numbered.

        Numbered are ``x0, x1, ...``, ``symmetric0, ...`` and ``antisymmetric0, ...``.
        """
        if names is None:
            stems = {"x": n_objects, "symmetric": n_symmetric, "antisymmetric": n_antisymmetric}
            return cls(*(tuple(f"{s}{i}" for i in range(width)) for s, width in stems.items()))
        given = tuple(map(str, names))
        middle, narrow = n_objects + n_symmetric, n_objects + n_symmetric + n_antisymmetric
        if len(given) not in (narrow, narrow + n_objects):
            raise ValueError(
                f"got {len(given)} names of features; expected {narrow} (object, symmetric,"
                f" antisymmetric) or {narrow + n_objects}, those of wide rows [x_a | x_ab | x~_ab |"
                " x_b]: pass one name per column."
            )
        objects = given[:n_objects]
        plain = tuple(name.removesuffix("(a)") for name in objects)
        if given[narrow:] == tuple(f"{name}(b)" for name in plain):
            objects = plain
        return cls(objects, given[n_objects:middle], given[middle:narrow])

    def wide(self) -> NDArray[Any]:
        """Names of the columns of :meth:`pairity.Pairs.to_rows`."""
        first, second = ([f"{name}({end})" for name in self.objects] for end in "ab")
        return np.array([*first, *self.symmetric, *self.antisymmetric, *second], dtype=object)


def object_numbers(pairs: Pairs) -> NDArray[np.intp]:
    """A number 0, 1, ... for each row of the object table, equal for rows of the same object.

    Rows are the same object when their features are equal, and their ids where there are any.
    Objects are numbered by content, whatever order their rows are in.
    """
    if pairs.n_object_features == 0 and pairs.ids is None:
        return np.arange(pairs.n_objects)
    return distinct_rows(pairs.objects, pairs.id_codes).inverse


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
    n_symmetric, n_antisymmetric : int
        Numbers of group features of wide rows, as in :class:`~pairity.PairSVC`.

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
    n_symmetric: int = 0
    n_antisymmetric: int = 0

    def fit(self, X: Any, y: Any = None) -> ObjectTransformer:
        """Fit to the distinct objects and the group features of pairs; targets are not looked at."""
        pairs = read_pairs(self, X, reset=True)
        roles = ("transformer", "symmetric", "antisymmetric")
        for role, width in zip(roles, self.feature_widths_, strict=True):
            _check_transformer(getattr(self, role), role, width)
        used = pairs.without_unused_objects()
        rows = np.unique(object_numbers(used), return_index=True)[1]  # ordered by content
        both = np.vstack([pairs.antisymmetric, -pairs.antisymmetric]) + 0.0
        if pairs.n_antisymmetric:  # an order that swapping a pair leaves alone
            both = both[np.lexsort(both.T[::-1])]
        self.n_objects_seen_ = len(rows)
        tables = _positive_zeros(used.objects[rows]), pairs.symmetric, both
        for role, table in zip(roles, tables, strict=True):
            given = getattr(self, role)
            setattr(self, f"{role}_", None if given is None else clone(given).fit(table))
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
        ends = pairs.first, pairs.second
        return Pairs(objects, *ends, symmetric, antisymmetric, ids=pairs.ids, time=pairs.time)

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
