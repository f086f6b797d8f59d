"""Bad input is refused at the door: got, expected, what to do (CONTRACT.md, 4.5)."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import cases
from pairity import (
    CalibratedPairClassifier,
    PairLogistic,
    PairLogisticCV,
    PairRidge,
    Pairs,
    PairSVC,
    PairSVCCV,
    PairSVR,
)
from pairity.exceptions import (
    ConvergenceWarning,
    DoubledRowsWarning,
    KernelError,
    PairityWarning,
)
from pairity.kernels import (
    Balanced,
    Bilinear,
    Callable,
    DirectSum,
    Gaussian,
    Linear,
    OrderInvariant,
    Polynomial,
    Precomputed,
    Product,
    SkewBalanced,
    Tensor,
)
from pairity.solvers import SMO, ConjugateGradients, Newton, Splitting

BOTH = ["symmetric", "antisymmetric"]
N = 20


def data(widths=cases.WIDTHS):
    return cases.random_pairs(81, n=N, m=9, widths=widths), cases.random_labels(81, N)


# Features, indices, lengths ---------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_that_are_not_finite(bad, make):
    pairs, y = data(widths=(2, 0, 0))
    rows = pairs.to_rows()
    rows[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        PairSVC("symmetric").fit(make(rows), y)
    model = PairSVC("symmetric").fit(pairs, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(make(rows))


def test_rows_of_odd_width():
    _, y = data()
    message = r"got rows with n_features=5, n_symmetric=0 .*two objects need the same number"
    with pytest.raises(ValueError, match=message):
        PairSVC("symmetric").fit(np.ones((N, 5)), y)


def test_labels_of_another_length():
    pairs, y = data()
    with pytest.raises(ValueError, match="got 19 labels for 20 pairs; expected one per pair"):
        PairSVC("symmetric").fit(pairs, y[:-1])


def test_no_labels():
    pairs, _ = data()
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        PairSVC("symmetric").fit(pairs, None)


def test_no_pairs():
    pairs, y = data()
    with pytest.raises(ValueError, match="got 0 pairs; expected at least one"):
        PairSVC("symmetric").fit(pairs[:0], y[:0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_labels_that_are_not_finite(bad):
    pairs, y = data()
    labels = y.astype(float)
    labels[0] = bad
    with pytest.raises(ValueError, match="got NaN or infinity in y"):
        PairSVC("symmetric").fit(pairs, labels)


def test_labels_that_are_numbers_on_a_scale():
    pairs, _ = data()
    with pytest.raises(ValueError, match=r"[Uu]nknown label type|continuous"):
        PairSVC("symmetric").fit(pairs, np.linspace(0.0, 1.0, N))


def test_three_classes():
    pairs, y = data()
    labels = y.copy()
    labels[3] = 0
    with pytest.raises(ValueError, match=r"Only binary .*got 3 labels \[-1, 0, 1\].*Draws"):
        PairSVC("antisymmetric").fit(pairs, labels)


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
def test_one_class(symmetry):
    pairs, _ = data()
    with pytest.raises(ValueError, match=r"got one class only, .*expected pairs of two classes"):
        PairSVC(symmetry).fit(pairs, np.ones(N, dtype=int))


def test_another_number_of_features_than_in_fit():
    pairs, y = data()
    model = PairSVC("symmetric").fit(pairs, y)
    message = r"got pairs with \(3, 0, 0\) object, symmetric and antisymmetric features; expected"
    with pytest.raises(ValueError, match=message):
        model.predict(cases.random_pairs(82, widths=(3, 0, 0)))


def test_predict_before_fit():
    with pytest.raises(NotFittedError):
        PairSVC("symmetric").predict(data()[0])


# Weights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(N - 1), r"sample_weight.shape == \(19,\), expected \(20,\)"),
        (np.ones((N, 1)), r"sample_weight.shape == \(20, 1\), expected \(20,\)"),
        (np.full(N, -1.0), "negative or non-finite sample weights"),
        (np.full(N, np.nan), "negative or non-finite sample weights"),
        (np.full(N, np.inf), "negative or non-finite sample weights"),
        (np.zeros(N), "sample weights that are all zero"),
    ],
    ids=["short", "2-D", "negative", "nan", "infinite", "zero"],
)
def test_weights(weights, message):
    pairs, y = data()
    with pytest.raises(ValueError, match=message):
        PairSVC("symmetric").fit(pairs, y, sample_weight=weights)


def test_unequal_class_weights_in_the_antisymmetric_case():
    pairs, y = data()
    message = r"for an antisymmetric model; expected equal weights: .*\(Lemma 1\).*sample_weight"
    with pytest.raises(ValueError, match=message):
        PairSVC("antisymmetric", class_weight={-1: 1.0, 1: 3.0}).fit(pairs, y)


# Pairs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_an_object_with_itself_in_antisymmetric_training(training_set):
    pairs = Pairs(np.eye(3), [0, 1, 2], [1, 1, 0])
    message = r"got row 1 that pairs an object with itself \(1 such rows\).*drop these rows"
    with pytest.raises(ValueError, match=message):
        PairSVC("antisymmetric", training_set=training_set).fit(pairs, [1, -1, 1])


def test_equal_halves_of_a_row_in_antisymmetric_training():
    rows = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match="got row 1 that pairs an object with itself"):
        PairSVC("antisymmetric").fit(rows, [1, -1])


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("as_rows", [False, True])
def test_doubled_rows_draw_a_warning_that_says_how_to_undo_it(symmetry, as_rows):
    pairs, y = data()
    sign = 1 if symmetry == "symmetric" else -1
    doubled, labels = pairs.with_mirrored(), np.concatenate([y, sign * y])
    order = np.random.default_rng(1).permutation(2 * N)
    given = doubled[order].to_rows() if as_rows else doubled[order]
    model = PairSVC(symmetry, n_symmetric=2, n_antisymmetric=2)
    with pytest.warns(DoubledRowsWarning, match=r"mirror image.*Keep one") as record:
        model.fit(given, labels[order])
    assert record[0].filename == __file__


@pytest.mark.parametrize("symmetry", BOTH)
def test_undoing_it_as_told_gives_the_model_of_the_single_rows(symmetry):
    pairs, y = data()
    pairs = Pairs(  # one order for each row, so that first < second picks exactly these
        pairs.objects,
        np.minimum(pairs.first, pairs.second),
        np.maximum(pairs.first, pairs.second),
        pairs.symmetric,
        pairs.antisymmetric,
    )
    sign = 1 if symmetry == "symmetric" else -1
    doubled, labels = pairs.with_mirrored(), np.concatenate([y, sign * y])
    keep = doubled.first < doubled.second
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        undone = PairSVC(symmetry).fit(doubled[keep], labels[keep])
    plain = PairSVC(symmetry).fit(pairs, y)
    assert np.array_equal(undone.dual_coef_, plain.dual_coef_)


@pytest.mark.parametrize("symmetry", BOTH)
def test_repeated_and_contradicting_observations_are_data(symmetry):
    """a beats b on Monday, b beats a on Tuesday, and again."""
    objects = np.random.default_rng(2).normal(size=(3, 2))
    pairs = Pairs(objects, [0, 1, 0, 2, 0], [1, 0, 1, 1, 2])
    labels = [1, 1, 1, -1, -1] if symmetry == "antisymmetric" else [1, -1, 1, -1, -1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PairSVC(symmetry).fit(pairs, labels)


def test_doubled_rows_are_fine_without_a_symmetry():
    pairs, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PairSVC("none").fit(pairs.with_mirrored(), np.concatenate([y, -y]))


# Kernels ----------------------------------------------------------------------------------------


def negated(X, Z):
    return -np.asarray(X @ Z.T)


def lopsided(X, Z):
    return np.asarray(X @ Z.T) + X[:, :1]


def not_a_number(X, Z):
    return np.full((len(X), len(Z)), np.nan)


def flat(X, Z):
    return np.zeros(len(X))


KERNELS = {
    "balanced": (Tensor(Gaussian()), "antisymmetric", "its odd part is zero; .*such as Gaussian"),
    "even k3": (DirectSum(Linear(), k3=Polynomial(2)), "antisymmetric", "its odd part is zero"),
    "skew": (SkewBalanced(Gaussian()), "symmetric", "its even part is zero; .*Tensor"),
    "odd k3": (DirectSum(Linear(), k3=Linear()), "symmetric", "its even part is zero; .*even k3"),
    "projected": (Balanced(Linear()), "antisymmetric", "its odd part is zero"),
    "K_P": (Bilinear(cases.tridiagonal()), "symmetric", r"not order-invariant .*OrderInvariant\("),
    "K_P odd": (Bilinear(cases.tridiagonal()), "antisymmetric", "not order-invariant"),
    "size of P": (Bilinear(np.eye(4)), "symmetric", "pairs with 8 features for P of size 4"),
    "not PSD": (Callable(negated), "symmetric", "eigenvalue -.*positive semi-definite"),
    "not symmetric": (Callable(lopsided), "symmetric", "expected a symmetric kernel"),
    "NaN": (Callable(not_a_number), "symmetric", "NaN or infinite values from the kernel"),
    "shape": (Callable(flat), "symmetric", "expected one value per pair of rows"),
    "not PSD on objects": (DirectSum(Callable(negated)), "none", "eigenvalue -.*positive"),
    "k2 without features": (DirectSum(Linear(), k2=Linear()), "symmetric", "without symmetric"),
    "wrong parity declared": (
        DirectSum(Linear(), k3=Callable(cases.rows_dot, reflection="even")),
        "symmetric",
        r"declared even \(9\) .*off by",
    ),
    "name": ("rbf", "symmetric", "got kernel='rbf'; expected"),
    "columns": (Precomputed(np.eye(9)), "symmetric", "expected one column, the row number"),
}


@pytest.mark.parametrize(("kernel", "symmetry", "message"), KERNELS.values(), ids=KERNELS.keys())
def test_kernels_that_cannot_serve(kernel, symmetry, message):
    no_group = isinstance(kernel, DirectSum) and kernel.k2 is not None
    pairs, y = data(widths=(2, 0, 2) if no_group else cases.WIDTHS)
    with pytest.raises(KernelError, match=message):
        PairSVC(symmetry, kernel=kernel).fit(pairs, y)


def test_precomputed_matrix_that_is_not_psd():
    matrix = np.eye(9)
    matrix[0, 1] = matrix[1, 0] = 2.0
    pairs, y = data()
    numbered = Pairs(np.arange(9)[:, None], pairs.first, pairs.second)
    with pytest.raises(KernelError, match=r"eigenvalue -.*positive semi-definite"):
        PairSVC("symmetric", kernel=Precomputed(matrix)).fit(numbered, y)


@pytest.mark.parametrize("degree", [1001, 10**30])
def test_degrees_that_no_features_survive(degree):
    with pytest.raises(KernelError, match="expected a whole number from 1 to 1000"):
        Polynomial(degree)


@pytest.mark.parametrize("kernel", [Product(Polynomial(900)), Polynomial(900)], ids=repr)
@pytest.mark.parametrize("symmetry", BOTH)
def test_values_that_overflow(kernel, symmetry):
    pairs, y = data(widths=(2, 0, 0))
    pairs = Pairs(3.0 * pairs.objects, pairs.first, pairs.second)
    model = PairSVC(symmetry, kernel=kernel)
    with pytest.raises(KernelError, match=r"values of size.*lower a degree"):
        model.fit(pairs, y)
    with pytest.raises(NotFittedError):
        model.predict(pairs)


def test_kernel_parameters_set_later_are_checked_again():
    pairs, y = data()
    model = PairSVC("symmetric", kernel=Gaussian(1.0)).set_params(kernel__sigma=-1.0)
    with pytest.raises(ValueError, match=r"got sigma=-1.0; expected a finite number above 0"):
        model.fit(pairs, y)


# Parameters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"symmetry": "odd"},
        {"symmetry": None},
        {"training_set": "half"},
        {"solver": "newton"},
        {"C": 0.0},
        {"C": -1.0},
        {"C": "1"},
        {"C": np.nan},
        {"tol": 0.0},
        {"max_iter": 0},
        {"max_iter": -2},
        {"memory_limit": 0.0},
    ],
    ids=str,
)
def test_parameters_out_of_range(parameters):
    pairs, y = data()
    (name,) = parameters
    with pytest.raises(ValueError, match=rf"got {name}=.*; expected"):
        PairSVC(**{"symmetry": "symmetric"} | parameters).fit(pairs, y)


@pytest.mark.parametrize(
    ("solver", "parameters"),
    [
        (SMO, {"selection": "third_order"}),
        (SMO, {"iterates": "mirror"}),
        (SMO, {"cache_size": -5.0}),
        (Splitting, {"precision": "single"}),
    ],
)
def test_options_of_solvers_out_of_range(solver, parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=rf"got {name}=.*; expected"):
        solver(**parameters)


@pytest.mark.parametrize("solver", [Newton(), ConjugateGradients(), SMO, None, 3])
def test_solvers_of_other_losses(solver):
    with pytest.raises(ValueError, match=r"got solver=.*; expected one of the names 'auto', 'smo'"):
        PairSVC("antisymmetric", solver=solver).fit(*data())


@pytest.mark.parametrize("solver", ["chunking", "splitting"])
def test_callback_where_there_are_no_steps_to_watch(solver):
    pairs, y = data()
    with pytest.raises(ValueError, match=r"got a callback with solver=.*expected solver='smo'"):
        PairSVC("symmetric", solver=solver, callback=print).fit(pairs, y)


def test_a_callback_that_is_no_function():
    with pytest.raises(ValueError, match="got callback=3; expected a function, or None"):
        PairSVC("antisymmetric", callback=3).fit(*data())


@pytest.mark.parametrize("parameters", [{"n_symmetric": -1}, {"n_antisymmetric": 0.5}], ids=str)
def test_counts_of_group_columns(parameters):
    _, y = data()
    with pytest.raises(ValueError, match=r"got .*n_(anti)?symmetric=.*expected"):
        PairSVC(**{"symmetry": "symmetric"} | parameters).fit(
            np.ones((N, 4)) * np.arange(N)[:, None], y
        )


def test_a_refused_fit_leaves_the_old_model():
    pairs, y = data()
    model = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    expected = model.decision_function(pairs)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(pairs, np.ones(N))
    assert np.array_equal(model.decision_function(pairs), expected)


# What plain numbers cannot hold -----------------------------------------------------------------

DATES = np.array(["2020-01-01", "NaT", "2020-01-03"] * 3, dtype="datetime64[D]")


@pytest.mark.parametrize("times", [DATES, DATES - DATES[0], np.arange(9).astype("datetime64[s]")])
def test_dates_are_refused_wherever_they_stand(times):
    pairs, y = data(widths=(1, 0, 0))
    message = r"of type (datetime|timedelta)64.*; expected numbers: .*gives days since an origin"
    for_each_pair = times[np.arange(N) % 9]
    with pytest.raises(ValueError, match=message):
        Pairs(times[:, np.newaxis], pairs.first, pairs.second)
    for name in ("symmetric", "antisymmetric"):
        with pytest.raises(ValueError, match=message):
            Pairs(pairs.objects, pairs.first, pairs.second, **{name: for_each_pair})
    with pytest.raises(ValueError, match=message):
        PairSVC("symmetric").fit(np.column_stack([for_each_pair, for_each_pair]), y)
    with pytest.raises(ValueError, match=message):
        PairRidge("symmetric").fit(pairs, for_each_pair)
    with pytest.raises(ValueError, match=message):
        PairSVC("symmetric").fit(pairs, np.where(y > 0, times[0], times[1]))


def masked(values):
    values = np.asarray(values)
    mask = np.zeros(values.shape, dtype=bool)
    mask.flat[1] = True
    return np.ma.masked_array(values, mask=mask)


@pytest.mark.parametrize(
    "name", ["objects", "first", "second", "symmetric", "antisymmetric"], ids=str
)
def test_masked_values_of_pairs(name):
    pairs, _ = data()
    parts = {part: getattr(pairs, part) for part in ("objects", "first", "second")}
    parts |= {"symmetric": pairs.symmetric, "antisymmetric": pairs.antisymmetric}
    parts[name] = masked(parts[name])
    with pytest.raises(ValueError, match=f"got masked values in {name}; expected a value in every"):
        Pairs(**parts)
    parts[name] = np.ma.masked_array(parts[name].data)  # nothing is masked
    assert np.array_equal(Pairs(**parts).to_rows(), pairs.to_rows())


@pytest.mark.parametrize("learner", [PairSVC, PairLogistic, PairRidge, PairSVR])
def test_masked_values_of_rows_labels_and_weights(learner):
    pairs, y = data(widths=(2, 0, 0))
    for rows, labels, weights in [
        (masked(pairs.to_rows()), y, None),
        (pairs, masked(y), None),
        (pairs, y, masked(np.ones(N))),
    ]:
        with pytest.raises(ValueError, match=r"got masked values in (rows|y|sample_weight);"):
            learner("symmetric").fit(rows, labels, sample_weight=weights)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_complex_numbers(make):
    pairs, y = data(widths=(2, 0, 0))
    with pytest.raises(ValueError, match="Complex data not supported: got complex objects"):
        Pairs(make(pairs.objects + 1j), pairs.first, pairs.second)
    with pytest.raises(ValueError, match="Complex data not supported: got complex rows"):
        PairSVC("symmetric").fit(make(pairs.to_rows() + 1j), y)
    with pytest.raises(ValueError, match="Complex data not supported: got complex sample_weight"):
        PairSVC("symmetric").fit(pairs, y, sample_weight=np.ones(N) + 1j)


@pytest.mark.parametrize("labels", [[1, "no"], [1, None], ["yes", None], [1.5, "1.5"]])
def test_labels_of_several_types(labels):
    pairs, y = data()
    mixed = np.array([labels[int(sign > 0)] for sign in y], dtype=object)
    with pytest.raises(ValueError, match=r"got values of several types \(.*, .*\) in y; expected"):
        PairSVC("symmetric").fit(pairs, mixed)


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
@pytest.mark.parametrize("weight", [np.nan, -1.0, np.inf, "2", None])
def test_class_weights_that_are_no_weights(symmetry, weight):
    pairs, y = data()
    with pytest.raises(ValueError, match=r"got class_weight\[-1\]=.*; expected a finite number"):
        PairSVC(symmetry, class_weight={-1: weight, 1: 1.0}).fit(pairs, y)


@pytest.mark.parametrize("weights", ["heavy", 3.0, {1: 1.0}, [1.0, 2.0]], ids=str)
def test_class_weights_of_another_form(weights):
    pairs, y = data()
    with pytest.raises(ValueError, match=r"got class_weight=.*; expected None, 'balanced', or a"):
        PairSVC("symmetric", class_weight=weights).fit(pairs, y)


# Sizes ------------------------------------------------------------------------------------------

LEARNERS = [PairSVC, PairLogistic, PairRidge, PairSVR]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("symmetry", [*BOTH, "none"])
@pytest.mark.parametrize(
    ("size", "kernel", "message"),
    [
        (1e160, "gaussian", "got values of size .* in objects; expected at most 1e.150"),
        (1e120, "linear", "with values of size .*, whose features go up to .*e.120; expected at"),
        (1e60, "polynomial", "with values of size .*, whose features go up to .*e.60; expected at"),
    ],
)
def test_features_out_of_range(learner, symmetry, size, kernel, message):
    pairs, y = data(widths=(2, 0, 0))
    extreme = Pairs(size * pairs.objects, pairs.first, pairs.second)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            learner(symmetry, kernel=kernel).fit(extreme, y)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_weights_and_strengths_out_of_range(learner, size):
    pairs, y = data()
    with pytest.raises(ValueError, match=r"got sample weights such as .*; expected 0, or numbers"):
        learner("symmetric").fit(pairs, y, sample_weight=np.full(N, size))
    strength = "alpha" if learner is PairRidge else "C"
    with pytest.raises(ValueError, match=rf"got {strength}=.*; expected a number from 1e-40"):
        learner("symmetric", **{strength: size}).fit(pairs, y)


@pytest.mark.parametrize("learner", [PairRidge, PairSVR])
def test_targets_out_of_range(learner):
    pairs, y = data()
    with pytest.raises(ValueError, match=r"got targets of size 1.0e.300; expected at most 1e.60"):
        learner("symmetric").fit(pairs, 1e300 * y)


def test_predictions_that_are_no_numbers():
    pairs, y = data(widths=(2, 0, 0))
    model = PairRidge("symmetric", kernel="polynomial").fit(pairs, y)
    far = Pairs(1e200 * pairs.objects, pairs.first, pairs.second)
    with pytest.raises(ValueError, match=r"got row 0 with features too large for this model"):
        model.predict(far)


def test_weights_of_ten_billion_end_with_a_gap():
    """Single steps would take forever: blocks are settled, and what is not says how far it came."""
    pairs, y = data(widths=(2, 0, 0))
    model = PairSVC("antisymmetric", kernel="linear", solver="chunking")
    model.fit(pairs, y, sample_weight=np.full(N, 1e10))
    assert model.certificate_.holds
    assert model.n_iter_ <= 10_000
    with pytest.warns(ConvergenceWarning, match=r"steps used up.*duality gap"):
        model.set_params(max_iter=10).fit(pairs, y, sample_weight=np.full(N, 1e10))
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model = PairSVC("antisymmetric", kernel="linear").fit(
            pairs, y, sample_weight=np.full(N, 1e10)
        )
    assert model.n_iter_ <= 1000


# Kernels that the data make zero ----------------------------------------------------------------


def without_objects(name):
    pairs, y = data(widths=(0, 2, 2))
    return Pairs(pairs.objects, pairs.first, pairs.second, **{name: getattr(pairs, name)}), y


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("symmetry", "kept", "kernel"),
    [
        ("antisymmetric", "symmetric", "linear"),
        ("antisymmetric", "symmetric", "gaussian"),
        ("symmetric", "antisymmetric", "linear"),
    ],
)
def test_group_features_of_the_other_parity_alone(learner, symmetry, kept, kernel):
    pairs, y = without_objects(kept)
    part = "odd" if symmetry == "antisymmetric" else "even"
    message = rf"whose {part} part is zero for these pairs .*; expected .*: add such columns"
    with pytest.warns(PairityWarning, match=message) as record:
        learner(symmetry, kernel=kernel).fit(pairs, y)
    assert record[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner(kept, kernel=kernel).fit(pairs, y)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("symmetry", [*BOTH, "none"])
@pytest.mark.parametrize("size", [0.0, 1e-120])
def test_features_that_are_all_zero(learner, symmetry, size):
    pairs, y = data(widths=(2, 0, 0))
    empty = Pairs(size * pairs.objects, pairs.first, pairs.second)
    with pytest.warns(PairityWarning, match=r"is zero for these pairs .* is a constant; expected"):
        model = learner(symmetry, kernel="linear").fit(empty, y)
    values = getattr(model, "decision_function", model.predict)(empty)
    assert np.ptp(values) <= 1e-100


@pytest.mark.parametrize("symmetry", [*BOTH, "none"])
@pytest.mark.parametrize("projection", [Balanced, SkewBalanced])
def test_projections_of_kernels_that_are_not_order_invariant(symmetry, projection):
    """(6) and (7) of such a kernel are not symmetric: K(x, y) is not K(y, x)."""
    lopsided_form = cases.tridiagonal()
    lopsided_form[0, 0] = 3.0
    pairs, y = data()
    with pytest.raises(
        KernelError, match=r"expected a symmetric kernel: .*OrderInvariant\(kernel\)"
    ):
        PairSVC(symmetry, kernel=projection(Bilinear(lopsided_form))).fit(pairs, y)
    PairSVC("none", kernel=projection(OrderInvariant(Bilinear(lopsided_form)))).fit(pairs, y)


@pytest.mark.parametrize(("symmetry", "degree"), [("symmetric", 1000), ("antisymmetric", 999)])
def test_polynomials_of_high_degree_are_fitted_or_refused(symmetry, degree):
    pairs, y = data(widths=(2, 0, 0))
    with pytest.raises(KernelError, match=r"is zero for these pairs|with values of size"):
        PairSVC(symmetry, kernel=Polynomial(degree)).fit(pairs, y)
    angle = np.linspace(0.0, 1.0, pairs.n_objects)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) / np.sqrt(2.0)
    even = Pairs(circle, pairs.first, pairs.second)
    model = PairSVC(symmetry, kernel=Polynomial(degree)).fit(even, y)
    sign = 1.0 if symmetry == "symmetric" else -1.0
    assert np.array_equal(
        model.decision_function(even.swap()), sign * model.decision_function(even)
    )


@pytest.mark.parametrize("search", [PairSVCCV, PairLogisticCV, CalibratedPairClassifier])
def test_one_unordered_pair_cannot_be_held_out(search):
    pairs, y = data()
    again = pairs[np.zeros(N, dtype=int)]
    model = (
        search(PairSVC("symmetric")) if search is CalibratedPairClassifier else search("symmetric")
    )
    with pytest.raises(ValueError, match="got 20 observations of one unordered pair; expected"):
        model.fit(again, y)
