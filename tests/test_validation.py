"""The door: small checks that every public function uses."""

import numpy as np
import pytest

from pairity.runtime.validation import check_choice, check_positive


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2.0), np.int64(3)])
def test_positive_numbers_pass(value):
    assert check_positive(value, "C") is None


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, None, "1", True, [1.0]])
def test_anything_else_does_not(value):
    with pytest.raises(ValueError, match=r"got C=.*; expected a finite number above 0"):
        check_positive(value, "C")


def test_choices():
    assert check_choice("a", "letter", ("a", "b")) is None
    for wrong in ("c", None, 1, ["a"]):
        with pytest.raises(ValueError, match=r"got letter=.*; expected one of 'a', 'b'"):
            check_choice(wrong, "letter", ("a", "b"))
