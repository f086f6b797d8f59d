"""Made-up data: tournaments (an order, a circle, or both), double intervals, the paper's scenarios."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.datasets.real import PairDataset, draw_pairs
from pairity.kernels.elementary import whole_power
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.validation import check_choice

_PROVENANCE = (
    "Made with a seed as Brunner, Fischer, Luig and Thies describe, Pairwise support vector"
    " machines and their application to large scale problems, JMLR 13, 2012."
)


def make_tournament(
    n_objects: int = 31,
    kind: str = "transitive",
    *,
    n_pairs: int | None = None,
    flipped: float = 0.0,
    seed: int = 0,
) -> PairDataset:
    """Games between players with a strength s and a style, an angle t; ``y`` is +1 for a first win.

    The first player wins where the margin is above 0 (features are s, cos t, sin t):

    ============  =======================================  ========================================
    "transitive"  ``s_a - s_b``                            a ranking explains it
    "cyclic"      ``sin(t_a - t_b)``                       rock-paper-scissors for many: each player
                                                           beats exactly half of the others
    "mixed"       ``s_a - s_b + 2 sin(t_a - t_b)``         both
    ============  =======================================  ========================================

    Strengths are normal, angles evenly spaced and in random order.  ``groups`` number the pairs.

    Parameters
    ----------
    n_objects : int
        Number of players, at least 3; odd, so that no two angles are opposite.
    kind : {"transitive", "cyclic", "mixed"}
        What decides a game.
    n_pairs : int, optional
        Games, no two of the same players; all by default.
    flipped : float
        Share of the outcomes turned round, drawn at random.
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> from pairity.datasets import make_tournament
    >>> from pairity.inspection import hodge_rank
    >>> circle = make_tournament(31, "cyclic")
    >>> round(hodge_rank(circle.pairs, circle.y).gradient_share, 9)
    0.0
    """
    check_choice(kind, "kind", ("transitive", "cyclic", "mixed"))
    if n_objects < 3 or n_objects % 2 == 0:
        raise ValueError(f"got n_objects={n_objects}; expected an odd number of at least 3.")
    if not 0.0 <= flipped <= 1.0:
        raise ValueError(f"got flipped={flipped!r}; expected a share from 0 to 1.")
    generator = np.random.default_rng(seed)
    strength = generator.normal(size=n_objects)
    angle = 2.0 * np.pi * generator.permutation(n_objects) / n_objects
    first, second = draw_pairs(n_objects, n_pairs, generator)
    stronger, ahead = strength[first] - strength[second], np.sin(angle[first] - angle[second])
    margin = {"transitive": stronger, "cyclic": ahead, "mixed": stronger + 2.0 * ahead}[kind]
    wrong = generator.random(len(margin)) < flipped
    return PairDataset(
        name=f"{kind} tournament",
        pairs=Pairs(np.column_stack([strength, np.cos(angle), np.sin(angle)]), first, second),
        y=np.where((margin > 0) != wrong, 1, -1),
        groups=np.arange(len(margin)),
        feature_names=("strength", "cosine", "sine"),
        provenance="Made with a seed.",
    )


def draw_double_intervals(
    n_objects: int, n_features: int, n_draws: int, generator: np.random.Generator
) -> tuple[Matrix, NDArray[np.int64], NDArray[np.int64]]:
    """Draw patterns of ``n_draws`` classes.

    A pattern is +1 on the places [i, j] and [k, l] and -1 elsewhere, with 2 <= i <= j, j + 2 <= k
    <= l <= d; its class is (i, k), so of d features there are (d - 3)(d - 2) / 2 classes.  Returns
    the patterns, the draw each came from, and (i, k) of every draw (two draws may agree).
    """
    starts = np.zeros((n_draws, 2), dtype=np.int64)  # i and k, with 2 <= i and i + 2 <= k
    for draw in range(n_draws):
        while starts[draw, 0] + 2 > starts[draw, 1]:
            starts[draw] = np.sort(generator.integers(2, n_features + 1, 2))
    drawn = generator.integers(0, n_draws, n_objects)
    objects = -np.ones((n_objects, n_features))
    for row, (i, k) in enumerate(starts[drawn]):
        j = generator.integers(i, k - 1)
        last = generator.integers(k, n_features + 1)
        objects[row, i - 1 : j] = 1.0
        objects[row, k - 1 : last] = 1.0
    return objects, drawn, starts


def make_double_interval(
    n_objects: int = 200,
    n_features: int = 20,
    *,
    objects_per_class: int = 8,
    n_pairs: int | None = None,
    seed: int = 0,
) -> PairDataset:
    """Patterns of two runs of +1; ``y`` is +1 where both runs of two patterns start alike.

    ``object_groups`` are the classes: held out together, the test asks for classes never seen.
    ``groups`` number the pairs.  The tensor kernel of the linear one can learn the task.

    Parameters
    ----------
    n_objects, n_features : int
        Patterns and their length, at least 2 and 4.
    objects_per_class : int
        Patterns per class drawn, on average.
    n_pairs : int, optional
        Unordered pairs drawn without replacement; all by default.
    seed : int
        Seed of the draw.
    """
    if n_objects < 2 or n_features < 4 or objects_per_class < 1:
        raise ValueError(
            f"got n_objects={n_objects}, n_features={n_features},"
            f" objects_per_class={objects_per_class}; expected at least 2, 4 and 1: shorter patterns"
            " have no two runs."
        )
    generator = np.random.default_rng(seed)
    n_draws = n_objects // objects_per_class + 1
    objects, drawn, starts = draw_double_intervals(n_objects, n_features, n_draws, generator)
    classes = (starts @ [n_features + 1, 1])[drawn]
    first, second = draw_pairs(n_objects, n_pairs, generator)
    return PairDataset(
        name="double interval",
        pairs=Pairs(objects, first, second),
        y=np.where(classes[first] == classes[second], 1, -1),
        groups=np.arange(len(first)),
        feature_names=tuple(f"place {place}" for place in range(1, n_features + 1)),
        provenance=_PROVENANCE,
        object_groups=classes,
    )


# The four scenarios of Section 6: how pairs are drawn and labelled ---------------------------------

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
    if number < 3:
        if n_objects is not None:
            raise ValueError(
                f"got n_objects={n_objects} for scenario {number}; expected none: it is 16 draws of"
                " two objects each."
            )
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
