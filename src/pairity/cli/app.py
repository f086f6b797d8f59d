"""Commands and options; the work is in modules that are loaded when a command runs."""

from __future__ import annotations

from pathlib import Path

import click

from pairity._version import __version__
from pairity.cli import declarations, options
from pairity.cli.errors import OneLineGroup

__all__ = ["main"]

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(
    name="pairity",
    cls=OneLineGroup,
    context_settings=_CONTEXT,
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


@main.command(short_help="Train and validate on embedded real data.")
@options.output_directory("pairity-demo")
@options.force
def demo(output: Path, force: bool) -> None:
    """Train, validate and predict on embedded real data, both symmetries.

    Which of two train offers is taken (antisymmetric), and whether two images show the same digit
    (symmetric). Prints a summary and writes predictions and models.
    """
    from pairity.cli.demo import run_demo

    run_demo(output, force=force)


@main.command(short_help="Make the paper's tables again.")
@click.argument("table", type=click.Choice(["table1", "table2", "table3", "all"]), default="all")
@options.output_directory("pairity-reproduce")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws."
)
@options.force
def reproduce(table: str, output: Path, seed: int, force: bool) -> None:
    """Make the paper's tables again, beside the paper's own numbers.

    Prints them and writes CSV files and figures (PNG).
    """
    from pairity.cli.reproduce import run_reproduce

    run_reproduce(table, output, seed=seed, force=force)


for _command in (
    declarations.check,
    declarations.fit,
    declarations.predict,
    declarations.rank,
    declarations.inspect,
):
    main.add_command(_command)
