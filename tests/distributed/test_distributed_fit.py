"""Fits on a cluster against fits in this process."""

from dataclasses import astuple

import numpy as np
import pytest

from pairity import PairLogistic, PairRidge, Pairs, PairSVC, PairSVR, distributed
from pairity.exceptions import ConvergenceWarning, KernelError
from pairity.kernels import Additive, Gaussian, Linear, Nystroem, Product

KERNEL = Product(Nystroem(Gaussian(2.0), 10)) + Linear()

LEARNERS = [
    (PairSVC, {"C": 0.05}, "label"),
    (PairLogistic, {"C": 0.05}, "label"),
    (PairSVR, {"C": 0.05, "epsilon": 0.1}, "value"),
    (PairRidge, {"alpha": 0.5, "fit_intercept": True}, "value"),
]


def values(model, pairs):
    return model._model.decisions(pairs)


@pytest.mark.parametrize(("learner", "options", "target"), LEARNERS)
def test_the_model_is_that_of_one_process(client, problem, learner, options, target):
    """Each learner and each symmetry with weights and without, one of them in each fit."""
    weighted = (learner in (PairSVC, PairSVR)) == (problem.symmetry == "symmetric")
    pairs = problem.in_memory()
    kernel = KERNEL.fitted_to(pairs)
    options = {"symmetry": problem.symmetry, "kernel": kernel, "tol": 1e-3, **options}
    weight = "weight" if weighted else None
    far = distributed.fit(learner(**options), problem.dataset(client), target, weight)
    near = learner(solver="low_rank", **options).fit(
        pairs, problem.pairs[target], None if weight is None else problem.pairs[weight]
    )
    assert far.certificate_.holds
    assert far.certificate_.tol == 1e-3
    # both are within the gap of the same optimum, so that |w - w*|^2 / 2 <= gap for each
    gap = far.certificate_.gap + near.certificate_.gap
    lower = max(-far.certificate_.dual, -near.certificate_.dual)
    assert far.certificate_.primal - lower <= far.certificate_.gap + 1e-9 * abs(lower)
    norm = np.sqrt(kernel.diagonal(pairs)).max()
    apart = np.abs(values(far, pairs) - values(near, pairs) - far.intercept_ + near.intercept_)
    assert apart.max() <= norm * 2.0 * np.sqrt(2.0 * gap)
    assert far.feature_widths_ == near.feature_widths_
    # shares of sums over objects, up to rounding: products may depend on where tables lie in memory
    lost = [[astuple(error) for error in model.approximation_] for model in (far, near)]
    assert lost[0] == [pytest.approx(error, rel=1e-12) for error in lost[1]]


def test_the_swap_law_holds_bit_for_bit(client, problem):
    model = distributed.fit(
        PairLogistic(problem.symmetry, kernel=KERNEL, C=0.05), problem.dataset(client), "label"
    )
    pairs = problem.in_memory()
    sign = 1.0 if problem.symmetry == "symmetric" else -1.0
    assert (model.decision_function(pairs.swap()) == sign * model.decision_function(pairs)).all()
    assert set(model.predict(pairs)) <= {"yes", "no"}
    assert list(model.classes_) == ["no", "yes"]


def test_kernels_are_fitted_to_a_sample_of_the_pairs(client, problem):
    model = PairLogistic(problem.symmetry, kernel=Nystroem("product", 15) + Linear())
    distributed.fit(model, problem.dataset(client), "label")
    (error,) = model.approximation_
    assert error.n_components == 15
    assert 0.0 < error.share < 1.0
    assert model.score(problem.in_memory(), problem.pairs["label"]) > 0.7


def test_the_sample_is_made_once(client, odd_problem, monkeypatch):
    made = []

    def counted(*args, **options):
        made.append(1)
        return Pairs(*args, **options)

    monkeypatch.setattr("pairity.distributed.train.Pairs", counted)
    model = PairLogistic(odd_problem.symmetry, kernel=Linear())
    distributed.fit(model, odd_problem.dataset(client), "label")
    assert len(made) == 1


def test_a_dask_frame_is_as_good_as_files(client, odd_problem):
    import dask.dataframe as dd

    from pairity.distributed import PairDataset

    kernel = KERNEL.fitted_to(odd_problem.in_memory())
    options = {"symmetry": "antisymmetric", "kernel": kernel, "tol": 1e-4}
    files = distributed.fit(PairLogistic(**options), odd_problem.dataset(client), "label")
    frame = dd.from_pandas(odd_problem.pairs, npartitions=4)
    data = PairDataset.from_dask(
        frame, first="a", second="b", objects=odd_problem.objects, antisymmetric=["g"]
    )
    frames = distributed.fit(PairLogistic(**options), data.using(client), "label")
    pairs = odd_problem.in_memory()
    np.testing.assert_allclose(
        frames.decision_function(pairs), files.decision_function(pairs), atol=1e-4
    )


def test_objects_known_by_their_ids_are_bradley_terry(client, odd_problem):
    from pairity.distributed import PairDataset

    data = PairDataset.from_parquet(odd_problem.folder, first="a", second="b")
    kernel = Additive(Linear())
    far = distributed.fit(
        PairLogistic("antisymmetric", kernel=kernel, tol=1e-8), data.using(client), "label"
    )
    pairs = Pairs.from_frame(odd_problem.pairs, first="a", second="b")
    near = PairLogistic("antisymmetric", kernel=kernel, tol=1e-8).fit(
        pairs, odd_problem.pairs["label"]
    )
    np.testing.assert_allclose(
        far.decision_function(pairs), near.decision_function(pairs), atol=1e-4
    )


@pytest.mark.parametrize("class_weight", ["balanced", {"no": 1.0, "yes": 3.0}])
def test_class_weights(client, tmp_path, class_weight):
    from tests.distributed.conftest import Problem

    problem = Problem(tmp_path, "symmetric")
    problem.pairs["label"] = np.where(problem.pairs["value"] > 0.8, "yes", "no")
    problem.write()
    kernel = KERNEL.fitted_to(problem.in_memory())
    options = {"symmetry": "symmetric", "kernel": kernel, "class_weight": class_weight, "tol": 1e-5}
    far = distributed.fit(PairLogistic(**options), problem.dataset(client), "label")
    near = PairLogistic(**options).fit(problem.in_memory(), problem.pairs["label"])
    assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=3e-5)


def test_a_local_cluster_is_started_where_none_is_given(odd_problem, threads, forked):
    threads(1)  # as many workers
    model = distributed.fit(
        PairRidge("antisymmetric", kernel=KERNEL), odd_problem.dataset(), "value"
    )
    assert model.certificate_.holds


def test_too_few_steps_are_not_silent(client, odd_problem):
    model = PairSVC("antisymmetric", kernel=KERNEL, max_iter=1, tol=1e-6)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps used up"):
        distributed.fit(model, odd_problem.dataset(client), "label")


@pytest.mark.parametrize(
    ("model", "target", "message"),
    [
        (PairSVC("none"), "label", "expected a symmetry"),
        (PairSVC("antisymmetric", solver="smo"), "label", "solver='smo' with a PairDataset"),
        (PairSVC("antisymmetric", callback=print), "label", "got a callback"),
        (PairSVC("antisymmetric"), None, "got no y"),
        (PairSVC("antisymmetric"), np.ones(3), "expected the name of one of its columns"),
        (PairSVC("antisymmetric"), "nonsense", "got no column 'nonsense' in .*0.parquet"),
        (PairRidge("antisymmetric"), "label", "no finite numbers"),
        (PairSVC("antisymmetric"), "value", "more than 16 different labels"),
        (PairSVC("antisymmetric"), "weight", "Only binary classification"),
        (PairRidge("antisymmetric", alphas=[1.0]), "value", "expected one alpha"),
    ],
)
def test_what_does_not_go_is_refused(client, odd_problem, model, target, message):
    with pytest.raises(ValueError, match=message):
        distributed.fit(model, odd_problem.dataset(client), target)


def test_kernels_without_features_say_what_to_do(client, odd_problem):
    model = PairSVC("antisymmetric", kernel=Product(Gaussian(1.0)))
    with pytest.raises(KernelError, match=r"as Nystroem\(kernel, 256\)"):
        distributed.fit(model, odd_problem.dataset(client), "label")
