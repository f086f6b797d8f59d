"""The commands: their options, help and examples.

Nothing heavy is imported here; each command does its work in a module that is loaded when it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pairity._version import __version__
from pairity.app.cli import options
from pairity.app.cli.errors import OneLineGroup
from pairity.app.cli.options import Settings


@click.group(
    name="pairity",
    cls=OneLineGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog=options.examples(
        "pairity check games.csv --first white --second black --label result",
        "pairity fit games.csv --first white --second black --label result \\",
        "    --symmetry antisymmetric --tune --output games.pairity",
        "pairity predict games.pairity fixtures.csv --output predictions.csv",
        "pairity rank games.pairity --output ranking.csv",
    ),
)
@click.version_option(__version__, message="pairity %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Learn on pairs of objects, with exact symmetry or antisymmetry under a swap."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _command(about: str, *examples: str) -> Any:
    return main.command(short_help=about, epilog=options.examples(*examples))


@_command(
    "Train a model on a table of pairs.",
    "pairity fit games.csv --first white --second black --label result \\",
    "    --symmetry antisymmetric --tune --output games.pairity",
    "pairity fit pairs.csv --first a --second b --label same --objects records.csv \\",
    "    --id record --symmetry symmetric --kernel 'gaussian(2) + linear' --C 10 \\",
    "    --output records.pairity",
    "pairity fit votes.csv --first left --second right --label better --positive left \\",
    "    --symmetry antisymmetric --learner logistic --antisymmetric-feature longer \\",
    "    --ranking board.csv --by judge --effects style.csv --output votes.pairity",
    "pairity fit --config season.toml --force",
    "pairity fit games/*.parquet --first white --second black --label result \\",
    "    --objects players.parquet --symmetry antisymmetric --distributed tcp://host:8786 \\",
    "    --checkpoint games.checkpoint --output games.pairity",
)
@options.files_argument("pairs", metavar="PAIRS...")
@options.table_columns(label_required=True)
@options.choice(
    "--symmetry",
    ["symmetric", "antisymmetric", "none"],
    "What a swap of the two objects does: nothing, a change of sign, or anything.",
    required=True,
)
@options.choice(
    "--learner",
    ["svc", "logistic", "svr", "ridge", "transductive", "laplacian"],
    "svc and logistic for labels, svr and ridge for numbers; transductive and laplacian for labels of"
    " which some are missing: those pairs are learned from too.",
    default="svc",
)
@options.option(
    "--kernel",
    "Name of a kernel, or a formula: 'gaussian', 'linear + product(gaussian(2))',"
    " \"order_invariant(bilinear('P.csv'))\", 'diffusion(direct_sum(linear))'.",
    metavar="KERNEL",
)
@options.number("--C penalty", "Weight of the errors (svc, logistic, svr); 1.")
@options.number("--alpha", "Weight of the norm (ridge); 1.")
@options.graphs
@options.number("--decay", "Half-life of observations, in the unit of --time (days for dates).")
@options.flag(
    "--tune",
    "Choose by validation without leaks: the automatic model, or of --kernel the penalty.",
)
@options.flag("--probabilities", "Calibrate probabilities on held-out pairs.")
@options.option("--positive", "Label that says: alike, or the first is ahead.", metavar="LABEL")
@options.option("--draw", "Label of a draw: three outcomes.", metavar="LABEL")
@options.several("--drop-label", "Leave rows of this label out.", metavar="LABEL")
@options.impute
@options.groups
@options.skip_unknown
@options.encode
@options.number("--tol", "KKT violation, or relative gap of a low-rank model, to reach; 0.001.")
@options.distributed
@options.file("--checkpoint", "Keep the state of a fit with --distributed, to go on from.")
@options.count("--checkpoint-every", "Steps between checkpoints; 1.", metavar="STEPS")
@options.flag("--resume", "Go on from the checkpoint.")
@options.output_file("the model")
@options.file("--report", "Write a report (HTML) too.")
@options.option("--title", "Heading of the report.", metavar="TEXT")
@options.column("--name", "Column of the objects table with names for the report; no feature.")
@options.file("--ranking", "Write the objects ranked, with intervals, too (logistic, ridge).")
@options.certainty
@options.writing
@options.flag("--verbose", "Say what the solver does.")
def fit(pairs: tuple[Path, ...], **given: Any) -> None:
    """Train a model on a table of PAIRS (CSV or Parquet) and save it.

    Every row is one observation of two objects, in whichever order they happen to be written: do not
    add mirror images. Symmetric: are the two alike? Antisymmetric: is the first ahead of the second?

    Missing numbers are refused, with the columns named, unless --impute is given; texts and dates are,
    unless --encode is, which takes columns of any type.

    With --time whatever is chosen or calibrated is validated on later pairs than it was trained on,
    and kernels may let strengths drift: --kernel 'identity * drift(365)'.

    With --distributed PAIRS are any number of Parquet files or folders of them, read in parts by
    workers, and the model is one of few features (a nystroem kernel, or a linear one).
    """
    from pairity.app.cli.fit_command import run_fit

    run_fit(Settings(pairs=pairs[0], sources=pairs, **given))


@_command(
    "Ask a model about pairs.",
    "pairity predict games.pairity fixtures.csv --output predictions.csv",
    "pairity predict records.pairity new.parquet --objects new_records.csv --output out.parquet",
    "pairity predict games.pairity fixtures/ --distributed --output predictions/",
    "pairity predict games.pairity season.csv --scores months.csv --every 30 \\",
    "    --odds home=B365H --odds draw=B365D --odds away=B365A --output predictions.csv",
)
@options.file_argument("model")
@options.files_argument("pairs", metavar="PAIRS...")
@options.pair_columns(required=False)
@options.objects_table
@options.id_column()
@options.skip_unknown
@options.distributed
@options.option(
    "--output",
    "Table of predictions to write ('-' for standard output), or with --distributed a new folder of"
    " tables.",
    type=options.PLACE,
    required=True,
    metavar="PATH",
)
@options.judged
@options.writing
def predict(pairs: tuple[Path, ...], **given: Any) -> None:
    """Ask a MODEL about a table of PAIRS.

    Writes the table as it is, with the decision, the label, and probabilities if the model has them,
    in columns of their own, and prints how good they are where the table has labels: beside odds, where
    there are some, and over time with --scores. The objects are those the model was trained with, or
    those of --objects, whose table has the same columns.

    With --distributed PAIRS are any number of Parquet files or folders of them, and the results a
    folder of Parquet files with the rows in the same order.
    """
    from pairity.app.cli.ask_commands import run_predict

    run_predict(Settings(pairs=pairs[0], sources=pairs, **given))


@_command(
    "Rank objects, or group them.",
    "pairity rank games.pairity --output ranking.csv",
    "pairity rank votes.pairity --intervals --training votes.csv --by judge \\",
    "    --effects effects.csv --output leaderboard.csv",
    "pairity rank games.pairity --at 2024-06-30 --intervals --output ranking.csv",
    "pairity rank records.pairity new_records.csv --id record --output groups.csv",
)
@options.file_argument("model")
@options.file_argument("objects", required=False)
@options.id_column()
@options.file("--pairs", "Compare these pairs only; needed for symmetric features of pairs.")
@options.choice(
    "--method",
    ["least_squares", "mean", "wins", "average", "components"],
    "Scores of a ranking (least_squares, mean, wins), or linkage of groups (average,"
    " components); least_squares or average by default.",
)
@options.at
@options.number("--threshold", "Decision above which two objects match; 0.")
@options.flag("--intervals", "Add intervals, possible ranks, ties and chances of being the best.")
@options.file("--training", "Table that the model was trained on, for --by.")
@options.certainty
@options.output_table("the ranking or the groups")
@options.writing
def rank(**given: Any) -> None:
    """Rank objects by an antisymmetric MODEL, or group them by a symmetric one.

    The objects are those the model was trained with, or those of the table OBJECTS. All pairs of them
    are compared; antisymmetric features of pairs are taken as 0 (neutral ground).

    Intervals and effects are those of models trained with --learner logistic or ridge.
    """
    from pairity.app.cli.rank_command import run_rank

    run_rank(Settings(**given))


@_command(
    "Say which pairs to ask about next.",
    "pairity suggest votes.pairity --number 20 --output next.csv",
    "pairity suggest votes.pairity --strategy top --top 5 --asked asked.csv --output next.csv",
)
@options.file_argument("model")
@options.file_argument("pool", required=False)
@options.count("--number", "Pairs to suggest.", default=10)
@options.choice(
    "--strategy",
    ["order", "top", "scores", "decisions", "labels", "uncertainty"],
    "What to learn most about: who is ahead of whom, who leads, all scores, decisions about the pool"
    " or their signs; or the pairs whose outcome is least certain. For symmetric models, labels.",
    default="order",
)
@options.count("--top", "Leaders that --strategy top is about; 10.")
@options.column("--cost", "Column of POOL with what a question costs.")
@options.at
@options.file("--asked", "Table of pairs that are not to be asked again.")
@options.output_table("the pairs")
@options.writing
def suggest(**given: Any) -> None:
    """Say which pairs of the table POOL to ask about next, best first.

    Without POOL all pairs of the objects that the MODEL was trained with are candidates. Each
    suggestion takes those before it into account. The model is one trained with --learner logistic
    or ridge.
    """
    from pairity.app.cli.rank_command import run_suggest

    run_suggest(Settings(pairs=given.pop("pool"), objects=None, id=None, **given))


@_command(
    "Match the records of one raw table, or of two.",
    "pairity match fodors.csv zagats.csv --output matches.csv",
    "pairity match amazon.csv google.csv --labels train.csv --held-out test.csv \\",
    "    --suggestions ask-next.csv --output matches.csv",
    "pairity match customers.csv --id customer --kind phone=code \\",
    "    --groups-output groups.csv --output matches.csv",
)
@options.file_argument("left")
@options.file_argument("right", required=False)
@options.id_column()
@options.file("--labels", "Table of labelled pairs to learn from; without it nothing is needed.")
@options.file("--held-out", "Table of labelled pairs that are only scored.")
@options.column("--first", "Column of both with ids of the first table; their first by default.")
@options.column("--second", "Column with ids of the second table; their second by default.")
@options.column("--label", "Column with 1 for a match, 0 for none; their third by default.")
@options.several(
    "--kind", "What a column holds: text, name, number, date, code or geo.", metavar="COL=KIND"
)
@options.several("--ignore", "Column that is not compared. May be given several times.")
@options.count("--neighbours", "Candidates that each record may name.", default=10)
@options.choice(
    "--constraint",
    ["auto", "one-to-one", "transitive", "none"],
    "What matches must obey; auto: one-to-one of two tables unless labels say otherwise, transitive"
    " of one.",
    default="auto",
)
@options.number("--threshold", "Log-odds above which a pair matches; chosen, or 0, by default.")
@options.file("--groups-output", "Write the group of every record too.")
@options.file("--suggestions", "Write pairs to label next too.")
@options.count("--number", "Pairs of --suggestions; 20.")
@options.output_table("the matched pairs")
@options.writing
def match(**given: Any) -> None:
    """Match the records of the table LEFT with those of RIGHT, or among themselves.

    Columns are compared by what they hold, which is read from their content; missing values count as
    evidence. Without --labels evidence is weighed without supervision; with labels a symmetric model
    is trained, and precision and recall are those of pairs held out.

    A table of labels with two columns lists all matches of the records it names.
    """
    from pairity.app.cli.match_command import run_match

    run_match(Settings(**given))


@_command(
    "Say what a model is.", "pairity inspect games.pairity", "pairity inspect games.pairity --json"
)
@options.file_argument("model")
@options.as_json
def inspect(**given: Any) -> None:
    """Say what a MODEL is: learner, kernel, data it was trained on, certificate.

    Opening a model file runs nothing of it.
    """
    from pairity.app.cli.inspect_command import run_inspect

    run_inspect(Settings(**given))


@_command(
    "Say what is in a table of pairs.",
    "pairity check games.csv --first white --second black --label result",
    "pairity check pairs.csv --first a --second b --label same --objects records.csv --id record",
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
    from pairity.app.cli.check_command import run_check

    run_check(Settings(**given))


@main.command(short_help="Train and validate on embedded real data.")
@options.output_directory("pairity-demo")
@options.force
def demo(output: Path, force: bool) -> None:
    """Train, validate and predict on embedded real data, both symmetries.

    Which of two train offers is taken (antisymmetric), and whether two images show the same digit
    (symmetric). Prints a summary and writes predictions, models and reports.
    """
    from pairity.app.cli.showcase import run_demo

    run_demo(output, force=force)


@main.command(short_help="Make the paper's tables again.")
@click.argument("table", type=click.Choice(["table1", "table2", "table3", "all"]), default="all")
@options.output_directory("pairity-reproduce")
@options.option("--seed", "Of the draws.", type=click.IntRange(0), default=0)
@options.force
def reproduce(table: str, output: Path, seed: int, force: bool) -> None:
    """Make the paper's tables again, beside the paper's own numbers.

    Prints them and writes CSV files and figures (PNG).
    """
    from pairity.app.cli.showcase import run_reproduce

    run_reproduce(table, output, seed=seed, force=force)
