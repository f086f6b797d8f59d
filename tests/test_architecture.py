"""The shape of the code: imports go one way, files stay small, the import stays cheap."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pairity

PACKAGE = Path(pairity.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

#: What a part of the package may import from, by its own name: data flows from left to right.
#: Parts that are not listed (command line, reproduction of the paper, ...) stand outside the core:
#: they may import anything, and nothing in the core may import them.
LAYERS = [
    {
        "_version",
        "compiled",
        "exceptions",
        "memory",
        "parity",
        "probabilities",
        "progress",
        "threads",
        "validation",
    },
    {"distinct", "_frames", "_graphs", "_graph_tables", "_rows"},
    {"metrics"},
    {"pairs"},
    {"derived", "orientation"},
    {"transform"},
    {"graphs"},
    {"kernels"},
    {"operators"},
    {"losses"},
    {"solvers"},
    {"lowrank"},
    {"distributed"},
    {"model"},
    {"selection"},
    {"ranking"},
    {"estimators"},
    {"explain"},
    {"evidence"},
    {"calibration"},
    {"tuning"},
    {"files"},
]
#: ``testing`` is for users' kernels: it sits beside operators and needs kernels alone.
BESIDE = {"testing": "operators"}


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


def rank(part):
    for place, layer in enumerate(LAYERS):
        if BESIDE.get(part, part) in layer:
            return place
    return None


CORE = [path for path in FILES if rank(part_of(module_name(path))) is not None]


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    mine = part_of(module_name(path))
    for imported in imports_of(path):
        theirs = part_of(imported)
        if theirs == mine:
            continue
        assert rank(theirs) is not None, f"{path.name} of the core imports {imported}"
        assert rank(theirs) <= rank(mine), f"{path.name} imports {imported}, which comes later"
        if rank(theirs) == rank(mine):
            assert rank(mine) <= 1 or mine in BESIDE, f"{mine} and {theirs} import one another"


def test_all_parts_of_the_core_are_there():
    parts = {part_of(module_name(path)) for path in CORE}
    assert parts >= {"pairs", "kernels", "operators", "losses", "solvers", "estimators", "model"}
    assert len(CORE) > 25


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
