"""The commands that work on tables: their options, help and examples.

Nothing heavy is imported here; each command does its work in a module that is loaded when it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pairity.cli import options
from pairity.cli.settings import CheckSettings, FitSettings, PredictSettings, RankSettings

__all__ = ["check", "fit", "inspect", "predict", "rank"]


@click.command(
    short_help="Train a model on a table of pairs.",
    epilog=options.examples(
        "pairity fit games.csv --first white --second black --label result \\",
        "    --symmetry antisymmetric --tune --output games.pairity",
        "pairity fit pairs.csv --first a --second b --label same --objects records.csv \\",
        "    --id record --symmetry symmetric --kernel 'gaussian(2) + linear' --C 10 \\",
        "    --output records.pairity",
        "pairity fit --config season.toml --force",
        "pairity fit games/*.parquet --first white --second black --label result \\",
        "    --objects players.parquet --symmetry antisymmetric --distributed tcp://host:8786 \\",
        "    --checkpoint games.checkpoint --output games.pairity",
    ),
)
@options.files_argument("pairs")
@options.table_columns(label_required=True)
@click.option(
    "--symmetry",
    type=click.Choice(["symmetric", "antisymmetric", "none"]),
    required=True,
    help="What a swap of the two objects does: nothing, a change of sign, or anything.",
)
@click.option(
    "--learner",
    type=click.Choice(["svc", "logistic", "svr", "ridge"]),
    default="svc",
    show_default=True,
    help="svc and logistic for labels, svr and ridge for numbers.",
)
@click.option(
    "--kernel",
    metavar="KERNEL",
    help="Name of a kernel, or a formula: 'gaussian', 'linear + product(gaussian(2))'.",
)
@click.option("--C", "penalty", type=float, help="Weight of the errors (svc, logistic, svr); 1.")
@click.option("--alpha", type=float, help="Weight of the norm (ridge); 1.")
@click.option("--tune", is_flag=True, help="Choose kernel and penalty by validation without leaks.")
@click.option("--probabilities", is_flag=True, help="Calibrate probabilities on held-out pairs.")
@click.option("--positive", metavar="LABEL", help="Label that says: alike, or the first is ahead.")
@click.option("--draw", metavar="LABEL", help="Label of a draw: three outcomes.")
@click.option("--drop-label", multiple=True, metavar="LABEL", help="Leave rows of this label out.")
@options.impute
@click.option(
    "--tol",
    type=float,
    help="KKT violation, or relative gap of a low-rank model, to reach; 0.001.",
)
@options.distributed
@click.option(
    "--checkpoint",
    type=options.FILE,
    metavar="FILE",
    help="Keep the state of a fit with --distributed, to go on from.",
)
@click.option(
    "--checkpoint-every",
    type=click.IntRange(min=1),
    metavar="STEPS",
    help="Steps between checkpoints; 1.",
)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint.")
@options.output_file("the model")
@click.option("--report", type=options.FILE, metavar="FILE", help="Write a report (HTML) too.")
@options.config
@options.force
@options.as_json
@click.option("--verbose", is_flag=True, help="Say what the solver does.")
def fit(pairs: tuple[Path, ...], **given: Any) -> None:
    """Train a model on a table of PAIRS (CSV or Parquet) and save it.

    Every row is one observation of two objects, in whichever order they happen to be written: do not
    add mirror images. Symmetric: are the two alike? Antisymmetric: is the first ahead of the second?

    Missing numbers are refused, with the columns named, unless --impute is given.

    With --distributed PAIRS are any number of Parquet files or folders of them, read in parts by
    workers, and the model is one of few features (a nystroem kernel, or a linear one).
    """
    from pairity.cli.fit import run_fit

    run_fit(FitSettings(pairs=pairs[0], sources=pairs, **given))


@click.command(
    short_help="Ask a model about pairs.",
    epilog=options.examples(
        "pairity predict games.pairity fixtures.csv --output predictions.csv",
        "pairity predict records.pairity new.parquet --objects new_records.csv --output out.parquet",
        "pairity predict games.pairity fixtures/ --distributed --output predictions/",
    ),
)
@options.file_argument("model")
@options.files_argument("pairs")
@options.pair_columns(required=False)
@options.objects_table
@options.id_column(None)
@options.distributed
@options.output_path("Table of predictions to write, or with --distributed a new folder of tables.")
@options.config
@options.force
@options.as_json
def predict(pairs: tuple[Path, ...], **given: Any) -> None:
    """Ask a MODEL about a table of PAIRS.

    Writes the two ids, the decision, the label, and probabilities if the model has them. The objects
    are those the model was trained with, or those of --objects, whose table has the same columns.

    With --distributed PAIRS are any number of Parquet files or folders of them, and the results a
    folder of Parquet files with the rows in the same order.
    """
    from pairity.cli.predict import run_predict

    run_predict(PredictSettings(pairs=pairs[0], sources=pairs, **given))


@click.command(
    short_help="Rank objects, or group them.",
    epilog=options.examples(
        "pairity rank games.pairity --output ranking.csv",
        "pairity rank records.pairity new_records.csv --id record --output groups.csv",
    ),
)
@options.file_argument("model")
@options.file_argument("objects", required=False)
@options.id_column(None)
@click.option(
    "--pairs",
    type=options.FILE,
    metavar="FILE",
    help="Compare these pairs only; needed for symmetric features of pairs.",
)
@click.option(
    "--method",
    type=click.Choice(["least_squares", "mean", "wins", "average", "components"]),
    help="Scores of a ranking (least_squares, mean, wins), or linkage of groups (average,"
    " components); least_squares or average by default.",
)
@click.option("--threshold", type=float, help="Decision above which two objects match; 0.")
@options.output_file("the ranking or the groups")
@options.config
@options.force
@options.as_json
def rank(**given: Any) -> None:
    """Rank objects by an antisymmetric MODEL, or group them by a symmetric one.

    The objects are those the model was trained with, or those of the table OBJECTS. All pairs of them
    are compared; antisymmetric features of pairs are taken as 0 (neutral ground).
    """
    from pairity.cli.rank import run_rank

    run_rank(RankSettings(**given))


@click.command(
    short_help="Say what a model is.",
    epilog=options.examples(
        "pairity inspect games.pairity", "pairity inspect games.pairity --json"
    ),
)
@options.file_argument("model")
@options.as_json
def inspect(model: Path, as_json: bool) -> None:
    """Say what a MODEL is: learner, kernel, data it was trained on, certificate.

    Opening a model file runs nothing of it.
    """
    from pairity.cli.inspect import run_inspect

    run_inspect(model, as_json=as_json)


@click.command(
    short_help="Say what is in a table of pairs.",
    epilog=options.examples(
        "pairity check games.csv --first white --second black --label result",
        "pairity check pairs.csv --first a --second b --label same --objects records.csv --id record",
    ),
)
@options.file_argument("pairs")
@options.table_columns(label_required=False)
@options.impute
@options.config
@options.as_json
def check(**given: Any) -> None:
    """Say what is in a table of PAIRS, before a model is trained on it.

    Counts objects, repeated and contradicting pairs, pairs of an object with itself, missing values
    and unknown ids, and says which symmetry the labels speak for. Exit code 2 if pairity fit would
    refuse the data.
    """
    from pairity.cli.check import run_check

    run_check(CheckSettings(**given))
