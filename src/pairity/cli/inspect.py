"""``pairity inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pairity.cli.console import make_console
from pairity.cli.errors import bad_input
from pairity.cli.summary import describe_model, print_json, print_summary
from pairity.files import ModelFile, read_model_file
from pairity.tables import Recipe

__all__ = ["run_inspect"]


def run_inspect(path: Path, *, as_json: bool) -> None:
    """Open, describe, say."""
    with bad_input():
        found = read_model_file(path)
        content = {**describe_model(found.model), **_saved(found)}
    if as_json:
        print_json(content)
    else:
        print_summary(make_console(), str(path), content)


def _saved(found: ModelFile) -> dict[str, Any]:
    """What is kept beside the model."""
    metadata = found.metadata
    content: dict[str, Any] = {}
    if metadata.training:
        content["training"] = metadata.training
    if metadata.feature_names is not None:
        content["feature names"] = dict(metadata.feature_names)
    recipe = metadata.extra.get("recipe")
    if isinstance(recipe, Recipe):
        content["columns"] = {
            name: value
            for name in ("first", "second", "label", "id")
            if (value := getattr(recipe.columns, name)) is not None
        }
        if recipe.labels is not None:
            content["labels"] = recipe.labels.names
        if recipe.symmetric_filling is not None:
            content["missing numbers"] = "filled with medians, and flagged"
    if metadata.ids is not None:
        content["objects kept"] = len(metadata.ids)
    content["written by"] = found.written_by
    content["checksum"] = found.checksum
    content["bytes"] = found.n_bytes
    return content
