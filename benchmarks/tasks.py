"""The work: pairs, labels and kernel of each benchmark task, made from a seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from pairity import Pairs
from pairity.datasets.made import draw_double_intervals
from pairity.kernels import Additive, Gaussian, Kernel, Linear, MetricLearning, Tensor
from pairity.losses import Logistic, Loss, Squared, epsilon_insensitive, hinge

SIGMA = 3.0
EPSILON = 0.1


@dataclass(frozen=True)
class Task:
    """One piece of work; ``n_pairs=None`` means all pairs of the objects."""

    name: str
    symmetry: str
    n_objects: int
    n_pairs: int | None = None
    C: float = 1.0
    kind: str = "interaction"  # or "double_interval"
    n_features: int = 10
    seed: int = 0
    loss: str = "hinge"  # or "logistic", "epsilon" (regression), "squared" (ridge, alpha = 1/C)
    pair_kernel: str = (
        "gaussian"  # or "tensor", "metric" of Gaussian object kernels, "sum" of three
    )
    group: str = ""  # "both": an even and an odd (-1, +1) group feature; "home": the odd one alone
    once: bool = False  # every object in one pair alone

    def to_dict(self) -> dict:
        return asdict(self)

    @property
    def kernel(self) -> Kernel:
        if self.kind == "double_interval":
            return Tensor(Linear())
        if self.pair_kernel == "sum":
            return 0.5 * Gaussian(SIGMA) + 0.4 * Additive(Gaussian(SIGMA)) + 0.1 * Linear()
        constructions = {"tensor": Tensor, "metric": MetricLearning}
        if self.pair_kernel in constructions:
            return constructions[self.pair_kernel](Gaussian(SIGMA))
        return Gaussian(SIGMA)

    def losses(self, targets: np.ndarray) -> Loss:
        """Losses of (13) or its like on I, for judging."""
        weights = np.full(len(targets), self.C)
        if self.loss == "hinge":
            return hinge(targets, weights)
        if self.loss == "logistic":
            return Logistic(targets, weights)
        if self.loss == "epsilon":
            return epsilon_insensitive(targets, weights, EPSILON)
        return Squared(targets, weights)

    @property
    def gamma(self) -> float:
        """scikit-learn's name for the same width, on the doubled rows."""
        return 1.0 / (2.0 * SIGMA**2)

    def data(self) -> tuple[Pairs, np.ndarray]:
        if self.kind == "double_interval":
            return _double_interval(self)
        return _interaction(self)


def _chosen_pairs(task: Task, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if task.once:
        return np.arange(0, task.n_objects, 2), np.arange(1, task.n_objects, 2)
    first, second = np.triu_indices(task.n_objects, 1)
    if task.n_pairs is None:
        return first, second
    chosen = rng.permutation(len(first))[: task.n_pairs]
    return first[chosen], second[chosen]


def _interaction(task: Task) -> tuple[Pairs, np.ndarray]:
    """Labels ``sign(x_a' A x_b)``, A skew (intransitive) or symmetric, 10 % of them flipped.

    For regression the values themselves, of unit spread, with noise of spread 0.3.
    """
    rng = np.random.default_rng(task.seed)
    objects = rng.normal(size=(task.n_objects, task.n_features))
    first, second = _chosen_pairs(task, rng)
    matrix = rng.normal(size=(task.n_features, task.n_features))
    matrix = matrix - matrix.T if task.symmetry == "antisymmetric" else matrix + matrix.T
    values = np.einsum("ij,ij->i", objects[first] @ matrix, objects[second])
    if task.loss not in ("hinge", "logistic"):
        noise = 0.3 * rng.normal(size=len(values))
        return Pairs(objects, first, second), values / values.std() + noise
    even, odd = rng.normal(size=(len(values), 1)), rng.choice([-1.0, 1.0], size=(len(values), 1))
    labels = np.sign(values + (odd.ravel() if task.group else 0.0))
    labels[rng.random(len(labels)) < 0.1] *= -1
    groups = {
        "": {},
        "home": {"antisymmetric": odd},
        "both": {"symmetric": even, "antisymmetric": odd},
    }
    return Pairs(objects, first, second, **groups[task.group]), labels


def _double_interval(task: Task) -> tuple[Pairs, np.ndarray]:
    """Brunner et al. 2012, eight objects to a class drawn, so that there are positive pairs."""
    rng = np.random.default_rng(task.seed)
    n_draws = task.n_objects // 8 + 1
    objects, drawn, _ = draw_double_intervals(task.n_objects, task.n_features, n_draws, rng)
    first, second = _chosen_pairs(task, rng)
    labels = np.where(drawn[first] == drawn[second], 1.0, -1.0)
    return Pairs(objects, first, second), labels
