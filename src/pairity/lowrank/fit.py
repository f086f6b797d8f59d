"""From training pairs with a kernel of few object features to a low-rank model, certified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.losses.base import Loss
from pairity.losses.piecewise import PiecewiseLinear
from pairity.lowrank.chunk import PairChunk, arrange
from pairity.lowrank.design import Design, Vector
from pairity.lowrank.engine import Engine, LocalEngine
from pairity.lowrank.features import FeatureMap, Table, learn_map
from pairity.lowrank.form import Form, group_columns, read_form
from pairity.lowrank.model import LowRankModel
from pairity.lowrank.newton import NewtonOptions, Outcome, Progress, bounds, minimise
from pairity.memory import Budget
from pairity.pairs import ObjectTable, Pairs
from pairity.solvers.certificate import Certificate
from pairity.solvers.problem import SolverOptions
from pairity.solvers.training import TrainingSet

__all__ = [
    "LowRankFit",
    "Prepared",
    "certify_low_rank",
    "first_width",
    "fit_low_rank",
    "low_rank_model",
    "minimise_and_certify",
    "prepare",
    "start_from_sample",
]

#: Pairs from which on a fit starts with some of them.
_PAIRS_TO_SAMPLE = 400_000
#: Memory of a fit, as measured: losses and decisions of pairs; features of objects in two
#: precisions, with images and sums; parameters with those of steps and of conjugate gradients.
_BYTES_PER_PAIR = 260.0
_BYTES_PER_FEATURE = 20.0
_BYTES_PER_PARAMETER = 170.0
#: Width of the rounding at the start, in units of decisions that matter: all pairs are curved.
_FIRST_WIDTH = 2.0


@dataclass(frozen=True)
class LowRankFit:
    """A model, how good it is, and how it came about."""

    model: LowRankModel
    certificate: Certificate
    outcome: Outcome


@dataclass(frozen=True)
class Prepared:
    """What all passes share: blocks, feature maps, features of all objects, moments."""

    form: Form
    maps: tuple[FeatureMap, ...]
    design: Design
    moments: Vector


def prepare(form: Form, objects: ObjectTable, ends: Vector, group_squares: Vector) -> Prepared:
    """Features of all objects, and mean squares of ``d f / d w`` for all parameters.

    ``ends`` says how often an object is an end of a pair, ``group_squares`` the mean squares of
    the columns of group features.
    """
    maps: list[FeatureMap] = []
    tables: list[Table] = []
    squares: list[Vector] = []
    products = {block.table for block in form.bilinear}
    for number, kernel in enumerate(form.kernels):
        learned, table, moments = learn_map(kernel, objects, ends, bilinear=number in products)
        maps.append(learned)
        tables.append(table)
        squares.append(moments)
    parts: list[NDArray[Any]] = []
    for block in form.bilinear:
        second = squares[block.table]
        parts.append(block.scale**2 * np.outer(second, second).ravel())
    parts += [2.0 * block.scale**2 * squares[block.table] for block in form.strengths]
    parts.append(group_squares)
    if form.has_bias:
        parts.append(np.ones(1))
    design = Design(form, tuple(tables), len(group_squares))
    return Prepared(form, tuple(maps), design, np.concatenate(parts))


def first_width(loss: Loss) -> float:
    """Width of the rounding to start with; without effect on smooth losses."""
    return _FIRST_WIDTH * (loss.scale if isinstance(loss, PiecewiseLinear) else 1.0)


def fit_low_rank(data: TrainingSet[Any], options: SolverOptions) -> LowRankFit:
    """Solve the problem on J with the features of the kernel, and certify.

    ``options.tol`` is the relative duality gap allowed.
    """
    pairs = data.pairs
    widths = pairs.n_symmetric, pairs.n_antisymmetric
    form = read_form(data.kernel, data.parity, *widths, with_bias=data.with_bias)
    _refuse_too_large(form, pairs, options.budget)
    loss = data.loss.times(2.0)  # Theorem 2
    order, came_from = arrange(pairs.first, pairs.second, pairs.n_objects)
    columns = group_columns(form, pairs)[came_from]
    chunk = PairChunk(order, columns, loss.take(came_from))
    ends = np.bincount(pairs.first, minlength=pairs.n_objects)
    ends = ends + np.bincount(pairs.second, minlength=pairs.n_objects)
    squares = np.mean(columns**2, axis=0)
    prepared = prepare(form, pairs.objects, ends.astype(np.float64), squares)
    if options.say is not None:
        options.say(
            f"solver low_rank: {len(pairs)} pairs of {pairs.n_objects} objects,"
            f" {prepared.design.layout.size} parameters"
        )
    engine = LocalEngine(chunk, prepared.design)
    newton = NewtonOptions(
        tol=0.9 * options.tol,  # room for the last, exact look
        max_iter=options.max_iter,
        width=first_width(loss),
        report=options.report,
    )
    newton = replace(newton, start=start_from_sample(chunk, len(pairs), prepared, newton))
    outcome, certificate = minimise_and_certify(engine, prepared.moments, newton, options.tol)
    return LowRankFit(_model(data, prepared, outcome), certificate, outcome)


def _refuse_too_large(form: Form, pairs: Pairs, budget: Budget) -> None:
    """Refuse what does not fit, before any of it is made."""
    explicit = [kernel.explicit(pairs.objects[:1]) for kernel in form.kernels]
    widths = [0 if one is None or sp.issparse(one) else int(one.shape[1]) for one in explicit]
    parameters = sum(widths[block.table] ** 2 for block in form.bilinear)
    n, m = len(pairs), pairs.n_objects
    needed = _BYTES_PER_PAIR * n + _BYTES_PER_FEATURE * m * sum(widths)
    needed += _BYTES_PER_PARAMETER * parameters
    if needed / 1e6 > budget.megabytes:
        budget.refuse(
            f"{n} pairs of {m} objects with {sum(widths)} features",
            needed / 1e6,
            "fewer features (n_components of Nystroem), a larger memory_limit, or the pairs on a"
            " cluster: PairDataset",
        )


def start_from_sample(
    chunk: PairChunk, n_pairs: int, prepared: Prepared, options: NewtonOptions
) -> Progress | None:
    """Parameters that suit some of the pairs: the first steps, where all pairs are curved, for less.

    ``chunk`` holds all of the ``n_pairs`` pairs, or some of them already.
    """
    if n_pairs < _PAIRS_TO_SAMPLE:
        return None
    some = chunk.sample(max(_PAIRS_TO_SAMPLE // 4, n_pairs // 8))
    sample = replace(some, losses=some.losses.take(slice(None)).times(n_pairs / len(some)))
    rough = replace(
        options, tol=max(10.0 * options.tol, 0.01), start=None, observe=None, report=None
    )
    outcome = minimise(LocalEngine(sample, prepared.design), prepared.moments, rough)
    return replace(outcome.progress, n_iter=0, n_products=0, gap=np.inf, precision="float32")


def _model(data: TrainingSet[Any], prepared: Prepared, outcome: Outcome) -> LowRankModel:
    return low_rank_model(
        data.kernel,
        prepared,
        outcome.progress.parameters,
        (data.pairs.n_symmetric, data.pairs.n_antisymmetric),
        data.with_bias,
    )


def low_rank_model(
    kernel: Kernel,
    prepared: Prepared,
    parameters: Vector,
    n_group: tuple[int, int],
    with_bias: bool,
) -> LowRankModel:
    """The model of these parameters."""
    return LowRankModel(
        kernel,
        prepared.form.parity,
        tuple(learned.basis for learned in prepared.maps),
        parameters,
        n_group[0],
        n_group[1],
        with_bias,
    )


def minimise_and_certify(
    engine: Engine, moments: Vector, newton: NewtonOptions, tol: float
) -> tuple[Outcome, Certificate]:
    """Minimise and look again in double precision; go on where single precision was too kind."""
    outcome = minimise(engine, moments, newton)
    certificate = certify_low_rank(engine, outcome, tol)
    if outcome.converged and not certificate.holds:
        start = replace(outcome.progress, precision="float64")
        outcome = minimise(engine, moments, replace(newton, start=start))
        certificate = certify_low_rank(engine, outcome, tol)
    return outcome, certificate


def certify_low_rank(engine: Engine, outcome: Outcome, tol: float) -> Certificate:
    """Primal and dual of the low-rank problem, in double precision, from the parameters alone.

    Its violation is the relative gap: dual variables are not kept, so that it is the model, not a
    variable, that is close to the optimum.
    """
    progress = outcome.progress
    engine.move_to(progress.parameters, np.float64)
    sums = engine.sums(progress.width)
    counted = engine.layout.norm_counted()
    found = bounds(sums, progress.parameters, counted, outcome.least)
    bias = engine.layout.bias(progress.parameters)
    return Certificate(
        primal=found.primal,
        dual=-found.dual,
        gap=found.primal - found.dual,
        relative_gap=found.gap,
        violation=max(found.gap, 0.0) if np.isfinite(found.gap) else np.inf,
        bias_low=bias,
        bias_high=bias,
        bias=bias,
        n_support=sums.n_support,
        n_bounded=sums.n_bounded,
        tol=tol,
        measure="relative gap",
    )
