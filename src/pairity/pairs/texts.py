"""Texts of ids and labels."""

from __future__ import annotations

from typing import Any

import numpy as np


def text_of(value: Any) -> str:
    """Text of one id or label; fractions that are whole numbers look like whole numbers."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)
