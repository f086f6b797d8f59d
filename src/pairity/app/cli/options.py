"""Options that commands share, and options from a TOML file.

In a file, keys are the names of options and arguments (``first``, ``symmetric-feature``, ``C``,
``pairs``); options that may be given several times take a list.  A table named like a command
holds keys for that command, so that one file can serve several.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import partial, reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from pairity.app.cli.errors import InputError

#: What stands for the workers of this machine in the place of an address.
LOCAL = "local"

#: What stands for standard output in the place of a file.
STANDARD_OUTPUT = Path("-")
FILE = click.Path(path_type=Path, dir_okay=False)
PLACE = click.Path(path_type=Path)


class Settings(SimpleNamespace):
    """What a command was asked for: its parameters by name."""

    def inputs(self) -> list[Path]:
        """Files that are read."""
        names = "model pairs objects training asked left right labels held_out"
        given = (getattr(self, name, None) for name in names.split())
        return [path for path in given if path is not None]

    def outputs(self) -> list[Path]:
        """Files that are written."""
        names = "report ranking effects judges groups_output suggestions scores"
        more = (getattr(self, name, None) for name in names.split())
        return [path for path in (self.output, *more) if path not in (None, STANDARD_OUTPUT)]

    @property
    def to_stdout(self) -> bool:
        """Whether results go to standard output, so that the summary does not."""
        return getattr(self, "output", None) == STANDARD_OUTPUT


# Options from a file ----------------------------------------------------------------------------


def read_config(path: Path, command: click.Command) -> dict[str, Any]:
    """Values by parameter name; keys that the command does not have are refused."""
    try:
        content = tomllib.loads(path.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"got {path}, which is no TOML ({error}); expected key = value.") from None
    context = click.get_current_context(silent=True)
    group = context.find_root().command if context is not None else None
    commands = group.commands if isinstance(group, click.Group) else {command.name}
    shared = {key: value for key, value in content.items() if key not in commands}
    own = content.get(command.name or "", {})
    if not isinstance(own, dict):
        raise InputError(
            f"got {command.name} = {own!r} in {path}; expected a table of options: [{command.name}]."
        )
    known = {  # parameters by the names that users see
        name.removeprefix("--"): parameter
        for parameter in command.params
        for name in parameter.opts
        if (name.startswith("--") or isinstance(parameter, click.Argument))
        and name not in ("--config", "--help")
    }
    values: dict[str, Any] = {}
    for key, value in (shared | own).items():
        if key not in known:
            raise InputError(
                f"got the key {key!r} in {path}; expected an option of pairity {command.name}:"
                f" {', '.join(sorted(known))}."
            )
        values[known[key].name or key] = _checked(known[key], key, value, path)
    return values


def _checked(parameter: click.Parameter, key: str, value: Any, path: Path) -> Any:
    """A value of a kind that the same option could have."""
    several = parameter.nargs == -1 or (isinstance(parameter, click.Option) and parameter.multiple)
    entries = value if isinstance(value, list) else [value]
    flag = isinstance(parameter, click.Option) and parameter.is_flag
    allowed = (bool,) if flag else (str, int, float)
    fits = all(type(entry) in allowed for entry in entries)
    if not fits or (isinstance(value, list) and not several):
        expected = (
            "true or false" if flag else "a list of texts" if several else "a text or a number"
        )
        raise InputError(f"got {key} = {value!r} in {path}; expected {expected}.")
    return entries if several else value


def _load(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        context.default_map = read_config(value, context.command)


# Kinds of options -------------------------------------------------------------------------------


def option(names: str, about: str, **details: Any) -> Any:
    """An option by its names, parted by spaces, and its help, which shows a default."""
    return click.option(*names.split(), help=about, show_default="default" in details, **details)


flag = partial(option, is_flag=True)
number = partial(option, type=float)
count = partial(option, type=click.IntRange(1))
file = partial(option, type=FILE, metavar="FILE")
column = partial(option, metavar="COL")
several = partial(option, multiple=True, metavar="COL")


def choice(name: str, values: Sequence[str], about: str, **details: Any) -> Any:
    """An option with some values to choose from."""
    return option(name, about, type=click.Choice(values), **details)


def together(*decorators: Any) -> Any:
    """Several options as one decorator, in this order."""
    return lambda body: reduce(lambda done, add: add(done), reversed(decorators), body)


def examples(*lines: str) -> str:
    """Text of an epilog with examples, kept as it stands."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


# Options that several commands share ------------------------------------------------------------

force = flag("--force", "Replace files that are there already.")
as_json = flag("--json as_json", "Print the summary as JSON, for machines.")
impute = choice(
    "--impute",
    ["median"],
    "Fill missing numbers with medians of the training objects, and flag them.",
)
encode = flag(
    "--encode",
    "Take columns of any type: categories, texts, dates and missing values become numbers by a rule"
    " that is learnt here and kept in the model.",
)
objects_table = file(
    "--objects",
    "Table of objects, one row each; without it objects are known by their ids alone.",
)
id_column = partial(column, "--id", "Column of the objects table with the ids.")
ids_are = choice(
    "--ids",
    ["features", "names"],
    "What ids are without --objects: a feature each (only known objects can be asked about), or names"
    " only (the model goes by features of pairs, and any pair can be asked about).",
    default="features",
)
distributed = option(
    "--distributed",
    "Work with Dask: on the scheduler at this address, or with workers on this machine.",
    is_flag=False,
    flag_value=LOCAL,
    metavar="[ADDRESS]",
)
groups = column(
    "--groups",
    "Column of the pairs whose rows hang together (a judge, a day): never on both sides of a split.",
)
skip_unknown = flag(
    "--skip-unknown", "Leave pairs of objects that are not known out, and say how many."
)
config = file(
    "--config",
    "Options from a TOML file, named as here without the dashes; options given here win.",
    is_eager=True,
    expose_value=False,
    callback=_load,
)
#: What all commands that write files take.
writing = together(config, force, as_json)
at = option("--at", "When objects are compared, for a model trained with --time.", metavar="TIME")
#: A file that the command works on; files or folders that it works on, at least one.
file_argument = partial(click.argument, type=FILE)
files_argument = partial(click.argument, type=PLACE, nargs=-1, required=True)


def output_directory(default: str) -> Any:
    """``--output DIR`` with a default."""
    about = "Directory for the files."
    return option("--output", about, type=PLACE, default=Path(default), metavar="DIR")


def output_file(what: str) -> Any:
    """``--output FILE``, always to be given."""
    return file("--output", f"Where {what} goes.", required=True)


def output_table(what: str) -> Any:
    """``--output FILE`` of a table, which may go to standard output."""
    return output_file(f"{what} ('-' for standard output, as CSV)")


def pair_columns(*, required: bool) -> Any:
    """``--first`` and ``--second``."""
    told = "" if required else "; the one of the training table by default"
    return together(
        *(
            column(f"--{end}", f"Column with the id of the {end} object{told}.", required=required)
            for end in ("first", "second")
        )
    )


def table_columns(*, label_required: bool) -> Any:
    """Everything that says what the columns of two tables are."""
    more = "May be given several times."
    return together(
        pair_columns(required=True),
        column("--label", "Column of labels.", required=label_required),
        objects_table,
        id_column(default="id"),
        ids_are,
        several("--feature", f"Object feature to use; all columns but the ids by default. {more}"),
        several("--ignore", f"Column of the objects table that is no feature. {more}"),
        several(
            "--symmetric-feature",
            f"Column of the pairs that stays when a pair is swapped. {more}",
        ),
        several("--antisymmetric-feature", f"Column of the pairs that changes sign then. {more}"),
        column("--time", "Column of the pairs that says when: numbers, or dates (then in days)."),
    )


#: What a ranking with intervals takes.
certainty = together(
    number("--level", "Coverage of the intervals; 0.9."),
    column(
        "--by",
        "Column of the training table whose rows hang together: a judge, a day; or 'object'.",
    ),
    file("--effects", "Write effects of features of pairs and objects, with intervals, too."),
    file("--judges", "Write how reliable each judge of --by is, and what it prefers, too."),
)
#: What learners on graphs take.
graphs = together(
    number("--manifold", "Weight of the smoothness over the graph (laplacian); 100."),
    count("--neighbors", "Neighbours in the graph (laplacian); 6."),
    count(
        "--neighbour-means",
        "Add means over the pairs around each pair, looking so far.",
        metavar="HOPS",
    ),
)

#: What predictions are judged by, where it is known what happened.
judged = together(
    file("--scores", "Write scores period by period too, where pairs have labels and times."),
    column("--time", "Column that says when, for --scores; by default that of the training."),
    number("--every", "Length of a period of --scores, in days for dates; 30."),
    several(
        "--odds",
        "Column of decimal odds of a label, one for each: scored as a baseline.",
        metavar="LABEL=COL",
    ),
)
