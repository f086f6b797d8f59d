"""The four scenarios of Section 6: how pairs are drawn and labelled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairity.datasets.real import PairDataset
from pairity.kernels.features import whole_power
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.data import Pairs

_OBJECTS = 25  # to train on, in scenarios 3 and 4
_DRAWS = 16  # feature vectors (35) of scenarios 1 and 2
_WIDTH = 2  # components of each of the four subvectors
_HALF_RANGE = 0.1  # of c1, c2, M and the polynomial coefficients, which are uniform
_DEVIATION = 1.0 / 25.0  # of the individual features of scenarios 3 and 4


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """Pairs and their labels, -1 or +1."""

    pairs: Pairs
    y: Vector

    def in_one_order(self) -> LabelledPairs:
        """Each unordered pair once: the halved set J of a set of all ordered pairs."""
        keep = self.pairs.first < self.pairs.second
        return LabelledPairs(self.pairs[keep], self.y[keep])


def symmetry_of(scenario: int) -> str:
    """Scenarios 1 and 3 have symmetric labels, 2 and 4 antisymmetric ones."""
    return "antisymmetric" if scenario % 2 == 0 else "symmetric"


def draw_rows(scenario: int, seed: int) -> LabelledPairs:
    """The 16 draws (35) of scenario 1 or 2: 8 features, of which 2 + 2 are group features.

    Scenario 1: 8 draws of N(1, 1) labelled +1 and 8 of N(-1, 1) labelled -1.  Scenario 2: 16
    draws of N(1, 1) labelled +1.  The 16 mirror images (36) are the swapped pairs.
    """
    generator = np.random.default_rng([seed, scenario])
    y = np.ones(_DRAWS)
    if scenario == 1:
        y[_DRAWS // 2 :] = -1.0
    rows = generator.normal(loc=y[:, None], scale=1.0, size=(_DRAWS, 4 * _WIDTH))
    return LabelledPairs(Pairs.from_rows(rows, n_symmetric=_WIDTH, n_antisymmetric=_WIDTH), y)


@dataclass(frozen=True, eq=False)
class LabelModel:
    """What scenario 3 or 4 draws anew in each repetition: P, c1, c2, p1, p2.

    ``P = M' M`` with M uniform (footnote 14); ``p1`` and ``p2`` are ``k[0] t + k[1] t^3``.
    """

    scenario: int
    P: Matrix  # (8, 8)
    c1: Vector  # (2,)
    c2: Vector  # (2,)
    p1: Vector  # (2,)
    p2: Vector  # (2,)

    @classmethod
    def draw(cls, scenario: int, generator: np.random.Generator) -> LabelModel:
        """Draw a model."""
        size = 4 * _WIDTH
        factor = generator.uniform(-_HALF_RANGE, _HALF_RANGE, size=(size, size))
        c1, c2, p1, p2 = generator.uniform(-_HALF_RANGE, _HALF_RANGE, size=(4, _WIDTH))
        return cls(scenario, factor.T @ factor, c1, c2, p1, p2)

    def label(self, pairs: Pairs) -> Vector:
        """Labels (39) of scenario 3 or (40) of scenario 4."""
        first = _odd_cubic(self.p1, pairs.objects[pairs.first] @ self.c1)
        second = _odd_cubic(self.p1, pairs.objects[pairs.second] @ self.c1)
        if self.scenario == 3:
            return np.sign(first + second + _odd_cubic(self.p2, pairs.symmetric @ self.c2))
        return np.sign(first - second + _odd_cubic(self.p2, pairs.antisymmetric @ self.c2))

    def draw_objects(self, number: int, generator: np.random.Generator) -> Matrix:
        """Individual features, N(0, 1/25) by standard deviation, shape (number, 2)."""
        return generator.normal(0.0, _DEVIATION, size=(number, _WIDTH))

    def label_all(self, objects: Matrix) -> LabelledPairs:
        """All ordered pairs of distinct objects, labelled."""
        pairs = all_ordered(objects)
        return LabelledPairs(pairs, self.label(pairs))


def _odd_cubic(coefficients: Vector, argument: Vector) -> Vector:
    return coefficients[0] * argument + coefficients[1] * whole_power(argument, 3)


def all_ordered(objects: Matrix) -> Pairs:
    """All ordered pairs of distinct objects, with ``x_ab = x_a + x_b``, ``x~_ab = x_b - x_a``."""
    first, second = np.nonzero(~np.eye(len(objects), dtype=bool))
    left, right = objects[first], objects[second]
    return Pairs(objects, first, second, symmetric=left + right, antisymmetric=right - left)


def make_scenario(number: int, n_objects: int | None = None, seed: int = 0) -> PairDataset:
    """One of the four scenarios of Section 6, each unordered pair once.

    Scenarios 1 (symmetric) and 2 (antisymmetric) are 16 draws of two objects each; 3 (symmetric)
    and 4 (antisymmetric) are all pairs of ``n_objects``, labelled by a rule drawn with the seed.
    Individual, symmetric and antisymmetric features have 2 components each.  ``groups`` number the
    pairs.  ``pairs.with_mirrored()`` gives both orders, as the paper counts them.

    Parameters
    ----------
    number : int
        Scenario 1, 2, 3 or 4.
    n_objects : int, optional
        Number of objects of scenarios 3 and 4: the paper's 25 by default.
    seed : int
        Seed of the draw.
    """
    if number not in (1, 2, 3, 4):
        raise ValueError(f"got scenario {number!r}; expected 1, 2, 3 or 4.")
    if number < 3 and n_objects is not None:
        raise ValueError(
            f"got n_objects={n_objects} for scenario {number}; expected none: it is 16 draws of two"
            " objects each."
        )
    if number < 3:
        data = draw_rows(number, seed)
    else:
        generator = np.random.default_rng([seed, number])
        rule = LabelModel.draw(number, generator)
        objects = rule.draw_objects(_OBJECTS if n_objects is None else n_objects, generator)
        data = rule.label_all(objects).in_one_order()
    return PairDataset(
        name=f"scenario {number}",
        pairs=data.pairs,
        y=data.y.astype(np.int64),
        groups=np.arange(len(data.pairs)),
        feature_names=("x1", "x2"),
        symmetric_names=("x_ab 1", "x_ab 2"),
        provenance="Drawn with a seed as Section 6 of the paper describes.",
    )
