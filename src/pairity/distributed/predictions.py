"""Predictions written part by part, where the pairs are read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.distributed.cluster import compute_each, hold_on, staged
from pairity.distributed.dataset import PairDataset
from pairity.distributed.parts import Columns, Part, encode
from pairity.exceptions import DataError
from pairity.pairs.data import ObjectTable, Pairs
from pairity.pairs.from_tables import text_of
from pairity.runtime.resources import set_thread_count

#: Pairs of a file of predictions at most.
_MOST_PAIRS = 1_000_000


def write_predictions(
    model: Any,
    data: PairDataset,
    folder: str | Path,
    *,
    label_names: Sequence[Any] | None = None,
) -> list[Path]:
    """Write predictions of all pairs into a folder, one Parquet file for each part.

    Rows stand in the order of the pairs, with the two ids and what the model says: ``decision``,
    ``label`` and ``probability ...`` of a classifier, ``value`` of a regression.  Every file
    appears whole or not at all.

    Labels are of one type in all files: a tie is the middle of two numbers where that is a number
    of their type (0 between -1 and 1), missing where it is not (between 0 and 1), and "tie" between
    texts.

    Parameters
    ----------
    model : fitted estimator
        Any estimator of pairs; fast for low-rank models, whose features of objects a worker makes
        once.
    data : PairDataset
        Pairs, with the objects (their features) that the model needs.
    folder : path
        Folder that is made; it must be empty if it is there.
    label_names : sequence, optional
        What to write for the labels of the model, in the order of its ``classes_``.

    Returns
    -------
    list of Path
        The files, in the order of the pairs.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"got {folder}, which is there already; expected a new or empty folder.")
    import pandas as pd

    with data.client() as client:
        known = data.with_objects(client)
        parts = known.parts(client, known.columns, _MOST_PAIRS)
        index = pd.Index(known.ids).infer_objects()
        held = [hold_on(client, value) for value in (model, index, known.objects)]
        folder.mkdir(parents=True, exist_ok=True)
        names = None if label_names is None else list(label_names)
        place = folder.absolute()  # workers may be in other folders
        paths = [place / f"part-{number:05d}.parquet" for number in range(len(parts))]
        calls = [
            (*held, part, known.columns, str(path), names)
            for part, path in zip(parts, paths, strict=True)
        ]
        client.gather(compute_each(client, _write_part, calls))
    return paths


def _write_part(
    model: Any,
    index: Any,
    objects: ObjectTable,
    part: Part,
    columns: Columns,
    path: str,
    names: list[Any] | None,
) -> None:
    """Predict a part and write it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    set_thread_count(1)
    with staged(Path(path)) as target, ExitStack() as stack:
        writer = None
        for piece in encode(part, columns, index, odd=False):
            places = {columns.first: piece.first, columns.second: piece.second}
            ends = {name: index[place].to_numpy() for name, place in places.items()}
            results = result_columns(model, piece.pairs(objects, index.to_numpy()), names)
            table = pa.table({**ends, **results})
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(target, table.schema))
            writer.write_table(table)


def result_columns(model: Any, pairs: Pairs, names: list[Any] | None = None) -> dict[str, Any]:
    """Columns of results: decision, label and probabilities, or value.

    ``names`` are what to write for the labels of the model, in the order of its ``classes_``; ties
    are those of :func:`write_predictions`.
    """
    if not hasattr(model, "classes_"):
        return {"value": model.predict(pairs)}
    results: dict[str, Any] = {}
    if hasattr(model, "decision_function"):
        results["decision"] = model.decision_function(pairs)
    results["label"] = label_column(model.predict(pairs), model.classes_, names)
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(pairs)
        for column, label in enumerate(model.classes_.tolist() if names is None else names):
            results[f"probability {text_of(label)}"] = chances[:, column]
    return results


def label_column(
    labels: NDArray[Any], classes: NDArray[Any], names: list[Any] | None = None
) -> Any:
    """Predicted labels as an Arrow array whose type depends on the classes (or names) alone."""
    import pyarrow as pa

    known = classes.tolist() if names is None else names
    if len({isinstance(label, str) for label in known}) > 1:  # a column has one type
        known = [text_of(label) for label in known]
    values = pa.array(known)
    places = np.full(len(labels), len(known), dtype=np.int64)
    for place, label in enumerate(classes.tolist()):
        places[labels == label] = place
    ties = places == len(known)
    tie = None
    if ties.any():
        middle = labels[ties][0]
        if names is not None:
            texts = any(isinstance(name, str) for name in known)
            middle = "tie" if texts else sum(known) / len(known)
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # no value of this type
            fitted = pa.array([middle], values.type)[0].as_py()
            tie = fitted if fitted == middle else None
    return pa.concat_arrays([values, pa.array([tie], values.type)]).take(pa.array(places))
