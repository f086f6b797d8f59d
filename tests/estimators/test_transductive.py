"""TransductivePairSVC against a search over all labels, its history, and what it refuses."""

import functools
import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

import cases
import naive
from pairity import Pairs, PairSVC, TransductivePairSVC
from pairity.exceptions import ConvergenceWarning, DoubledRowsWarning, PairityWarning
from pairity.kernels import Gaussian, Linear, Polynomial, Tensor
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers.switching import Switch

LAWS = ["symmetric", "antisymmetric"]
ALL = [*LAWS, "none"]
KERNELS = [(Gaussian(1.3), naive.pair_gaussian(1.3)), (Polynomial(2), naive.pair_polynomial(2))]
TOL = 1e-7


def data(seed=1, n=20, labelled=6, **options):
    """Random pairs, the first of them labelled."""
    y = cases.random_labels(seed, n)
    y[labelled:] = 0
    return cases.random_pairs(seed, n=n, m=9, **options), y


def turned(pairs, rows):
    """The same pairs, some of them written in the other order."""
    return Pairs(
        pairs.objects,
        np.where(rows, pairs.second, pairs.first),
        np.where(rows, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(rows[:, None], -pairs.antisymmetric, pairs.antisymmetric),
    )


# A search over all labels -----------------------------------------------------------------------


def plain_objective(gram, labels, upper):
    """Least value of (45) for fixed labels on I, by LIBSVM: 1/2 |w|^2 + sum of losses."""
    if (labels == labels[0]).all():
        return 0.0  # w = 0 and the bias alone: no loss
    machine = SVC(kernel="precomputed", C=1.0, tol=1e-7).fit(gram, labels, sample_weight=upper)
    theta = np.zeros(len(labels))
    theta[machine.support_] = machine.dual_coef_[0]
    return np.abs(theta).sum() - 0.5 * theta @ gram @ theta


@pytest.mark.parametrize("symmetry", ALL)
@pytest.mark.parametrize(("kernel", "twin"), KERNELS, ids=["gaussian", "polynomial"])
@pytest.mark.parametrize("seed", range(2))
def test_against_every_labelling(symmetry, kernel, twin, seed):
    """Between the best of all labellings and the supervised start, exactly (45) on I."""
    n, n_labelled, C, C_unlabelled = 10, 4, 2.0, 0.5
    pairs = cases.distinct_pairs(seed, n=n, m=7)
    y = cases.random_labels(seed, n)
    y[n_labelled:] = 0
    parity = SYMMETRIES[symmetry]
    share = None if symmetry == "antisymmetric" else 0.5
    options = {"C_unlabelled": C_unlabelled, "positive_fraction": share, "tol": TOL}
    model = TransductivePairSVC(symmetry, kernel=kernel, C=C, **options).fit(pairs, y)

    rows = (pairs if parity is None else pairs.with_mirrored()).to_rows()
    gram = naive.gram(twin, rows, rows, cases.WIDTHS)
    upper = np.where(y == 0, C_unlabelled, C)
    objectives = {}
    for chosen in itertools.product([-1, 1], repeat=n - n_labelled):
        if share is not None and chosen.count(1) != share * len(chosen):
            continue
        labels = np.concatenate([y[:n_labelled], chosen]).astype(float)
        if parity is None:
            objectives[chosen] = plain_objective(gram, labels, upper)
        else:
            both = np.concatenate([labels, parity.sign * labels])
            objectives[chosen] = plain_objective(gram, both, np.concatenate([upper, upper]))

    found = tuple(model.transduction_[n_labelled:].tolist())
    assert np.array_equal(model.transduction_[:n_labelled], y[:n_labelled])
    reached = model.certificate_.primal
    assert reached == pytest.approx(objectives[found], rel=1e-5)
    assert model.history_[-1].objective == pytest.approx(reached, rel=1e-5)
    assert reached >= min(objectives.values()) * (1.0 - 1e-5)
    assert reached <= model.supervised_objective_ * (1.0 + 1e-6)
    supervised = PairSVC(symmetry, kernel=kernel, C=C, tol=TOL).fit(
        pairs[:n_labelled], y[:n_labelled]
    )
    outputs = supervised.decision_function(pairs)[n_labelled:]
    if share is None:
        first = tuple(np.where(outputs > 0, 1, -1).tolist())
    else:
        first = tuple(np.where(outputs >= np.sort(outputs)[3], 1, -1).tolist())
    assert model.supervised_objective_ == pytest.approx(objectives[first], rel=1e-5)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    symmetry=st.sampled_from(ALL),
    kernel=st.sampled_from([Linear(), Polynomial(3), Gaussian(1.0)]),
    C=st.sampled_from([0.05, 1.0, 20.0]),
    factor=st.sampled_from([0.02, 1.0, 3.0]),
    annealing=st.integers(1, 5),
    most=st.sampled_from([2, 6, None]),
    weighted=st.booleans(),
)
def test_a_local_minimum_never_above_the_supervised_start(
    seed, symmetry, kernel, C, factor, annealing, most, weighted
):
    pairs, y = data(seed)
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 3.0, size=len(y)) if weighted else np.ones(len(y))
    tol = 1e-5
    share = None if symmetry == "antisymmetric" else rng.integers(15) / 14
    model = TransductivePairSVC(
        symmetry,
        kernel=kernel,
        C=C,
        C_unlabelled=factor * C,
        annealing=annealing,
        max_switches=most,
        positive_fraction=share,
        tol=tol,
    ).fit(pairs, y, sample_weight=weights)
    assert model.certificate_.holds
    assert model.history_[-1].objective <= model.supervised_objective_
    for penalty in {record.penalty for record in model.history_}:
        objectives = [r.objective for r in model.history_ if r.penalty == penalty]
        assert (np.diff(objectives) < 0).all()

    decisions, hidden = model.decision_function(pairs), y == 0
    found = model.transduction_
    assert np.array_equal(found[~hidden], y[~hidden])
    if share is None:
        clear = hidden & (np.abs(decisions) > 4 * tol)
        assert np.array_equal(found[clear], np.sign(decisions[clear]))
        return
    assert np.count_nonzero(found[hidden] > 0) == round(share * 14)
    # what -1 costs more than +1: no exchange of a positive and a negative pair lowers the sum
    costs = weights * (np.maximum(0.0, 1.0 + decisions) - np.maximum(0.0, 1.0 - decisions))
    positive, negative = costs[hidden & (found > 0)], costs[hidden & (found < 0)]
    worst = negative.max(initial=-np.inf) - positive.min(initial=np.inf)
    assert worst <= 8 * tol * weights.max()


# What it is equal to ----------------------------------------------------------------------------


@pytest.mark.parametrize("symmetry", ALL)
def test_labels_found_make_an_ordinary_machine(symmetry):
    """The model is the PairSVC of the labels found, with the penalties as sample weights."""
    pairs, y = data(3)
    model = TransductivePairSVC(symmetry, kernel=Gaussian(1.0), C=2.0, C_unlabelled=0.5, tol=1e-9)
    model.fit(pairs, y)
    plain = PairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9)
    plain.fit(pairs, model.transduction_, sample_weight=np.where(y == 0, 0.5, 2.0))
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    new = cases.random_pairs(4, n=15)
    np.testing.assert_allclose(
        model.decision_function(new), plain.decision_function(new), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("symmetry", ALL)
def test_unlabelled_pairs_of_hardly_any_weight_change_hardly_anything(symmetry):
    pairs, y = data(3)
    model = TransductivePairSVC(symmetry, kernel=Gaussian(1.0), C_unlabelled=1e-9, tol=1e-9).fit(
        pairs, y
    )
    plain = PairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9).fit(pairs[:6], y[:6])
    new = cases.random_pairs(4, n=15)
    np.testing.assert_allclose(
        model.decision_function(new), plain.decision_function(new), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("symmetry", LAWS)
@pytest.mark.parametrize("options", [{}, {"iterates": "averaged"}, {"iterates": "free"}], ids=str)
def test_full_and_halved_set_give_the_same_function(symmetry, options):
    pairs, y = data(5)
    halved, full = (
        TransductivePairSVC(
            symmetry,
            kernel=Gaussian(1.0),
            training_set=training_set,
            tol=1e-8,
            **cases.with_smo(options),
        ).fit(pairs, y)
        for training_set in ("halved", "full")
    )
    assert np.array_equal(halved.transduction_, full.transduction_)
    assert halved.objective_ == pytest.approx(full.objective_, rel=1e-7)
    assert len(full._dual) == 2 * len(halved._dual)
    assert full.certificate_.holds
    new = cases.random_pairs(6, n=15)
    np.testing.assert_allclose(
        full.decision_function(new), halved.decision_function(new), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("symmetry", LAWS)
def test_every_solver(symmetry):
    pairs, y = cases.distinct_pairs(5, n=20, m=9, widths=(3, 0, 0)), data(5)[1]  # no ties
    options = {"kernel": Gaussian(1.0), "tol": 1e-7, "annealing": 3}
    expected = TransductivePairSVC(symmetry, **options).fit(pairs, y)
    for solver in ("smo", "chunking", "splitting"):
        model = TransductivePairSVC(symmetry, solver=solver, **options).fit(pairs, y)
        assert np.array_equal(model.transduction_, expected.transduction_), solver
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6), solver


@pytest.mark.parametrize("symmetry", LAWS)
def test_the_order_in_which_pairs_are_written_does_not_matter(symmetry):
    pairs, y = data(7)
    sign, rows = int(SYMMETRIES[symmetry].sign), np.arange(len(y)) % 3 == 0
    model = TransductivePairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9).fit(pairs, y)
    other = TransductivePairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9)
    other.fit(turned(pairs, rows), np.where(rows, sign * y, y))
    found = np.where(rows, sign * other.transduction_, other.transduction_)
    assert np.array_equal(found, model.transduction_)
    new = cases.random_pairs(8, n=15)
    np.testing.assert_allclose(
        other.decision_function(new), model.decision_function(new), rtol=0, atol=1e-7
    )


@pytest.mark.parametrize("symmetry", LAWS)
@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_swap_law(symmetry, training_set):
    pairs, y = data(7)
    model = TransductivePairSVC(symmetry, kernel=Gaussian(1.0), training_set=training_set).fit(
        pairs, y
    )
    new, sign = cases.random_pairs(8, n=30), SYMMETRIES[symmetry].sign
    assert np.array_equal(model.decision_function(new.swap()), sign * model.decision_function(new))


def test_antisymmetric_pairs_one_by_one():
    """max_switches=1 is allowed there: a pair and its swap are the two ends of one exchange."""
    pairs, y = data(9, n=40)
    model = TransductivePairSVC(
        "antisymmetric", kernel=Linear(), C=5.0, max_switches=1, annealing=1, C_unlabelled=0.5
    ).fit(pairs, y)
    assert {record.n_switched for record in model.history_} == {0, 1}
    assert [record.n_switched for record in model.history_].count(0) == 1


@pytest.mark.parametrize(("symmetry", "most"), [("symmetric", 2), ("none", 1)])
def test_switches_are_counted_on_ordered_pairs(symmetry, most):
    """One pair from each list: both orders of two pairs (symmetric), or two rows (none).

    The labels to start from are those of outputs that are further apart than the tolerance: with
    near ties at the cut they would hang on the rounding of the processor.
    """
    pairs, y = data(1, n=40)
    options = {"annealing": 1, "positive_fraction": 0.5, "tol": 1e-6}
    free = TransductivePairSVC(symmetry, kernel=Gaussian(2.0), C=0.2, **options).fit(pairs, y)
    assert max(record.n_switched for record in free.history_) > 2
    model = TransductivePairSVC(symmetry, kernel=Gaussian(2.0), C=0.2, max_switches=most, **options)
    assert {record.n_switched for record in model.fit(pairs, y).history_} == {0, 2}


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_share_asked_for(symmetry, share):
    pairs, y = data(9, n=26)
    model = TransductivePairSVC(symmetry, kernel=Gaussian(1.0), positive_fraction=share).fit(
        pairs, y
    )
    assert np.mean(model.transduction_[6:] > 0) == share


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
def test_the_share_of_the_labelled_pairs_by_default(symmetry):
    pairs, y = data(9, n=26)
    y[:6] = [1, -1, -1, -1, -1, -1]
    model = TransductivePairSVC(symmetry, kernel=Gaussian(1.0)).fit(pairs, y)
    assert np.count_nonzero(model.transduction_[6:] > 0) == round(20 / 6)


@pytest.mark.filterwarnings("ignore:got the labels 0")
def test_one_label_is_enough_where_a_swap_shows_the_other():
    pairs, y = data(9)
    model = TransductivePairSVC("antisymmetric", kernel=Gaussian(1.0)).fit(pairs, np.abs(y))
    assert model.classes_.tolist() == [-1, 1]
    assert set(model.transduction_[6:].tolist()) <= {-1, 1}


def test_class_weights_count_for_labelled_pairs_alone():
    pairs, y = data(9)
    weighted = TransductivePairSVC(
        "symmetric", kernel=Gaussian(1.0), class_weight={-1: 1.0, 1: 3.0}
    )
    plain = TransductivePairSVC("symmetric", kernel=Gaussian(1.0))
    weights = np.where(y > 0, 3.0, 1.0)
    given = np.ones(len(y))
    weighted.fit(pairs, y, sample_weight=given)
    plain.fit(pairs, y, sample_weight=weights)
    assert np.array_equal(weighted.decision_function(pairs), plain.decision_function(pairs))
    assert given.tolist() == [1.0] * len(y)  # not written into


# What it tells ----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "smo", "chunking"])
def test_history_and_callback(solver):
    pairs, y = data(11)
    seen = []
    model = TransductivePairSVC(
        "antisymmetric",
        kernel=Gaussian(1.0),
        C=3.0,
        annealing=4,
        callback=seen.append,
        solver=solver,
    ).fit(pairs, y)
    assert model.history_ == seen
    assert all(isinstance(record, Switch) for record in seen)
    assert sorted({record.penalty for record in seen}) == [3 / 64, 3 / 16, 3 / 4, 3.0]
    assert seen[-1].n_switched == 0


@pytest.mark.parametrize("symmetry", ALL)
def test_labels_chosen_until_the_steps_are_used_up_draw_a_warning(symmetry):
    """All rounds have one allowance; the last fit has its own, and may well hold."""
    pairs = cases.random_pairs(3, n=60, m=20)
    y = np.where(np.arange(60) < 15, cases.random_labels(3, 60), 0)
    model = TransductivePairSVC(symmetry, kernel=Gaussian(1.0), C=10.0, solver="smo", max_iter=400)
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=400 steps .*duality gap of .*raise max_"
    ):
        model.fit(pairs, y)
    assert model.certificate_.holds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = model.set_params(max_iter=-1).fit(pairs, y)
    assert enough.certificate_.holds


def test_verbose_prints_a_line_for_every_round(capsys):
    pairs, y = data(11)
    model = TransductivePairSVC("symmetric", kernel=Gaussian(1.0), verbose=True).fit(pairs, y)
    lines = [line for line in capsys.readouterr().err.splitlines() if "labels switched" in line]
    assert len(lines) == len(model.history_)
    for line, record in zip(lines, model.history_, strict=True):
        assert f"{record.n_switched} labels switched" in line
    TransductivePairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    assert capsys.readouterr().err == ""


# Which pairs have no label ----------------------------------------------------------------------

MARKERS = {
    "0 between -1 and 1": ([-1, 0, 1], {}),
    "-1 beside 0 and 1": ([0, -1, 1], {"unlabelled": -1}),
    "nan": ([-1.0, np.nan, 1.0], {"unlabelled": np.nan}),
    "nan beside 0 and 1": ([0.0, np.nan, 1.0], {"unlabelled": float("nan")}),
    "text": (["lost", "?", "won"], {"unlabelled": "?"}),
    "empty text": (["lost", "", "won"], {"unlabelled": ""}),
    "None": ([-1, None, 1], {"unlabelled": None}),
    "-1 beside truth values": ([False, -1, True], {"unlabelled": -1}),
}


def kinds_of(values):
    """An array of objects; others too where they do not change the values."""
    mixed = {type(v) for v in values} >= {bool} or None in values
    return ["object"] if mixed else ["list", "object", "array"]


@functools.cache
def with_plain_labels(symmetry):
    pairs, y = data(13)
    return TransductivePairSVC(symmetry, kernel=Gaussian(1.0)).fit(pairs, y)


@pytest.mark.parametrize("symmetry", ALL)
@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in MARKERS for kind in kinds_of(MARKERS[name][0])]
)
def test_markers(symmetry, name, kind):
    """The same pairs whatever the labels are called."""
    (pairs, y), (values, options) = data(13), MARKERS[name]
    expected = with_plain_labels(symmetry)
    labels = [values[sign + 1] for sign in y.tolist()]
    if kind != "list":
        labels = np.array(labels, dtype=object if kind == "object" else None)
    model = TransductivePairSVC(symmetry, kernel=Gaussian(1.0), **options).fit(pairs, labels)
    found = model.transduction_.tolist()
    assert found == [values[sign + 1] for sign in expected.transduction_.tolist()]
    assert model.classes_.tolist() == [values[0], values[2]]
    assert set(model.predict(pairs).tolist()) <= {values[0], values[2]}


def test_false_is_not_zero():
    pairs, y = data(13)
    with pytest.raises(ValueError, match="got labels for all 20 pairs, none of them 0"):
        TransductivePairSVC("antisymmetric").fit(pairs, y > 0)


def test_text_is_no_number():
    pairs, y = data(13)
    with pytest.raises(ValueError, match=r"got labels for all 20 pairs, none of them '\?'"):
        TransductivePairSVC("antisymmetric", unlabelled="?").fit(pairs, np.where(y < 0, -1, 1))


# Refusals ---------------------------------------------------------------------------------------


def refusals():
    _, y = data(15, n=15)  # 9 unlabelled pairs
    all_labelled = np.where(y == 0, 1, y)
    return {
        "no unlabelled pairs": ("symmetric", {}, all_labelled, "got labels for all 15 pairs, none"),
        "no labelled pairs": ("symmetric", {}, 0 * y, r"got 15 pairs and no label \(all are 0\)"),
        "S odd": (
            "symmetric",
            {"max_switches": 3},
            y,
            r"got max_switches=3 for a symmetric model; expected an even number: .*Theorem 4",
        ),
        "S = 0": ("none", {"max_switches": 0}, y, "got max_switches=0; expected a whole number, 1"),
        "S = 2.0": ("none", {"max_switches": 2.0}, y, "got max_switches=2.0; expected a whole"),
        "antisymmetric r": (
            "antisymmetric",
            {"positive_fraction": 0.25},
            y,
            r"got positive_fraction=0.25 for an antisymmetric model; expected 0.5 .*Remark 7",
        ),
        "r not whole": (
            "symmetric",
            {"positive_fraction": 0.3},
            y,
            r"got positive_fraction=0.3 for 9 unlabelled pairs, that is 2.7 of them;.*2/9 or 3/9",
        ),
        "r above 1": ("none", {"positive_fraction": 1.5}, y, "that is 13.5 of them; .*try 9/9"),
        "r below 0": ("none", {"positive_fraction": -0.5}, y, "got positive_fraction=-0.5; expec"),
        "r nan": ("none", {"positive_fraction": np.nan}, y, "got positive_fraction=nan; expected"),
        "r text": ("none", {"positive_fraction": "1/2"}, y, "got positive_fraction='1/2'; expect"),
        "one class": ("symmetric", {}, np.abs(y), "got one class only, .*expected pairs of two"),
        "three classes": (
            "symmetric",
            {},
            np.where(np.arange(15) == 0, 2, y),
            "Only binary classification is supported",
        ),
        "annealing": ("symmetric", {"annealing": 0}, y, "got annealing=0; expected a whole number"),
        "C_unlabelled": ("symmetric", {"C_unlabelled": 0.0}, y, "got C_unlabelled=0.0; expected"),
        "too few labels": ("symmetric", {}, y[:-1], "got 14 labels for 15 pairs"),
        "no y": ("symmetric", {}, None, "requires y to be passed, but the target y is None"),
        "nan beside another marker": (
            "symmetric",
            {},
            np.where(np.arange(15) == 14, np.nan, y),
            "got NaN or infinity in y",
        ),
    }


@pytest.mark.parametrize("name", refusals())
def test_refusals(name):
    symmetry, options, y, message = refusals()[name]
    with pytest.raises(ValueError, match=message):
        TransductivePairSVC(symmetry, **options).fit(data(15, n=15)[0], y)


@pytest.mark.parametrize("share", [2 / 9, 3 / 9])
def test_the_shares_offered_are_accepted(share):
    pairs, y = data(15, n=15)
    model = TransductivePairSVC("symmetric", positive_fraction=share).fit(pairs, y)
    assert np.mean(model.transduction_[6:] > 0) == pytest.approx(share)


def test_half_is_accepted_in_the_antisymmetric_case():
    pairs, y = data(15)
    model = TransductivePairSVC("antisymmetric", positive_fraction=0.5).fit(pairs, y)
    assert model.intercept_ == 0.0


def test_an_object_with_itself_is_refused_even_without_a_label():
    pairs = Pairs(np.eye(3), [0, 1, 2], [1, 1, 0])
    with pytest.raises(ValueError, match="got row 1 that pairs an object with itself"):
        TransductivePairSVC("antisymmetric").fit(pairs, [1, 0, -1])


@pytest.mark.parametrize("symmetry", LAWS)
def test_doubled_rows_draw_a_warning(symmetry):
    pairs, y = data(15)
    sign = int(SYMMETRIES[symmetry].sign)
    with pytest.warns(DoubledRowsWarning, match="mirror image") as record:
        TransductivePairSVC(symmetry).fit(pairs.with_mirrored(), np.concatenate([y, sign * y]))
    assert record[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TransductivePairSVC(symmetry).fit(pairs, y)


def test_a_kernel_without_the_parity():
    pairs, y = data(15)
    with pytest.raises(ValueError, match="its odd part is zero"):
        TransductivePairSVC("antisymmetric", kernel=Tensor(Gaussian(1.0))).fit(pairs, y)


def test_labels_0_and_1_draw_a_warning_that_0_means_no_label():
    pairs = cases.distinct_pairs(5, n=12)
    with pytest.warns(PairityWarning, match="0 is taken as 'no label' here"):
        TransductivePairSVC("antisymmetric").fit(pairs, [0, 1] * 6)


# Pairs without a winner -------------------------------------------------------------------------


def crossed_pairs():
    """Labelled pairs differ in the first feature, the last one in the second: it has no winner."""
    objects = np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    return Pairs(objects, first=[0, 2, 4, 4, 3], second=[1, 1, 0, 2, 2])


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_pair_without_a_winner_stays_undecided_in_either_order(swapped, training_set):
    """MATH: an output of exactly 0 is left, and no tie is broken by the order of writing."""
    pairs, y = crossed_pairs(), np.array([1, -1, 0, 0, 0])
    rows = np.arange(5) == 4 if swapped else np.zeros(5, dtype=bool)
    model = TransductivePairSVC(
        "antisymmetric", kernel=Linear(), training_set=training_set, tol=1e-9
    )
    model.fit(turned(pairs, rows), y)
    assert model.transduction_.tolist() == [1, -1, 1, 1, 0]
    assert model.history_[-1].labels.tolist() == [1, -1, 1, 1, 0]
    assert model.decision_function(pairs)[4] == 0.0
    assert model.certificate_.holds
    plain = PairSVC("antisymmetric", kernel=Linear(), tol=1e-9).fit(pairs[:4], [1, -1, 1, 1])
    np.testing.assert_allclose(
        model.decision_function(pairs), plain.decision_function(pairs), rtol=0, atol=1e-7
    )


def test_an_undecided_pair_is_decided_when_its_output_is():
    """A second unlabelled pair turns the function, and with it the pair that had no winner."""
    pairs = crossed_pairs()
    both = Pairs(
        np.vstack([pairs.objects, [[0.5, 3.0]]]),
        np.append(pairs.first, 5),
        np.append(pairs.second, 2),
    )
    y = np.array([1, -1, 0, 0, 0, 0])
    options = {"C_unlabelled": 1.0, "annealing": 1, "tol": 1e-9}
    found = []
    for rows in (np.zeros(6, dtype=bool), np.arange(6) == 4):
        model = TransductivePairSVC("antisymmetric", kernel=Linear(), C=0.01, **options)
        model.fit(turned(both, rows), y)
        assert model.history_[0].labels[4] == 0.0
        assert model.transduction_[4] == (-1 if rows[4] else 1)
        assert (np.diff([record.objective for record in model.history_]) < 0).all()
        found.append(model.decision_function(both))
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-7)


@pytest.mark.parametrize("symmetry", LAWS)
def test_labels_of_every_round(symmetry):
    """Theorem 4 to watch: what was switched, the share that stays, the same rounds when mirrored."""
    pairs, y = data(1, n=40)
    options = {"tol": 1e-6, "annealing": 2, "max_switches": 2}
    model = TransductivePairSVC(symmetry, kernel=Gaussian(2.0), C=0.2, **options).fit(pairs, y)
    rows, sign = np.arange(40) % 3 == 0, int(SYMMETRIES[symmetry].sign)
    other = TransductivePairSVC(symmetry, kernel=Gaussian(2.0), C=0.2, **options)
    other.fit(turned(pairs, rows), np.where(rows, sign * y, y))
    assert len(model.history_) == len(other.history_) > 2
    signs = np.where(rows, sign, 1)
    for mine, yours in zip(model.history_, other.history_, strict=True):
        assert np.array_equal(signs * yours.labels, mine.labels)
        assert np.array_equal(mine.labels[:6], y[:6])
    for one, two in itertools.pairwise(model.history_):
        if one.penalty == two.penalty:
            assert np.count_nonzero(one.labels != two.labels) == one.n_switched
            if symmetry == "symmetric":
                assert one.labels.sum() == two.labels.sum()
    assert np.array_equal(model.history_[-1].labels, model.transduction_)
