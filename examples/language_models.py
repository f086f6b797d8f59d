"""Tables for ``pairity`` from votes between language models: which of two gave the better answer?

Reads the folder ``antisymmetric_llmfao`` (data of github.com/dustalov/llmfao, CC BY 4.0) and writes

- ``models.csv``: one row a model: what its answers look like, and its size where the name tells it;
- ``votes.csv``: 80 % of the votes (all votes on a pair of answers stay together);
- ``new_votes.csv``: the other votes.

Usage: ``python examples/language_models.py FOLDER OUTPUT``
"""

import csv
import re
import sys
from pathlib import Path
from statistics import mean


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


def describe(model, answers):
    """Numbers about a model; its size in billions is left empty where the name does not tell."""
    size = re.search(r"(\d+(?:\.\d+)?)B\b", model["name"])
    texts = [answer["result"] for answer in answers]
    return [
        model["name"],
        size.group(1) if size else "",
        round(mean(len(text) for text in texts), 1),
        round(mean(text.count("\n") for text in texts), 2),
        round(mean(not text.strip() for text in texts), 3),
        round(mean(float(answer["duration"] or 0) for answer in answers) / 1000, 3),
        int(model["type"] == "chat"),
    ]


def main(folder, output):
    """Make the tables."""
    models = {model["id"]: model for model in read(folder / "models.csv")}
    answers = {}
    for answer in read(folder / "responses.csv"):
        answers.setdefault(answer["model"], []).append(answer)
    names = ["model", "billions", "length", "lines", "empty", "seconds", "chat"]
    output.mkdir(parents=True, exist_ok=True)
    write(output / "models.csv", names, [describe(models[key], answers[key]) for key in answers])
    votes = read(folder / "comparisons.csv")
    for name, new in (("votes.csv", False), ("new_votes.csv", True)):
        rows = [
            [models[vote["model_x"]]["name"], models[vote["model_y"]]["name"], vote["y"]]
            for vote in votes
            if (int(vote["id"]) % 5 == 0) == new
        ]
        write(output / name, ["left", "right", "better"], rows)
        print(f"{len(rows)} votes in {output / name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
