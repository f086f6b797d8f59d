"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pairity.cli.config import read_config
from pairity.cli.settings import LOCAL

__all__ = [
    "as_json",
    "config",
    "distributed",
    "examples",
    "file_argument",
    "files_argument",
    "force",
    "id_column",
    "impute",
    "objects_table",
    "output_directory",
    "output_file",
    "output_path",
    "pair_columns",
    "table_columns",
]

Body = TypeVar("Body", bound=Callable[..., None])
Decorator = Callable[[Body], Body]

FILE = click.Path(path_type=Path, dir_okay=False)
PLACE = click.Path(path_type=Path)

force: Any = click.option("--force", is_flag=True, help="Replace files that are there already.")
as_json: Any = click.option(
    "--json", "as_json", is_flag=True, help="Print the summary as JSON, for machines."
)
impute: Any = click.option(
    "--impute",
    type=click.Choice(["median"]),
    help="Fill missing numbers with medians of the training objects, and flag them.",
)
objects_table: Any = click.option(
    "--objects",
    type=FILE,
    metavar="FILE",
    help="Table of objects, one row each; without it objects are known by their ids alone.",
)
distributed: Any = click.option(
    "--distributed",
    is_flag=False,
    flag_value=LOCAL,
    metavar="[ADDRESS]",
    help="Work with Dask: on the scheduler at this address, or with workers on this machine.",
)


def examples(*lines: str) -> str:
    """Text of an epilog with examples, kept as it stands."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def file_argument(name: str, *, required: bool = True) -> Any:
    """A file that the command works on."""
    return click.argument(name, type=FILE, required=required)


def files_argument(name: str) -> Any:
    """Files or folders that the command works on, at least one."""
    return click.argument(name, type=PLACE, nargs=-1, required=True, metavar=f"{name.upper()}...")


def output_directory(default: str) -> Any:
    """``--output DIR`` with a default."""
    return click.option(
        "--output",
        type=PLACE,
        default=Path(default),
        show_default=True,
        metavar="DIR",
        help="Directory for the files.",
    )


def output_file(what: str) -> Any:
    """``--output FILE``, always to be given."""
    return click.option(
        "--output", type=FILE, required=True, metavar="FILE", help=f"Where {what} goes."
    )


def output_path(help_text: str) -> Any:
    """``--output PATH``, a file or a folder, always to be given."""
    return click.option("--output", type=PLACE, required=True, metavar="PATH", help=help_text)


def id_column(default: str | None) -> Any:
    """``--id COL``."""
    return click.option(
        "--id",
        default=default,
        show_default=True,
        metavar="COL",
        help="Column of the objects table with the ids.",
    )


def pair_columns(*, required: bool) -> Decorator[Body]:
    """``--first`` and ``--second``."""

    def decorate(body: Body) -> Body:
        told = "" if required else "; the one of the training table by default"
        for name in ("second", "first"):
            body = click.option(
                f"--{name}",
                required=required,
                metavar="COL",
                help=f"Column with the id of the {name} object{told}.",
            )(body)
        return body

    return decorate


def table_columns(*, label_required: bool) -> Decorator[Body]:
    """Everything that says what the columns of two tables are."""
    options: list[Any] = [
        pair_columns(required=True),
        click.option("--label", required=label_required, metavar="COL", help="Column of labels."),
        objects_table,
        id_column("id"),
        _several("--feature", "Object feature to use; all columns but the ids by default."),
        _several("--ignore", "Column of the objects table that is no feature."),
        _several("--symmetric-feature", "Column of the pairs that stays when a pair is swapped."),
        _several("--antisymmetric-feature", "Column of the pairs that changes sign then."),
    ]

    def decorate(body: Body) -> Body:
        for option in reversed(options):
            body = option(body)
        return body

    return decorate


def _several(name: str, help_text: str) -> Any:
    return click.option(
        name, multiple=True, metavar="COL", help=f"{help_text} May be given several times."
    )


def _load(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        context.default_map = read_config(value, context.command)


config: Any = click.option(
    "--config",
    type=FILE,
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_load,
    help="Options from a TOML file, named as here without the dashes; options given here win.",
)
