"""Hostile but type-correct input, drawn at random, for everything that users can call.

An attempt is one seed: data, parameters and a call are drawn from it, so that it can be repeated.
Whatever comes out must be a finite answer, or one of the documented exceptions with a sentence of
ours; and no warning but our own.

``python tests/hostile.py MINUTES [FIRST_SEED]`` searches for longer than the tests do.
"""

import os
import signal
import sys
import time
import traceback
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning, NotFittedError, UndefinedMetricWarning
from sklearn.preprocessing import StandardScaler

import pairity
from pairity import (
    CalibratedPairClassifier,
    DerivedFeatures,
    LaplacianPairSVC,
    ObjectTransformer,
    PairDrawClassifier,
    PairLogistic,
    PairLogisticCV,
    PairRidge,
    PairRidgeCV,
    Pairs,
    PairSVC,
    PairSVCCV,
    PairSVR,
    TransductivePairSVC,
    parity_report,
)
from pairity.exceptions import ConvergenceWarning, PairityWarning
from pairity.inspection import (
    contributions,
    even_odd_parts,
    group_objects,
    hodge_rank,
    influential_pairs,
    permutation_importance,
    rank_objects,
    rank_observed,
)
from pairity.io.graph_predictions import prediction_matrix
from pairity.kernels import (
    Additive,
    Balanced,
    Bilinear,
    Callable,
    Derived,
    Diffusion,
    DirectSum,
    Gaussian,
    Identity,
    Linear,
    MetricLearning,
    Mixed,
    Nystroem,
    OrderInvariant,
    Polynomial,
    Precomputed,
    Product,
    SkewBalanced,
    Standardized,
    Tensor,
    TensorMetric,
)
from pairity.model_selection import (
    ObjectKFold,
    ObjectShuffleSplit,
    PairKFold,
    PairShuffleSplit,
    Repeated,
    TimeSplit,
    brier_score,
    leakage_report,
    log_loss,
    ranked_probability_score,
    reliability_curve,
)
from pairity.pairs import with_neighbour_means
from pairity.testing import check_pair_kernel

#: Warnings that tell users something: ours, and those that scikit-learn prescribes.
SPOKEN = (PairityWarning, ConvergenceWarning, DataConversionWarning, UndefinedMetricWarning)
#: Seconds after which an attempt counts as hung; the slowest honest ones take a fifth of that.
PATIENCE = 20


class LeakError(AssertionError):
    """Something else than an answer, one of our sentences or one of our warnings came out."""


# Data ---------------------------------------------------------------------------------------------

SCALES = (1.0, 1e-300, 1e-160, 1e-8, 1e8, 1e100, 1e160, 1e300)


def table(rng, n_rows, n_columns):
    """Features: of any size, any type and any arrangement in memory."""
    values = rng.normal(size=(n_rows, n_columns)) * rng.choice(SCALES, p=[0.65] + [0.05] * 7)
    spoil = rng.integers(16)
    np.nan_to_num(values, copy=False, posinf=1e308, neginf=-1e308)
    if spoil == 0:
        values[:] = values[:1]  # identical objects
    elif spoil == 1 and n_columns:
        values[:, 0] = 3.0  # a constant column
    elif spoil == 2 and n_columns:
        values[:, -1] = np.sign(values[:, -1]) * rng.choice(SCALES)  # one column of another size
    elif spoil == 3:
        values[:] = 0.0
    elif spoil == 4 and values.size:
        values.flat[rng.integers(values.size)] = rng.choice([np.nan, np.inf, 1e308, -1e308])
    elif spoil == 5:
        values = np.abs(values)
    return arranged(rng, values)


def arranged(rng, values):
    """The same numbers, as far as the type can hold them, in another type or layout."""
    small = np.abs(values).max(initial=0.0) < 1e4
    kind = rng.integers(18)
    if kind == 0:
        return values.astype(object)
    if kind == 1 and small:
        return values.astype(np.float16)
    if kind == 2:
        return values.astype(np.longdouble)
    if kind == 3:
        return np.asfortranarray(values)
    if kind == 4:
        return np.repeat(values, 2, axis=1)[:, ::2]
    if kind == 5:
        values.flags.writeable = False
        return values
    if kind == 6:
        return values > 0
    if kind == 7 and small:
        return (np.abs(values) * 1000).astype(np.uint64) + np.uint64(2**63)
    if kind == 8 and small:
        return (values * 10).astype(np.int8)
    if kind == 9:
        return sp.csr_array(values)
    if kind == 10:
        return values.astype(str)
    if kind == 11:
        return values.tolist()
    if kind == 12 and rng.random() < 0.3:
        return np.ma.masked_array(values, mask=rng.random(values.shape) < 0.2)
    if kind == 13 and rng.random() < 0.3 and small:
        return (values * 100).astype("datetime64[D]")
    if kind == 14 and rng.random() < 0.3:
        return values.astype(complex)
    return values


def draw_pairs(rng):
    """Pairs: none, one, repeated, with their swaps, of an object with itself, or at random."""
    m = int(rng.choice([1, 2, 3, 6, 12]))
    n = int(rng.choice([0, 1, 2, 3, 8, 24, 24, 24]))
    n1 = int(rng.choice([0, 1, 2, 2, 2, 5]))
    n2, n3 = (int(rng.choice([0, 0, 0, 1, 2])) for _ in range(2))
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m if m > 1 else first.copy()
    shape = rng.integers(10)
    if shape == 0 and n:
        first[:], second[:] = first[0], second[0]
    elif shape == 1 and n > 1:
        half = n // 2
        first[half : 2 * half], second[half : 2 * half] = second[:half], first[:half]
    elif shape == 2 and n:
        second[0] = first[0]
    antisymmetric = table(rng, n, n3)
    if rng.random() < 0.9 and isinstance(antisymmetric, np.ndarray) and (first == second).any():
        antisymmetric = np.zeros((n, n3))
    ids = None
    if rng.random() < 0.3:
        ids = [f"o{row}" for row in range(m)]
        if rng.random() < 0.3:
            ids = [row if row % 2 else f"o{row}" for row in range(m)]  # of several types
            ids = np.array(ids, dtype=object)
    return Pairs(table(rng, m, n1), first, second, table(rng, n, n2), antisymmetric, ids=ids)


def draw_labels(rng, n):
    """Labels of two values, or of one, three, several types, none."""
    truth = rng.random(n) < 0.5
    kind = rng.integers(15)
    values = {
        0: np.where(truth, "win", "loss"),
        1: truth,
        2: np.where(truth, 1.5, -1.5),
        3: np.ones(n),
        4: np.array([1 if t else "no" for t in truth], dtype=object),
        5: np.array([1 if t else None for t in truth], dtype=object),
        6: rng.integers(-1, 2, size=n),
        7: np.arange(n) == 0,  # a class with one member
        8: np.where(truth, 1, np.nan),
        9: truth.astype(np.uint64),
        10: np.where(truth, 1e300, -1e300),
        11: truth.astype("datetime64[D]"),
        12: np.where(truth, 1.0, -1.0).astype(np.longdouble),
    }.get(int(kind), np.where(truth, 1, -1))
    return values


def draw_targets(rng, n):
    """Numbers of any size."""
    values = rng.normal(size=n) * rng.choice(SCALES, p=[0.65] + [0.05] * 7)
    kind = rng.integers(9)
    if kind == 0:
        return np.zeros(n)
    if kind == 1:
        return values.astype(object)
    if kind == 2:
        return values.astype(np.longdouble)
    if kind == 3 and n:
        values[0] = rng.choice([np.nan, np.inf, 1e308])
    if kind == 4:
        return rng.integers(0, 2**63, size=n).astype(np.uint64)
    return values


def draw_weights(rng, n):
    """Weights: none, ordinary, some or all 0, of any size, or no weights at all."""
    kind = rng.integers(16)
    if kind < 6:
        return None
    weights = rng.random(n)
    if kind == 6:
        return np.zeros(n)
    if kind == 7:
        return weights * (rng.random(n) < 0.5)
    if kind == 8 and n:
        weights[0] = rng.choice([np.nan, np.inf, -1.0])
    if kind in (9, 10):
        return weights * rng.choice([1e10, 1e300, 1e-300, 1e308])
    if kind == 11:
        return 10.0 ** rng.uniform(-300, 300, size=n)
    if kind == 12:
        return rng.integers(0, 3, size=n)
    if kind == 13:
        return np.arange(n) == 0  # one row counts
    return weights


def dot(X, Z):
    return np.asarray(as_plain(X) @ as_plain(Z).T)


def as_plain(rows):
    return rows.toarray() if sp.issparse(rows) else rows


def draw_object_kernel(rng):
    return [
        lambda: Linear(),
        lambda: Polynomial(int(rng.choice([1, 2, 3, 7, 1000]))),
        lambda: Gaussian(float(rng.choice([1e-300, 1e-160, 1e-8, 1.0, 1e8, 1e160, 1e300]))),
        lambda: Gaussian("median"),
        lambda: Identity(),
        lambda: float(rng.choice([0.0, 1e-300, 1e300])) * Gaussian(1.0),
    ][rng.integers(6)]()


def draw_kernel(rng, pairs):
    """Any kernel of pairs."""
    k1 = draw_object_kernel(rng)
    width = pairs.shape[1]
    constructions = (Additive, Product, DirectSum, Tensor, MetricLearning, TensorMetric)
    kernels = [
        "linear",
        "gaussian",
        "polynomial",
        "tensor",
        "direct_sum",
        "metric_learning",
        "additive",
        k1,
        constructions[rng.integers(6)](k1),
        constructions[rng.integers(6)](k1, k2=Linear()),
        constructions[rng.integers(6)](k1, k3=Linear()),
        Balanced(k1),
        SkewBalanced(Gaussian(1.0)),
        Standardized(Gaussian("median")),
        Standardized(Linear()),
        Nystroem(Product(Gaussian(1.0)), int(rng.choice([1, 2, 8, 64]))),
        OrderInvariant(Bilinear(np.eye(width))),
        Balanced(Bilinear(np.eye(width) + 0.2 * np.eye(width, k=1) + 0.2 * np.eye(width, k=-1))),
        Mixed(Gaussian(1.0), 0.5) if rng.random() < 0.5 else Linear() + Polynomial(2),
        Linear() * Polynomial(2) * float(rng.choice([1e-300, 1.0, 1e300])),
        Callable(dot),
        Precomputed(np.eye(3)),
        Derived(Linear(), ("difference",)),
    ]
    return kernels[rng.integers(len(kernels))]


# Calls --------------------------------------------------------------------------------------------


def draw_strength(rng):
    return float(rng.choice([1.0, 1.0, 1.0, 1e-12, 1e-4, 1e4, 1e12]))


def draw_symmetry(rng):
    return str(rng.choice(["symmetric", "antisymmetric", "none"], p=[0.4, 0.4, 0.2]))


def given(rng, pairs, options):
    """Pairs, or now and then their wide rows."""
    if rng.random() < 0.2:
        options["n_symmetric"] = pairs.n_symmetric
        options["n_antisymmetric"] = pairs.n_antisymmetric
        return pairs.to_rows()
    return pairs


def check_values(values):
    """Decisions and predictions are finite."""
    values = np.asarray(values)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise LeakError(f"values that are not finite: {values[~np.isfinite(values)][:3]}")


def use(model, X, y):
    """Everything that a fitted model says."""
    for name in ("decision_function", "predict_proba", "predict"):
        if hasattr(model, name):
            check_values(getattr(model, name)(X))
    if len(y):
        model.score(X, y)


def classify(rng, pairs):
    learner = [PairSVC, PairLogistic][rng.integers(2)]
    options = {"symmetry": draw_symmetry(rng), "kernel": draw_kernel(rng, pairs)}
    options["C"] = draw_strength(rng)
    if rng.random() < 0.2:
        options["training_set"] = "full"
    if rng.random() < 0.15:
        weight = [np.nan, -1.0, 0.0, 1e300, np.inf, 2.0][rng.integers(6)]
        options["class_weight"] = ["balanced", {-1: weight, 1: 1.0}][rng.integers(2)]
    if learner is PairSVC and rng.random() < 0.4:
        solvers = ["smo", "chunking", "splitting", "low_rank"]
        options["solver"] = solvers[rng.integers(4)]
    X, y = given(rng, pairs, options), draw_labels(rng, len(pairs))
    model = learner(**options).fit(X, y, sample_weight=draw_weights(rng, len(pairs)))
    use(model, X, y)


def regress(rng, pairs):
    options = {"symmetry": draw_symmetry(rng), "kernel": draw_kernel(rng, pairs)}
    if rng.random() < 0.5:
        model = PairSVR(**options, C=draw_strength(rng))
    else:
        model = PairRidge(**options, alpha=draw_strength(rng))
        if rng.random() < 0.3:
            model.set_params(fit_intercept=True)
        elif rng.random() < 0.3:
            model.set_params(alphas=[1e-12, 1.0, 1e12])
    y = draw_targets(rng, len(pairs))
    use(model.fit(pairs, y, sample_weight=draw_weights(rng, len(pairs))), pairs, y)


def learn_partly(rng, pairs):
    learner = [TransductivePairSVC, LaplacianPairSVC][rng.integers(2)]
    y = rng.choice([-1, 0, 1], size=len(pairs))
    if rng.random() < 0.2:
        y = draw_labels(rng, len(pairs))
    model = learner(draw_symmetry(rng), kernel=draw_kernel(rng, pairs), C=draw_strength(rng))
    use(model.fit(pairs, y, sample_weight=draw_weights(rng, len(pairs))), pairs, y)


def draw_folds(rng):
    return [
        lambda: None,
        lambda: int(rng.choice([-1, 0, 1, 2, 3, 1000])),
        lambda: draw_splitter(rng),
        lambda: [],
        lambda: [(np.arange(2), np.arange(2, 4))],
    ][rng.integers(5)]()


def search(rng, pairs):
    learner = [PairSVCCV, PairLogisticCV, PairRidgeCV][rng.integers(3)]
    kernel = "auto" if rng.random() < 0.3 else draw_kernel(rng, pairs)
    model = learner(draw_symmetry(rng), kernel=kernel, cv=draw_folds(rng))
    if rng.random() < 0.5:
        strengths = [[1e-12, 1e12], [1.0], 1, 3, [], [0.0], [np.nan], 0][rng.integers(8)]
        name = "alphas" if learner is PairRidgeCV else "Cs"
        model.set_params(**{name: strengths})
    y = draw_targets(rng, len(pairs)) if learner is PairRidgeCV else draw_labels(rng, len(pairs))
    groups = rng.integers(3, size=len(pairs)) if rng.random() < 0.2 else None
    weights = draw_weights(rng, len(pairs))
    use(model.fit(pairs, y, sample_weight=weights, groups=groups), pairs, y)


def calibrate(rng, pairs):
    method = ["sigmoid", "isotonic"][rng.integers(2)]
    inner = PairSVC(draw_symmetry(rng), kernel=draw_kernel(rng, pairs), C=draw_strength(rng))
    model = CalibratedPairClassifier(inner, method=method, cv=draw_folds(rng))
    y = draw_labels(rng, len(pairs))
    use(model.fit(pairs, y, sample_weight=draw_weights(rng, len(pairs))), pairs, y)


def foresee_draws(rng, pairs):
    inner = [PairSVR, PairRidge][rng.integers(2)]("antisymmetric", kernel=draw_kernel(rng, pairs))
    model = PairDrawClassifier(inner, cv=draw_folds(rng))
    y = rng.integers(-1, 2, size=len(pairs))
    if rng.random() < 0.4:
        y = draw_labels(rng, len(pairs))
    use(model.fit(pairs, y, sample_weight=draw_weights(rng, len(pairs))), pairs, y)


def draw_splitter(rng):
    n_splits = int(rng.choice([0, 1, 2, 3, 5, 1000]))
    size = [0.2, 0.999, 1e-9, 1, 1000, 0, 1.0, np.nan][rng.integers(8)]
    splitters = [
        lambda: PairKFold(n_splits, stratify=bool(rng.integers(2))),
        lambda: ObjectKFold(n_splits, new=[2, 1, (1, 2), (), 3][rng.integers(5)]),
        lambda: PairShuffleSplit(n_splits, test_size=size),
        lambda: ObjectShuffleSplit(min(n_splits, 5), test_size=size),
        lambda: TimeSplit(n_splits, gap=int(rng.choice([0, 1, 1000]))),
        lambda: Repeated(PairKFold(2), n_repeats=int(rng.choice([0, 1, 3]))),
    ]
    return splitters[rng.integers(6)]()


def split(rng, pairs):
    y = draw_labels(rng, len(pairs))
    groups = [None, draw_labels(rng, len(pairs)), rng.normal(size=len(pairs))][rng.integers(3)]
    if rng.random() < 0.1:
        groups = rng.integers(0, 50, size=len(pairs)).astype("datetime64[D]")
    splitter = draw_splitter(rng)
    for train, test in splitter.split(pairs, y, groups):
        leakage_report(pairs, train, test, groups=groups)
    splitter.report(pairs, y, groups)


def weigh_evidence(rng, pairs):
    y = draw_labels(rng, len(pairs)) if rng.random() < 0.6 else draw_targets(rng, len(pairs))
    kernel = "auto" if rng.random() < 0.3 else draw_kernel(rng, pairs)
    str(parity_report(pairs, y, kernel=kernel, cv=draw_folds(rng)))


def rank(rng, pairs):
    method = ["least_squares", "mean_margin", "copeland", "row_sum"][rng.integers(4)]
    y = draw_targets(rng, len(pairs)) if rng.random() < 0.6 else draw_labels(rng, len(pairs))
    weights = draw_weights(rng, len(pairs))
    kind = rng.integers(3)
    if kind == 0:
        check_values(hodge_rank(pairs, y, weights).scores)
    elif kind == 1:
        level = [0.9, 0.0, 1.0, 0.999999, np.nan][rng.integers(5)]
        options = {"intervals": "bootstrap", "n_resamples": int(rng.choice([0, 1, 5]))}
        options = options | {"level": level} if rng.random() < 0.3 else {}
        number = int(rng.choice([0, 1, 5, 1000]))
        found = rank_observed(pairs, y, weights, method=method, n_cycles=number, **options)
        check_values(found.scores)
        str(found)
    else:
        model = PairSVC("antisymmetric", kernel=draw_kernel(rng, pairs))
        model.fit(pairs, draw_labels(rng, len(pairs)))
        str(rank_objects(model, pairs, method=method))


def group(rng, pairs):
    model = PairSVC("symmetric", kernel=draw_kernel(rng, pairs)).fit(
        pairs, draw_labels(rng, len(pairs))
    )
    options = {"method": ["average", "connected", "single", "complete"][rng.integers(4)]}
    if rng.random() < 0.5:
        options["threshold"] = [0.0, 1e300, -1e300, np.nan, np.inf][rng.integers(5)]
    elif rng.random() < 0.5:
        options["validation"] = pairs, draw_labels(rng, len(pairs))
    str(group_objects(model, pairs, **options))


def explain(rng, pairs):
    symmetry = draw_symmetry(rng)
    y = draw_labels(rng, len(pairs))
    model = PairSVC(symmetry, kernel=draw_kernel(rng, pairs), C=draw_strength(rng)).fit(pairs, y)
    number = int(rng.choice([-1, 0, 1, 5, 1000]))
    str(influential_pairs(model, pairs, number, training=pairs))
    check_values(contributions(model, pairs))
    even_odd_parts(model, pairs)
    permutation_importance(model, pairs, y, n_repeats=int(rng.choice([0, 1, 2])))


def measure(rng, pairs):
    n = len(pairs)
    y = draw_labels(rng, n)
    probabilities = rng.random((n, int(rng.choice([1, 2, 2, 2, 3]))))
    kind = rng.integers(5)
    if kind == 0:
        probabilities = (probabilities > 0.5).astype(float)
    elif kind == 1:
        probabilities = probabilities * 1e300
    elif kind == 2 and n:
        probabilities[0] = np.nan
    if kind > 2 and n:
        probabilities /= probabilities.sum(axis=1, keepdims=True)
    if rng.random() < 0.2:
        probabilities = probabilities[:, 0]
    options = {"sample_weight": draw_weights(rng, n)}
    if rng.random() < 0.5 and n:
        options["classes"] = list(dict.fromkeys(y.tolist()))
    score = [brier_score, log_loss, ranked_probability_score, reliability_curve][rng.integers(4)]
    if score is reliability_curve:
        options["n_bins"] = int(rng.choice([0, 1, 10, 1000]))
        options["strategy"] = ["uniform", "quantile"][rng.integers(2)]
        options["confidence"] = [0.95, 0.0, 1.0, 1e-300, np.nan][rng.integers(5)]
        str(score(y, probabilities, **options))
    else:
        check_values(score(y, probabilities, **options))


def transform(rng, pairs):
    if rng.random() < 0.5:
        step = ObjectTransformer(StandardScaler(with_mean=not sp.issparse(pairs.objects)))
    else:
        step = DerivedFeatures(keep_objects=bool(rng.integers(2)))
    check_values(as_plain(step.fit_transform(pairs).to_rows()))


def inspect_kernel(rng, pairs):
    str(check_pair_kernel(draw_kernel(rng, pairs), pairs))


def graph(rng, pairs):
    with_neighbour_means(pairs, pairs, hops=int(rng.choice([0, 1, 3])))
    Pairs.from_graph(np.asarray(rng.random((3, 3)) < 0.5))
    symmetry = draw_symmetry(rng)
    prediction_matrix(pairs, draw_targets(rng, len(pairs)), symmetry=symmetry)
    kernel = Diffusion(draw_kernel(rng, pairs), pairs)
    use(PairSVC(symmetry, kernel=kernel).fit(pairs, np.arange(len(pairs)) % 2), pairs, ())


def rows(rng, pairs):
    wide = table(rng, len(pairs), int(rng.integers(6)))
    counts = int(rng.integers(3)), int(rng.integers(3))
    Pairs.from_rows(wide, *counts).swap().to_rows()


CALLS = (
    *(classify, classify, classify, regress, regress, learn_partly, search, search, calibrate),
    *(foresee_draws, split, weigh_evidence, rank, group, explain, measure, transform),
    *(inspect_kernel, graph, rows),
)


# Verdicts -----------------------------------------------------------------------------------------


def attempt(seed):
    """Draw and run one attempt; raise :class:`LeakError` for anything that users should not see."""
    rng = np.random.default_rng([seed, 2026])
    call = CALLS[rng.integers(len(CALLS))]
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        try:
            call(rng, draw_pairs(rng))
        except (ValueError, TypeError, MemoryError, NotFittedError) as error:
            refuse_raw(error)
    for warning in record:
        if not issubclass(warning.category, SPOKEN):
            place = f"{warning.filename}:{warning.lineno}"
            raise LeakError(
                f"{call.__name__}: {warning.category.__name__} at {place}: {warning.message}"
            )


def refuse_raw(error):
    """A sentence of ours, or one of scikit-learn's checks that its conventions prescribe."""
    if isinstance(error, np.linalg.LinAlgError):
        raise LeakError("LinAlgError") from error
    frames = traceback.extract_tb(error.__traceback__)
    ours = frames[-1].filename.startswith(os.path.dirname(pairity.__file__))
    prescribed = "sklearn/utils" in frames[-1].filename
    message = str(error)
    spoken = "expected" in message or "must be" in message
    if not ((ours and (spoken or isinstance(error, NotFittedError))) or prescribed):
        raise LeakError(f"{type(error).__name__}: {message}") from error


def _hung(*_):
    raise LeakError(f"nothing after {PATIENCE} seconds")


def main(minutes, seed):
    """Search until the time is up; print each leak once, by the place that it comes from."""
    signal.signal(signal.SIGALRM, _hung)
    end, seen, n_attempts = time.monotonic() + 60.0 * minutes, {}, 0
    while time.monotonic() < end:
        signal.alarm(PATIENCE)
        started = time.monotonic()
        try:
            attempt(seed)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                break
            signal.alarm(0)
            cause = error.__cause__ or error
            frames = traceback.extract_tb(cause.__traceback__)
            inside = [f for f in frames if "pairity" in f.filename and "hostile" not in f.filename]
            place = f"{inside[-1].filename}:{inside[-1].lineno}" if inside else str(error)
            if place not in seen:
                print(f"seed {seed}: {type(cause).__name__}: {error} @ {place}", flush=True)
            seen[place] = seen.get(place, 0) + 1
        signal.alarm(0)
        if (taken := time.monotonic() - started) > PATIENCE / 4:
            print(f"seed {seed}: {taken:.1f} s", flush=True)
        seed, n_attempts = seed + 1, n_attempts + 1
    print(
        f"{n_attempts} attempts up to seed {seed}; {sum(seen.values())} leaks, {len(seen)} places"
    )
    for place, count in sorted(seen.items(), key=lambda item: -item[1]):
        print(f"{count:6d} {place}")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
