"""Model files with a right checksum and a content that no one saved: stored files, changed.

Each change is one that a forger, or a faulty program, would make: values of other kinds, numbers out
of range, arrays of other types and shapes, references to others, towers of kernels, other names,
paths.  The same seed gives the same files.
"""

import contextlib
import json
from pathlib import Path

import crafted

from pairity.io.registry import _HOMES

STORED = sorted((Path(__file__).parent / "stored").glob("*.pairity"))
CLASSES = sorted(name for names in _HOMES.values() for name in names)
PLAIN = [
    *(None, True, False, 0, -1, 1, 2, 3, 10**30, -(10**30), 1e308, -1e308, 1e-320, 0.5, -0.0),
    *("", "nan", "auto", "median", "symmetric", "full", "tie", "k" * 300, [], {}, [[]], [1, 2]),
    *({"$": "float", "value": value} for value in ("nan", "inf", "-inf")),
    *({"$": "parity", "value": value} for value in (1, -1)),
    {"$": "tuple", "items": []},
    {"$": "tuple", "items": [1, 2, 3]},
    {"$": "dict", "items": [["a", 1]]},
    {"$": "dict", "items": [[{"$": "tuple", "items": [1, "b"]}, None]]},
    {"$": "scalar", "type": "float64", "value": -2.5},
    {"$": "scalar", "type": "int8", "value": 100},
    {"$": "bytes", "value": "00ff"},
    {"$": "decimal", "value": "1e999999"},
    {"$": "date", "value": "2020-01-02"},
    {"$": "splitter", "name": "KFold", "parameters": {"n_splits": 3, "shuffle": False}},
    {"$": "kernel", "name": "Linear", "parameters": {}},
    {"$": "kernel", "name": "Gaussian", "parameters": {"sigma": 1e-300}},
    {"$": "kernel", "name": "Polynomial", "parameters": {"degree": 10**9}},
    {"$": "kernel", "name": "Identity", "parameters": {}},
]
NUMBERS = [float("nan"), float("inf"), 1e308, -1e308, 1e-310, 0.0, -0.0, -1.0, 2.0**53, 0.1]
CHOICES = {
    "symmetry": ["symmetric", "antisymmetric", "none"],
    "training_set": ["halved", "full"],
    "solver": ["auto", "low_rank", "smo", "cg", "dense", "newton"],
    "method": ["sigmoid", "isotonic"],
    "kernel": ["linear", "gaussian", "product", "polynomial", "identity", "auto"],
    "scale": ["auto", "columns", "common"],
}


def places(tree, steps=()):
    """All places of a JSON tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for step, value in items:
        yield (*steps, step)
        if isinstance(value, dict | list):
            yield from places(value, (*steps, step))


def at(tree, steps):
    for step in steps:
        tree = tree[step]
    return tree


def put(tree, steps, value):
    at(tree, steps[:-1])[steps[-1]] = value


def somewhere(header, dice, wanted=lambda value: True):
    """A place of the header whose value is wanted; most often in the model, not in its arrays."""
    parts = ("objects", "objects", "objects", "model", "metadata", "arrays")
    part = dice.choice(parts)
    found = [(part, *steps) for steps in places(header[part]) if wanted(at(header[part], steps))]
    return dice.choice(found) if found else None


def of_kind(header, *kinds):
    return [k for k, item in enumerate(header["objects"]) if item.get("$") in kinds]


# Changes: each takes a header, the bytes of the arrays and a random generator -------------------


def other_value(header, arrays, dice, trap):
    steps = somewhere(header, dice)
    put(header, steps, json.loads(json.dumps(dice.choice(PLAIN))))
    return arrays


def other_number(header, arrays, dice, trap):
    steps = somewhere(header, dice, lambda value: type(value) in (int, float))
    if steps:
        value = at(header, steps)
        new = dice.choice(
            [-value, value + 1, value * 1.5, value * 1e300, 0, 1e-300, value - 1, 2**62]
        )
        put(header, steps, min(max(new, -1e308), 1e308))
    return arrays


def other_reference(header, arrays, dice, trap):
    """To another place, to itself, or to one that comes later."""
    steps = somewhere(header, dice, lambda value: type(value) is dict and "place" in value)
    if steps:
        item = at(header, steps)
        table = header["arrays" if item["$"] == "array" else "objects"]
        item["place"] = dice.randrange(len(table) + 1)
    return arrays


def other_place(header, arrays, dice, trap):
    """Two values that change places, or one that is at both."""
    one, two = somewhere(header, dice), somewhere(header, dice)
    if one[: len(two)] != two and two[: len(one)] != one:
        first, second = at(header, one), at(header, two)
        put(header, one, second)
        if dice.random() < 0.5:
            put(header, two, first)
    return arrays


def other_name(header, arrays, dice, trap):
    """Another class, choice or parity."""
    steps = somewhere(header, dice, lambda value: type(value) is str)
    if steps:
        name = steps[-1]
        options = CLASSES if name == "name" else CHOICES.get(name, CLASSES)
        put(header, steps, dice.choice(options))
    for place in of_kind(header, "estimator"):
        parameters = header["objects"][place]["parameters"]
        if "symmetry" in parameters and dice.random() < 0.3:
            parameters["symmetry"] = dice.choice(CHOICES["symmetry"])
    return arrays


def other_key(header, arrays, dice, trap):
    """A value that is gone, or under another name."""
    steps = somewhere(header, dice)
    owner = at(header, steps[:-1])
    value = owner.pop(steps[-1])
    if isinstance(owner, dict) and dice.random() < 0.6:
        names = ["predict", "_dual", "classes_", "_solvers", "warm_start", "n_iter_", "x"]
        owner[dice.choice(names)] = value
    return arrays


def other_array(header, arrays, dice, trap):
    """Another type, shape or order of the same bytes."""
    if not header["arrays"]:
        return arrays
    entry = dice.choice(header["arrays"])
    kind = dice.randrange(4)
    if kind == 0 and "64" in entry["type"]:
        entry["type"] = dice.choice(
            ["float64", "int64", "uint64", "datetime64[s]", "timedelta64[D]"]
        )
    elif kind == 1:
        dice.shuffle(entry["shape"])
    elif kind == 2:
        entry["shape"] = dice.choice(
            [[1, *entry["shape"]], [*entry["shape"], 1], [0], [2**40, 0], [0, 2**40], []]
        )
    else:
        entry["order"] = dice.choice(["C", "F", "X"])
    return arrays


def other_entries(header, arrays, dice, trap):
    """Other numbers in an array."""
    numbers = bytearray(arrays)
    for _ in range(dice.choice([1, 1, 3, 20])):
        if len(numbers) >= 8:
            start = 8 * dice.randrange(len(numbers) // 8)
            if dice.random() < 0.6:
                new = crafted.struct.pack("<d", dice.choice(NUMBERS))
            else:
                new = crafted.struct.pack("<q", dice.choice([-1, 0, 1, 7, 2**40, -(2**62)]))
            numbers[start : start + 8] = new
    return bytes(numbers)


def longer_text(header, arrays, dice, trap):
    steps = somewhere(header, dice, lambda value: type(value) is str)
    if steps:
        put(header, steps, at(header, steps) + "x" * dice.choice([70, 5_000, 60_000]))
    if dice.random() < 0.5:
        n = dice.choice([100, 5_000])
        texts = ["y" * n, *([""] * n)]
        header["arrays"].append({"type": "texts", "shape": [n + 1], "items": texts, "width": n})
        put(header, somewhere(header, dice), {"$": "array", "place": len(header["arrays"]) - 1})
    return arrays


def tower(header, arrays, dice, trap):
    """Kernels or tuples that hold the previous one twice, or once, many times over."""
    start, depth = len(header["objects"]), dice.choice([3, 20, 60, 400])
    kind = dice.choice(["sum", "product", "scaled", "balanced", "tuple", "shift"])
    header["objects"].append({"$": "kernel", "name": "Linear", "parameters": {}})
    for place in range(start, start + depth):
        last = {"$": "object", "place": place}
        twice = {"$": "tuple", "items": [last, last]}
        item = {
            "sum": {"$": "kernel", "name": "Sum", "parameters": {"terms": twice}},
            "product": {
                "$": "kernel",
                "name": "EntrywiseProduct",
                "parameters": {"factors": twice},
            },
            "scaled": {
                "$": "kernel",
                "name": "Scaled",
                "parameters": {"factor": 0.5, "kernel": last},
            },
            "balanced": {"$": "kernel", "name": "OrderInvariant", "parameters": {"kernel": last}},
            "tuple": twice,
            "shift": {"$": "dict", "items": [["a", last], ["b", twice]]},
        }[kind]
        header["objects"].append(item)
    # objects refer to earlier ones alone: the tower goes first
    moved = header["objects"][start:] + header["objects"][:start]
    n_new = len(header["objects"]) - start
    text = json.dumps({**header, "objects": moved})
    renumbered = json.loads(text, object_hook=lambda item: _moved(item, start, n_new))
    header.clear()
    header.update(renumbered)
    top = {"$": "object", "place": n_new - 1}
    steps = somewhere(
        header, dice, lambda value: type(value) is dict and value.get("$") == "object"
    )
    while steps and steps[0] == "objects" and steps[1] < n_new:
        steps = None
    if steps is None:
        kernels = [k for k, x in enumerate(header["objects"]) if k >= n_new and "parameters" in x]
        place = dice.choice(kernels)
        names = list(header["objects"][place]["parameters"])
        if names:
            header["objects"][place]["parameters"][dice.choice(names)] = top
        return arrays
    put(header, steps, top)
    return arrays


def _moved(item, start, n_new):
    if item.get("$") == "object" and type(item.get("place")) is int:
        place = item["place"]
        item["place"] = place - start if place >= start else place + n_new
    return item


def many_products(header, arrays, dice, trap):
    """A formula that is endless when it is multiplied out."""
    sums = {
        "$": "kernel",
        "name": "Sum",
        "parameters": {
            "terms": {
                "$": "tuple",
                "items": [
                    {"$": "kernel", "name": "Gaussian", "parameters": {"sigma": 1.0 + k}}
                    for k in range(3)
                ],
            }
        },
    }
    product = {
        "$": "kernel",
        "name": "EntrywiseProduct",
        "parameters": {"factors": {"$": "tuple", "items": [sums] * dice.choice([3, 8, 30])}},
    }
    power = {"$": "kernel", "name": "Polynomial", "parameters": {"degree": dice.choice([20, 300])}}
    for place in of_kind(header, "kernel", "record", "estimator"):
        item = header["objects"][place]
        values = item.get("parameters", item.get("fields", {}))
        for name in ("kernel", "k1"):
            if name in values and dice.random() < 0.7:
                values[name] = dice.choice([product, power])
    return arrays


def a_path(header, arrays, dice, trap):
    """The name of a folder in the place of a parameter."""
    for place in of_kind(header, "estimator"):
        parameters = header["objects"][place]["parameters"]
        name = (
            "memory"
            if "memory" in parameters and dice.random() < 0.7
            else dice.choice(list(parameters))
        )
        parameters[name] = str(trap)
    return arrays


CHANGES = [
    *(other_value, other_value, other_number, other_number, other_reference, other_place),
    *(other_name, other_name, other_key, other_array, other_entries, other_entries),
    *(longer_text, tower, many_products, a_path),
]


def forged(dice, trap):
    """A file, and what was done to it."""
    path = dice.choice(STORED)
    header, arrays = crafted.taken_apart(path.read_bytes())
    done = []
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        change = dice.choice(CHANGES)
        # a change may need what an earlier one took away
        with contextlib.suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):
            arrays = change(header, arrays, dice, trap)
            done.append(change.__name__)
    return crafted.put_together(header, arrays), f"{path.stem}: {', '.join(done)}"
