"""Do unlabelled pairs help?  5 % of labels, supervised against transductive and Laplacian machines.

Run ``python -m experiments.transductive``; it writes ``results/transductive.json`` and ``.md``.
Accuracy is on the unlabelled pairs, over seeds that draw the pairs and the labelled ones among
them.  All machines have the same kernel and C; nothing is tuned.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pairity import LaplacianPairSVC, Pairs, PairSVC, TransductivePairSVC
from pairity.datasets import load_digit_pairs, load_restaurants, load_train_choice
from pairity.kernels import Gaussian

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
RESULTS = Path(__file__).resolve().parent / "results"
PAGE = RESULTS.parents[1] / "docs" / "learners.md"
MARKS = ("<!-- experiments/results/transductive.md -->", "<!-- end -->")
N_PAIRS, LABELLED_SHARE, N_SEEDS = 800, 0.05, 10
PENALTIES = (1.0, 10.0)


@dataclass(frozen=True)
class Task:
    """Pairs and labels -1 or +1, of one symmetry."""

    name: str
    symmetry: str
    pairs: Pairs
    y: np.ndarray


def train_choice() -> Task:
    """Which of two train offers was taken."""
    data = load_train_choice()
    return Task("train choice", "antisymmetric", standardised(data.pairs), data.y)


def restaurants() -> Task:
    """The similarities of two records alone, without their text."""
    data = load_restaurants()
    nothing = np.zeros((data.pairs.n_objects, 0))
    pairs = Pairs(nothing, data.pairs.first, data.pairs.second, symmetric=data.pairs.symmetric)
    return Task("restaurants", "symmetric", standardised(pairs), data.y)


def digits() -> Task:
    """Pixels share a unit, so they keep one common scale."""
    data = load_digit_pairs().train
    objects = np.asarray(data.pairs.objects)
    pairs = Pairs(objects / objects.std(), data.pairs.first, data.pairs.second)
    return Task("same digit", "symmetric", pairs, data.y)


def chess() -> Task | None:
    """Decided games: ratings of the two players; who has white is an antisymmetric feature."""
    path = SHARED / "antisymmetric_chess_worldcup" / "games.csv"
    if not path.exists():
        return None
    with path.open(encoding="utf-8") as file:
        games = [
            row for row in csv.DictReader(file) if row["y"] in ("1", "-1") and _has_ratings(row)
        ]
    ratings = np.array([[float(g["whiteelo"]), 1.0, float(g["blackelo"])] for g in games])
    pairs = Pairs.from_rows(ratings, n_antisymmetric=1)
    return Task(
        "chess", "antisymmetric", standardised(pairs), np.array([int(g["y"]) for g in games])
    )


def _has_ratings(game: dict) -> bool:
    try:
        return float(game["whiteelo"]) > 0 and float(game["blackelo"]) > 0
    except ValueError:
        return False


def airports() -> Task | None:
    """Routes and as many random pairs without one: positions, and the distance between them."""
    folder = SHARED / "symmetric_us_airports"
    if not folder.exists():
        return None
    with (folder / "airports.csv").open(encoding="utf-8") as file:
        places = {
            int(a["id"]): (float(a["lat"]), float(a["lon"]))
            for a in csv.DictReader(file)
            if a["lat"] and a["lon"]
        }
    number = {airport: place for place, airport in enumerate(places)}
    with (folder / "routes.csv").open(encoding="utf-8") as file:
        routes = {
            tuple(sorted((number[int(r["a"])], number[int(r["b"])])))
            for r in csv.DictReader(file)
            if int(r["a"]) in number and int(r["b"]) in number and r["a"] != r["b"]
        }
    rng = np.random.default_rng(0)
    others: set[tuple[int, ...]] = set()
    while len(others) < len(routes):
        ends = tuple(sorted(rng.choice(len(places), 2, replace=False).tolist()))
        if ends not in routes:
            others.add(ends)
    ends = np.array(sorted(routes) + sorted(others))
    objects = np.array(list(places.values()))
    distance = np.linalg.norm(objects[ends[:, 0]] - objects[ends[:, 1]], axis=1)
    pairs = Pairs(objects, ends[:, 0], ends[:, 1], symmetric=distance[:, np.newaxis])
    y = np.repeat([1, -1], [len(routes), len(others)])
    return Task("airports", "symmetric", standardised(pairs), y)


TASKS: list[Callable[[], Task | None]] = [train_choice, chess, restaurants, airports, digits]


def standardised(pairs: Pairs) -> Pairs:
    """Features of unit spread; antisymmetric ones are not shifted, which would break the swap."""
    objects = np.asarray(pairs.objects)

    def scaled(table: np.ndarray, shift: bool = True) -> np.ndarray:
        centre = table.mean(axis=0) if shift else 0.0
        spread = np.sqrt(np.mean((table - centre) ** 2, axis=0))
        return (table - centre) / np.where(spread > 0, spread, 1.0)

    return Pairs(
        scaled(objects),
        pairs.first,
        pairs.second,
        scaled(pairs.symmetric),
        scaled(pairs.antisymmetric, shift=False),
    )


def median_width(pairs: Pairs, rng: np.random.Generator) -> float:
    """Median distance between rows: a width that needs no labels."""
    rows = np.asarray(pairs.to_rows())
    one, two = rng.integers(len(rows), size=(2, 2000))
    distances = np.linalg.norm(rows[one] - rows[two], axis=1)
    return float(np.median(distances[distances > 0]))


def run_once(task: Task, seed: int, C: float) -> dict:
    """Accuracy of each machine on the unlabelled pairs of one draw."""
    rng = np.random.default_rng([seed, 17])
    chosen = rng.permutation(len(task.y))[:N_PAIRS]
    pairs, y = task.pairs[chosen], task.y[chosen]
    labelled = _draw_labelled(y, rng)
    given = np.where(labelled, y, 0)
    kernel = Gaussian(median_width(pairs, rng))
    supervised = PairSVC(task.symmetry, kernel=kernel, C=C).fit(pairs[labelled], y[labelled])
    transductive = TransductivePairSVC(task.symmetry, kernel=kernel, C=C).fit(pairs, given)
    known = TransductivePairSVC(
        task.symmetry, kernel=kernel, C=C, positive_fraction=_true_share(task, y[~labelled])
    ).fit(pairs, given)
    laplacian = LaplacianPairSVC(task.symmetry, kernel=kernel, C=C, n_neighbors=6).fit(pairs, given)
    hidden = ~labelled
    scores = {
        name: model.score(pairs[hidden], y[hidden])
        for name, model in (
            ("supervised", supervised),
            ("transductive", transductive),
            ("share known", known),
            ("laplacian", laplacian),
        )
    }
    scores["majority"] = float(max(np.mean(y[hidden] > 0), np.mean(y[hidden] < 0)))
    return scores


def _true_share(task: Task, hidden: np.ndarray) -> float | None:
    """Share of positive labels among the unlabelled pairs, as an oracle would tell it."""
    return None if task.symmetry == "antisymmetric" else float(np.mean(hidden > 0))


def _draw_labelled(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """5 % of the rows, both labels among them."""
    size = max(2, round(LABELLED_SHARE * len(y)))
    while True:
        rows = rng.permutation(len(y))[:size]
        if len(set(y[rows].tolist())) == 2:
            labelled = np.zeros(len(y), dtype=bool)
            labelled[rows] = True
            return labelled


def run(n_seeds: int = N_SEEDS) -> list[dict]:
    """All tasks, penalties and seeds: one row each, with mean and standard deviation."""
    rows = []
    for make in TASKS:
        task = make()
        if task is None:
            print(f"{make.__name__}: skipped, its data are not there", flush=True)
            continue
        for C in PENALTIES:
            found = [run_once(task, seed, C) for seed in range(n_seeds)]
            row = {"task": task.name, "symmetry": task.symmetry, "C": C, "seeds": n_seeds}
            for name in found[0]:
                values = np.array([scores[name] for scores in found])
                row[name], row[f"{name} spread"] = float(values.mean()), float(values.std(ddof=1))
            gains = np.array([s["transductive"] - s["supervised"] for s in found])
            row["gain"], row["better"] = float(gains.mean()), int(np.sum(gains > 0))
            rows.append(row)
            print(line(row), flush=True)
    return rows


def line(row: dict) -> str:
    """A row of the Markdown table."""

    def cell(name: str) -> str:
        return f"{100 * row[name]:.1f} ± {100 * row[name + ' spread']:.1f}"

    machines = " | ".join(cell(name) for name in MACHINES)
    return (
        f"| {row['task']} | {row['symmetry']} | {row['C']:g} | {100 * row['majority']:.1f} |"
        f" {machines} | {100 * row['gain']:+.1f} | {row['better']} of {row['seeds']} |"
    )


MACHINES = ("supervised", "transductive", "share known", "laplacian")
HEADER = (
    "| task | symmetry | C | majority % | supervised % | transductive % | same, true share of"
    " positives given % | Laplacian % | transductive - supervised | better in |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Run and write the results."""
    rows = run()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "transductive.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    table = "\n".join([HEADER, *map(line, rows)])
    (RESULTS / "transductive.md").write_text(table + "\n", encoding="utf-8")
    show(table)


def show(table: str) -> None:
    """Put the table into the guide, between its two marks."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    shown = f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}"
    PAGE.write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    main()
