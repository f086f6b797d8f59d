"""What a model file says about a model besides the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["ModelMetadata"]

KINDS = ("objects", "symmetric", "antisymmetric")


@dataclass(frozen=True, eq=False)
class ModelMetadata:
    """Names, objects and a summary to keep with a model.

    Attributes
    ----------
    feature_names : dict, optional
        Names of the model's features, by kind: "objects", "symmetric", "antisymmetric".
    ids : ndarray of shape (m,), optional
        Names of the objects.
    objects : array or CSR matrix of shape (m, columns), optional
        Their table, so that the model can be asked about them by name.
    training : dict
        Summary of the training: numbers of pairs and objects, validation scores, ...
    extra : dict
        Anything else of plain values and arrays.
    """

    feature_names: dict[str, list[str]] | None = None
    ids: NDArray[Any] | None = None
    objects: NDArray[np.float64] | sp.csr_array | None = None
    training: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.feature_names is not None and set(self.feature_names) - set(KINDS):
            raise ValueError(
                f"got feature names for {sorted(self.feature_names)}; expected some of"
                f" {', '.join(KINDS)}."
            )
        if self.ids is not None and self.objects is not None:
            n_ids, n_objects = len(self.ids), self.objects.shape[0]
            if n_ids != n_objects:
                raise ValueError(
                    f"got {n_ids} ids for {n_objects} objects; expected one id per object."
                )

    def refuse_other_widths(self, model: Any) -> None:
        """Refuse names that are not as many as the features of the model."""
        widths = getattr(model, "feature_widths_", None)
        if self.feature_names is None or widths is None:
            return
        for kind, width in zip(KINDS, widths, strict=True):
            names = self.feature_names.get(kind)
            if names is not None and len(names) != width:
                raise ValueError(
                    f"got {len(names)} names of {kind} features for a model with {width}; expected"
                    " one name per feature."
                )
