"""A fit on a cluster: survey, features of all objects, chunks, Newton's method, certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from pairity.distributed.checkpoint import read_checkpoint, write_checkpoint
from pairity.distributed.columns import Columns
from pairity.distributed.dataset import PairDataset
from pairity.distributed.engine import DaskEngine, hold_on
from pairity.distributed.survey import Facts, join_facts, survey_part
from pairity.distributed.work import load_chunk, make_chunk
from pairity.exceptions import DataError, KernelError
from pairity.kernels.algebra import Kernel
from pairity.losses.compact import LossRecipe
from pairity.lowrank.fit import (
    LowRankFit,
    Prepared,
    first_width,
    low_rank_model,
    minimise_and_certify,
    prepare,
    start_from_sample,
)
from pairity.lowrank.form import Form, group_columns, read_form
from pairity.lowrank.newton import NewtonOptions, Progress
from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.solvers.problem import SolverOptions

__all__ = ["Job", "Survey", "assemble", "survey", "train"]

#: Pairs, evenly spread over all parts, that come to this process: scales and landmarks of a kernel
#: are found on them, and parameters to start with.
_SAMPLE = 400_000


@dataclass(frozen=True)
class Survey:
    """A dataset that was read once and found sound."""

    data: PairDataset
    columns: Columns
    parts: list[Any]
    index: Any  # future of the pandas index of ids
    facts: Facts

    @property
    def sample(self) -> Pairs:
        """Some of the pairs, in this process."""
        pieces = self.facts.sample
        assert self.data.objects is not None
        return Pairs(
            self.data.objects,
            np.concatenate([piece.first for piece in pieces]),
            np.concatenate([piece.second for piece in pieces]),
            np.concatenate([piece.symmetric for piece in pieces]),
            np.concatenate([piece.antisymmetric for piece in pieces]),
            ids=self.data.ids,
        )

    def sampled_targets(self, signs: dict[Any, float] | None) -> Any:
        """Targets of the sample."""
        values = [piece.target for piece in self.facts.sample]
        mapped = values if signs is None else [value.map(signs) for value in values]
        return np.concatenate([value.to_numpy(dtype=np.float64) for value in mapped])


@dataclass(frozen=True)
class Job:
    """What is to be learned from a survey."""

    kernel: Kernel  # fitted, before its projection
    parity: Parity
    with_bias: bool
    recipe: LossRecipe
    signs: dict[Any, float] | None  # of labels
    factors: dict[float, float]  # on weights, by sign


def survey(
    data: PairDataset, client: Any, target: Any, weight: Any, *, odd: bool, numeric: bool
) -> Survey:
    """Read everything once; a file, row group or row that cannot be used stops here."""
    import pandas as pd
    from dask import delayed

    columns = data.with_target(target, weight)
    data = data.with_objects(client)
    parts = data.parts(client, columns)
    index = hold_on(client, pd.Index(data.ids).infer_objects())  # whole numbers are found faster
    look = delayed(survey_part, pure=False)
    share = -(-_SAMPLE // len(parts))
    futures = client.compute(
        [look(part, columns, index, share, odd=odd, numeric=numeric) for part in parts]
    )
    facts = join_facts(client.gather(futures))
    if not facts.n_counted:
        raise DataError("got no pair with a weight above 0; expected some.")
    return Survey(data, columns, parts, index, facts)


def assemble(found: Survey, client: Any, job: Job) -> tuple[Prepared, DaskEngine]:
    """Features of all objects, and chunks of pairs on the workers with what passes over them."""
    from dask import delayed

    sample = found.sample
    n_group = sample.n_symmetric, sample.n_antisymmetric
    form = read_form(job.kernel, job.parity, *n_group, with_bias=job.with_bias)
    _refuse_derived(form)
    squares = np.mean(group_columns(form, sample) ** 2, axis=0)
    prepared = prepare(form, sample.objects, found.facts.ends.astype(np.float64), squares)
    load = delayed(load_chunk, pure=False)
    what = form, job.recipe, job.signs, job.factors
    chunks = client.compute(
        [
            load(part, found.columns, found.index, *what, checksums)
            for part, checksums in zip(found.parts, found.facts.checksums, strict=True)
        ]
    )
    return prepared, DaskEngine(client, chunks, prepared.design)


def train(found: Survey, client: Any, job: Job, options: SolverOptions) -> LowRankFit:
    """Fit a low-rank model; ``options.tol`` is the relative duality gap allowed."""
    prepared, engine = assemble(found, client, job)
    if options.say is not None:
        options.say(
            f"low rank on {len(client.nthreads())} workers: {found.facts.n_pairs} pairs of"
            f" {prepared.design.n_objects} objects in {len(found.parts)} parts,"
            f" {engine.layout.size} parameters"
        )
    run = found.data.run
    fingerprint = _fingerprint(found, job, prepared)
    start = None
    if run.resume and run.checkpoint is not None:
        start = read_checkpoint(run.checkpoint, fingerprint)
    targets = found.sampled_targets(job.signs)
    newton = NewtonOptions(
        tol=0.9 * options.tol,  # room for the last, exact look
        max_iter=options.max_iter,
        width=first_width(job.recipe.of(targets, np.ones(len(targets)))),
        report=options.report,
        observe=_checkpoints(found.data, fingerprint),
        start=start,
    )
    if start is None:
        some = make_chunk(
            found.facts.sample,
            prepared.design.n_objects,
            prepared.form,
            job.recipe,
            job.signs,
            job.factors,
        )
        counted = found.facts.n_counted
        newton = replace(newton, start=start_from_sample(some, counted, prepared, newton))
    outcome, certificate = minimise_and_certify(engine, prepared.moments, newton, options.tol)
    columns = found.columns
    n_group = len(columns.symmetric), len(columns.antisymmetric)
    model = low_rank_model(
        job.kernel, prepared, outcome.progress.parameters, n_group, job.with_bias
    )
    return LowRankFit(model, certificate, outcome)


def _checkpoints(data: PairDataset, fingerprint: str) -> Callable[[Progress], object] | None:
    run = data.run
    if run.checkpoint is None:
        return None
    path = run.checkpoint

    def observe(progress: Progress) -> None:
        if progress.n_iter % run.every == 0:
            write_checkpoint(path, progress, fingerprint)

    return observe


def _fingerprint(found: Survey, job: Job, prepared: Prepared) -> str:
    """What a checkpoint must agree in: pairs, objects, features and losses.

    Pairs by their contents, whatever the parts and the times of the files: a checkpoint outlives them.
    """
    digest = hashlib.sha256()
    for checksum in chain.from_iterable(found.facts.checksums):
        digest.update(checksum.encode())
    signs = sorted((job.signs or {}).items(), key=repr)
    described = (found.columns, job.recipe, job.parity, job.with_bias, job.factors, signs)
    digest.update(repr(described).encode())
    for table in prepared.design.tables:
        arrays = (
            [table] if isinstance(table, np.ndarray) else [table.data, table.indices, table.indptr]
        )
        for values in arrays:
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _refuse_derived(form: Form) -> None:
    for group in form.groups:
        for factor in group.factors:
            if factor.role == "derived":
                raise KernelError(
                    "got a kernel of derived features with a PairDataset; expected kernels of objects"
                    " and of group features: leave Derived out, or write the features into the table."
                )
