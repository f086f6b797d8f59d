"""Model files: a fitted model as one file of plain data, safe to open.

==============  ==================================================================================
``container``   bytes: a preamble, a JSON header, arrays, a SHA-256 over all of it
``writing``     a file that appears whole or not at all
``arrays``      the table of arrays of a file
``values``      plain values as JSON, and back
``composites``  pairs, kernels, estimators and records as JSON, and back
``bounds``      how much a header may unfold to, measured before anything is built
``annotations`` whether a value is what an annotation says
``fitted``      what ``fit`` leaves behind, declared: the schema of models
``laws``        what belongs together in a model
``rehearsal``   a model held against both, and asked about a few pairs
``registry``    names in files and the classes they stand for: the only classes a file can name
``store``       :func:`save`, :func:`load` and :func:`read_model_file`
==============  ==================================================================================

No pickle: opening a file runs no code of the file.  A new kernel, estimator or dataclass of a model
needs one line in ``registry``, a new fitted value one in ``fitted``; a user's own class needs one
call of :func:`register`.
"""

from pairity.files.metadata import ModelMetadata
from pairity.files.registry import register
from pairity.files.store import ModelFile, load, read_model_file, save

__all__ = ["ModelFile", "ModelMetadata", "load", "read_model_file", "register", "save"]
