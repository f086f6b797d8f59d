"""What the commands that work on tables are asked for; one class a command, nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "LOCAL",
    "CheckSettings",
    "FitSettings",
    "PredictSettings",
    "RankSettings",
    "TableSettings",
]

#: What stands for the workers of this machine in the place of an address.
LOCAL = "local"


@dataclass(frozen=True)
class TableSettings:
    """Files with pairs and objects, and the names of their columns."""

    pairs: Path
    first: str
    second: str
    label: str | None
    objects: Path | None
    id: str
    feature: tuple[str, ...]
    ignore: tuple[str, ...]
    symmetric_feature: tuple[str, ...]
    antisymmetric_feature: tuple[str, ...]

    def inputs(self) -> list[Path]:
        """Files that are read."""
        return [self.pairs, *([] if self.objects is None else [self.objects])]


@dataclass(frozen=True)
class CheckSettings(TableSettings):
    """``pairity check``."""

    impute: str | None
    as_json: bool


@dataclass(frozen=True)
class FitSettings(TableSettings):
    """``pairity fit``; ``sources`` are all files of pairs, ``pairs`` the first of them."""

    sources: tuple[Path, ...]
    symmetry: str
    learner: str
    kernel: str | None
    penalty: float | None
    alpha: float | None
    tune: bool
    probabilities: bool
    positive: str | None
    draw: str | None
    drop_label: tuple[str, ...]
    impute: str | None
    tol: float | None
    distributed: str | None
    checkpoint: Path | None
    checkpoint_every: int | None
    resume: bool
    output: Path
    report: Path | None
    force: bool
    as_json: bool
    verbose: bool

    def outputs(self) -> list[Path]:
        """Files that are written."""
        return [self.output, *([] if self.report is None else [self.report])]


@dataclass(frozen=True)
class PredictSettings:
    """``pairity predict``; ``sources`` as in ``pairity fit``."""

    model: Path
    pairs: Path
    sources: tuple[Path, ...]
    first: str | None
    second: str | None
    objects: Path | None
    id: str | None
    distributed: str | None
    output: Path
    force: bool
    as_json: bool


@dataclass(frozen=True)
class RankSettings:
    """``pairity rank``."""

    model: Path
    objects: Path | None
    id: str | None
    pairs: Path | None
    method: str | None
    threshold: float | None
    output: Path
    force: bool
    as_json: bool
