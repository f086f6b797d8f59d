"""Fits on pairs that stay on a cluster: the same estimators, low-rank models only.

Survey (a first pass over all pairs, before anything is trained: what is there, and whether it is
sound), features of all objects, chunks, Newton's method, certificate.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from pairity.distributed.cluster import compute_each, hold_on, read_checkpoint, write_checkpoint
from pairity.distributed.dataset import PairDataset, RunOptions
from pairity.distributed.parts import Columns, Encoded, Part, encode
from pairity.distributed.passes_on_workers import DaskEngine, load_chunk, make_chunk
from pairity.estimators.kernel_machines import PairLogistic, PairSVC, PairSVR
from pairity.estimators.machine import PairMachine
from pairity.estimators.ridge import PairRidge
from pairity.exceptions import DataError, KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.classes import project
from pairity.kernels.standardized import as_kernel, fitted_kernel
from pairity.losses.piecewise import LossRecipe
from pairity.pairs.data import Pairs
from pairity.pairs.parity import SYMMETRIES, Parity, halved_weight
from pairity.solvers.choices import LowRank, Solver, as_solver
from pairity.solvers.low_rank.form import group_columns, read_form
from pairity.solvers.low_rank.function import LowRankModel
from pairity.solvers.low_rank.low_rank_fit import (
    LowRankFit,
    Prepared,
    first_width,
    minimise_and_certify,
    prepare,
    start_from_sample,
)
from pairity.solvers.low_rank.minimise import NewtonOptions, Progress
from pairity.solvers.problem import SolverOptions
from pairity.training.fit import of_low_rank
from pairity.training.labels import BinaryLabels, read_labels
from pairity.training.read import class_factors

Machine = TypeVar("Machine", bound=PairMachine)

#: Distinct labels that are counted; more than this are numbers.
_MOST_LABELS = 16
#: Pairs, evenly spread over all parts, that come to this process: scales and landmarks of a kernel
#: are found on them, and parameters to start with.
_SAMPLE = 400_000


def fit(
    model: Machine, dataset: PairDataset, target: str, sample_weight: str | None = None
) -> Machine:
    """Fit an estimator to pairs that stay on a cluster, as a low-rank model; return it.

    Only sums over pairs and features of objects travel: the fit is that of the same estimator with
    ``solver="low_rank"`` on the same pairs in one process.

    Parameters
    ----------
    model : PairSVC, PairLogistic, PairSVR or PairRidge
        With a symmetry, ``solver`` "auto" or "low_rank", and a kernel of few object features such as
        ``Nystroem("gaussian", 256)``.
    dataset : PairDataset
        The pairs.
    target : str
        The column of labels, or of numbers.
    sample_weight : str, optional
        The column of weights.
    """
    model._check_parameters()
    parity = _checked_parity(model)
    numeric, with_bias = not is_classifier(model), model._has_bias
    with dataset.client() as client:
        odd = parity is Parity.ODD and not numeric
        facts = survey(dataset, client, target, sample_weight, odd=odd, numeric=numeric)
        signs, factors = (None, {}) if numeric else _read_labels(model, facts, parity)
        sample = facts.sample
        kernel = fitted_kernel(
            as_kernel(model.kernel).detached(), sample, parity, has_bias=with_bias
        )
        project(kernel, parity, sample)  # refuses what has no such parity
        if isinstance(model, PairRidge):
            model.alpha_ = float(model.alpha)
        recipe = model._recipe()
        halved = replace(recipe, strength=halved_weight(parity) * recipe.strength)
        job = Job(kernel, parity, with_bias, halved, signs, factors)
        # how the estimator would fit a low-rank model in one process
        how = clone(model).set_params(solver=LowRank())._how_to_fit(0)
        result = train(facts, client, job, how.options)
    model.feature_widths_ = sample.n_object_features, sample.n_symmetric, sample.n_antisymmetric
    model.n_features_in_ = sample.shape[1]
    fitted = of_low_rank(result, kernel, sample.objects)
    return model._keep(None, fitted, how)  # rows are counted where they are


def _checked_parity(model: Any) -> Parity:
    """The parity of a model that can be fitted on a cluster; others are refused."""
    parity = SYMMETRIES[model.symmetry]
    if not isinstance(model, PairSVC | PairSVR | PairLogistic | PairRidge):
        raise ValueError(
            f"got {type(model).__name__}; expected PairSVC, PairSVR, PairLogistic or PairRidge, which"
            " have low-rank models."
        )
    solver = as_solver(model.solver, model._solvers)
    if parity is None or type(solver) not in (Solver, LowRank):
        raise ValueError(
            f"got symmetry={model.symmetry!r} and solver={model.solver!r} with a PairDataset;"
            " expected a symmetry and solver='auto' or 'low_rank', the one that runs on a cluster."
        )
    if model.callback is not None:
        raise ValueError(
            "got a callback with a PairDataset; expected none: verbose=True shows every step."
        )
    if isinstance(model, PairRidge) and model._leaves_out:
        raise ValueError(
            "got alphas or leave_one_out with a PairDataset; expected one alpha: choose it on a"
            " sample of the pairs."
        )
    return parity


def _read_labels(
    machine: Any, surveyed: Survey, parity: Parity
) -> tuple[dict[Any, float], dict[float, float]]:
    """Signs of the labels, and factors on weights by sign; ``classes_`` is set."""
    counts, choose = surveyed.facts.labels, surveyed.data.label_choice
    chosen = {label: label for label in counts} if choose is None else choose(counts)
    values = np.array([chosen[label] for label in counts])
    labels = read_labels(values, len(values), parity, machine.positive)
    machine.classes_ = labels.classes
    signs = {label: float(sign) for label, sign in zip(counts, labels.signs, strict=True)}
    wanted = machine.class_weight
    if wanted is None:
        return signs, {}
    if wanted == "balanced":
        if parity is Parity.ODD:  # a full antisymmetric set is balanced by itself
            return signs, {}
        totals: Counter[float] = Counter()
        for label, count in counts.items():
            totals[signs[label]] += count
        return signs, {sign: totals.total() / (2.0 * count) for sign, count in totals.items()}
    both = BinaryLabels(labels.classes, np.array([-1.0, 1.0]))
    factors = class_factors(wanted, both, parity)
    return signs, {-1.0: float(factors[0]), 1.0: float(factors[1])}


@dataclass(frozen=True)
class Job:
    """What is to be learned from a survey."""

    kernel: Kernel  # fitted, before its projection
    parity: Parity
    with_bias: bool
    recipe: LossRecipe
    signs: dict[Any, float] | None  # of labels
    factors: dict[float, float]  # on weights, by sign


def assemble(surveyed: Survey, client: Any, job: Job) -> tuple[Prepared, DaskEngine]:
    """Features of all objects, and chunks of pairs on the workers with what passes over them."""
    sample = surveyed.sample
    n_group = sample.n_symmetric, sample.n_antisymmetric
    form = read_form(job.kernel, job.parity, *n_group, with_bias=job.with_bias)
    if any(factor.role == "derived" for group in form.groups for factor in group.factors):
        raise KernelError(
            "got a kernel of derived features with a PairDataset; expected kernels of objects and of"
            " group features: leave Derived out, or write the features into the table."
        )
    squares = np.mean(group_columns(form, sample) ** 2, axis=0)
    prepared = prepare(form, sample.objects, surveyed.facts.ends.astype(np.float64), squares)
    what = surveyed.columns, surveyed.index, form, job.recipe, job.signs, job.factors
    calls = [
        (part, *what, checksums)
        for part, checksums in zip(surveyed.parts, surveyed.facts.checksums, strict=True)
    ]
    chunks = compute_each(client, load_chunk, calls)
    return prepared, DaskEngine(client, chunks, prepared.design)


def train(surveyed: Survey, client: Any, job: Job, options: SolverOptions) -> LowRankFit:
    """Fit a low-rank model; ``options.tol`` is the relative duality gap allowed."""
    prepared, engine = assemble(surveyed, client, job)
    if options.say is not None:
        options.say(
            f"low rank on {len(client.nthreads())} workers: {surveyed.facts.n_pairs} pairs of"
            f" {prepared.design.n_objects} objects in {len(surveyed.parts)} parts,"
            f" {engine.layout.size} parameters"
        )
    run = surveyed.data.run
    fingerprint = _fingerprint(surveyed, job, prepared)
    start = None
    if run.resume and run.checkpoint is not None:
        start = read_checkpoint(run.checkpoint, fingerprint)
    targets = surveyed.sampled_targets(job.signs)
    newton = NewtonOptions(
        tol=0.9 * options.tol,  # room for the last, exact look
        max_iter=options.max_iter,
        width=first_width(job.recipe.of(targets, np.ones(len(targets)))),
        report=options.report,
        observe=_checkpoints(run, fingerprint),
        start=start,
    )
    if start is None:
        what = prepared.design.form, job.recipe, job.signs, job.factors
        some = make_chunk(surveyed.facts.sample, prepared.design.n_objects, *what)
        begin = start_from_sample(some, surveyed.facts.n_counted, prepared, newton)
        newton = replace(newton, start=begin)
    outcome, certificate = minimise_and_certify(engine, prepared.moments, newton, options.tol)
    n_group = len(surveyed.columns.symmetric), len(surveyed.columns.antisymmetric)
    learned = prepared.bases, outcome.progress.parameters
    model = LowRankModel(job.kernel, job.parity, *learned, *n_group, job.with_bias)
    return LowRankFit(model, certificate, outcome)


def _checkpoints(run: RunOptions, fingerprint: str) -> Callable[[Progress], object] | None:
    path = run.checkpoint
    if path is None:
        return None

    def observe(progress: Progress) -> None:
        if progress.n_iter % run.every == 0:
            write_checkpoint(path, progress, fingerprint)

    return observe


def _fingerprint(surveyed: Survey, job: Job, prepared: Prepared) -> str:
    """What a checkpoint must agree in: pairs, objects, features and losses.

    Pairs by their contents, whatever the parts and the times of the files: a checkpoint outlives them.
    """
    digest = hashlib.sha256()
    for checksum in chain.from_iterable(surveyed.facts.checksums):
        digest.update(checksum.encode())
    signs = sorted((job.signs or {}).items(), key=repr)
    described = (surveyed.columns, job.recipe, job.parity, job.with_bias, job.factors, signs)
    digest.update(repr(described).encode())
    for table in prepared.design.tables:
        parts = ("data", "indices", "indptr") if sp.issparse(table) else ()
        for values in [getattr(table, part) for part in parts] or [table]:
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


# Survey -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Facts:
    """What a survey finds in some parts.

    ``sample`` are some of the pairs, evenly spread; ``checksums`` are those of the pieces, part by part.
    """

    n_pairs: int
    n_counted: int  # with a weight above 0
    ends: NDArray[np.int64]  # how often each object is an end of a pair
    labels: Counter[Any]
    sample: tuple[Encoded, ...]
    checksums: tuple[tuple[str, ...], ...]


def survey_part(
    part: Part, columns: Columns, index: Any, n_sample: int, *, odd: bool, numeric: bool
) -> Facts:
    """Read a part, check it, and count."""
    n_pairs = n_counted = 0
    ends = np.zeros(len(index), dtype=np.int64)
    labels: Counter[Any] = Counter()
    pieces: list[Encoded] = []
    checksums: list[str] = []
    for piece in encode(part, columns, index, odd=odd):
        n = len(piece.first)
        n_pairs += n
        n_counted += n if piece.weight is None else int(np.count_nonzero(piece.weight))
        for side in (piece.first, piece.second):
            ends += np.bincount(side, minlength=len(index))
        if numeric:
            _refuse_no_numbers(piece, part.name)
        elif columns.target is not None:
            labels.update(piece.target.value_counts().to_dict())
            if len(labels) > _MOST_LABELS:
                raise DataError(
                    f"got more than {_MOST_LABELS} different labels in {part.name}; expected two:"
                    " numbers are for PairRidge or PairSVR."
                )
        pieces.append(piece.some(n_sample))
        checksums.append(piece.checksum())
    share = -(-n_sample // max(1, len(pieces)))
    sample = tuple(piece.some(share) for piece in pieces)
    return Facts(n_pairs, n_counted, ends, labels, sample, (tuple(checksums),))


def join_facts(facts: list[Facts]) -> Facts:
    """Facts of several parts together."""
    return Facts(
        sum(one.n_pairs for one in facts),
        sum(one.n_counted for one in facts),
        np.sum([one.ends for one in facts], axis=0),
        sum((one.labels for one in facts), Counter()),
        tuple(piece for one in facts for piece in one.sample),
        tuple(part for one in facts for part in one.checksums),
    )


def _refuse_no_numbers(piece: Encoded, place: str) -> None:
    try:
        sound = np.isfinite(piece.target.to_numpy(dtype=np.float64)).all()
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise DataError(
            f"got targets in {place} that are no finite numbers; expected numbers for a regression."
        )


@dataclass(frozen=True)
class Survey:
    """A dataset that was read once and found sound."""

    data: PairDataset
    columns: Columns
    parts: list[Any]
    index: Any  # future of the pandas index of ids
    facts: Facts

    @cached_property
    def sample(self) -> Pairs:
        """Some of the pairs, in this process."""
        pieces = self.facts.sample
        assert self.data.objects is not None
        return Pairs(
            self.data.objects,
            *(
                np.concatenate([getattr(piece, name) for piece in pieces])
                for name in ("first", "second", "symmetric", "antisymmetric")
            ),
            ids=self.data.ids,
        )

    def sampled_targets(self, signs: dict[Any, float] | None) -> Any:
        """Targets of the sample."""
        values = [piece.target for piece in self.facts.sample]
        mapped = values if signs is None else [value.map(signs) for value in values]
        return np.concatenate([value.to_numpy(dtype=np.float64) for value in mapped])


def survey(
    data: PairDataset, client: Any, target: Any, weight: Any, *, odd: bool, numeric: bool
) -> Survey:
    """Read everything once; a file, row group or row that cannot be used stops here."""
    import pandas as pd

    columns = data.with_target(target, weight)
    data = data.with_objects(client)
    parts = data.parts(client, columns)
    index = hold_on(client, pd.Index(data.ids).infer_objects())  # whole numbers are found faster
    look = partial(survey_part, odd=odd, numeric=numeric)
    share = -(-_SAMPLE // len(parts))
    calls = [(part, columns, index, share) for part in parts]
    facts = join_facts(client.gather(compute_each(client, look, calls)))
    if not facts.n_counted:
        raise DataError("got no pair with a weight above 0; expected some.")
    return Survey(data, columns, parts, index, facts)
