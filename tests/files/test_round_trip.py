"""What is loaded is what was saved: parameters, fitted values, predictions, to the last bit."""

import datetime
import decimal
import json
import uuid
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import cases
import pairity
from learners import LEARNERS
from pairity import (
    CalibratedPairClassifier,
    ObjectTransformer,
    PairDrawClassifier,
    PairLogisticCV,
    PairRidge,
    PairRidgeCV,
    Pairs,
    PairSVC,
    PairSVCCV,
)
from pairity.exceptions import ModelFileError, PairityWarning
from pairity.io import ModelMetadata, read_model_file, register
from pairity.io.registry import is_registered, name_of
from pairity.io.values import Decoder, Encoder
from pairity.kernels import (
    Bilinear,
    Diffusion,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Product,
    SkewBalanced,
    Tensor,
)
from pairity.model_selection import PairKFold, Repeated
from pairity.pairs.parity import Parity

PARITIES = {"symmetric": Parity.EVEN, "antisymmetric": Parity.ODD}


def through_a_file(model, directory, metadata=None):
    path = directory / "model.pairity"
    pairity.save(model, path, metadata)
    return pairity.load(path)


def assert_same(left, right, where="model"):
    """Equal in type and content, arrays in the order of their bytes too."""
    assert type(left) is type(right), where
    if isinstance(left, np.ndarray):
        assert (left.dtype, left.shape) == (right.dtype, right.shape), where
        assert left.flags.f_contiguous == right.flags.f_contiguous, where
        if left.dtype == object:
            assert left.tolist() == right.tolist(), where
            assert list(map(type, left.ravel())) == list(map(type, right.ravel())), where
        else:
            assert left.tobytes() == right.tobytes(), where
    elif sp.issparse(left):
        for part in ("data", "indices", "indptr"):
            assert_same(getattr(left, part), getattr(right, part), f"{where}.{part}")
    elif isinstance(left, Kernel):
        assert_same(left.parameters(), right.parameters(), where)
    elif isinstance(left, Pairs):
        for part in ("objects", "first", "second", "symmetric", "antisymmetric", "ids"):
            assert_same(getattr(left, part), getattr(right, part), f"{where}.{part}")
    elif isinstance(left, BaseEstimator):
        assert_same(vars(left), vars(right), where)
    elif is_dataclass(left):
        for field in fields(left):
            name = field.name
            assert_same(getattr(left, name), getattr(right, name), f"{where}.{name}")
    elif isinstance(left, dict):
        assert left.keys() == right.keys(), where
        for key in left:
            assert_same(left[key], right[key], f"{where}[{key!r}]")
    elif isinstance(left, list | tuple):
        assert len(left) == len(right), where
        for place, (one, other) in enumerate(zip(left, right, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
    elif isinstance(left, float | np.floating) and np.isnan(left):
        assert np.isnan(right), where
    else:
        assert left == right, where


# Learners and kernels ---------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric", "none"])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_every_learner(learner, symmetry, training_set, sparse, tmp_path):
    train, new = cases.random_pairs(3, n=20), cases.random_pairs(4, n=30, m=9)
    if sparse:
        train, new = cases.sparse_twin(train), cases.sparse_twin(new)
    model = learner.fit(train, 3, symmetry, Gaussian(1.1), training_set=training_set)
    again = through_a_file(model, tmp_path)
    assert_same(vars(model), vars(again))
    assert (learner.of(again, new) == learner.of(model, new)).all()
    assert (again.predict(new) == model.predict(new)).all()
    assert again.certificate_ == model.certificate_


@pytest.mark.parametrize("symmetry", PARITIES)
def test_every_kernel(symmetry, tmp_path):
    train, new = cases.random_pairs(5), cases.random_pairs(6, n=11)
    found = [
        case for case in cases.trainable_cases(PARITIES[symmetry]) if "function" not in case.name
    ]
    assert len(found) > 25
    for case in found:
        model = PairRidge(symmetry, kernel=case.kernel).fit(
            train, cases.random_targets(5, len(train))
        )
        again = through_a_file(model, tmp_path)
        assert (again.predict(new) == model.predict(new)).all(), case.name
        assert repr(again.kernel) == repr(model.kernel)


@pytest.mark.parametrize("name", ["linear", "polynomial", "gaussian", "product", "metric_learning"])
def test_kernels_by_name(name, tmp_path):
    train, new = cases.random_pairs(7), cases.random_pairs(8)
    model = PairSVC("symmetric", kernel=name).fit(train, cases.random_labels(7, len(train)))
    again = through_a_file(model, tmp_path)
    assert again.kernel == name
    assert (again.decision_function(new) == model.decision_function(new)).all()


def arrangements(matrix):
    """The same matrix by rows, by columns, and with gaps."""
    gaps = np.zeros((2 * len(matrix), 2 * len(matrix)))
    gaps[::2, ::2] = matrix
    return [matrix, np.asfortranarray(matrix), gaps[::2, ::2], matrix.tolist()]


def test_matrices_in_any_arrangement(tmp_path, rng):
    train, new = cases.random_pairs(9), cases.random_pairs(10)
    root = rng.normal(size=(8, 8))
    for matrix in arrangements(root @ root.T):
        model = PairRidge("none", kernel=Bilinear(matrix)).fit(
            train, cases.random_targets(9, len(train))
        )
        again = through_a_file(model, tmp_path)
        assert (again.predict(new) == model.predict(new)).all()


def test_a_precomputed_kernel(tmp_path, rng):
    root = rng.normal(size=(6, 6))
    pairs = Pairs.complete(np.arange(6.0)[:, np.newaxis])
    kernel = Product(Precomputed(root @ root.T))
    model = PairSVC("antisymmetric", kernel=kernel).fit(pairs, cases.random_labels(1, len(pairs)))
    again = through_a_file(model, tmp_path)
    assert (again.decision_function(pairs) == model.decision_function(pairs)).all()
    # the matrix is in the parameter and in the fitted model: one array in the file and after it
    assert again.kernel.k1.gram_matrix is again._model.kernel.k1.gram_matrix


@pytest.mark.parametrize("series", ["exponential", [1.0, 0.5, 0.25]], ids=str)
def test_a_diffusion_kernel(series, tmp_path):
    pairs = cases.without_group(cases.distinct_pairs(11, n=20))
    kernel = Diffusion(SkewBalanced(Gaussian(1.0)), pairs, series)
    y = cases.random_labels(11, 14)
    model = PairSVC("antisymmetric", kernel=kernel).fit(pairs[:14], y)
    again = through_a_file(model, tmp_path)
    assert (again.decision_function(pairs) == model.decision_function(pairs)).all()


def test_a_kernel_inside_sums_and_products(tmp_path):
    kernel = 2.5 * (Tensor(Gaussian(0.7)) + Polynomial(2)) * Linear() + 0.5 * Gaussian(3.0)
    train, new = cases.random_pairs(12), cases.random_pairs(13)
    model = PairSVC("symmetric", kernel=kernel).fit(train, cases.random_labels(12, len(train)))
    again = through_a_file(model, tmp_path)
    assert again.kernel == kernel
    assert (again.decision_function(new) == model.decision_function(new)).all()


def test_wide_rows(tmp_path):
    train = cases.random_pairs(14)
    rows = train.to_rows()
    model = PairSVC("symmetric", n_symmetric=2, n_antisymmetric=2)
    model.fit(rows, cases.random_labels(14, len(train)))
    again = through_a_file(model, tmp_path)
    assert (again.decision_function(rows) == model.decision_function(rows)).all()
    with pytest.raises(ValueError, match="is expecting 8 features"):
        again.decision_function(rows[:, 1:])


def test_a_loaded_model_starts_warm(tmp_path):
    pairs = cases.random_pairs(15, n=60)
    y = cases.random_labels(15, 60)
    model = PairSVC("symmetric", kernel=Gaussian(1.0), C=10.0, solver="smo", warm_start=True).fit(
        pairs, y
    )
    again = through_a_file(model, tmp_path)
    assert again.fit(pairs, y).n_iter_ < model.n_iter_


# Labels, ids and other values -------------------------------------------------------------------

LABELS = {
    "whole numbers": [-1, 1],
    "small numbers": np.array([0, 1], dtype=np.int8),
    "fractions": [0.5, 2.5],
    "truth values": [False, True],
    "texts": ["lost", "won"],
    "wide texts": np.array(["a", "b"], dtype="U200"),
    "letters": ["наш", "чужой \U0001f600"],
    "objects": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
def test_labels_of_any_type(labels, tmp_path):
    pairs = cases.random_pairs(16)
    y = np.asarray(labels)[(cases.random_labels(16, len(pairs)) > 0).astype(int)]
    model = PairSVC("symmetric", tie_label="?", class_weight="balanced").fit(pairs, y)
    again = through_a_file(model, tmp_path)
    assert (again.predict(pairs) == model.predict(pairs)).all()
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.classes_.dtype.kind == model.classes_.dtype.kind


def test_class_weights_by_label(tmp_path):
    pairs = cases.random_pairs(17)
    weights = {-1: 2.0, np.int64(1): np.float32(0.5)}
    model = PairSVC("symmetric", class_weight=weights).fit(pairs, cases.random_labels(17, 14))
    assert_same(through_a_file(model, tmp_path).class_weight, weights)


def test_ids_of_any_type(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
    ids = [
        7,
        "seven",
        7.5,
        True,
        (1, "a"),
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2, 3, 4, tzinfo=datetime.UTC),
        datetime.time(3, 4),
        pd.Timestamp("2020-01-02 03:04:05.123456789"),
        pd.Timestamp("2020-01-02", tz="UTC").as_unit("s"),
        decimal.Decimal("1.20"),
        uuid.UUID(int=5),
        b"\x00\xff",
        np.int16(3),
        np.float32(0.1),
        np.datetime64("2020-01-02", "D"),
        np.str_("text"),
        None,
        10**40,
    ]
    column = np.fromiter(ids, dtype=object, count=len(ids))
    rng = np.random.default_rng(0)
    pairs = Pairs(rng.normal(size=(len(ids), 2)), range(18), range(1, 19), ids=column)
    model = PairRidge("antisymmetric", kernel=Linear()).fit(pairs, rng.normal(size=18))
    again = through_a_file(model, tmp_path)
    assert again.support_pairs_.ids.tolist() == model.support_pairs_.ids.tolist()
    assert_same(again.support_pairs_, model.support_pairs_)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary(max_size=5)
    | st.dates()
    | st.decimals(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), plain, max_size=3))
def test_plain_values(values):
    encoder = Encoder()
    header = json.loads(json.dumps(encoder.value(values, "values"), allow_nan=False))
    assert encoder.objects == encoder.table == []
    assert_same(Decoder([], [], memoryview(b"")).value(header), values)


ARRAYS = {
    "empty": np.zeros((0, 3)),
    "by columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "one number": np.array(3.5),
    "big-endian": np.array([1.5, -2.0], dtype=">f8"),
    "halves": np.array([1.5, np.inf, np.nan], dtype=np.float16),
    "unsigned": np.array([0, 2**64 - 1], dtype=np.uint64),
    "truth": np.array([[True], [False], [True]]),
    "days": np.array(["2020-01-02", "NaT"], dtype="datetime64[D]"),
    "spans": np.array([5, -7], dtype="timedelta64[ms]"),
    "minus zero": np.array([-0.0, 0.0]),
    "texts": np.array([["a", ""], ["\u00e9", "\U0001f600"]]),
    "objects": np.array([["a", 1], [None, (2.5, "x")]], dtype=object),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays(array, tmp_path):
    pairs = Pairs(np.array([[0.0], [1.0]]), [0], [1])
    model = PairRidge("antisymmetric", kernel="linear").fit(pairs, [1.0])
    path = tmp_path / "model.pairity"
    pairity.save(model, path, ModelMetadata(extra={"one": array, "two": [array]}))
    extra = read_model_file(path).metadata.extra
    if array.dtype.byteorder == ">":
        assert extra["one"].tolist() == array.tolist()
    else:
        assert_same(extra["one"], array)
    assert extra["one"] is extra["two"][0]
    assert extra["one"].flags.writeable


# Metadata, versions, bytes ----------------------------------------------------------------------


def test_metadata(tmp_path):
    pairs = cases.random_pairs(18)
    model = PairSVC("symmetric").fit(pairs, cases.random_labels(18, 14))
    names = {"objects": ["height", "weight"], "symmetric": ["gap", "same"]}
    metadata = ModelMetadata(
        feature_names=names,
        ids=np.array(list("abcdefg"), dtype=object),
        objects=pairs.objects,
        training={"n_pairs": 14, "accuracy": 0.75},
    )
    path = tmp_path / "model.pairity"
    pairity.save(model, path, metadata)
    found = read_model_file(path)
    assert_same(found.metadata, metadata)
    assert found.written_by["pairity"] == pairity.__version__
    assert found.n_bytes == path.stat().st_size
    assert len(found.checksum) == 64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": {"people": ["a"]}}, r"got feature names for \['people'\]; expected"),
        ({"ids": np.arange(3), "objects": np.zeros((2, 1))}, "got 3 ids for 2 objects"),
        (
            {"feature_names": {"objects": ["a"]}},
            "got 1 names of objects features for a model with 2",
        ),
    ],
)
def test_metadata_that_does_not_fit(options, message, tmp_path):
    pairs = cases.random_pairs(19)
    model = PairSVC("symmetric").fit(pairs, cases.random_labels(19, 14))
    with pytest.raises(ValueError, match=message):
        pairity.save(model, tmp_path / "model.pairity", ModelMetadata(**options))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_same_model_gives_the_same_bytes(learner, tmp_path):
    pairs = cases.sparse_twin(cases.random_pairs(20, n=20))
    one, two = tmp_path / "one.pairity", tmp_path / "two.pairity"
    pairity.save(learner.fit(pairs, 20, "antisymmetric"), one)
    pairity.save(learner.fit(pairs, 20, "antisymmetric"), two)
    assert one.read_bytes() == two.read_bytes()
    pairity.save(pairity.load(one), two)
    assert one.read_bytes() == two.read_bytes()


# Classes ----------------------------------------------------------------------------------------


def subclasses(base):
    for cls in base.__subclasses__():
        yield cls
        yield from subclasses(cls)


def test_every_kernel_class_is_registered():
    found = [cls for cls in subclasses(Kernel) if cls.__module__.startswith("pairity.")]
    public = [cls for cls in found if not cls.__name__.startswith("_")]
    unknown = [cls for cls in public if name_of(cls) is None]
    missing = [cls.__name__ for cls in unknown if not cls.__subclasses__()]  # no bases of others
    # a part of a kernel is made by operators, if their modules are loaded, and is no model's kernel
    assert set(missing) - {"PartOfKernel"} == {"Callable"}, (
        "add a line to pairity/files/registry.py"
    )
    assert len(public) > 15


def test_every_estimator_is_registered():
    found = [getattr(pairity, name) for name in pairity.__all__ if name != "__version__"]
    estimators = [cls for cls in found if isinstance(cls, type) and issubclass(cls, BaseEstimator)]
    missing = [cls.__name__ for cls in estimators if name_of(cls) is None]
    assert missing == [], "add a line to pairity/files/registry.py"
    assert len(estimators) >= 6


def test_transformers_of_scikit_learn(tmp_path, rng):
    pairs = cases.without_group(cases.random_pairs(21, widths=(3, 0, 0)))
    model = PairSVC("symmetric").fit(pairs, cases.random_labels(21, 14))
    steps = Pipeline([("scale", StandardScaler()), ("pca", PCA(2))])
    steps.fit(rng.normal(size=(20, 3)))
    path = tmp_path / "model.pairity"
    pairity.save(model, path, ModelMetadata(extra={"steps": steps}))
    again = read_model_file(path).metadata.extra["steps"]
    assert (again.transform(pairs.objects) == steps.transform(pairs.objects)).all()


def test_a_pipeline_of_pairs(tmp_path):
    train, new = cases.random_pairs(25), cases.random_pairs(26)
    steps = ObjectTransformer(StandardScaler(), symmetric=StandardScaler()), PairSVC("symmetric")
    model = make_pipeline(*steps).fit(train, cases.random_labels(25, 14))
    again = through_a_file(model, tmp_path)
    assert (again.decision_function(new) == model.decision_function(new)).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("symmetry", PARITIES)
def test_probabilities(symmetry, method, tmp_path):
    train, new = cases.random_pairs(27, n=60, m=12), cases.random_pairs(28)
    machine = PairSVC(symmetry, kernel=Gaussian(1.0))
    folds = Repeated(PairKFold(3, new=(0, 1, 2), random_state=0), 2)
    model = CalibratedPairClassifier(machine, method=method, cv=folds)
    left, right = train.objects[train.first, 0], train.objects[train.second, 0]
    labels = np.where((left > right) if symmetry == "antisymmetric" else (left * right > 0), 1, -1)
    model.fit(train, labels)
    again = through_a_file(model, tmp_path)
    assert (again.predict_proba(new) == model.predict_proba(new)).all()
    assert again.symmetry == symmetry
    half = slice(0, 40)
    model.fit(train[half], labels[half])
    again.fit(train[half], labels[half])
    assert (again.predict_proba(new) == model.predict_proba(new)).all()


@pytest.mark.parametrize("kernel", ["auto", [Gaussian(1.0), "linear"]], ids=["auto", "listed"])
@pytest.mark.parametrize("search", [PairSVCCV, PairLogisticCV, PairRidgeCV])
def test_tuned_models(search, kernel, tmp_path):
    train, new = cases.random_pairs(31, n=60, m=12), cases.random_pairs(32)
    lead = train.objects[train.first, 0] - train.objects[train.second, 0]
    strengths = {"alphas" if search is PairRidgeCV else "Cs": [0.1, 1.0]}
    model = search("antisymmetric", kernel=kernel, **strengths)
    model.fit(train, lead if search is PairRidgeCV else np.where(lead > 0, 1, -1))
    again = through_a_file(model, tmp_path)
    assert (again.predict(new) == model.predict(new)).all()
    assert again.best_params_["kernel"] == again.kernel_
    assert again.certificate_ == model.certificate_
    assert repr(again.cv_results_) == repr(model.cv_results_)
    if search is not PairRidgeCV:
        assert (again.decision_function(new) == model.decision_function(new)).all()
        assert (again.predict_proba(new) == model.predict_proba(new)).all()


def test_three_outcomes(tmp_path, rng):
    train, new = cases.random_pairs(29, n=60, m=12), cases.random_pairs(30)
    model = PairDrawClassifier().fit(train, rng.integers(-1, 2, size=60))
    again = through_a_file(model, tmp_path)
    assert (again.predict_proba(new) == model.predict_proba(new)).all()


def test_another_version_of_scikit_learn_draws_a_warning(tmp_path, monkeypatch):
    import sklearn

    pairs = cases.random_pairs(22)
    model = PairSVC("symmetric").fit(pairs, cases.random_labels(22, 14))
    path = tmp_path / "model.pairity"
    pairity.save(model, path, ModelMetadata(extra={"scaler": StandardScaler().fit(pairs.objects)}))
    monkeypatch.setattr(sklearn, "__version__", "99.0")
    with pytest.warns(PairityWarning, match=r"StandardScaler of scikit-learn .*99\.0 is installed"):
        pairity.load(path)


class HalfOf(Kernel):
    """A user's kernel."""

    def __init__(self, kernel):
        self.kernel = kernel

    def formula(self, atoms):
        return self.kernel.formula(atoms) * 0.5


@dataclass(frozen=True)
class Season:
    """A user's record."""

    year: int
    points: np.ndarray


def test_classes_of_users(tmp_path):
    train, new = cases.random_pairs(23), cases.random_pairs(24)
    model = PairRidge("symmetric", kernel=HalfOf(Gaussian(1.0))).fit(
        train, cases.random_targets(23, 14)
    )
    path = tmp_path / "model.pairity"
    with pytest.raises(ModelFileError, match=r"got an object of HalfOf as PairRidge\.kernel"):
        pairity.save(model, path)
    assert not path.exists()
    register(HalfOf)
    assert register(Season, "season of a user") is Season
    pairity.save(model, path, ModelMetadata(extra={"season": Season(2020, np.arange(3))}))
    again = read_model_file(path)
    assert (again.model.predict(new) == model.predict(new)).all()
    assert again.metadata.extra["season"].year == 2020
    assert is_registered("season of a user")


def test_names_of_others_cannot_be_taken():
    register(HalfOf)
    register(HalfOf)  # again is no harm
    with pytest.raises(ValueError, match="stands for another class"):
        register(Season, "PairSVC")
    with pytest.raises(ValueError, match="stands for another class"):
        register(Season, "HalfOf")
    with pytest.raises(TypeError, match="expected a class: a kernel, an estimator or a dataclass"):
        register(int)
