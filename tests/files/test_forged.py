"""Forged files with a right checksum: refused, or models that behave; and files of earlier versions."""

import json
import pickle
import random
import subprocess
import warnings
from pathlib import Path

import crafted
import forging
import fuzzer
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cases
import pairity
from pairity import ObjectTransformer, PairRidge, Pairs, PairSVC
from pairity.exceptions import ModelFileError, PairityWarning
from pairity.io import ModelMetadata
from pairity.io.composites import _OPTIONS_OF_SOLVERS
from pairity.kernels import Gaussian, Linear
from pairity.kernels.algebra import Sum

STORED = Path(__file__).parent / "stored"
EXPECTED = json.loads((STORED / "expected.json").read_text())["cases"]


# Files of earlier versions ----------------------------------------------------------------------


def asked_pairs(case):
    objects = np.array(case["objects"])
    group = np.array(case["symmetric"]), np.array(case["antisymmetric"])
    table = sp.csr_array(objects) if case["sparse"] else objects
    return Pairs(table, case["first"], case["second"], *group, ids=case["ids"])


@pytest.mark.filterwarnings("ignore:the file holds")
@pytest.mark.parametrize("name", EXPECTED)
def test_files_of_earlier_versions(name, tmp_path):
    """Nothing of the content is lost, and predictions are the same up to the last bits."""
    case, path = EXPECTED[name], STORED / f"{name}.pairity"
    model = pairity.load(path)
    values = np.array([float.fromhex(value) for value in case["values"]])
    found = getattr(model, case["method"])(asked_pairs(case))
    np.testing.assert_allclose(found, values, rtol=1e-12, atol=1e-13)  # other vector units
    if case["method"] != "predict":
        assert model.predict(asked_pairs(case)).tolist() == case["predicted"]
    metadata = pairity.io.read_model_file(path).metadata
    pairity.save(model, tmp_path / "again.pairity", metadata)
    before, after = (
        crafted.taken_apart(f.read_bytes()) for f in (path, tmp_path / "again.pairity")
    )
    assert before[1] == after[1]
    for header in (before[0], after[0]):
        header.pop("written_by")
        for item in header["objects"]:
            for option in (
                "memory",
                "time_limit",
                "decay",
                "positive",
                *_OPTIONS_OF_SOLVERS,
            ):  # the second: new since
                item.get("parameters", {}).pop(option, None)
            if item.get("name") in ("DerivedFeatures", "ObjectTransformer"):  # wide rows: new since
                for option in ("n_symmetric", "n_antisymmetric"):
                    item["parameters"].pop(option, None)
            item.get("fields", {}).pop("rounding", None)  # of a certificate: new since
    if name != "transductive":  # whose rounds have labels by now
        assert before[0] == after[0]


def test_every_kind_of_model_is_stored():
    assert len(EXPECTED) == len(forging.STORED) == 24


# Forged files -----------------------------------------------------------------------------------


def test_three_hundred_forged_files(tmp_path):
    """``python tests/files/fuzzer.py 10000`` opens more, and measures their time."""
    counts, _, _, faults = fuzzer.run(300, 2026, tmp_path, refit_every=10, most_seconds=np.inf)
    assert faults == []
    assert counts["refused"] + counts["behaves"] == 300
    assert counts["refused"] > 200
    assert counts["behaves"] > 10


def test_the_fuzzer_notices_what_is_wrong():
    model = pairity.load(STORED / "svc.pairity")
    assert list(fuzzer.faults_of_use(model)) == []
    object.__setattr__(model._model, "bias", 0.5)
    assert ["swap law" in fault for fault in fuzzer.faults_of_use(model)] == [True]
    model.certificate_ = None
    assert "_shown_certificate" in list(fuzzer.faults_of_use(model))[-1]
    model._model = None
    assert "decision_function: AttributeError" in next(fuzzer.faults_of_use(model))


def test_the_watch_notices_files_and_folders(tmp_path):
    watch = fuzzer.Watch()
    with watch.watching(str(tmp_path / "mine")):
        (tmp_path / "mine").write_text("")
        (tmp_path / "other").write_text("")
        (tmp_path / "folder").mkdir()
        pickle.loads(pickle.dumps(subprocess.Popen))
    (tmp_path / "later").write_text("")
    found = [event for event, _ in watch.seen]
    assert found == ["open", "os.mkdir", "pickle.find_class"]


# One by one -------------------------------------------------------------------------------------


def changed(name, change):
    """A stored file whose header a function has changed."""
    header, arrays = crafted.taken_apart((STORED / f"{name}.pairity").read_bytes())
    model = header["objects"][header["model"]["place"]]
    return crafted.put_together(header, change(header, model) or arrays)


def refusal(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"^got .*; expected ") as caught:
        pairity.load(path)
    return str(caught.value)


@pytest.mark.parametrize("kind", ["tuple", "sum", "product", "scaled"])
def test_towers_are_measured_before_they_are_built(kind, tmp_path):
    """Sixty levels that hold the previous one twice are 2^60 values in 9 kB."""

    def change(header, model):
        dice = random.Random(0)
        dice.choice = lambda options: (
            60 if 60 in options else kind if kind in options else options[0]
        )
        forging.tower(header, b"", dice, None)

    said = refusal(tmp_path / "forged.pairity", changed("svc", change))
    assert "unfolds to" in said


def test_texts_take_no_more_than_the_file_allows(tmp_path):
    def change(header, model):
        texts = ["y" * 24_000, *([""] * 15_000)]  # 1.4 GB
        entry = {"type": "texts", "shape": [15_001], "items": texts, "width": 24_000}
        header["arrays"].append(entry)
        model["parameters"]["tie_label"] = {"$": "array", "place": len(header["arrays"]) - 1}

    assert "bytes of arrays" in refusal(tmp_path / "forged.pairity", changed("svc", change))


def test_texts_of_very_different_lengths_are_refused_on_saving(tmp_path):
    pairs = Pairs(np.array([[0.0], [1.0]]), [0], [1])
    model = PairRidge("antisymmetric", kernel="linear").fit(pairs, [1.0])
    names = np.array(["y" * 4_000, *([""] * 2_000)])  # 32 MB
    with pytest.raises(ModelFileError, match=r"unfolds to .* bytes of arrays"):
        pairity.save(model, tmp_path / "model.pairity", ModelMetadata(extra={"names": names}))
    assert list(tmp_path.iterdir()) == []


def test_arrays_without_entries_are_not_larger_than_the_file(tmp_path):
    def change(header, model):
        header["arrays"].append({"type": "float64", "shape": [2**40, 0], "order": "C"})
        place = next(k for k, x in enumerate(header["objects"]) if x["$"] == "pairs")
        header["objects"][place]["objects"] = {"$": "array", "place": len(header["arrays"]) - 1}

    assert "rows or columns" in refusal(tmp_path / "forged.pairity", changed("svc", change))


def test_a_file_names_no_folder(tmp_path):
    """A cache folder is left out with a warning on loading, and refused on saving."""
    with pytest.warns(PairityWarning, match="folder for its cache, which is left out"):
        model = pairity.load(STORED / "cached_pipeline.pairity")
    assert model.memory is None
    steps = ObjectTransformer(StandardScaler()), PairSVC("symmetric")
    pairs = cases.random_pairs(1)
    cached = make_pipeline(*steps, memory=str(tmp_path / "cache"))
    cached.fit(pairs, cases.random_labels(1, len(pairs)))
    with pytest.raises(ModelFileError, match=r"set_params\(memory=None\) before saving"):
        pairity.save(cached, tmp_path / "model.pairity")
    assert not (tmp_path / "model.pairity").exists()


def fitted_pipeline(*steps):
    pairs = cases.random_pairs(1)
    return make_pipeline(*steps).fit(pairs, cases.random_labels(1, len(pairs)))


@pytest.mark.parametrize("step", ["mine", "", ObjectTransformer(StandardScaler())], ids=repr)
def test_steps_of_a_pipeline_are_fitted_estimators(step, tmp_path):
    model = fitted_pipeline(ObjectTransformer(StandardScaler()), PairSVC("symmetric"))
    model.steps[0] = "other", step
    with pytest.raises(ModelFileError, match=r"^got a pipeline .*; expected .*fitted"):
        pairity.save(model, tmp_path / "model.pairity")


def test_a_pipeline_that_does_nothing_is_refused(tmp_path):
    model = make_pipeline("passthrough", "passthrough")
    with pytest.raises(ModelFileError, match=r"^got a pipeline .*; expected"):
        pairity.save(model, tmp_path / "model.pairity")


def test_what_comes_after_a_step_that_does_nothing_is_tried_out(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("pairity.io.rehearsal._decide", lambda model, pairs: asked.append(model))
    pairity.save(fitted_pipeline("passthrough", PairSVC("symmetric")), tmp_path / "model.pairity")
    assert asked


INCONSISTENT = {
    "another law": ("svc", ["parameters", "symmetry"], "symmetric"),
    "a bias of an odd function": ("svc", ["state", "intercept_"], 0.5),
    "an unknown value": ("svc", ["state", "note"], "mine"),
    "a setting of the class": ("svc", ["state", "_solvers"], "smo"),
    "a penalty below 0": ("svc", ["parameters", "C"], -1.0),
    "a penalty that is a text": ("svc", ["parameters", "C"], "1"),
    "no steps": ("svc", ["state", "n_iter_"], 0),
    "other widths": ("svc", ["state", "feature_widths_", "items", 0], 3),
    "another number of columns": ("svc", ["state", "n_features_in_"], 5),
    "a folded curve": ("isotonic", ["state", "offset_"], 0.0),
    "an offset": ("sigmoid", ["state", "offset_"], 0.5),
    "a falling slope": ("svc_cv", ["state", "slope_"], -1.0),
    "no threshold": ("draws", ["state", "threshold_"], 0.0),
    "another choice": ("svc_cv", ["state", "best_index_"], 99),
}


@pytest.mark.parametrize(("name", "steps", "value"), INCONSISTENT.values(), ids=INCONSISTENT.keys())
def test_values_that_no_fit_leaves(name, steps, value, tmp_path):
    def change(header, model):
        forging.put(model, steps, value)

    refusal(tmp_path / "forged.pairity", changed(name, change))


def test_what_cannot_be_loaded_is_not_saved(tmp_path):
    pairs = cases.random_pairs(2)
    model = PairSVC("symmetric").fit(pairs, cases.random_labels(2, len(pairs)))
    model.note = "mine"
    with pytest.raises(
        ModelFileError, match=r"PairSVC\.note .* keep what is yours in ModelMetadata"
    ):
        pairity.save(model, tmp_path / "model.pairity")
    del model.note
    pairity.save(model.set_params(C=2.0), tmp_path / "model.pairity")
    assert pairity.load(tmp_path / "model.pairity").C == 2.0


def test_long_sums_and_searches_over_them_are_no_towers(tmp_path):
    """Kernels that a search refers to many times over stay within the bounds."""
    pairs = cases.without_group(cases.random_pairs(3, n=20))
    kernels = [Sum(tuple(Gaussian(1.0 + k + shift) for k in range(40))) for shift in (0.0, 0.5)]
    model = pairity.PairRidgeCV(
        "symmetric", kernel=[*kernels, Linear()], alphas=np.geomspace(0.1, 1, 6), cv=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pairs, np.arange(20.0) % 7)
    pairity.save(model, tmp_path / "model.pairity")
    again = pairity.load(tmp_path / "model.pairity")
    assert (again.predict(pairs) == model.predict(pairs)).all()
