"""Tables with ids in files, turned into pairs and labels, and results turned into tables.

===============  =====================================================================
``reading``      CSV and Parquet in and out
``identities``   ids of any type, compared by their text
``labels``       two labels, three outcomes or numbers, from a column
``missing``      missing numbers: refused, or filled by a rule that is kept
``recipe``       which columns are what; from tables to :class:`~pairity.Pairs`
===============  =====================================================================

What the command line does between files and models; all refusals are ``ValueError``.
"""

from pairity.tables.labels import LabelNames, read_labels
from pairity.tables.reading import read_table, write_table
from pairity.tables.recipe import Columns, Objects, Recipe

__all__ = [
    "Columns",
    "LabelNames",
    "Objects",
    "Recipe",
    "read_labels",
    "read_table",
    "write_table",
]
