"""DerivedFeatures: group features made from the features of the two objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from pairity.estimators.transformers import PairNames, PairTransformer
from pairity.pairs.data import Pairs
from pairity.pairs.derived import check_parts, common_parity, derived_features, derived_names
from pairity.pairs.parity import Parity
from pairity.training.read import read_pairs


@dataclass(eq=False, repr=False)
class DerivedFeatures(PairTransformer):
    """Append columns made from the two objects to the group features of pairs.

    ==========================  =====================  ====================
    part                        value                  under a swap
    ==========================  =====================  ====================
    ``absolute_difference``     ``|x_a - x_b|``        stays: symmetric
    ``sum``                     ``x_a + x_b``          stays
    ``product``                 ``x_a * x_b``          stays
    ``distance``                ``||x_a - x_b||``      stays; one column
    ``cosine``                  of x_a and x_b         stays; one column
    ``absolute_antisymmetric``  ``|x~_ab|``            stays
    ``difference``              ``x_a - x_b``          changes sign: antisymmetric
    ``in_context``              odd times symmetric    changes sign
    ==========================  =====================  ====================

    The laws hold bit for bit.  Group features that the pairs have stay in front.  Scale the
    objects first (:class:`~pairity.ObjectTransformer`) where their columns have different units.

    Parameters
    ----------
    symmetric, antisymmetric : sequence of str
        Parts to append to the symmetric and to the antisymmetric group features; () for none.
    keep_objects : bool
        Whether the object features stay.  Without them a kernel sees the group features alone:
        ``Gaussian()`` on differences, say.
    n_symmetric, n_antisymmetric : int
        Numbers of group features of wide rows, as in :class:`~pairity.PairSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import DerivedFeatures, Pairs
    >>> pairs = Pairs(np.array([[1.0], [4.0]]), first=[0], second=[1])
    >>> derived = DerivedFeatures().fit(pairs)
    >>> derived.transform(pairs).to_rows()
    array([[ 1.,  3.,  5., -3.,  4.]])
    >>> derived.get_feature_names_out(["price"]).tolist()
    ['price(a)', '|price(a) - price(b)|', 'price(a) + price(b)', 'price(a) - price(b)', 'price(b)']
    """

    symmetric: Sequence[str] = ("absolute_difference", "sum")
    antisymmetric: Sequence[str] = ("difference",)
    _: KW_ONLY
    keep_objects: bool = True
    n_symmetric: int = 0
    n_antisymmetric: int = 0

    def fit(self, X: Any, y: Any = None) -> DerivedFeatures:
        """Check the parts against the pairs; there is nothing to learn."""
        pairs = read_pairs(self, X, reset=True)
        self._even, self._odd = self._check_parameters()
        if "absolute_antisymmetric" in self._even and not pairs.n_antisymmetric:
            raise ValueError(
                "got the part 'absolute_antisymmetric' for pairs without antisymmetric group"
                " features; expected some: leave the part out, or pass antisymmetric=... to Pairs."
            )
        if not self._even and not self._odd and self.keep_objects:
            raise ValueError(
                "got no parts for DerivedFeatures; expected some, such as"
                " symmetric=('absolute_difference',)."
            )
        return self

    def _check_parameters(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The even and the odd parts; those that are not known, or of the other parity, are refused."""
        even = _read_parts(self.symmetric, "symmetric", Parity.EVEN)
        return even, _read_parts(self.antisymmetric, "antisymmetric", Parity.ODD)

    def _transformed(self, pairs: Pairs) -> Pairs:
        objects = pairs.objects if self.keep_objects else np.zeros((pairs.n_objects, 0))
        groups = (
            np.hstack([features, derived_features(pairs, parts)]) if parts else features
            for features, parts in ((pairs.symmetric, self._even), (pairs.antisymmetric, self._odd))
        )
        return Pairs(objects, pairs.first, pairs.second, *groups, ids=pairs.ids, time=pairs.time)

    def _names_out(self, names: PairNames) -> PairNames:
        columns = names.objects, names.symmetric, names.antisymmetric
        even, odd = (derived_names(p, *columns) if p else [] for p in (self._even, self._odd))
        objects = names.objects if self.keep_objects else ()
        return PairNames(objects, (*columns[1], *even), (*columns[2], *odd))


def _read_parts(parts: Sequence[str], name: str, parity: Parity) -> tuple[str, ...]:
    """Names of parts of the right parity, or a sentence."""
    if not len(parts):
        return ()
    names = check_parts(parts)
    for given in ("symmetric", "antisymmetric"):
        if given in names:
            raise ValueError(
                f"got the part {given!r} in {name}; expected parts to append: the group features"
                " that the pairs have stay anyway, so leave it out."
            )
    if common_parity(names) is not parity:
        even = parity is Parity.EVEN
        law, other = ("stay", "antisymmetric") if even else ("change sign", "symmetric")
        raise ValueError(
            f"got {name}={names!r}; expected parts that {law} under a swap: pass these as {other}."
        )
    return names
