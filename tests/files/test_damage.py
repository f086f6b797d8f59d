"""Files that are damaged, cut off, newer or made up: a clean error, and nothing runs."""

import json
import pickle
import random
import re
import textwrap

import crafted
import numpy as np
import pytest

import cases
import pairity
from fresh import Fresh
from pairity import PairSVC
from pairity.exceptions import ModelFileError
from pairity.io import ModelMetadata
from pairity.kernels import Gaussian, Linear, Precomputed, Product


@pytest.fixture(scope="module")
def model():
    pairs = cases.random_pairs(1, n=10, m=5)
    kernel = Product(Gaussian(1.0)) + Linear()
    return PairSVC("antisymmetric", kernel=kernel).fit(pairs, cases.random_labels(1, 10))


@pytest.fixture(scope="module")
def content(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "model.pairity"
    metadata = ModelMetadata(ids=np.array(["a", 2, None], dtype=object), training={"n_pairs": 10})
    pairity.save(model, path, metadata)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.pairity"


def outcome(path, content):
    """The model, or the sentence of a ModelFileError; anything else is an error here too."""
    path.write_bytes(content)
    try:
        return pairity.load(path)
    except ModelFileError as error:
        said, context = str(error), None if error.__suppress_context__ else error.__context__
    assert re.fullmatch(r"got .*\S; expected .*\S", said)  # and "." is no line break
    assert context is None
    return said


def refusal(path, content):
    found = outcome(path, content)
    assert isinstance(found, str), "it was loaded"
    return found


# Random damage ----------------------------------------------------------------------------------


def flipped(content, dice):
    place = dice.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :]


def inserted(content, dice):
    place = dice.randrange(len(content) + 1)
    return content[:place] + dice.randbytes(dice.randint(1, 40)) + content[place:]


def deleted(content, dice):
    place = dice.randrange(len(content))
    return content[:place] + content[place + dice.randint(1, 40) :]


def cut_off(content, dice):
    return content[: dice.randrange(len(content))]


def spliced(content, dice):
    """One stretch of the file written over another."""
    length = dice.randint(1, 200)
    source, target = (dice.randrange(len(content) - length) for _ in range(2))
    stretch = content[source : source + length]
    return content[:target] + stretch + content[target + length :]


def zeroed(content, dice):
    place, length = dice.randrange(len(content)), dice.randint(1, 300)
    gap = bytes(len(content[place : place + length]))
    return content[:place] + gap + content[place + length :]


DAMAGES = [flipped, inserted, deleted, cut_off, spliced, zeroed]


def test_two_thousand_mutations(content, model, path):
    dice, pairs = random.Random(7), cases.random_pairs(2)
    decisions = model.decision_function(pairs)
    n_loaded = 0
    for number in range(2000):
        damaged = content
        for _ in range(dice.choice([1, 1, 2, 5])):
            if len(damaged) > 300:
                damaged = DAMAGES[number % len(DAMAGES)](damaged, dice)
        found = outcome(path, damaged)
        if not isinstance(found, str):
            n_loaded += 1
            assert damaged == content
            assert (found.decision_function(pairs) == decisions).all()
    assert n_loaded < 40  # a splice or a gap of zeros may change nothing


def test_every_bit_counts(content, path):
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        refusal(path, bytes(changed))


@pytest.mark.parametrize("length", [0, 1, 7, 8, 11, 12, 27, 28, 29, 59, 60, -33, -32, -1])
def test_every_cut_is_noticed(content, path, length):
    refusal(path, content[:length])


# One sentence for each kind of trouble ----------------------------------------------------------


def test_something_else_is_no_model_file(path):
    for other in (b"", b"PK\x03\x04 a zip file", b"first,second,label\n", pickle.dumps([1, 2])):
        assert "which does not begin like a model file" in refusal(path, other)


def test_a_newer_format_asks_for_a_newer_version(content, path):
    header, arrays = crafted.taken_apart(content)
    said = refusal(path, crafted.put_together(header, arrays, version=2))
    assert "of format 2; expected at most 1" in said
    assert "install a newer Pairity" in said


def test_lengths_are_compared_with_the_file_before_anything_is_read(content, path):
    for lengths in ((2**63, 0), (0, 2**63), (2**64 - 1, 2**64 - 1), (2**20, 2**40)):
        changed = crafted.PREAMBLE.pack(crafted.MAGIC, 1, *lengths) + content[28:]
        assert "that its beginning announces" in refusal(path, changed)


def test_a_file_larger_than_the_memory_is_not_read(path, monkeypatch):
    monkeypatch.setattr("pairity.io.container.available_megabytes", lambda: 1.0)
    with path.open("wb") as stream:
        stream.write(crafted.PREAMBLE.pack(crafted.MAGIC, 1, 10, 2**21))
        stream.truncate(28 + 10 + 2**21 + 32)  # a hole: no bytes on the disk
    with pytest.raises(ModelFileError, match="fits into the memory that is free"):
        pairity.load(path)


def test_a_wrong_checksum_says_so(content, path):
    assert "whose checksum is wrong" in refusal(path, content[:-1] + bytes([content[-1] ^ 1]))


def test_a_directory_and_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        pairity.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        pairity.load(tmp_path)


# Made-up content with a right checksum ----------------------------------------------------------

HEADERS = {
    "no JSON": b"{",
    "no ASCII": b'{"model": "\xc3\xa9"}',
    "a list": b"[]",
    "a number": b"5",
    "nothing": b"{}",
    "a key twice": b'{"model":1,"model":2}',
    "a number that is none": b'{"model":NaN}',
    "endless digits": b'{"model":' + b"1" * 5000 + b"}",
    "deep": b"[" * 100_000,
    "deep and whole": b"[" * 20_000 + b"]" * 20_000,
    "deep objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS.keys())
def test_headers_that_are_none(header, path):
    assert "cannot be read" in refusal(path, crafted.put_together(header))


def replaced(tree, steps, value):
    """A copy of a JSON tree with another value at the end of some steps."""
    tree = json.loads(json.dumps(tree))
    place = tree
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = value
    return tree


def estimator_place(header):
    return header["model"]["place"]


CLASSES = [
    "os.system",
    "builtins.eval",
    "subprocess.Popen",
    "../../../../etc/passwd",
    "pairity.kernels.object_kernels.Callable",
    "Callable",
    "PairMachine",
    "__main__",
    "Kernel",
    "",
    "PairSVC\x00",
    None,
    7,
    ["PairSVC"],
    {"$": "tuple", "items": []},
]


@pytest.mark.parametrize("name", CLASSES, ids=repr)
def test_unknown_classes(name, content, path):
    header, arrays = crafted.taken_apart(content)
    for kind in ("kernel", "estimator", "record"):
        place = next(k for k, item in enumerate(header["objects"]) if item["$"] == kind)
        changed = replaced(header, ["objects", place, "name"], name)
        said = refusal(path, crafted.put_together(changed, arrays))
        assert "got an object of the class" in said


def test_classes_in_the_place_of_others(content, path):
    header, arrays = crafted.taken_apart(content)
    for kind, name in (("kernel", "PairSVC"), ("estimator", "Certificate"), ("record", "PairSVC")):
        place = next(k for k, item in enumerate(header["objects"]) if item["$"] == kind)
        refusal(
            path, crafted.put_together(replaced(header, ["objects", place, "name"], name), arrays)
        )


@pytest.mark.parametrize(
    "name", ["__class__", "__dict__", "predict", "decision_function", "fit", "a b", "", "score"]
)
def test_methods_are_not_replaced(name, content, path):
    header, arrays = crafted.taken_apart(content)
    changed = replaced(header, ["objects", estimator_place(header), "state", name], 5)
    assert "got a fitted value" in refusal(path, crafted.put_together(changed, arrays))


ARRAYS = {
    "too long": {"shape": [10**9]},
    "too many numbers": {"shape": [2**40, 2**40, 2**40, 2**40]},
    "negative": {"shape": [-1]},
    "fraction": {"shape": [2.5]},
    "truth value": {"shape": [True]},
    "many dimensions": {"shape": [1] * 33},
    "no shape": {"shape": None},
    "objects": {"type": "object"},
    "pickle": {"type": "|O"},
    "records": {"type": "f8,i4"},
    "unhashable": {"type": ["float64"]},
    "texts": {"type": "texts"},
    "wide texts": {"type": "texts", "shape": [1], "items": ["a"], "width": 10**9},
    "texts that are numbers": {"type": "texts", "shape": [1], "items": [1], "width": 1},
    "few objects": {"type": "objects", "shape": [10**8], "items": []},
    "fewer bytes": {"type": "uint8"},
}


@pytest.mark.parametrize("entry", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays_that_are_none(entry, content, path):
    header, arrays = crafted.taken_apart(content)
    for place, known in enumerate(header["arrays"]):
        changed = replaced(header, ["arrays", place], {**known, **entry})
        refusal(path, crafted.put_together(changed, arrays))


@pytest.mark.parametrize("place", [-1, 10**6, 1.0, "0", None, True, [0]], ids=repr)
def test_references_to_nothing(place, content, path):
    header, arrays = crafted.taken_apart(content)
    for name in ("model", "metadata"):
        changed = replaced(header, [name, "place"], place)
        refusal(path, crafted.put_together(changed, arrays))
    own = estimator_place(header)
    for kind in ("array", "object"):
        reference = {"$": kind, "place": place}
        changed = replaced(header, ["objects", own, "state", "intercept_"], reference)
        refusal(path, crafted.put_together(changed, arrays))


def test_an_object_cannot_contain_itself(content, path):
    header, arrays = crafted.taken_apart(content)
    own = estimator_place(header)
    for place in (own, own + 1):
        reference = {"$": "object", "place": place}
        changed = replaced(header, ["objects", own, "state", "intercept_"], reference)
        assert "one that came before" in refusal(path, crafted.put_together(changed, arrays))


def nodes(tree, steps=()):
    """All places of a JSON tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for step, value in items:
        yield [*steps, step]
        if isinstance(value, dict | list):
            yield from nodes(value, (*steps, step))


ODD_VALUES = [
    *(None, True, 0, -1, 2, 10**30, 1e308, "", "PairSVC", "nan", [], {}, [[]]),
    *({"$": "array", "place": place} for place in range(6)),
    *({"$": "object", "place": place} for place in range(6)),
    {"$": "float", "value": "inf"},
    {"$": "float", "value": "1e5"},
    {"$": "tuple", "items": [1, 2]},
    {"$": "dict", "items": [[[], 1]]},
    {"$": "scalar", "type": "int8", "value": 300},
    {"$": "scalar", "type": "float64", "value": "x"},
    {"$": "bytes", "value": "zz"},
    {"$": "datetime", "value": "yesterday"},
    {"$": "timestamp", "value": "x", "unit": "s"},
    {"$": "decimal", "value": "1e"},
    {"$": "parity", "value": 3},
    {"$": "splitter", "name": "KFold", "parameters": {"n_splits": 0}},
    {"$": "kernel", "name": "Gaussian", "parameters": {"sigma": -1.0}},
    {"$": "kernel", "name": "Sum", "parameters": {"terms": 5}},
    {"$": "kernel", "name": "Bilinear", "parameters": {"P": [[1.0, 2.0], [2.0, 1.0]]}},
    {"$": "pairs", "objects": 1, "first": 2, "second": 3},
]


def test_every_value_of_the_header_changed(content, path):
    """With a right checksum: a model, or a clean error; nothing hangs and nothing is huge."""
    header, arrays = crafted.taken_apart(content)
    dice = random.Random(11)
    places = list(nodes(header))
    n_loaded = n_refused = 0
    for steps in places:
        for value in dice.sample(ODD_VALUES, 2):
            changed = crafted.put_together(replaced(header, steps, value), arrays)
            if isinstance(outcome(path, changed), str):
                n_refused += 1
            else:
                n_loaded += 1
    assert n_refused > 300
    assert n_loaded > 15  # a tolerance, a verbosity, a summary


def test_sparse_tables_whose_parts_do_not_fit(path):
    pairs = cases.sparse_twin(cases.without_group(cases.random_pairs(3)))
    model = PairSVC("symmetric", kernel="linear").fit(pairs, cases.random_labels(3, len(pairs)))
    pairity.save(model, path)
    header, arrays = crafted.taken_apart(path.read_bytes())
    place = next(k for k, item in enumerate(header["objects"]) if item["$"] == "sparse")
    sparse = header["objects"][place]
    changes = [
        {"shape": [1, 1]},
        {"shape": [len(pairs), 0]},
        {"shape": [-1, 2]},
        {"shape": [2**60]},
    ]
    changes += [{"indices": sparse["data"]}, {"indptr": sparse["indices"]}, {"data": 0.5}]
    for change in changes:
        changed = replaced(header, ["objects", place], {**sparse, **change})
        refusal(path, crafted.put_together(changed, arrays))


# Nothing runs -----------------------------------------------------------------------------------


class Payload:
    """Runs a command when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (open, (str(self.mark), "w"))


def payloads(content, mark):
    """Files with a pickle or a path wherever one could go."""
    header, arrays = crafted.taken_apart(content)
    attack = pickle.dumps(Payload(mark))
    own = estimator_place(header)
    outside = "../" * 8 + str(mark)
    yield attack
    yield crafted.MAGIC + attack
    yield content + attack
    yield content[:-32] + attack
    yield crafted.put_together(attack, arrays)
    yield crafted.put_together(header, attack)
    yield crafted.put_together(header, arrays + attack)
    text = attack.decode("latin-1")
    for value in (
        {"$": "bytes", "value": attack.hex()},
        {"$": "pickle", "value": attack.hex()},
        {"$": "py/reduce", "value": text},
        {"$": "object", "place": outside},
        {"$": "kernel", "name": outside, "parameters": {}},
        {"$": "kernel", "name": "Callable", "parameters": {"function": "open"}},
        {"$": "estimator", "name": "builtins.open", "parameters": {"file": str(mark), "mode": "w"}},
        {"$": "record", "name": "Path", "fields": {}},
        text,
        outside,
    ):
        for steps in (
            ["model"],
            ["metadata"],
            ["objects", own],
            ["objects", own, "parameters", "kernel"],
            ["objects", own, "state", "_model"],
            ["objects", own, "name"],
        ):
            yield crafted.put_together(replaced(header, steps, value), arrays)


WATCHED = """
    import os, sys
    import numpy, pandas, sklearn, pairity
    import pairity.io
    from pairity.exceptions import ModelFileError
    from pairity.io.registry import _HOMES
    from importlib import import_module

    for module in _HOMES:
        import_module(module)
    directory, sound = sys.argv[1:]
    pairity.load(sound)  # whatever a first load imports
    events = []
    names = {"exec", "import", "open", "os.system", "os.exec", "os.posix_spawn", "pickle.find_class",
             "subprocess.Popen", "socket.connect", "ctypes.dlopen", "os.remove", "os.rename",
             "os.mkdir", "shutil.rmtree", "marshal.loads", "code.__new__"}
    paths = [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    sys.addaudithook(lambda event, args: event in names and events.append((event, args)))
    refused = loaded = 0
    for path in paths:
        try:
            pairity.load(path)
            loaded += 1
        except ModelFileError:
            refused += 1
    opened = [args[0] for event, args in events if event == "open"]
    others = [entry for entry in events if entry[0] != "open" and entry[1][0] != "_io"]
    # reading how much memory is free is the one other thing that happens
    strange = [name for name in opened if name not in paths and name != "/proc/meminfo"]
    print(refused, loaded, others, strange)
"""


def test_nothing_of_a_file_runs(content, tmp_path):
    """All files are loaded under an audit hook: no import, no process, no other file."""
    mark = tmp_path / "was-here"
    directory = tmp_path / "files"
    directory.mkdir()
    sound = tmp_path / "sound.pairity"
    sound.write_bytes(content)
    files = list(payloads(content, mark))
    for number, made in enumerate(files):
        (directory / f"{number:03d}.pairity").write_bytes(made)
    done = Fresh(textwrap.dedent(WATCHED), directory, sound, folder=tmp_path, notes=tmp_path)
    assert done.ended() == 0, done.stderr
    refused, loaded, *found = done.stdout.split()
    assert found == ["[]", "[]"]
    assert int(refused) + int(loaded) == len(files)
    assert int(loaded) < 10  # a strange parameter that fitting alone would look at
    assert not mark.exists()
    pickle.loads(pickle.dumps(Payload(mark))).close()
    assert mark.exists()  # the payload is a real one


# What cannot be written -------------------------------------------------------------------------


def fitted(kernel="linear", **options):
    pairs = cases.without_group(cases.random_pairs(4))
    return PairSVC("symmetric", kernel=kernel, **options).fit(
        pairs, cases.random_labels(4, len(pairs))
    )


REFUSED = {
    "function as kernel": (
        lambda: fitted(cases.rows_dot),
        r"got a function as PairSVC\.kernel; expected plain data",
    ),
    "function in a kernel": (
        lambda: fitted(Product(pairity.kernels.Callable(cases.rows_dot))),
        r"got the function 'rows_dot' as kernel of Product\.k1; expected a kernel that is plain",
    ),
    "callback": (
        lambda: fitted(callback=print),
        r"got PairSVC with a callback; expected none.*set_params\(callback=None\)",
    ),
    "table of pandas": (
        lambda: fitted(class_weight=None, tie_label=pytest.importorskip("pandas").DataFrame()),
        r"got an object of DataFrame as PairSVC\.tie_label",
    ),
    "masked array": (
        lambda: fitted(tie_label=np.ma.masked_array([1.0], [True])),
        r"got MaskedArray as PairSVC\.tie_label; expected a plain array",
    ),
    "complex numbers": (
        lambda: fitted(tie_label=np.array([1j])),
        r"got PairSVC\.tie_label of type complex128",
    ),
    "no estimator": (lambda: Precomputed(np.eye(2)).gram_values, "expected a fitted estimator"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_models_that_are_more_than_data(make, message, path):
    with pytest.raises(ModelFileError, match=message):
        pairity.save(make(), path)
    assert not path.exists()


def test_a_model_that_contains_itself(path):
    model = fitted()
    model.tie_label = [model]
    with pytest.raises(ModelFileError, match="contains itself"):
        pairity.save(model, path)


def test_a_model_that_is_not_fitted(path):
    with pytest.raises(ValueError, match="not fitted yet"):
        pairity.save(PairSVC("symmetric"), path)
    assert not path.exists()
