"""From training pairs with a kernel of few object features to a low-rank model, certified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.losses.loss import Loss, PiecewiseLinear
from pairity.pairs.data import ObjectTable, Pairs
from pairity.runtime.resources import Budget
from pairity.solvers.certificate import Certificate
from pairity.solvers.low_rank.design import Design, PairChunk, Vector, arrange
from pairity.solvers.low_rank.form import Form, Term, group_columns, learn_map, read_form
from pairity.solvers.low_rank.function import LowRankModel
from pairity.solvers.low_rank.minimise import NewtonOptions, Outcome, Progress, bounds, minimise
from pairity.solvers.low_rank.passes import Engine
from pairity.solvers.problem import SolverOptions, TrainingSet

#: Pairs from which on a fit starts with some of them.
_PAIRS_TO_SAMPLE = 400_000
#: Memory of a fit, as measured: losses and decisions of pairs; features of objects in two
#: precisions, with images and sums; parameters with those of steps and of conjugate gradients.
_BYTES_PER_PAIR, _BYTES_PER_FEATURE, _BYTES_PER_PARAMETER = 260.0, 20.0, 170.0
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
    """What all passes share: features of all objects, the bases they are in, moments."""

    design: Design
    bases: tuple[NDArray[np.float64] | None, ...]
    moments: Vector


def prepare(form: Form, objects: ObjectTable, ends: Vector, group_squares: Vector) -> Prepared:
    """Features of all objects, and mean squares of ``d f / d w`` for all parameters.

    ``ends`` says how often an object is an end of a pair, ``group_squares`` the mean squares of
    the columns of group features.
    """
    in_products = {term.table for term in form.bilinear}
    learned = [
        learn_map(kernel, objects, ends, bilinear=number in in_products)
        for number, kernel in enumerate(form.kernels)
    ]
    squares = [moments for _, _, moments in learned]

    def products(term: Term) -> Vector:
        return term.scale**2 * np.outer(squares[term.table], squares[term.table]).ravel()

    moments = [
        *map(products, form.bilinear),
        *(2.0 * term.scale**2 * squares[term.table] for term in form.strengths),
        group_squares,
        np.ones(int(form.has_bias)),
    ]
    design = Design(form, tuple(table for _, table, _ in learned), len(group_squares))
    bases = tuple(feature_map.basis for feature_map, _, _ in learned)
    return Prepared(design, bases, np.concatenate(moments))


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
    loss = data.halved_loss
    order, came_from = arrange(pairs.first, pairs.second, pairs.n_objects)
    columns = group_columns(form, pairs)[came_from]
    chunk = PairChunk(order, columns, loss.take(came_from))
    ends = np.bincount(np.concatenate([pairs.first, pairs.second]), minlength=pairs.n_objects)
    squares = np.mean(columns**2, axis=0)
    prepared = prepare(form, pairs.objects, ends.astype(np.float64), squares)
    if options.say is not None:
        options.say(
            f"solver low_rank: {len(pairs)} pairs of {pairs.n_objects} objects,"
            f" {prepared.design.layout.size} parameters"
        )
    engine = Engine(chunk, prepared.design)
    tol = 0.9 * options.tol  # room for the last, exact look
    newton = NewtonOptions(tol, options.max_iter, first_width(loss), options.report)
    newton = replace(newton, start=start_from_sample(chunk, len(pairs), prepared, newton))
    outcome, certificate = minimise_and_certify(engine, prepared.moments, newton, options.tol)
    learned = prepared.bases, outcome.progress.parameters
    model = LowRankModel(data.kernel, form.parity, *learned, *widths, data.with_bias)
    return LowRankFit(model, certificate, outcome)


def _refuse_too_large(form: Form, pairs: Pairs, budget: Budget) -> None:
    """Refuse what does not fit, before any of it is made."""
    explicit = [kernel.explicit(pairs.objects[:1]) for kernel in form.kernels]
    widths = [0 if one is None or sp.issparse(one) else int(one.shape[1]) for one in explicit]
    parameters = sum(widths[term.table] ** 2 for term in form.bilinear)
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
    rough = NewtonOptions(max(10.0 * options.tol, 0.01), options.max_iter, options.width)
    outcome = minimise(Engine(sample, prepared.design), prepared.moments, rough)
    return replace(outcome.progress, n_iter=0, n_products=0, gap=np.inf, precision="float32")


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
    here = bounds(sums, progress.parameters, engine.layout.norm_counted(), outcome.least)
    bias = engine.layout.bias(progress.parameters)
    return Certificate(
        primal=here.primal,
        dual=-here.dual,
        gap=here.primal - here.dual,
        relative_gap=here.gap,
        violation=max(here.gap, 0.0) if np.isfinite(here.gap) else np.inf,
        **dict.fromkeys(("bias_low", "bias_high", "bias"), bias),
        n_support=sums.n_support,
        n_bounded=sums.n_bounded,
        tol=tol,
        measure="relative gap",
    )
