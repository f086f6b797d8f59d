"""Models and tables in files.

Model files hold a fitted model as plain data, safe to open:

================  ================================================================================
``container``     bytes: a preamble, a JSON header, arrays, a SHA-256 over all of it
``values``        plain values and arrays as JSON, and back
``composites``    dates, pairs, kernels, estimators and records as JSON, and back
``fitted_state``  what ``fit`` leaves behind, declared: the schema of models
``laws``          a model held against it and against what belongs together, and asked a few pairs
``registry``      names in files and the classes they stand for: the only classes a file can name
``store``         :func:`save`, :func:`load` and :func:`read_model_file`; files appear whole or not
================  ================================================================================

No pickle: opening a file runs no code of the file.  A new kernel, estimator or dataclass of a model
needs one name in ``registry``, a new fitted value one in ``fitted_state``; a user's own class needs
one call of :func:`register`.

Tables with ids become pairs and labels, and results become tables or graphs:

=====================  ===========================================================================
``tables``             CSV and Parquet in and out; ids of any type, compared by their text
``label_columns``      two labels, three outcomes or numbers, from a column
``recipe``             which columns are what, missing numbers, from tables to
                       :class:`~pairity.Pairs`
``graph_predictions``  values of pairs as an attribute of the edges or as a sparse matrix
=====================  ===========================================================================
"""

from pairity.io.graph_predictions import prediction_matrix, write_predictions
from pairity.io.label_columns import LabelNames, labels_of_column
from pairity.io.recipe import Columns, Objects, Recipe
from pairity.io.registry import register
from pairity.io.store import ModelFile, ModelMetadata, load, read_model_file, save
from pairity.io.tables import read_table, write_table

__all__ = [
    "Columns",
    "LabelNames",
    "ModelFile",
    "ModelMetadata",
    "Objects",
    "Recipe",
    "labels_of_column",
    "load",
    "prediction_matrix",
    "read_model_file",
    "read_table",
    "register",
    "save",
    "write_predictions",
    "write_table",
]
