"""What transformers of pairs share: Pairs in and out, names of columns, numbers of objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pairity.pairs.data import Pairs
from pairity.pairs.distinct import distinct_rows
from pairity.training.read import read_pairs


class PairTransformer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Base of transformers that take :class:`~pairity.Pairs` and return them.

    ``set_output`` does not apply: the output is no table but pairs.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(auto_wrap_output_keys=None, **options)

    def _read(self, X: Any, *, reset: bool) -> Pairs:
        """Pairs, refused otherwise; their widths are remembered on reset and checked later."""
        if not isinstance(X, Pairs):
            raise ValueError(
                f"got {type(X).__name__} for {type(self).__name__}; expected Pairs, whose table of"
                " objects is transformed: use Pairs.from_rows(rows, n_symmetric, n_antisymmetric)."
            )
        return read_pairs(self, X, reset=reset)

    def transform(self, X: Any) -> Pairs:
        """The same pairs with other features, over a table of the objects in use."""
        check_is_fitted(self)
        return self._transformed(self._read(X, reset=False))

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
        """Tell scikit-learn: no plain arrays."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
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
    def numbered(cls, n_objects: int, n_symmetric: int, n_antisymmetric: int) -> PairNames:
        """``x0, x1, ...``, ``symmetric0, ...`` and ``antisymmetric0, ...``."""
        stems = {"x": n_objects, "symmetric": n_symmetric, "antisymmetric": n_antisymmetric}
        return cls(*(tuple(f"{s}{i}" for i in range(width)) for s, width in stems.items()))

    @classmethod
    def read(
        cls, names: Sequence[str] | None, n_objects: int, n_symmetric: int, n_antisymmetric: int
    ) -> PairNames:
        """Names as users give them: once per feature, or those of wide rows; or numbered."""
        if names is None:
            return cls.numbered(n_objects, n_symmetric, n_antisymmetric)
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
