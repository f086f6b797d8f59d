"""Tables for ``pairity`` from two restaurant guides: which two records are the same place?

Reads the folder ``symmetric_restaurants`` (Fodors and Zagats, from py_entitymatching, BSD) and writes

- ``records.csv``: one row a record; columns count the three-letter pieces of name and address;
- ``pairs.csv``: matches, and near-misses of the same city, outside Los Angeles;
- ``new_pairs.csv``: the same for Los Angeles, none of whose records are in ``pairs.csv``.

Usage: ``python examples/restaurants.py FOLDER OUTPUT``
"""

import csv
import random
import sys
import zlib
from pathlib import Path

#: Columns that the pieces of a text are counted in.
PLACES = 64
#: Telephone area codes of Los Angeles.
LOS_ANGELES = ("213", "310", "818", "805")


def read(path):
    """Rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(path, names, rows):
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    print(f"{len(rows)} rows in {path}")


def pieces(text):
    """Runs of three letters, the ends included."""
    text = f" {' '.join(text.lower().split())} "
    return {text[start : start + 3] for start in range(len(text) - 2)}


def counted(text):
    """How many pieces of a text fall into each place; the same piece always into the same."""
    counts = [0] * PLACES
    for piece in pieces(text):
        counts[zlib.crc32(piece.encode()) % PLACES] += 1
    return counts


def alike(one, other):
    """Share of the pieces that two texts have in common."""
    left, right = pieces(one), pieces(other)
    return len(left & right) / len(left | right)


def near_misses(records, matches, dice):
    """Pairs of different places whose names or addresses are a little alike."""
    known = set(matches)
    fodors = [record for record in records if record["source"] == "fodors"]
    zagats = [record for record in records if record["source"] == "zagats"]
    found = [
        (a["id"], b["id"])
        for a in fodors
        for b in zagats
        if a["phone"][:3] == b["phone"][:3]
        and (a["id"], b["id"]) not in known
        and max(alike(a["name"], b["name"]), alike(a["addr"], b["addr"])) > 0.1
    ]
    return dice.sample(found, min(len(found), 8 * len(matches)))


def main(folder, output):
    """Make the tables."""
    output.mkdir(parents=True, exist_ok=True)
    records = read(folder / "records.csv")
    names = [f"{field} {place}" for field in ("name", "addr") for place in range(PLACES)]
    rows = [[r["id"], *counted(r["name"]), *counted(r["addr"])] for r in records]
    write(output / "records.csv", ["id", *names], rows)

    matches = [(match["a"], match["b"]) for match in read(folder / "matches.csv")]
    city = {record["id"]: record["phone"][:3] in LOS_ANGELES for record in records}
    dice = random.Random(0)
    others = near_misses(records, matches, dice)
    for name, new in (("pairs.csv", False), ("new_pairs.csv", True)):
        labelled = [(pair, "same") for pair in matches] + [(pair, "other") for pair in others]
        rows = [[*pair, label] for pair, label in labelled if city[pair[0]] == new == city[pair[1]]]
        write(output / name, ["fodors", "zagats", "match"], rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
