"""Groups of matching objects, from a symmetric model.

A model says of two objects whether they match; groups need more, because matches are not always
transitive.  Both ways here are hierarchical clusterings of the similarities f(a, b), cut at a
threshold t:

"components": objects connected by a chain of pairs with ``f > t`` (single linkage);
"average": two groups are joined while the mean of f between them is above t (average linkage),
which one mistaken match cannot chain together.

The level at which two objects come into one group (the cophenetic similarity) does not depend on
t, so the best t for labelled validation pairs is found by sorting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import cophenet, fcluster, linkage

from pairity.inspection.fitted_function import (
    as_frame,
    is_pairs_with_targets,
    margins,
    object_names,
)
from pairity.inspection.sparse_groups import average_groups, linked_parts, numbered_by_size
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, unordered
from pairity.runtime.validation import check_choice, plain_numbers

#: Levels closer than this part of the largest are equal: rounding parts no objects.
_EQUAL = 1e-9
#: The share of all pairs up to which candidates are few.
_FEW = 0.25
_LINKAGES = {"components": "single", "average": "average"}


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which objects belong together.

    Attributes
    ----------
    ids : ndarray
        Names of the objects; row numbers where there are none.
    labels : ndarray of int of shape (m,)
        Group of each object, 0, 1, ... by size, largest first.
    threshold, method : float, str
        Similarity above which groups are joined, and how.
    validation_score : float or None
        Score of the threshold on the validation pairs, if it was chosen there.
    """

    ids: NDArray[Any]
    labels: Places
    threshold: float
    method: str
    validation_score: float | None

    @property
    def n_groups(self) -> int:
        """Number of groups, single objects included."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def sizes(self) -> Places:
        """Number of objects of each group, largest first."""
        return np.bincount(self.labels, minlength=self.n_groups)

    def members(self, group: int) -> NDArray[Any]:
        """Names of the objects of a group."""
        return self.ids[self.labels == group]

    def to_frame(self) -> Any:
        """Return a pandas table, the largest group first."""
        columns = {"id": self.ids, "group": self.labels, "size": self.sizes[self.labels]}
        return as_frame(columns).sort_values("group", kind="stable").reset_index(drop=True)

    def __str__(self) -> str:
        score = self.validation_score
        chosen = "" if score is None else f", chosen on validation pairs (score {score:.3f})"
        return (
            f"{len(self.labels)} objects in {self.n_groups} groups ({self.method} above"
            f" {self.threshold:.4g}{chosen}): {int(np.sum(self.sizes > 1))} groups of several objects,"
            f" the largest of {int(self.sizes.max(initial=0))}"
        )


def group_objects(
    model: Any,
    objects: Any,
    *,
    ids: ArrayLike | None = None,
    method: str = "average",
    threshold: float | None = None,
    validation: tuple[Pairs, ArrayLike] | None = None,
    criterion: str = "f1",
) -> Grouping:
    """Groups of matching objects by a symmetric model.

    Parameters
    ----------
    model : fitted model
        Anything with ``decision_function``, ``predict_proba`` or ``predict`` on Pairs, above 0
        where the two match.
    objects : array-like of shape (m, n1), or Pairs
        Objects, all pairs of which are compared; or candidate pairs, with the group features that
        the model needs.  Pairs that are no candidates count as less alike than any candidate.
    ids : sequence of length m, optional
        Names of the objects.
    method : {"average", "components"}
        How groups are joined; see the module.
    threshold : float, optional
        Similarity above which groups are joined: 0, the model's own boundary, by default.
    validation : (pairs, y), optional
        Labelled pairs, not trained on, to choose the threshold by: their objects are grouped, and
        the threshold is taken at which "in one group" agrees best with ``y > 0``.
    criterion : {"f1", "accuracy"}
        What "best" means; F1 of the matches, which are usually rare, or share of pairs right.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVC
    >>> from pairity.kernels import Gaussian, MetricLearning
    >>> from pairity.inspection import group_objects
    >>> places = np.array([[0.0], [0.1], [5.0], [5.2], [9.0], [9.1]])
    >>> pairs = Pairs.complete(places)
    >>> near = np.where(np.abs(places[pairs.first] - places[pairs.second])[:, 0] < 1, 1, -1)
    >>> model = PairSVC("symmetric", kernel=MetricLearning(Gaussian(1.0)), C=100.0).fit(pairs, near)
    >>> group_objects(model, places).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    check_choice(method, "method", tuple(_LINKAGES))
    check_choice(criterion, "criterion", ("f1", "accuracy"))
    if threshold is not None and validation is not None:
        raise ValueError("got threshold and validation; expected one of them: leave one out.")
    score = None
    if validation is not None:
        threshold, score = _choose_threshold(model, validation, method, criterion)
    pairs = objects if isinstance(objects, Pairs) else Pairs.complete(objects)
    cut = 0.0 if threshold is None else float(threshold)
    values, m = margins(model, pairs, Parity.EVEN), pairs.n_objects
    given = pairs.first, pairs.second, values, m, cut
    if len(pairs) > _FEW * m * (m - 1) / 2:
        labels = _cut(_similarities(pairs, values), m, method, cut)
    elif method == "components":  # where few pairs are candidates, without a table of all pairs
        labels = linked_parts(*given)
    else:
        labels = average_groups(*given, _absent(values))
    names = object_names(pairs.ids if ids is None else ids, m)
    return Grouping(names, labels, cut, method, score)


def _absent(values: Vector) -> float:
    """What a pair that is no candidate counts as: less alike than any of them."""
    lowest = float(values.min(initial=0.0))
    return lowest - 1.0 - abs(lowest)


def _similarities(pairs: Pairs, values: Vector) -> Vector:
    """Similarities of all pairs of objects in SciPy's condensed order; the best of repetitions."""
    proper = pairs.first != pairs.second
    size = pairs.n_objects * (pairs.n_objects - 1) // 2
    similarity = np.full(size, _absent(values))
    np.maximum.at(similarity, _condensed(pairs[proper]), values[proper])
    return similarity


def _condensed(pairs: Pairs) -> Places:
    """Indices of pairs in SciPy's list of all pairs ``i < j``, row by row."""
    i, j, _ = unordered(pairs.first, pairs.second)
    return pairs.n_objects * i - i * (i + 1) // 2 + (j - i - 1)


def _tree(similarity: Vector, method: str) -> tuple[NDArray[Any], float]:
    """Clustering by the distances ``top - similarity``, and top."""
    top = float(similarity.max())
    return linkage(top - similarity, _LINKAGES[method]), top


def _cut(similarity: Vector, n_objects: int, method: str, threshold: float) -> Places:
    """Groups of objects, numbered by size, then by their first object."""
    if n_objects < 2:
        return np.zeros(n_objects, dtype=np.intp)
    tree, top = _tree(similarity, method)
    below = np.nextafter(top - threshold, -np.inf)  # above the threshold, not at it
    raw = fcluster(tree, below, criterion="distance") if below >= 0 else np.arange(n_objects)
    return numbered_by_size(raw)


def _choose_threshold(
    model: Any, validation: tuple[Pairs, ArrayLike], method: str, criterion: str
) -> tuple[float, float]:
    """Threshold between two levels of joining at which the labelled pairs are explained best."""
    pairs, match = _read_validation(validation)
    pairs = pairs.without_unused_objects()
    if pairs.n_objects < 2:
        raise ValueError(
            "got validation pairs of one object; expected several: pass labelled pairs of different"
            " objects, or a threshold."
        )
    # chains may lead over pairs without a label
    plain = not (pairs.n_symmetric or pairs.n_antisymmetric)
    known = Pairs.complete(pairs.objects) if plain else pairs
    tree, top = _tree(_similarities(known, margins(model, known, Parity.EVEN)), method)
    level = (top - cophenet(tree))[_condensed(pairs)]
    order = np.argsort(-level, kind="stable")
    levels, joined = level[order], np.arange(1, len(order) + 1)
    right = np.cumsum(match[order])
    if criterion == "f1":
        score = 2.0 * right / (joined + match.sum())
    else:
        score = (right + (~match).sum() - (joined - right)) / len(order)
    equal = _EQUAL * float(np.abs(levels).max())
    last_of_level = np.append(levels[:-1] - levels[1:] > equal, True)
    best = int(np.argmax(np.where(last_of_level, score, -1.0)))
    following = levels[best + 1] if best + 1 < len(levels) else levels[best] - 1.0
    return float((levels[best] + following) / 2.0), float(score[best])


def _read_validation(validation: Any) -> tuple[Pairs, NDArray[np.bool_]]:
    if not is_pairs_with_targets(validation):
        raise ValueError("got no such validation data; expected validation=(pairs, y).")
    pairs, y = validation
    labels = plain_numbers(y, "the labels of validation pairs")
    if labels.shape != (len(pairs),):
        raise ValueError(
            f"got {labels.shape} labels for {len(pairs)} validation pairs; expected one per pair."
        )
    match = labels > 0
    if match.all() or not match.any():
        raise ValueError(
            "got validation pairs of one kind only; expected matches (y > 0) and others: add some."
        )
    proper = pairs.first != pairs.second
    return pairs[proper], match[proper]
