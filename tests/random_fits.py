"""Random fits at any scale, and whether their certificates tell the truth.

``python tests/random_fits.py 2000`` runs that many and prints what was seen; a few run in the tests.
``--others`` draws machines that are smooth along a graph, and low-rank models.
Features are shifted and scaled by 1e-8 to 1e8, C goes from 1e-6 to 1e6.
"""

import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

from exact import objectives
from exact_models import laplacian_truth, low_rank_truth
from pairity import (
    LaplacianPairSVC,
    PairLogistic,
    PairRidge,
    Pairs,
    PairSVC,
    PairSVR,
    TransductivePairSVC,
)
from pairity.exceptions import ConvergenceWarning, KernelError
from pairity.kernels import Additive, Gaussian, Linear, Nystroem, Polynomial, Product
from pairity.kernels.standardized import Rescaled
from pairity.operators.manifold import pair_laplacian
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.solvers.low_rank.form import group_columns

SOLVERS = {
    PairSVC: ("auto", "smo", "chunking", "splitting"),
    PairSVR: ("auto", "smo", "chunking", "splitting"),
    PairLogistic: ("auto", "newton"),
    PairRidge: ("auto", "dense", "cg"),
    TransductivePairSVC: ("auto",),
}


@dataclass(frozen=True)
class Outcome:
    """What one fit did: what it claims, what is true, how long it took."""

    label: str
    holds: bool
    claimed: float
    true: float
    tol: float
    seconds: float
    warned: bool
    refused: str = ""
    loose: float = 0.0

    @property
    def allowed(self):
        return 1.01 * max(self.tol, 1e-6)

    @property
    def is_lie(self):
        """Whether it claims what is false, however loose the bound of the true gap is."""
        return self.holds and not abs(self.true) - self.loose <= self.allowed

    @property
    def is_undecided(self):
        """Whether the bound is too loose to judge."""
        return self.holds and not self.is_lie and abs(self.true) > self.allowed


def random_pairs(rng):
    """Pairs at random scales, with and without group features."""
    m, n = int(rng.integers(4, 13)), int(rng.integers(5, 25))
    columns = int(rng.integers(1, 4))
    objects = rng.normal(size=(m, columns))
    first = rng.integers(0, m, n)
    second = (first + rng.integers(1, m, n)) % m
    group = rng.integers(0, 2, 2) * rng.integers(0, 2)
    factor = 10.0 ** rng.uniform(-8, 8, columns if rng.random() < 0.5 else 1)
    shift = rng.choice([0.0, 1.0]) * factor * 10.0 ** rng.uniform(-8, 8, columns)
    pairs = Pairs(
        objects * factor + shift,
        first,
        second,
        rng.normal(size=(n, group[0])) * 10.0 ** rng.uniform(-2, 2),
        rng.normal(size=(n, group[1])) * 10.0 ** rng.uniform(-2, 2),
    )
    return pairs, objects


def _kernel(rng, pairs):
    name = rng.choice(["linear", "quadratic", "cubic", "gaussian"])
    if name == "gaussian":
        rows = np.asarray(pairs.to_rows())
        spread = float(np.sqrt(np.sum(rows.std(axis=0) ** 2)))
        sigma = max(spread, 1e-12) * 10.0 ** rng.uniform(-0.5, 0.5)
        return Gaussian(sigma), ("gaussian", sigma)
    degree = {"linear": 1, "quadratic": 2, "cubic": 3}[name]
    return Polynomial(degree), ("polynomial", degree)


def _targets(rng, pairs, objects, symmetry, estimator):
    first, second = objects[pairs.first, 0], objects[pairs.second, 0]
    score = first - second if symmetry == "antisymmetric" else first + second
    score = score + 0.3 * rng.normal(size=len(score))
    if estimator in (PairSVR, PairRidge):
        return score * 10.0 ** rng.uniform(-2, 2)
    labels = np.where(score > 0, 1.0, -1.0)
    if symmetry != "antisymmetric" and len(set(labels)) == 1:
        labels[0] = -labels[0]
    if estimator in (TransductivePairSVC, LaplacianPairSVC):
        labels[3:][rng.random(len(labels) - 3) < 0.5] = 0.0
        labels[2], labels[0], labels[1] = 0.0, 1.0, -1.0
    return labels


def run_one(seed):
    """One random fit; its outcome, with the true gap in 60 digits."""
    rng = np.random.default_rng(seed)
    pairs, objects = random_pairs(rng)
    estimator = list(SOLVERS)[rng.integers(len(SOLVERS))]
    symmetry = str(rng.choice(["symmetric", "antisymmetric", "none"]))
    solver = str(rng.choice(SOLVERS[estimator]))
    kernel, plain = _kernel(rng, pairs)
    strength = 10.0 ** rng.uniform(-6, 6)
    options = {"symmetry": symmetry, "kernel": kernel, "solver": solver}
    options["alpha" if estimator is PairRidge else "C"] = strength
    if estimator is PairSVR:
        options["epsilon"] = 0.1
    y = _targets(rng, pairs, objects, symmetry, estimator)
    label = f"{estimator.__name__} {symmetry} {plain[0]} {plain[1]:.3g} {solver} {strength:.1e}"
    model = estimator(**options)
    fit = _fit(model, pairs, y)
    if fit.refused:
        return Outcome(label, False, 0.0, 0.0, 1e-3, fit.seconds, True, fit.refused)
    true = _true_gap(model, pairs, y, plain, symmetry, strength)
    return _outcome(label, model, fit, true)


@dataclass(frozen=True)
class _Fit:
    """How a fit went."""

    seconds: float
    warned: bool
    refused: str = ""


def _fit(model, pairs, y):
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(pairs, y)
        except (ValueError, KernelError) as refusal:
            return _Fit(time.perf_counter() - began, True, str(refusal))
    seconds = time.perf_counter() - began
    return _Fit(seconds, any(issubclass(one.category, ConvergenceWarning) for one in caught))


def _outcome(label, model, fit, true, loose=0.0):
    claim = model.certificate_
    gap = claim.relative_gap
    return Outcome(label, claim.holds, gap, true, claim.tol, fit.seconds, fit.warned, loose=loose)


def _centred(pairs):
    """Features without their means, which a linear model with a bias cannot see."""
    tables = pairs.objects, pairs.symmetric
    objects, even = (table - table.mean(axis=0) for table in tables)
    return pairs.with_features(objects, even, pairs.antisymmetric)


def _true_gap(model, pairs, y, plain, symmetry, strength):
    theta = np.zeros(len(pairs))
    theta[model.support_] = model.dual_coef_
    losses = {PairSVC: "hinge", TransductivePairSVC: "hinge", PairLogistic: "logistic"}
    loss = losses.get(type(model), "squared")
    if isinstance(model, PairSVR):
        loss = model.epsilon
    if isinstance(model, PairRidge):
        strength = 1.0 / strength
    if isinstance(model, TransductivePairSVC):
        y = np.where(y == 0.0, model.transduction_, y)
    weights = np.full(len(y), (1.0 if symmetry == "none" else 2.0) * strength)
    weights[y == 0.0] = 0.0  # undecided: won and lost alike, whatever the decision
    sign = {"symmetric": 1, "antisymmetric": -1, "none": 0}[symmetry]
    bias = symmetry != "antisymmetric" and not isinstance(model, PairRidge)
    if bias and isinstance(model._model.kernel, Rescaled):  # by no more than a shift
        pairs = _centred(pairs)
    return objectives(plain, pairs, theta, y, weights, loss, sign=sign, bias=bias).relative_gap


def run_another(seed):
    """One random fit of a model without plain dual variables; its outcome as above."""
    rng = np.random.default_rng([seed, 1])
    pairs, objects = random_pairs(rng)
    if rng.random() < 0.4:
        return _run_laplacian(rng, pairs, objects)
    return _run_low_rank(rng, pairs, objects)


def _run_laplacian(rng, pairs, objects):
    symmetry = str(rng.choice(["symmetric", "antisymmetric", "none"]))
    kernel, plain = _kernel(rng, pairs)
    model = LaplacianPairSVC(
        symmetry,
        kernel=kernel,
        C=10.0 ** rng.uniform(-6, 6),
        manifold=10.0 ** rng.uniform(-4, 4),
        graph=str(rng.choice(["pairs", "objects"])),
        n_neighbors=int(rng.integers(1, 7)),
        solver=str(rng.choice(["auto", "smo", "chunking"])),
    )
    y = _targets(rng, pairs, objects, symmetry, LaplacianPairSVC)
    label = f"{model!r} {plain[0]} {plain[1]:.3g}".replace("\n", "")
    fit = _fit(model, pairs, y)
    if fit.refused:
        return Outcome(label, False, 0.0, 0.0, 1e-3, fit.seconds, True, fit.refused)
    truth = _truth_of_laplacian(model, pairs, y, plain)
    return _outcome(label, model, fit, truth.gap, truth.loose)


def _truth_of_laplacian(model, pairs, y, plain):
    theta = np.zeros(len(pairs))
    theta[model.support_] = model.dual_coef_
    parity = SYMMETRIES[model.symmetry]
    graph = pairs.compact(), parity, model.graph, model.n_neighbors
    penalty = (model.manifold / len(pairs)) * pair_laplacian(*graph).toarray()
    return laplacian_truth(
        plain,
        pairs,
        theta,
        model.intercept_,
        y,
        (1.0 if parity is None else 2.0) * model.C,
        penalty,
        sign=0 if parity is None else int(parity.sign),
        bias=parity is not Parity.ODD,
    )


def _low_rank_kernel(rng, pairs):
    objects = np.asarray(pairs.objects)
    spread = float(np.sqrt(np.sum(objects.std(axis=0) ** 2)))
    gaussian = Gaussian(max(spread, 1e-12) * 10.0 ** rng.uniform(-0.5, 0.5))
    few = int(rng.integers(2, 7))
    kernels = [
        Linear(),
        Additive(Linear()),
        Product(Linear()),
        Product(Linear()) + Linear(),
        Nystroem(Product(gaussian), few),
        Nystroem(Additive(gaussian), few) + Product(Linear()),
    ]
    return kernels[rng.integers(len(kernels))]


def _run_low_rank(rng, pairs, objects):
    symmetry = str(rng.choice(["symmetric", "antisymmetric"]))
    estimator = [PairSVC, PairSVR, PairLogistic, PairRidge][rng.integers(4)]
    options = {"kernel": _low_rank_kernel(rng, pairs), "tol": float(rng.choice([1e-3, 1e-6]))}
    strength = 10.0 ** rng.uniform(-6, 6)
    options["alpha" if estimator is PairRidge else "C"] = strength
    if estimator is PairSVR:
        options["epsilon"] = 0.1
    if estimator is PairRidge:
        options["fit_intercept"] = bool(rng.random() < 0.5)
    model = estimator(symmetry, solver="low_rank", **options)
    y = _targets(rng, pairs, objects, symmetry, estimator)
    fit, label = _fit(model, pairs, y), repr(model).replace("\n", "")
    if fit.refused:
        return Outcome(label, False, 0.0, 0.0, 1e-3, fit.seconds, True, fit.refused)
    weight = 2.0 * (1.0 / strength if estimator is PairRidge else strength)
    loss = {PairSVC: "hinge", PairSVR: 0.1, PairLogistic: "logistic", PairRidge: "squared"}
    known = pairs.compact()
    columns = group_columns(model._model.form, known)
    truth = low_rank_truth(model._model, known, columns, y, weight, loss[estimator])
    return _outcome(label, model, fit, truth.gap, truth.loose)


def main(count, first=0, run=run_one):
    tally, lies, slowest = Counter(), [], 0.0
    for seed in range(first, first + count):
        try:
            outcome = run(seed)
        except Exception as error:
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            tally["exception"] += 1
            continue
        slowest = max(slowest, outcome.seconds)
        if outcome.seconds > 20.0:
            print(f"seed {seed}: {outcome.seconds:.0f} s, {outcome.label}", flush=True)
        kind = "refused" if outcome.refused else ("holds" if outcome.holds else "warned")
        if kind == "warned" and not outcome.warned:
            kind = "silent"
        tally["undecided" if outcome.is_undecided else kind] += 1
        if outcome.is_lie:
            lies.append((seed, outcome))
            print(f"seed {seed}: FALSE CERTIFICATE {outcome}", flush=True)
    print(f"{count} fits: {dict(tally)}; {len(lies)} false certificates; slowest {slowest:.1f} s")
    return bool(lies or tally["exception"] or tally["silent"])


if __name__ == "__main__":
    others = "--others" in sys.argv
    numbers = [int(one) for one in sys.argv[1:] if one != "--others"]
    sys.exit(main(*numbers, run=run_another if others else run_one))
