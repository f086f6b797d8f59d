"""Random fits at any scale, and whether their certificates tell the truth.

``python tests/random_fits.py 2000`` runs that many and prints what was seen; a few run in the tests.
Features are shifted and scaled by 1e-8 to 1e8, C goes from 1e-6 to 1e6.
"""

import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

from exact import objectives
from pairity import (
    PairLogistic,
    PairRidge,
    Pairs,
    PairSVC,
    PairSVR,
    TransductivePairSVC,
)
from pairity.exceptions import ConvergenceWarning, KernelError
from pairity.kernels import Gaussian, Polynomial
from pairity.kernels.standardized import Rescaled

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

    @property
    def is_lie(self):
        return self.holds and not abs(self.true) <= 1.01 * max(self.tol, 1e-6)


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
    if estimator is TransductivePairSVC:
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
    began = time.perf_counter()
    model = estimator(**options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(pairs, y)
        except (ValueError, KernelError) as refusal:
            seconds = time.perf_counter() - began
            return Outcome(label, False, 0.0, 0.0, 1e-3, seconds, True, str(refusal))
    seconds = time.perf_counter() - began
    warned = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    true = _true_gap(model, pairs, y, plain, symmetry, strength)
    certificate = model.certificate_
    return Outcome(
        label, certificate.holds, certificate.relative_gap, true, certificate.tol, seconds, warned
    )


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


def main(count, first=0):
    tally, lies, slowest = Counter(), [], 0.0
    for seed in range(first, first + count):
        try:
            outcome = run_one(seed)
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
        tally[kind] += 1
        if outcome.is_lie:
            lies.append((seed, outcome))
            print(f"seed {seed}: FALSE CERTIFICATE {outcome}", flush=True)
    print(f"{count} fits: {dict(tally)}; {len(lies)} false certificates; slowest {slowest:.1f} s")
    return bool(lies or tally["exception"] or tally["silent"])


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
