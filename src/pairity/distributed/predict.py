"""Predictions written part by part, where the pairs are read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pairity.distributed.columns import Columns, encode
from pairity.distributed.dataset import PairDataset
from pairity.distributed.engine import hold_on
from pairity.distributed.parts import Part
from pairity.exceptions import DataError
from pairity.pairs import ObjectTable, Pairs
from pairity.threads import set_thread_count

__all__ = ["label_column", "write_predictions"]

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
    from dask import delayed

    with data.client() as client:
        known = data.with_objects(client)
        parts = known.parts(client, known.columns, _MOST_PAIRS)
        index = hold_on(client, pd.Index(known.ids).infer_objects())
        objects = hold_on(client, known.objects)
        held = hold_on(client, model)
        folder.mkdir(parents=True, exist_ok=True)
        write = delayed(_write_part, pure=False)
        names = None if label_names is None else list(label_names)
        place = folder.absolute()  # workers may be in other folders
        paths = [place / f"part-{number:05d}.parquet" for number in range(len(parts))]
        futures = client.compute(
            [
                write(held, part, known.columns, index, objects, str(path), names)
                for part, path in zip(parts, paths, strict=True)
            ]
        )
        client.gather(futures)
    return paths


def _write_part(
    model: Any,
    part: Part,
    columns: Columns,
    index: Any,
    objects: ObjectTable,
    path: str,
    names: list[Any] | None,
) -> int:
    """Predict a part and write it; the number of pairs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    set_thread_count(1)
    target = Path(path)
    staged = target.with_name(f".{target.name}.{uuid4().hex}")
    n_pairs = 0
    writer = None
    try:
        for piece in encode(part, columns, index, odd=False):
            pairs = Pairs._trusted(
                objects,
                piece.first.astype(np.intp),
                piece.second.astype(np.intp),
                piece.symmetric,
                piece.antisymmetric,
                index.to_numpy(),
            )
            content = {
                columns.first: index[piece.first].to_numpy(),
                columns.second: index[piece.second].to_numpy(),
                **_results_of(model, pairs, names),
            }
            table = pa.table(content)
            if writer is None:
                writer = pq.ParquetWriter(staged, table.schema)
            writer.write_table(table)
            n_pairs += len(pairs)
        if writer is not None:
            writer.close()
            staged.replace(target)
    finally:
        staged.unlink(missing_ok=True)
    return n_pairs


def _results_of(model: Any, pairs: Pairs, names: list[Any] | None) -> dict[str, Any]:
    """Columns of results: decision, label and probabilities, or value."""
    if not hasattr(model, "classes_"):
        return {"value": model.predict(pairs)}
    results: dict[str, Any] = {}
    if hasattr(model, "decision_function"):
        results["decision"] = model.decision_function(pairs)
    results["label"] = label_column(model.predict(pairs), model.classes_, names)
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(pairs)
        for place, label in enumerate(model.classes_.tolist() if names is None else names):
            results[f"probability {_text_of(label)}"] = chances[:, place]
    return results


def label_column(
    labels: NDArray[Any], classes: NDArray[Any], names: list[Any] | None = None
) -> Any:
    """Predicted labels as an Arrow array whose type depends on the classes (or names) alone."""
    import pyarrow as pa

    known = classes.tolist() if names is None else names
    if len({isinstance(label, str) for label in known}) > 1:  # a column has one type
        known = [_text_of(label) for label in known]
    values = pa.array(known)
    places = np.full(len(labels), len(known), dtype=np.int64)
    for place, label in enumerate(classes.tolist()):
        places[labels == label] = place
    ties = places == len(known)
    tie = None
    if ties.any():
        middle = labels[ties][0] if names is None else _middle(known)
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # no value of this type
            fitted = pa.array([middle], values.type)[0].as_py()
            tie = fitted if fitted == middle else None
    return pa.concat_arrays([values, pa.array([tie], values.type)]).take(pa.array(places))


def _middle(names: list[Any]) -> Any:
    """What lies between two names."""
    return "tie" if any(isinstance(name, str) for name in names) else sum(names) / len(names)


def _text_of(label: Any) -> str:
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if whole else str(label)
