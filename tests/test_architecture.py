"""The shape of the code: imports go one way, files stay small, the import stays cheap."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import pairity

PACKAGE = Path(pairity.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

#: Five layers, each a list of its parts from the lowest to the highest: a part imports from parts
#: before it alone.
LAYERS = {
    "data": ["_version", "exceptions", "runtime", "pairs"],
    "mathematics": ["losses", "kernels", "operators", "testing"],
    "optimisation": ["solvers", "training"],
    "models": ["estimators", "distributed", "model_selection", "inspection", "active", "matching"],
    "application": ["io", "datasets", "app", "__main__"],
}
ORDER = [part for parts in LAYERS.values() for part in parts]


@cache
def source_of(path):
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path):
    return ast.parse(source_of(path))


def part_of(module):
    """``pairity.kernels.atoms`` is in the part ``kernels``; the package itself in none."""
    names = module.split(".")
    return names[1] if len(names) > 1 else None


def module_name(path):
    names = ["pairity", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imports_of(path):
    """Modules of the package that a file imports, wherever in the file."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("pairity"))
        elif isinstance(node, ast.ImportFrom) and node.module == "pairity":
            yield from (f"pairity.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pairity."):
            yield node.module


def imports_later_parts(path):
    """What a file imports from its own layer's later parts, or from a higher layer."""
    mine = part_of(module_name(path))
    if mine is None:
        return []  # the package itself names everything, and loads it on first use
    others = [name for name in imports_of(path) if part_of(name) not in (None, mine)]
    return [name for name in others if ORDER.index(part_of(name)) >= ORDER.index(mine)]


def imports_relatively(path):
    nodes = ast.walk(tree_of(path))
    return any(isinstance(node, ast.ImportFrom) and node.level > 0 for node in nodes)


def may_fuse(path):
    """Whether a file asks for fast arithmetic beyond what regroups a sum by its length."""
    harmless = {"nnan", "nsz", "reassoc"}  # "contract", which fuses, is not among them
    given = [
        node.value
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.keyword) and node.arg == "fastmath"
    ]
    return not all(ast.literal_eval(value) <= harmless for value in given)


def files_that(are_wrong):
    """Files for which a rule is broken, with how."""
    judged = {str(path.relative_to(PACKAGE)): are_wrong(path) for path in FILES}
    return {name: how for name, how in judged.items() if how}


def test_all_files_are_seen():
    assert len(FILES) > 150


def test_imports_go_one_way():
    assert files_that(imports_relatively) == {}
    assert files_that(imports_later_parts) == {}


def test_every_part_has_its_layer():
    assert {part_of(module_name(path)) for path in FILES} == {None, *ORDER}


def test_file_names_occur_once():
    names = [path.stem for path in FILES if path.stem != "__init__"]
    assert sorted(names) == sorted(set(names))


def test_files_are_small():
    lines = {path.name: len(source_of(path).splitlines()) for path in FILES}
    assert {name: count for name, count in lines.items() if count >= 400} == {}


def test_no_drawers():
    drawers = {"utils", "core", "helpers", "misc", "common"}
    assert files_that(lambda path: path.stem in drawers) == {}


def test_no_fused_arithmetic():
    """A fused multiply-add breaks the bit-for-bit swap law; regrouping a sum by its length does not."""
    assert files_that(may_fuse) == {}


def test_every_module_says_what_it_is():
    written = [path for path in FILES if source_of(path).strip()]
    assert [path for path in written if not ast.get_docstring(tree_of(path))] == []


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def loaded_by(statements):
    """Heavy packages that Python has loaded after these statements."""
    heavy = {"numba", "pandas", "matplotlib", "sklearn", "scipy"}
    return set(run(f"{statements}; import sys; print(*{heavy} & set(sys.modules))").split())


def test_importing_the_package_is_cheap():
    assert loaded_by("import pairity") == set()
    assert loaded_by("import scipy, pairity") == {"scipy"}  # what is loaded is seen


def test_data_and_kernels_need_no_compiler():
    assert "numba" not in loaded_by("from pairity import Pairs; import pairity.kernels")


def test_public_names_are_all_reachable():
    for name in pairity.__all__:
        assert getattr(pairity, name) is not None
        assert name in dir(pairity)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        pairity.nonsense  # noqa: B018
