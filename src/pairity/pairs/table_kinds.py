"""Tables of any library as pandas tables: pandas, polars, Arrow, or anything with an Arrow stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pairity.exceptions import DataError


def as_pandas(table: Any, name: str = "a table", advice: str = "") -> Any:
    """A pandas table as it is, another one converted; a mapping of columns becomes one."""
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return table
    if hasattr(table, "to_pandas"):  # polars and Arrow tables
        return table.to_pandas()
    import pandas as pd

    if hasattr(table, "__arrow_c_stream__"):
        import pyarrow as pa

        return pa.table(table).to_pandas()
    if isinstance(table, Mapping):
        return pd.DataFrame(table)
    raise DataError(
        f"got {name} of type {type(table).__name__}; expected a table with named columns, of pandas,"
        f" polars or Arrow, or a mapping of columns{advice}."
    )
