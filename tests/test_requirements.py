"""The floors that the package states are the versions with which `make test-oldest` runs the tests."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
RUN_TIME_EXTRAS = ("cli", "graphs", "distributed", "matching")


def test_floors_are_the_oldest_versions_that_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = list(project["dependencies"])
    for extra in RUN_TIME_EXTRAS:
        listed += project["optional-dependencies"][extra]
    lines = (ROOT / "constraints-oldest.txt").read_text().splitlines()
    tested = [line for line in lines if not line.startswith("#")]
    assert floors_of(listed, ">=") == floors_of(tested, "==")


def floors_of(requirements, operator):
    """All (name, version) pairs: a name with two versions is there twice."""
    floors = set()
    for requirement in map(Requirement, requirements):
        (bound,) = requirement.specifier
        assert bound.operator == operator
        floors.add((canonicalize_name(requirement.name), Version(bound.version)))
    return floors
