"""Clones of an estimator fitted on some of the pairs, whatever the estimator is wrapped in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pairity.pairs import Pairs
from pairity.parity import SYMMETRIES, Parity
from pairity.validation import check_choice

__all__ = ["OfEstimator", "Trainer", "innermost", "parity_of"]


def innermost(estimator: Any) -> Any:
    """The estimator of pairs inside pipelines, searches and other wrappers."""
    inside = estimator
    while not hasattr(inside, "symmetry"):
        if getattr(inside, "steps", None):
            inside = inside.steps[-1][1]
        elif getattr(inside, "estimator", None) is not None:
            inside = inside.estimator
        else:
            raise ValueError(
                f"got estimator {estimator!r}, which has no symmetry; expected an estimator of"
                " pairs such as PairSVC, alone or in a Pipeline or a search."
            )
    return inside


def parity_of(estimator: Any) -> Parity | None:
    """What a swap does to the decisions of an estimator."""
    symmetry = innermost(estimator).symmetry
    check_choice(symmetry, "symmetry", tuple(SYMMETRIES))
    return SYMMETRIES[symmetry]


class OfEstimator:
    """The law and the widths of wide rows of something that wraps an estimator: those of it."""

    def _prototype(self) -> Any:
        """The estimator that is cloned and fitted."""
        raise NotImplementedError

    @property
    def symmetry(self) -> str:
        """That of the estimator."""
        return innermost(self._prototype()).symmetry

    @property
    def n_symmetric(self) -> int:
        """That of the estimator, for wide rows."""
        return getattr(innermost(self._prototype()), "n_symmetric", 0)

    @property
    def n_antisymmetric(self) -> int:
        """That of the estimator, for wide rows."""
        return getattr(innermost(self._prototype()), "n_antisymmetric", 0)


@dataclass(frozen=True, eq=False)
class Trainer:
    """An estimator with all that it may be trained on."""

    estimator: Any
    pairs: Pairs
    targets: NDArray[Any]
    weights: NDArray[np.float64] | None

    def fit(self, rows: NDArray[np.intp]) -> Any:
        """A clone fitted on these rows."""
        return self._fit(self.pairs[rows], self.targets[rows], rows)

    def fit_with_both_labels(self, rows: NDArray[np.intp], classes: NDArray[Any]) -> Any:
        """The same for an antisymmetric classifier; one label alone is shown in both orders.

        Writing one pair the other way round, with the other label, changes nothing but shows
        the classifier how both labels are called.
        """
        pairs, targets = self.pairs[rows], self.targets[rows]
        if len(np.unique(targets)) == 1:
            pairs = pairs.with_swapped(np.arange(len(pairs)) == 0)
            targets = targets.copy()
            targets[0] = classes[0] if targets[0] == classes[1] else classes[1]
        return self._fit(pairs, targets, rows)

    def _fit(self, pairs: Pairs, targets: NDArray[Any], rows: NDArray[np.intp]) -> Any:
        model = clone(self.estimator)
        if self.weights is None:
            return model.fit(pairs, targets)
        return model.fit(pairs, targets, **{_weight_name(model): self.weights[rows]})


def _weight_name(model: Any) -> str:
    """What ``fit`` calls the weights of rows."""
    if has_fit_parameter(model, "sample_weight"):
        return "sample_weight"
    if getattr(model, "steps", None):
        return f"{model.steps[-1][0]}__sample_weight"
    if hasattr(model, "estimator") and hasattr(model, "refit"):  # a search hands it on
        return "sample_weight"
    raise ValueError(
        f"got sample_weight for {type(model).__name__}, whose fit takes none; expected an estimator"
        " that can weigh rows: leave the weights out."
    )
