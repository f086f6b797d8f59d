"""Save a fitted model to a file, and load it."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pairity._version import __version__
from pairity.exceptions import ModelFileError
from pairity.files.bounds import refuse_unfolding
from pairity.files.composites import Decoder, Encoder
from pairity.files.container import (
    Container,
    header_text,
    length_of,
    read_container,
    write_container,
)
from pairity.files.metadata import ModelMetadata
from pairity.files.rehearsal import check_model
from pairity.files.writing import whole_file

__all__ = ["ModelFile", "load", "read_model_file", "save"]

Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    model : estimator
        The fitted model.
    metadata : ModelMetadata
        Names, objects and training summary that were saved with it.
    written_by : dict
        Versions of Pairity, Python and the libraries that it was saved with.
    checksum : str
        SHA-256 of the file without its last 32 bytes, in hexadecimal.
    n_bytes : int
        Length of the file.
    """

    model: Any
    metadata: ModelMetadata
    written_by: dict[str, str]
    checksum: str
    n_bytes: int


def save(model: Any, path: Path, metadata: ModelMetadata | None = None) -> None:
    """Save a fitted model as one file of plain data.

    The file appears whole or not at all, also when the program is killed: an existing file is
    replaced in one step, or stays what it was.  The same model gives the same bytes.

    Parameters
    ----------
    model : fitted estimator
        Any of Pairity's, with any kernel of :mod:`pairity.kernels` but ``Callable``: a file holds
        no code, so functions, callbacks among them, are refused.
    path : str or path-like
        Where to.
    metadata : ModelMetadata, optional
        Feature names, ids, the object table, a training summary.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import pairity
    >>> pairs = pairity.Pairs(np.array([[3.0], [1.0], [2.0]]), first=[0, 1], second=[1, 2])
    >>> model = pairity.PairSVC("antisymmetric", "linear").fit(pairs, [1, -1])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = os.path.join(directory, "first.pairity")
    ...     pairity.save(model, path)
    ...     again = pairity.load(path)
    >>> bool((again.decision_function(pairs) == model.decision_function(pairs)).all())
    True
    """
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"got {type(model).__name__}; expected a fitted estimator to save.")
    check_is_fitted(model)
    metadata = ModelMetadata() if metadata is None else metadata
    metadata.refuse_other_widths(model)
    encoder = Encoder()
    try:
        header = {
            "model": encoder.value(model, type(model).__name__),
            "metadata": encoder.value(metadata, "metadata"),
            "written_by": _versions(),
            "objects": encoder.objects,
            "arrays": encoder.arrays.table,
        }
    except RecursionError:
        raise ModelFileError(
            "got a model that contains itself; expected parts that can be written one by one."
        ) from None
    text, arrays = header_text(header), encoder.arrays.parts
    refuse_unfolding(header, length_of(text, arrays))
    check_model(model)
    with whole_file(path) as stream:
        write_container(stream, text, arrays)


def load(path: Path) -> Any:
    """Model of a file that :func:`save` wrote; its predictions are the same, bit for bit.

    Opening a file runs no code of the file and builds only objects of known classes, so it is safe
    for files from elsewhere.  A file that is damaged, cut off, of a newer format, or not a model
    file raises :class:`~pairity.exceptions.ModelFileError`, and so does one whose content unfolds
    to far more than its size, or that holds a model that no ``fit`` could have made.

    Parameters
    ----------
    path : str or path-like
        The file.
    """
    return read_model_file(path).model


def read_model_file(path: Path) -> ModelFile:
    """Model of a file together with what was saved about it.

    Parameters
    ----------
    path : str or path-like
        The file.
    """
    container = read_container(path)
    try:
        return _read(container)
    except Exception as error:  # whatever a made-up header leads to
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelFileError(
            f"got {os.fspath(path)}, whose content cannot be read ({said}); expected a file written"
            " by pairity.save."
        ) from None


def _read(container: Container) -> ModelFile:
    header = container.header
    if set(header) != {"model", "metadata", "written_by", "objects", "arrays"}:
        raise ModelFileError("the header has other parts")
    refuse_unfolding(header, container.n_bytes)
    decoder = Decoder(header["objects"], header["arrays"], container.arrays)
    model, metadata = decoder.value(header["model"]), decoder.value(header["metadata"])
    if not isinstance(model, BaseEstimator) or not isinstance(metadata, ModelMetadata):
        raise ModelFileError("it holds no model")
    check_is_fitted(model)
    check_model(model)
    metadata.refuse_other_widths(model)
    versions = header["written_by"]
    if type(versions) is not dict or any(type(version) is not str for version in versions.values()):
        raise ModelFileError("it does not say what wrote it")
    return ModelFile(model, metadata, versions, container.checksum, container.n_bytes)


def _versions() -> dict[str, str]:
    return {
        "pairity": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
