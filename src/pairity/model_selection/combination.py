"""``kernel="auto"``: a sum of kernels of different families, weights found on held-out pairs.

No pair kernel is good everywhere: effects of single objects (additive), interactions (tensor or
determinant), distances (metric), derived features and plain identity each win on some data and
fail on other data.  Features are standardised and widths are medians.

Weights start equal (and once more with the best single family in front).  A round fits the sum
on every fold, looks at the share that each family has in the decisions about *held-out* pairs,
asks by how much each share should be stretched there, and multiplies its weight by that.  A
family that only fits noise is stretched by 0; two families that complement each other both stay,
which a choice of one of them would miss.  The mean of the sums that held-out pairs cannot tell from
the best one is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pairity.exceptions import KernelError, warn_the_caller
from pairity.kernels import Identity, Kernel, Product
from pairity.kernels.algebra import Scaled, Sum
from pairity.kernels.classes import project
from pairity.kernels.standardized import Rescaled, Scaling
from pairity.model_selection.curves import Criterion
from pairity.model_selection.families import LINEAR, kernel_families, without_derived
from pairity.model_selection.folds import MET_BEFORE, TrainingFolds, Vector
from pairity.model_selection.landmark_ridge import (
    Evaluation,
    LandmarkRidge,
    kernel_columns,
    plan_landmarks,
)
from pairity.model_selection.splits import Rows, Split
from pairity.operators.tiles import MOST_FEATURES
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.resources import UNLIMITED, Budget, give_back

#: Pairs in whose kernel functions trial models are expanded: a third of the pairs, within bounds.
_LANDMARKS = 150, 300
#: Rounds from each start, and those after which one way to standardise is given up.
_ROUNDS, _ROUNDS_FOR_SCALE = 5, 2
#: Pairs beyond which families that cannot be evaluated through objects are left out, and those where
#: the sum of all is evaluated by tiles.
_MOST_WITH_DERIVED, _MOST_BY_TILES = 12_000, 30_000
#: Pairs beyond which effects of pairs of objects are left out, and their shares in the diagonal.
_MOST_WITH_PAIR_EFFECTS, _PAIR_EFFECTS = 5000, (0.5, 2.0)
#: A round changes weights by at most these factors, and by this power of what is asked for.
_LEAST, _MOST, _POWER = 0.05, 5.0, 0.7
#: Weight of the best single family in the second start.
_FAVOURITE = 0.7
#: Smaller shares are dropped from the sum, the linear term excepted: that keeps at least so much.
_NEGLIGIBLE = 0.02


@dataclass(frozen=True, eq=False)
class Combination:
    """The sum that was chosen, and what was seen on the way.

    Attributes
    ----------
    kernel : Kernel
        Weighted sum on standardised features, parameters known; mean diagonal 1.
    weights : dict
        Share of each family; they add up to 1.
    scale : str
        "columns" or "common": how object features were standardised.
    loss : float
        Mean loss of held-out pairs in the trials.
    family_losses : dict
        The same for each family alone.
    n_trials : int
        Sums that were tried.
    """

    kernel: Kernel
    weights: dict[str, float]
    scale: str
    loss: float
    family_losses: dict[str, float]
    n_trials: int


@dataclass(frozen=True, eq=False)
class Families:
    """Fitted kernels of mean diagonal 1, and their values at the landmarks."""

    names: list[str]
    kernels: list[Scaled]  # on rescaled features, each over its mean diagonal
    scaling: Scaling
    matrices: list[NDArray[Any]]

    @property
    def equal_weights(self) -> Vector:
        """The same for all, adding up to 1."""
        return np.full(len(self.names), 1.0 / len(self.names))


def choose_combination(
    pairs: Pairs,
    targets: Vector,
    weights: Vector,
    parity: Parity | None,
    splits: Sequence[Split],
    criterion: Criterion,
    *,
    random_state: int = 0,
    budget: Budget = UNLIMITED,
    say: Callable[[str], None] | None = None,
    deadline: float = np.inf,
) -> Combination:
    """Weigh the families on held-out pairs, for each way to standardise, and keep the best sum.

    Folds run beside one another, each on one thread.  Of several ways to standardise the matrices
    of one alone are held, unless there is room for all.  After the ``deadline``, a value of
    ``time.monotonic``, the best of the trials so far is kept.
    """
    tell = say or (lambda text: None)
    _name_what_is_left_out(pairs, parity)
    scalings = _scalings(pairs)
    wanted = int(np.clip(len(pairs) // 3, *_LANDMARKS))
    room = plan_landmarks(len(pairs), len(_families(pairs, parity)), wanted, budget)
    order = np.random.default_rng(random_state).permutation(len(pairs))
    landmarks = np.sort(order[: room.n_landmarks])

    def prepare(scale: str) -> tuple[Families, LandmarkRidge]:
        families = fit_families(pairs, parity, scalings[scale], landmarks, dtype=room.dtype)
        if not families.names:
            raise KernelError(
                f"got pairs on which every kernel that 'auto' tries is zero ({pairs!r}); expected"
                " features that vary from pair to pair: add columns that tell the pairs apart."
            )
        has_bias = parity is not Parity.ODD
        ridge = LandmarkRidge(
            families.matrices, landmarks, targets, weights, splits, criterion, has_bias=has_bias
        )
        return families, ridge

    held: dict[str, tuple[Families, LandmarkRidge]] = {}
    trials: dict[str, list[Evaluation]] = {}
    with threadpool_limits(1):
        for scale in scalings:
            if not room.several:
                held.clear()
                give_back()
            held[scale] = families, ridge = prepare(scale)
            trials[scale] = list(_rounds(ridge, families.equal_weights, _ROUNDS_FOR_SCALE))
            tell(f"kernel, {scale} scale: held-out loss {_least_loss(trials[scale]):.4f} at first")
            del families, ridge
        scale = min(trials, key=lambda name: _least_loss(trials[name]))
        if scale not in held:
            held.clear()
            give_back()
            held[scale] = prepare(scale)
        best = _best_sum(*held[scale], scale, trials[scale], deadline)
    shares = ", ".join(f"{name} {share:.2f}" for name, share in best.weights.items())
    tell(f"kernel, {scale} scale: held-out loss {best.loss:.4f} of {shares}")
    return best


def _least_loss(trials: list[Evaluation]) -> float:
    return min(trial.loss for trial in trials)


def _families(pairs: Pairs, parity: Parity | None) -> dict[str, Kernel]:
    families = kernel_families(pairs, parity)
    few = len(pairs) <= _most_with_derived(pairs, parity)
    return families if few else without_derived(families)


def _most_with_derived(pairs: Pairs, parity: Parity | None) -> int:
    """Sums for antisymmetric tasks have few exponentials, and tables of few columns few features."""
    n_columns = pairs.n_object_features + pairs.n_antisymmetric
    by_tiles = n_columns <= MOST_FEATURES and not sp.issparse(pairs.objects)
    return _MOST_BY_TILES if parity is Parity.ODD and by_tiles else _MOST_WITH_DERIVED


def with_pair_effects(kernel: Kernel, folds: TrainingFolds) -> list[Kernel]:
    """The kernel with an effect of each pair of objects beside what it has, where pairs come back.

    Landmarks cannot weigh it: two pairs are alike only where they are the same.
    """
    if folds.share_met_before() <= MET_BEFORE:
        return []
    count = len(folds.data)
    if count > _MOST_WITH_PAIR_EFFECTS:
        warn_the_caller(
            f"kernel='auto' leaves out effects of pairs of objects beyond {_MOST_WITH_PAIR_EFFECTS}"
            f" pairs (got {count}): PairClassifierCV and PairRegressorCV weigh them at any size."
        )
        return []
    return [kernel + Scaled(2.0 * share, Product(Identity())) for share in _PAIR_EFFECTS]


def _name_what_is_left_out(pairs: Pairs, parity: Parity | None) -> None:
    """Say which families are not tried, because exact machines of them take too long."""
    kept = _families(pairs, parity)
    missing = [name for name in kernel_families(pairs, parity) if name not in kept]
    group = pairs.n_symmetric + pairs.n_antisymmetric
    if missing:
        warn_the_caller(
            f"kernel='auto' leaves out {', '.join(missing)} beyond"
            f" {_most_with_derived(pairs, parity)} pairs (got {len(pairs)})"
            f"{', so that group features are not seen' if group else ''}:"
            " PairClassifierCV and PairRegressorCV weigh them at any size."
        )


def _scalings(pairs: Pairs) -> dict[str, Scaling]:
    """Both ways to standardise, where they differ."""
    found = {scale: Scaling.of(pairs, scale) for scale in ("columns", "common")}
    factors = found["columns"].object_factor / found["common"].object_factor
    if not len(factors) or float(np.ptp(factors)) <= 0.05 * float(factors.max()):
        del found["columns"]
    return found


def fit_families(
    training: Pairs,
    parity: Parity | None,
    scaling: Scaling,
    landmarks: Rows,
    evaluated: Pairs | None = None,
    dtype: type[np.floating] = np.float64,
) -> Families:
    """Fit all kernels to the training pairs, and evaluate them at the landmarks among these.

    Rows of the matrices are the pairs to be ``evaluated``, the training pairs by default.
    """
    evaluated = training if evaluated is None else evaluated
    basis = training[landmarks].without_unused_objects()
    fitted = fitted_families(training, parity, scaling)
    matrices = [
        kernel_columns(one.projected, evaluated, basis, one.kernel.factor, dtype)
        for one in fitted.values()
    ]
    return Families(list(fitted), [one.kernel for one in fitted.values()], scaling, matrices)


@dataclass(frozen=True, eq=False)
class FittedFamily:
    """A kernel on rescaled features over its mean diagonal, and its projection, not divided."""

    kernel: Scaled
    projected: Kernel


def fitted_families(
    training: Pairs, parity: Parity | None, scaling: Scaling
) -> dict[str, FittedFamily]:
    """Kernels by name, fitted to the training pairs; those that are zero there are left out."""
    scaled, found = scaling.apply(training), {}
    for name, kernel in _families(training, parity).items():
        fitted = kernel.fitted_to(scaled)
        projected = project(Rescaled(fitted, scaling), parity, training)
        size = float(projected.diagonal(training).mean())
        if size > 0.0:
            found[name] = FittedFamily(Scaled(1.0 / size, fitted), projected)
    return found


def equal_sums(pairs: Pairs, parity: Parity | None) -> list[Kernel]:
    """All families with equal shares, for each way to standardise: nothing that few pairs overfit."""
    sums: list[Kernel] = []
    for scaling in _scalings(pairs).values():
        families = [one.kernel for one in fitted_families(pairs, parity, scaling).values()]
        if families:
            # a factor over a number, not times its inverse: other bits
            terms = [Scaled(one.factor / len(families), one.kernel) for one in families]
            sums.append(_sum_of(terms, scaling))
    return sums


def _sum_of(terms: list[Scaled], scaling: Scaling) -> Rescaled:
    return Rescaled(Sum(tuple(terms)) if len(terms) > 1 else terms[0], scaling)


def _best_sum(
    families: Families, ridge: LandmarkRidge, scale: str, first: list[Evaluation], deadline: float
) -> Combination:
    """Go on from the first trials, and once more with the best single family in front."""
    singles = [ridge.evaluate(one) for one in np.eye(len(families.names))]
    favourite = int(np.argmin([single.loss for single in singles]))
    leading = (1.0 - _FAVOURITE) * families.equal_weights
    leading[favourite] += _FAVOURITE
    following = _asked_for(ridge, first[-1])
    trials = [*first, singles[favourite]]
    if time.monotonic() < deadline:
        trials += _rounds(ridge, leading, _ROUNDS)
    if following is not None and time.monotonic() < deadline:
        trials += _rounds(ridge, following, _ROUNDS - len(first))
    best = ridge.evaluate(_mean_of_the_best(trials))
    useless = _without_effect(ridge, singles)
    shares = _trimmed(np.where(useless, 0.0, best.weights), families.names)
    terms = [
        Scaled(kernel.factor * share, kernel.kernel)
        for kernel, share in zip(families.kernels, shares, strict=True)
        if share > 0.0
    ]
    return Combination(
        _sum_of(terms, families.scaling),
        {n: float(s) for n, s in zip(families.names, shares, strict=True) if s > 0.0},
        scale,
        best.loss,
        {name: single.loss for name, single in zip(families.names, singles, strict=True)},
        len(trials) + len(singles) - 1,
    )


def _without_effect(ridge: LandmarkRidge, singles: list[Evaluation]) -> NDArray[np.bool_]:
    """Families that say nothing about held-out pairs: alone no better than a constant.

    A family of interactions may need others beside it; one of single effects, or of names, does not.
    None is dropped where all say nothing.
    """
    nothing, _ = ridge.judge(np.zeros(len(ridge.held)))
    useless = np.array([single.loss >= nothing * (1.0 - 1e-6) for single in singles])
    return useless if not useless.all() else np.zeros_like(useless)


def _mean_of_the_best(trials: list[Evaluation]) -> Vector:
    """Mean weights of the trials that held-out pairs cannot tell from the best one.

    That is within a standard error of the paired differences of their losses: the best of many
    trials is best partly by luck, their mean less so.
    """
    best = min(trials, key=lambda trial: trial.loss)
    chosen = []
    for trial in trials:
        worse = trial.losses - best.losses
        error = float(worse.std()) / np.sqrt(len(worse))
        if float(worse.mean()) <= error:
            chosen.append(trial.weights / trial.weights.sum())
    return np.mean(chosen, axis=0)


def _rounds(ridge: LandmarkRidge, weights: Vector, number: int) -> Iterator[Evaluation]:
    """Trials, each with weights multiplied by what held-out pairs asked for."""
    for left in range(number, 0, -1):
        trial = ridge.evaluate(weights)
        yield trial
        following = _asked_for(ridge, trial) if left > 1 else None
        if following is None:
            return
        weights = following


def _asked_for(ridge: LandmarkRidge, trial: Evaluation) -> Vector | None:
    """Weights after a trial; None where no share is worth anything."""
    asked = ridge.scales(trial)
    middle = float(asked @ trial.weights) / float(trial.weights.sum())
    if not middle > 0.0:
        return None
    weights = trial.weights * np.clip(asked / middle, _LEAST, _MOST) ** _POWER
    return weights / weights.sum()


def _trimmed(weights: Vector, names: list[str]) -> Vector:
    """Shares without the negligible ones; the linear term keeps a little."""
    shares = np.where(weights >= _NEGLIGIBLE * weights.sum(), weights, 0.0)
    shares = shares / shares.sum()
    if LINEAR in names:
        place = names.index(LINEAR)
        shares[place] = max(shares[place], _NEGLIGIBLE)
    return shares / shares.sum()
