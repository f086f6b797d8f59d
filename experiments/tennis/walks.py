"""The walk through the test weeks in parts, side by side; what is done is kept on file.

A part foretells some of the weeks, each from all matches before it, as one walk would; its first fit
starts from nothing.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pairity import PairLogistic, Pairs
from pairity.model_selection import walk_forward

#: Weeks of a part; days of a week.
_WEEKS, _DAYS = 60, 7.0


def remembered(path: Path | None, compute: Callable[[], Any]) -> Any:
    """What a JSON file holds, or what is computed and then written there."""
    if path is not None and path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    found = compute()
    if path is not None:
        path.write_text(json.dumps(found) + "\n", encoding="utf-8")
    return found


def walked_in_parts(
    model: PairLogistic, matches: Pairs, start: float, folder: Path | None, processes: int
) -> dict[str, Any]:
    """Rows that were foretold, chances of their winners, and what it took; matches are in order."""
    last = float(matches.time.max())
    starts = np.arange(start, last + 1.0, _DAYS * _WEEKS).tolist()
    part = partial(_part, model, matches, folder)
    if processes > 1:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            parts = list(pool.map(part, starts[::-1]))  # the longest first
    else:
        parts = list(map(part, starts))
    rows = np.concatenate([np.asarray(one["rows"], dtype=np.intp) for one in parts])
    order = np.argsort(rows)
    return {
        "rows": rows[order],
        "won": np.concatenate([one["won"] for one in parts])[order],
        "processor seconds": sum(one["processor seconds"] for one in parts),
        "peak megabytes": max(one["peak megabytes"] for one in parts),
        "certificate": max(parts, key=lambda one: one["start"])["certificate"],
    }


def _part(model: PairLogistic, matches: Pairs, folder: Path | None, start: float) -> dict[str, Any]:
    path = None if folder is None else folder / f"from-{start:.0f}.json"
    found = remembered(path, lambda: _walk(model, matches, start))
    print(f"foretold from day {start:.0f} on: {found['certificate']}", flush=True)
    return found


def _walk(model: PairLogistic, matches: Pairs, start: float) -> dict[str, Any]:
    begun = time.process_time()
    known = matches[matches.time < start + _DAYS * _WEEKS]
    walked = walk_forward(model, known, np.ones(len(known)), start=start, every=_DAYS)
    won = walked.probabilities[:, walked.classes.tolist().index(1.0)]
    return {
        "start": start,
        "rows": walked.rows.tolist(),
        "won": won.tolist(),
        "processor seconds": time.process_time() - begun,
        "peak megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "certificate": str(walked.model.certificate_),
    }
