"""All tasks; those whose data are absent are skipped with a reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.quality import contests, images, links, preferences, records, shapes
from experiments.quality.task import DATA, Task

#: Antisymmetric first, then symmetric; then those of other shapes.
MAKERS: dict[str, Callable[[Path], Task]] = {
    "chess": contests.chess,
    "football": contests.football,
    "votes": preferences.votes,
    "new-model": preferences.new_model,
    "trains": preferences.trains,
    "diabetes": preferences.diabetes,
    "products": records.products,
    "citations": records.citations,
    "restaurants": records.restaurants,
    "characters": images.characters,
    "digits": images.digits,
    "routes": links.routes,
    "new-airport": links.new_airport,
    "tennis": shapes.tennis,
    "internationals": shapes.internationals,
    "rating": shapes.rating,
    "league": shapes.league,
    "few-trains": shapes.few_trains,
    "few-wines": shapes.few_wines,
}


@dataclass(frozen=True)
class Loaded:
    """Tasks that could be read, and a reason for each of the others."""

    tasks: dict[str, Task]
    skipped: dict[str, str]


def load_tasks(names: Sequence[str] | None = None, folder: Path = DATA) -> Loaded:
    """Read the tasks named, or all, from the shared data and from what packages bring along."""
    tasks, skipped = {}, {}
    for name in MAKERS if names is None else names:
        try:
            tasks[name] = MAKERS[name](folder)
        except FileNotFoundError as error:
            skipped[name] = f"no {Path(error.filename).name} in the data folder"
    return Loaded(tasks, skipped)
