"""Every bad input: exit code 2, one line, no traceback, nothing written, nothing lost."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")

import pairity
from fresh import Fresh
from pairity import PairRidge, Pairs
from pairity.app.cli.commands import main

PAIRS = "a,b,y,gap,lead,word\np,q,1,2,1,x\nq,r,-1,3,-1,y\nr,p,1,4,1,x\np,r,-1,5,0,y\n"
OBJECTS = "id,x,z,team\np,1,5,red\nq,2,,blue\nr,4,7,red\n"
SETUP = {
    "pairs.csv": PAIRS,
    "objects.csv": OBJECTS,
    "empty.csv": "",
    "names.csv": "a,b,y\n",
    "ragged.csv": "a,b,y\np,q,1\np,q,1,2\n",
    "twice.csv": "a,b,a\np,q,1\n",
    "latin.csv": "a,b,y\np\u00e9,q,1\n".encode("latin-1"),
    "unknown.csv": "a,b,y\np,zoe,1\nq,r,-1\n",
    "noid.csv": "a,b,y\np,,1\nq,r,-1\n",
    "self.csv": "a,b,y\np,p,1\nq,r,-1\n",
    "three.csv": "a,b,y\np,q,1\nq,r,0\nr,p,-1\n",
    "one.csv": "a,b,y\np,q,1\nq,r,1\n",
    "nolabel.csv": "a,b,y\np,q,\nq,r,1\n",
    "half.csv": "a,b,y\np,q,1\nq,r,\nr,p,1\n",
    "infinite.csv": "id,x\np,inf\nq,1\nr,2\n",
    "repeated.csv": "id,x\np,1\nq,1\np,2\nr,3\n",
    "ids.csv": "id\np\nq\nr\n",
    "table.xlsx": "no",
    "fake.parquet": "PAR1 not at all",
    "fake.pairity": "not a model",
    "bad.toml": "first = \n",
    "strange.toml": "flavour = 'sweet'\n",
    "list.toml": "first = ['a', 'b']\n",
    "flag.toml": "tune = 'yes'\n",
    "number.toml": "fit = 3\n",
    "table.toml": "[kernel]\nsigma = 1\n",
    "mine.csv": "precious\n",
}
FIT = "fit pairs.csv --first a --second b --label y --symmetry antisymmetric --output new.pairity"
GROUP = "--antisymmetric-feature lead --symmetric-feature gap"
TABLE = f"{FIT} --objects objects.csv --feature x"

CASES = [
    # what click sees
    ("fit", "Missing (argument|option)"),
    ("fit pairs.csv --first a", "Missing option"),
    (FIT.replace("antisymmetric", "odd"), "'odd' is not one of"),
    (f"{FIT} --C many", "'many' is not a valid float"),
    (f"{FIT} --nonsense", "No such option"),
    (f"{FIT} extra.csv", "got 2 tables of pairs, the second extra.csv; expected one"),
    (f"{FIT} --tol small", "'small' is not a valid float"),
    (f"{FIT} --learner forest", "'forest' is not one of"),
    (f"{FIT} --impute mean", "'mean' is not"),
    ("predict fake.pairity", "Missing argument"),
    ("rank", "Missing argument"),
    ("inspect", "Missing argument"),
    # files
    (FIT.replace("pairs.csv", "missing.csv"), r"No such file or directory: missing\.csv"),
    (FIT.replace("pairs.csv", "."), "is a directory"),
    (FIT.replace("pairs.csv", "empty.csv"), "without content"),
    (FIT.replace("pairs.csv", "names.csv"), "without rows"),
    (FIT.replace("pairs.csv", "ragged.csv"), "cannot be read as text in columns"),
    (FIT.replace("pairs.csv", "twice.csv"), "2 columns named 'a'"),
    (FIT.replace("pairs.csv", "latin.csv"), "cannot be read as text in columns"),
    (FIT.replace("pairs.csv", "table.xlsx"), r"ends in \.csv"),
    (FIT.replace("pairs.csv", "fake.parquet"), "is no Parquet file"),
    (f"{FIT} --objects missing.csv", "No such file or directory"),
    # columns and ids
    (FIT.replace("--first a", "--first winner"), "no column 'winner' in pairs.csv"),
    (
        TABLE.replace("--first a", "--first winner") + " --encode",
        "no column 'winner' in pairs.csv",
    ),
    (FIT.replace("--label y", "--label won"), "no column 'won' in pairs.csv"),
    (f"{FIT} --symmetric-feature far", "no column 'far' in pairs.csv"),
    (f"{FIT} --symmetric-feature word", "got texts in column 'word' of pairs.csv"),
    (f"{FIT} --objects objects.csv --id key", "no column 'key' in objects.csv"),
    (f"{FIT} --objects objects.csv --feature w", "no column 'w' in objects.csv"),
    (f"{FIT} --objects objects.csv --ignore w", "no column 'w' in objects.csv"),
    (f"{FIT} --objects ids.csv", "no feature in ids.csv"),
    (f"{FIT} --feature x", "--feature or --ignore without --objects"),
    (f"{FIT} --objects objects.csv", "got texts in column 'team'"),
    (f"{FIT} --objects objects.csv --ignore team", r"column 'z' \(1\); expected none.*--impute"),
    (f"{FIT} --objects infinite.csv", "infinite number"),
    (f"{FIT} --objects repeated.csv", "the id 'p' in 2 rows of repeated.csv"),
    (TABLE.replace("pairs.csv", "unknown.csv"), "got the id 'zoe' .* objects.csv does not have"),
    (TABLE.replace("pairs.csv", "noid.csv"), r"1 missing id\(s\) in column 'b' of noid.csv"),
    (FIT.replace("pairs.csv", "noid.csv"), r"1 missing id\(s\) in column 'b' of noid.csv"),
    # labels
    (FIT.replace("pairs.csv", "three.csv"), "got 3 labels"),
    (FIT.replace("pairs.csv", "nolabel.csv"), r"1 missing label\(s\)"),
    (FIT.replace("pairs.csv", "one.csv").replace("antis", "s"), "got one class only"),
    (
        FIT.replace("pairs.csv", "half.csv") + " --learner laplacian",
        "got the one label 1 in column 'y'; expected two",
    ),
    (FIT.replace("pairs.csv", "self.csv"), "pairs an object with itself"),
    (FIT.replace("--label y", "--label word"), "pass --positive LABEL"),
    (f"{FIT} --positive 7", "got --positive 7, which no row"),
    (f"{FIT} --draw 0", "got --draw 0, which no row"),
    (f"{FIT} --drop-label 0", "got --drop-label 0, which no row"),
    (f"{FIT} --drop-label 1 --drop-label -1", "got no row of column 'y' left"),
    (FIT.replace("--label y", "--label word") + " --learner ridge", "got texts in column 'word'"),
    # parameters
    (f"{FIT} --C -1", "got C=-1.0; expected"),
    (f"{FIT} --C nan", "got C=nan; expected"),
    (f"{FIT} --tol 0", "got tol=0.0; expected"),
    (f"{FIT} --resume", "got --resume without --distributed"),
    (f"{FIT} --checkpoint c", "got --checkpoint without --distributed"),
    (f"{FIT} --checkpoint-every 2", "got --checkpoint-every without --distributed"),
    (f"{FIT} --C 1 --tune", "--tune chooses it"),
    (f"{FIT} --alpha 1", "got --alpha for --learner svc; expected --C"),
    (f"{FIT} --learner ridge --C 1", "got --C for --learner ridge; expected --alpha"),
    (f"{FIT} --learner ridge --alpha 0", "got alpha=0.0; expected"),
    (f"{FIT} --learner svr --probabilities", "got --probabilities for --learner svr"),
    (f"{FIT} --learner svr --positive 1", "got --positive or --draw for --learner svr"),
    (f"{FIT} --learner svr --tune", "got --tune for --learner svr"),
    (FIT.replace("antis", "s") + " --draw -1", "got --draw with --symmetry symmetric"),
    (f"{FIT} --kernel rbf", r"got the kernel 'rbf'; expected one of|got --kernel rbf; expected"),
    (f"{FIT} --kernel gaussian(-1)", r"got sigma=-1; expected"),
    (f"{FIT} --kernel gaussian(", r"got --kernel gaussian\(; expected one of"),
    (f"{FIT} --kernel __import__('os')", "got the kernel '__import__'"),
    (f"{FIT} --kernel 1+2", r"got --kernel 1\+2; expected one of"),
    (f"{FIT} --kernel tensor", "antisymmetric"),
    # configuration
    (f"{FIT} --config missing.toml", "No such file or directory"),
    (f"{FIT} --config bad.toml", "which is no TOML"),
    (f"{FIT} --config strange.toml", "got the key 'flavour' in strange.toml"),
    (f"{FIT} --config list.toml", r"got first = \['a', 'b'\]"),
    (f"{FIT} --config flag.toml", "got tune = 'yes' in flag.toml; expected true or false"),
    (f"{FIT} --config number.toml", "got fit = 3 in number.toml; expected a table of options"),
    (f"{FIT} --config table.toml", "got kernel = "),
    # outputs
    (FIT.replace("new.pairity", "mine.csv"), "mine.csv is there already; .*--force"),
    (FIT.replace("new.pairity", "nowhere/new.pairity"), "there is no directory"),
    (FIT.replace("new.pairity", "pairs.csv") + " --force", "as input and as output"),
    (FIT.replace("new.pairity", "."), "is a directory"),
    (f"{FIT} --report new.pairity", "as two outputs|cannot write"),
    (f"{FIT} --report mine.csv", "mine.csv is there already|cannot write"),
    # models
    ("predict missing.pairity pairs.csv --output new.csv", "No such file or directory"),
    ("predict fake.pairity pairs.csv --output new.csv", "does not begin like a model file"),
    ("inspect fake.pairity", "does not begin like a model file"),
    ("inspect pairs.csv", "does not begin like a model file"),
    ("rank fake.pairity --output new.csv", "does not begin like a model file"),
    ("inspect cut.pairity", "its beginning announces"),
    ("inspect flipped.pairity", "whose checksum is wrong"),
    ("inspect newer.pairity", "install a newer Pairity"),
    ("predict plain.pairity pairs.csv --output new.csv", "saved without the names of its columns"),
    ("rank plain.pairity --output new.csv", "saved without the names of its columns"),
    ("predict ids.pairity unknown.csv --output new.csv", "the id 'zoe' .*--ids names"),
    (f"{FIT} --ids names", "--ids names without features of pairs"),
    (f"{TABLE} --ids names --symmetric-feature y", "--ids names with --objects"),
    (f"{FIT} --groups a", "but nothing is validated"),
    (f"{FIT} --title Games", "--title without --report"),
    (FIT.replace("new.pairity", "-"), "got --output - for a model"),
    ("predict ids.pairity pairs.csv --objects objects.csv --output new.csv", "by their ids alone"),
    ("predict ids.pairity objects.csv --output new.csv", "no column 'a' in objects.csv"),
    ("predict ids.pairity pairs.csv --first x --output new.csv", "no column 'x' in pairs.csv"),
    ("predict ids.pairity pairs.csv --output mine.csv", "mine.csv is there already"),
    ("predict ids.pairity pairs.csv --output pairs.csv --force", "as input and as output"),
    ("predict ids.pairity pairs.csv one.csv --output new.csv", "got 2 tables of pairs"),
    ("predict ids.pairity . --output new.csv", "which is a directory"),
    ("predict ids.pairity pairs.csv --output .", "is there already|which is no file"),
    ("predict ids.pairity pairs.csv --output new.txt", r"ends in \.csv"),
    ("predict table.pairity pairs.csv --objects ids.csv --output new.csv", "no column 'x' in ids"),
    ("predict group.pairity names.csv --output new.csv", "without rows"),
    ("predict group.pairity three.csv --output new.csv", "no column 'gap' in three.csv"),
    ("rank group.pairity --output new.csv", "expected --pairs FILE"),
    ("rank ids.pairity --method average --output new.csv", "got --method average for a model that"),
    ("rank ids.pairity --threshold 1 --output new.csv", "got --threshold for an antisymmetric"),
    ("rank none.pairity --output new.csv", "symmetry 'none'"),
    # check
    ("check pairs.csv --first a", "Missing option"),
    ("check missing.csv --first a --second b", "No such file or directory"),
    ("check pairs.csv --first w --second b", "no column 'w' in pairs.csv"),
    ("check pairs.csv --first a --second b --label w", "no column 'w' in pairs.csv"),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Files of every kind, and models that were made of them."""
    place = tmp_path_factory.mktemp("bad")
    for name, content in SETUP.items():
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    runs = [
        FIT.replace("new", "ids"),
        TABLE.replace("new", "table"),
        f"{FIT} {GROUP}".replace("new", "group"),
        FIT.replace("new", "none").replace("antisymmetric", "none"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for arguments in runs:
            result = CliRunner().invoke(main, arguments.split())
            assert result.exit_code == 0, result.output
    pairs = Pairs(np.array([[0.0], [1.0]]), [0], [1])
    pairity.save(
        PairRidge("antisymmetric", kernel="linear").fit(pairs, [1.0]), place / "plain.pairity"
    )
    sound = (place / "plain.pairity").read_bytes()
    (place / "cut.pairity").write_bytes(sound[:-50])
    (place / "flipped.pairity").write_bytes(sound[:200] + bytes([sound[200] ^ 1]) + sound[201:])
    (place / "newer.pairity").write_bytes(sound[:8] + b"\x63" + sound[9:])
    return place


def snapshot(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


@pytest.mark.parametrize(("arguments", "pattern"), CASES, ids=[case[0] for case in CASES])
def test_bad_input(arguments, pattern, directory, monkeypatch):
    monkeypatch.chdir(directory)
    before = snapshot(directory)
    result = CliRunner().invoke(main, arguments.split())
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("pairity: ")
    assert "Traceback" not in result.output
    assert re.search(pattern, result.stderr), result.stderr
    assert snapshot(directory) == before


def test_from_the_shell(directory, tmp_path):
    """The same in a process of its own."""
    code = "import sys; from pairity.app.cli import run; sys.argv[0] = 'pairity'; run()"
    before = snapshot(directory)
    done = Fresh(code, *f"{FIT} --objects objects.csv".split(), folder=directory, notes=tmp_path)
    assert (done.ended(), done.stdout) == (2, "")
    assert done.stderr.startswith("pairity: got texts in column 'team' of objects.csv")
    assert len(done.stderr.splitlines()) == 1
    assert snapshot(directory) == before


def test_force_replaces_outputs(directory, tmp_path, monkeypatch):
    monkeypatch.chdir(directory)
    target = tmp_path / "m.pairity"
    target.write_text("old")
    arguments = FIT.replace("new.pairity", str(target)).split()
    assert CliRunner().invoke(main, arguments).exit_code == 2
    assert target.read_text() == "old"
    assert CliRunner().invoke(main, [*arguments, "--force"]).exit_code == 0
    assert pairity.load(target).symmetry == "antisymmetric"
    assert list(tmp_path.iterdir()) == [target]
