"""Columns of scales from 1e-3 to 1e6 in one table: is there a certificate, or a sentence what to do?

Raw tables hold prices beside shares.  A column of 1e6 beside one of 1e-3 leaves double precision few
digits for the latter, so that no solver may get there; then the warning has to say so, soon.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pairity import PairLogistic, Pairs, PairSVC
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Additive, Gaussian, Linear, Polynomial, Product

SIZES = {741: 39, 4000: 300}  # pairs: objects
LOSSES = {"hinge": PairSVC, "logistic": PairLogistic}
#: Columns of objects have these scales, and means as far from 0 as they spread.
SCALES = 10.0 ** np.linspace(-3.0, 6.0, 10)
KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(2),
    "gaussian": Gaussian(1e3),
    "gaussian of median width": Gaussian("median"),
    "standardised": "gaussian",
    "product": Product(Gaussian(1e3)),
    "additive": Additive(Gaussian(1e3)),
    "gaussian + linear": 0.5 * Gaussian(1e3) + 0.5 * Linear(),
}
#: What a warning has to hold where there is no certificate.
_ADVICE = "standardise"


@dataclass(frozen=True)
class Raw:
    """One piece of work on raw columns."""

    kernel: str
    loss: str
    n_pairs: int
    group: bool  # whether there is a group feature of 1e6 as well

    @property
    def name(self) -> str:
        """What is shown."""
        beside = ", group feature" if self.group else ""
        return f"raw columns, {self.n_pairs} pairs, {self.kernel}{beside}, {self.loss}"

    def data(self) -> tuple[Pairs, np.ndarray]:
        """Winners by all columns alike, with noise."""
        rng = np.random.default_rng(0)
        n_objects = SIZES[self.n_pairs]
        standard = rng.normal(size=(n_objects, len(SCALES)))
        first, second = np.triu_indices(n_objects, 1)
        chosen = rng.permutation(len(first))[: self.n_pairs]
        first, second = first[chosen], second[chosen]
        strength = standard @ rng.normal(size=len(SCALES))
        odd = 1e6 * rng.normal(size=(len(first), 1)) if self.group else None
        labels = np.sign(strength[first] - strength[second] + rng.normal(size=len(first)))
        return Pairs((standard + 1.0) * SCALES, first, second, antisymmetric=odd), labels


def works() -> Iterator[Raw]:
    """All of them."""
    for n_pairs in SIZES:
        for kernel in KERNELS:
            for group in (False, True):
                for loss in LOSSES:
                    yield Raw(kernel, loss, n_pairs, group)


def scales(full: bool) -> list[dict]:
    """Seconds, violation, and how each ended: with a certificate, with advice, or without a word."""
    return [measured(work) for work in works()]


def measured(work: Raw) -> dict:
    """The second of two fits, of which the first one loads."""
    pairs, labels = work.data()
    for _ in range(2):
        model = LOSSES[work.loss]("antisymmetric", kernel=KERNELS[work.kernel])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            started = time.perf_counter()
            model.fit(pairs, labels)
            seconds = time.perf_counter() - started
    advised = any(_ADVICE in str(one.message) for one in caught)
    holds = bool(model.certificate_.holds)
    return {
        "system": "pairity",
        "task": work.name,
        "n_pairs": len(pairs),
        "n_objects": pairs.n_objects,
        "fit_seconds": seconds,
        "n_iter": int(model.n_iter_),
        "violation": float(model.certificate_.violation),
        "ended": "certificate" if holds else "advice" if advised else "without a word",
    }


def summary(rows: list[dict]) -> list[list[str]]:
    """How the fits of each kernel ended, and the longest of them."""
    shown = []
    for kernel in KERNELS:
        of_kernel = [row for row in rows if f", {kernel}, " in row["task"]]
        if of_kernel:
            counts = [
                str(sum(row["ended"] == end for row in of_kernel))
                for end in ("certificate", "advice", "without a word")
            ]
            longest = max(row["fit_seconds"] for row in of_kernel)
            steps = max(row["n_iter"] for row in of_kernel)
            shown.append([kernel, *counts, f"{longest:.2g}", f"{steps:,}"])
    return shown
