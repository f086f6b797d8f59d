"""The shape of the code: imports go one way, files stay small, the import stays cheap."""

import ast
import subprocess
import sys
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
    "models": ["estimators", "distributed", "model_selection", "inspection"],
    "application": ["io", "datasets", "app", "__main__"],
}
ORDER = [part for parts in LAYERS.values() for part in parts]


def part_of(module):
    """``pairity.kernels.atoms`` is in the part ``kernels``; the package itself in none."""
    names = module.split(".")
    return names[1] if len(names) > 1 else None


def module_name(path):
    names = ["pairity", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imports_of(path):
    """Modules of the package that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("pairity"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            if node.module and node.module.split(".")[0] == "pairity":
                names = [node.module]
                if node.module == "pairity":
                    names = [f"pairity.{alias.name}" for alias in node.names]
                yield from names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    mine = part_of(module_name(path))
    if mine is None:
        return  # the package itself names everything, and loads it on first use
    for imported in imports_of(path):
        theirs = part_of(imported)
        if theirs not in (None, mine):
            later = f"{path.name} imports {imported}, which comes later"
            assert ORDER.index(theirs) < ORDER.index(mine), later


def test_every_part_has_its_layer():
    assert {part_of(module_name(path)) for path in FILES} == {None, *ORDER}


def test_file_names_occur_once():
    names = [path.stem for path in FILES if path.stem != "__init__"]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_are_small(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines < 400, f"{path.name} has {lines} lines"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_drawers(path):
    assert path.stem not in {"utils", "core", "helpers", "misc", "common"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_fused_arithmetic(path):
    """A fused multiply-add breaks the bit-for-bit swap law; regrouping a sum by its length does not."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    given = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "fastmath"
    ]
    harmless = {"nnan", "nsz", "reassoc"}  # "contract", which fuses, is not among them
    assert all(ast.literal_eval(value) <= harmless for value in given)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_says_what_it_is(path):
    source = path.read_text(encoding="utf-8")
    if source.strip():
        assert ast.get_docstring(ast.parse(source)), f"{path.name} has no docstring"


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("heavy", ["numba", "pandas", "matplotlib", "sklearn", "scipy"])
def test_importing_the_package_is_cheap(heavy):
    assert run(f"import pairity, sys; print({heavy!r} in sys.modules)").strip() == "False"


def test_data_and_kernels_need_no_compiler():
    code = "from pairity import Pairs; import pairity.kernels, sys; print('numba' in sys.modules)"
    assert run(code).strip() == "False"


def test_public_names_are_all_reachable():
    for name in pairity.__all__:
        assert getattr(pairity, name) is not None
        assert name in dir(pairity)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        pairity.nonsense  # noqa: B018
