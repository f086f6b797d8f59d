"""What transformers of pairs share: Pairs in, widths remembered and checked, Pairs out."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin

from pairity.pairs import Pairs

__all__ = ["PairTransformer", "widths_of"]


def widths_of(pairs: Pairs) -> tuple[int, int, int]:
    """Numbers of object, symmetric and antisymmetric features."""
    return pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric


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
        widths = widths_of(X)
        if reset:
            if not len(X):
                raise ValueError("got 0 pairs; expected at least one to fit on.")
            X.refuse_large()
            self.feature_widths_ = widths
            self.n_features_in_ = X.shape[1]
        elif widths != self.feature_widths_:
            raise ValueError(
                f"got pairs with {widths} object, symmetric and antisymmetric features; expected"
                f" {self.feature_widths_}, as in fit: pass the same columns."
            )
        return X

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: no plain arrays."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        return tags
