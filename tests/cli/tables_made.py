"""Small tables of games and of records, with models whose answers are easy to tell."""

import numpy as np
import pandas as pd
from click.testing import CliRunner

from pairity.app.cli.commands import main


def run(*arguments, code=0):
    """What a command says; it must end with this code, and never with a traceback."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def make_players(n=12, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"player {number}" for number in range(n)],
            "strength": rng.normal(size=n),
            "age": rng.integers(18, 40, size=n),
        }
    )


def make_games(players, n=90, seed=1):
    """The stronger one wins, and playing at home helps."""
    rng = np.random.default_rng(seed)
    first = rng.integers(len(players), size=n)
    second = (first + rng.integers(1, len(players), size=n)) % len(players)
    home = rng.choice([-1, 1], size=n)
    strength = players["strength"].to_numpy()
    margin = strength[first] - strength[second] + 0.2 * home
    return pd.DataFrame(
        {
            "white": players["name"].to_numpy()[first],
            "black": players["name"].to_numpy()[second],
            "home": home,
            "result": np.where(margin > 0, 1, -1),
            "margin": margin.round(3),
        }
    )


def make_records(seed=2):
    """Ten things, three records of each, at places far apart."""
    rng = np.random.default_rng(seed)
    places = np.repeat(rng.normal(scale=9.0, size=(10, 2)), 3, axis=0)
    places += rng.normal(scale=0.05, size=places.shape)
    table = {"id": np.arange(100, 130), "x": places[:, 0], "y": places[:, 1]}
    return pd.DataFrame(table)


def make_matches(seed=3):
    first, second = np.triu_indices(30, 1)
    same = first // 3 == second // 3
    rng = np.random.default_rng(seed)
    kept = same | (rng.random(len(first)) < 0.3)
    labels = np.where(same, "same", "other")[kept]
    return pd.DataFrame({"one": 100 + first[kept], "two": 100 + second[kept], "match": labels})


FIT_GAMES = [
    *("--first", "white", "--second", "black", "--label", "result"),
    *("--symmetry", "antisymmetric"),
]
FIT_RECORDS = [
    *("--first", "one", "--second", "two", "--label", "match", "--positive", "same"),
    *("--symmetry", "symmetric"),
]
