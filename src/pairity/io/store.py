"""Save a fitted model to a file with what is to be said about it, and load it."""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pairity._version import __version__
from pairity.exceptions import ModelFileError, gist
from pairity.io.composites import Decoder, Encoder
from pairity.io.container import (
    Container,
    header_text,
    length_of,
    read_container,
    refuse_unfolding,
    write_container,
)
from pairity.io.laws import check_model

Path = str | os.PathLike[str]
KINDS = ("objects", "symmetric", "antisymmetric")


@dataclass(frozen=True, eq=False)
class ModelMetadata:
    """Names, objects and a summary to keep with a model.

    Attributes
    ----------
    feature_names : dict, optional
        Names of the model's features, by kind: "objects", "symmetric", "antisymmetric".
    ids : ndarray of shape (m,), optional
        Names of the objects.
    objects : array or CSR matrix of shape (m, columns), optional
        Their table, so that the model can be asked about them by name.
    training : dict
        Summary of the training: numbers of pairs and objects, validation scores, ...
    extra : dict
        Anything else of plain values and arrays.
    """

    feature_names: dict[str, list[str]] | None = None
    ids: NDArray[Any] | None = None
    objects: NDArray[np.float64] | sp.csr_array | None = None
    training: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.feature_names is not None and set(self.feature_names) - set(KINDS):
            raise ValueError(
                f"got feature names for {sorted(self.feature_names)}; expected some of"
                f" {', '.join(KINDS)}."
            )
        if self.ids is None or self.objects is None:
            return
        n_ids, n_objects = len(self.ids), self.objects.shape[0]
        if n_ids != n_objects:
            raise ValueError(
                f"got {n_ids} ids for {n_objects} objects; expected one id per object."
            )

    def refuse_other_widths(self, model: Any) -> None:
        """Refuse names that are not as many as the features of the model."""
        widths = getattr(model, "feature_widths_", None)
        if self.feature_names is None or widths is None:
            return
        for kind, width in zip(KINDS, widths, strict=True):
            names = self.feature_names.get(kind)
            if names is not None and len(names) != width:
                raise ValueError(
                    f"got {len(names)} names of {kind} features for a model with {width}; expected"
                    " one name per feature."
                )


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give a stream whose bytes become the file ``path`` when all went well.

    They are written to a temporary file in the same directory, forced to the disk, and moved over
    ``path`` in one step.  Until then, whatever happens, the old file is what it was.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
        # moving a file over a device or a pipe would remove it
        kind = "a directory" if os.path.isdir(target) else "a device or a pipe"
        raise ValueError(
            f"got {os.fspath(path)}, which is {kind}; expected the name of a file to write."
        )
    directory, name = os.path.split(target)
    temporary = os.path.join(directory, f".{name[:100]}.{secrets.token_hex(8)}.part")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _force_entry(directory)


def _force_entry(directory: str) -> None:
    """Force the new name to the disk, on systems that let directories be opened."""
    with suppress(OSError), ExitStack() as stack:
        descriptor = os.open(directory, os.O_RDONLY)
        stack.callback(os.close, descriptor)
        os.fsync(descriptor)


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
    >>> model = pairity.PairSVC("antisymmetric", kernel="linear").fit(pairs, [1, -1])
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
    metadata = metadata or ModelMetadata()
    metadata.refuse_other_widths(model)
    encoder = Encoder()
    try:
        header = {
            "model": encoder.value(model, type(model).__name__),
            "metadata": encoder.value(metadata, "metadata"),
            "written_by": {
                "pairity": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "scipy": scipy.__version__,
                "scikit-learn": sklearn.__version__,
            },
            "objects": encoder.objects,
            "arrays": encoder.table,
        }
    except RecursionError:
        raise ModelFileError(
            "got a model that contains itself; expected parts that can be written one by one."
        ) from None
    text, arrays = header_text(header), encoder.parts
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
    """
    return read_model_file(path).model


def read_model_file(path: Path) -> ModelFile:
    """Model of a file together with what was saved about it."""
    container = read_container(path)
    try:
        return _read(container)
    except Exception as error:  # whatever a made-up header leads to
        raise ModelFileError(
            f"got {os.fspath(path)}, whose content cannot be read ({gist(error, 200)}); expected a"
            " file written by pairity.save."
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
