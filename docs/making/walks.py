"""``python -m docs.making.walks``: the pictures of the tutorials, from the data beside the repository.

The tops of two reports in Chromium, and scores of a leaderboard with their intervals.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.image as image
import matplotlib.pyplot as plt
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
DATA, IMAGES = ROOT.parent / "shared" / "data", ROOT / "docs" / "images"
#: Teams of the forecast, since when; pixels that a picture shows of a report, from where; objects shown.
_TEAMS, _SINCE, _SIZE, _FROM, _SHOWN = 60, "2015", (1280, 1050), 230, 20


def forecast(folder: Path) -> Path:
    """The report of who wins decided games of the teams that play most."""
    games = pd.read_csv(DATA / "antisymmetric_intl_football" / "results.csv")
    games = games[(games["date"] >= _SINCE) & (games["y"] != 0)]
    teams = pd.concat([games["home_team"], games["away_team"]]).value_counts().index[:_TEAMS]
    games = games[games["home_team"].isin(teams) & games["away_team"].isin(teams)]
    games.assign(home=1 - games["neutral"]).to_csv(folder / "games.csv", index=False)
    options = "--first home_team --second away_team --label y --antisymmetric-feature home"
    options += " --symmetry antisymmetric --learner logistic --output m.pairity --report games.html"
    _run(folder, "-m", "pairity", "fit", "games.csv", *options.split(), "--force")
    return folder / "games.html"


def records(folder: Path) -> Path:
    """The report of the walk of restaurants."""
    _walk(folder, "records.sh", "symmetric_restaurants")
    return folder / "records.html"


def leaderboard(folder: Path) -> None:
    """Scores of the first models of the walk, with intervals and letters of ties."""
    _walk(folder, "leaderboard.sh", "antisymmetric_llmfao")
    table = pd.read_csv(folder / "leaderboard.csv").sort_values("rank")
    called = pd.read_csv(DATA / "antisymmetric_llmfao" / "models.csv").set_index("id")["name"]
    first = table.head(_SHOWN)[::-1]
    figure, axes = plt.subplots(figsize=(7.7, 5.5), layout="constrained")
    axes.hlines(range(len(first)), first["lower"], first["upper"], color="#9db7de", linewidth=5)
    axes.plot(first["score"], range(len(first)), "o", color="#2a66b8")
    names = [f"{called[row.id]} ({row.tied})" for row in first.itertuples()]
    axes.set_yticks(range(len(first)), names, fontsize=8.5)
    axes.set_title(
        f"Votes between language models, the first {_SHOWN} of {len(table)}", fontsize=11
    )
    axes.set_xlabel("score (log-odds) with 90 % interval, clustered by judge\nletters: tied")
    figure.savefig(IMAGES / "walk-leaderboard.png", dpi=100)


def _walk(folder: Path, name: str, data: str) -> None:
    binaries = Path(sys.executable).parent
    path = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    command = ["sh", str(ROOT / "examples" / "walks" / name), str(DATA / data)]
    subprocess.run(command, cwd=folder, env=path, check=True, stdout=subprocess.DEVNULL)


def _run(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def photographed(pages: dict[str, Path]) -> None:
    """Tops of pages, by the browser of the tests."""
    sys.path.insert(0, str(ROOT / "tests" / "report"))
    from browser import Browser

    browser = Browser()
    browser.start()
    try:
        for name, page in pages.items():
            place = page.with_suffix(".png")
            browser.open(page, _SIZE[0], dark=False)
            browser.screenshot(place)
            whole = image.imread(place)
            image.imsave(IMAGES / f"{name}.png", whole[_FROM : _FROM + _SIZE[1]].copy(order="C"))
    finally:
        browser.stop()


def main() -> None:
    """All three."""
    with tempfile.TemporaryDirectory() as folder:
        leaderboard(Path(folder))
        pages = {"walk-forecast": forecast(Path(folder)), "walk-records": records(Path(folder))}
        photographed(pages)


if __name__ == "__main__":
    main()
