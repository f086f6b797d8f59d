"""Every example in a docstring runs, and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import pairity

MODULES = [
    "pairity",
    *(
        module.name
        for module in pkgutil.walk_packages(pairity.__path__, "pairity.")
        if not module.name.endswith("__main__")
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failures, _ = doctest.testmod(importlib.import_module(name), raise_on_error=False)
    assert failures == 0


def test_there_are_examples():
    written = [
        example
        for name in ("pairity.pairs", "pairity.estimators.kernel_machines", "pairity.testing")
        for test in doctest.DocTestFinder().find(importlib.import_module(name))
        for example in test.examples
    ]
    assert len(written) >= 10
