"""Bad input is refused at the door: got, expected, what to do (CONTRACT.md, 4.5)."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import cases
from pairity import Pairs, PairSVC
from pairity.exceptions import DoubledRowsWarning, KernelError
from pairity.kernels import (
    Balanced,
    Bilinear,
    Callable,
    DirectSum,
    Gaussian,
    Linear,
    Polynomial,
    Precomputed,
    SkewBalanced,
    Tensor,
)

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
        PairSVC(symmetry, kernel).fit(pairs, y)


def test_precomputed_matrix_that_is_not_psd():
    matrix = np.eye(9)
    matrix[0, 1] = matrix[1, 0] = 2.0
    pairs, y = data()
    numbered = Pairs(np.arange(9)[:, None], pairs.first, pairs.second)
    with pytest.raises(KernelError, match=r"eigenvalue -.*positive semi-definite"):
        PairSVC("symmetric", Precomputed(matrix)).fit(numbered, y)


def test_kernel_parameters_set_later_are_checked_again():
    pairs, y = data()
    model = PairSVC("symmetric", Gaussian(1.0)).set_params(kernel__sigma=-1.0)
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
        {"selection": "third_order"},
        {"iterates": "mirror"},
        {"precision": "single"},
        {"C": 0.0},
        {"C": -1.0},
        {"C": "1"},
        {"C": np.inf},
        {"tol": 0.0},
        {"cache_size": -5.0},
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
        PairSVC(**parameters).fit(pairs, y)


@pytest.mark.parametrize("solver", ["chunking", "splitting"])
def test_callback_where_there_are_no_steps_to_watch(solver):
    pairs, y = data()
    with pytest.raises(ValueError, match=r"got a callback with solver=.*expected solver='smo'"):
        PairSVC("symmetric", solver=solver, callback=print).fit(pairs, y)


@pytest.mark.parametrize("parameters", [{"n_symmetric": -1}, {"n_antisymmetric": 0.5}], ids=str)
def test_counts_of_group_columns(parameters):
    _, y = data()
    with pytest.raises(ValueError, match=r"got .*n_(anti)?symmetric=.*expected"):
        PairSVC(**parameters).fit(np.ones((N, 4)) * np.arange(N)[:, None], y)


def test_a_refused_fit_leaves_the_old_model():
    pairs, y = data()
    model = PairSVC("symmetric", Gaussian(1.0)).fit(pairs, y)
    expected = model.decision_function(pairs)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(pairs, np.ones(N))
    assert np.array_equal(model.decision_function(pairs), expected)
