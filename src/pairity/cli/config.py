"""Options from a TOML file, equal to the same options on the command line.

Keys are the names of options and arguments (``first``, ``symmetric-feature``, ``C``, ``pairs``);
options that may be given several times take a list.  A table named like a command holds keys for
that command, so that one file can serve several.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

from pairity.cli.errors import InputError

__all__ = ["read_config"]


def read_config(path: Path, command: click.Command) -> dict[str, Any]:
    """Values by parameter name; keys that the command does not have are refused."""
    values, own = _sections(_parsed(path), command.name or "")
    known = _keys(command)
    found: dict[str, Any] = {}
    for key, value in {**values, **own}.items():
        if key not in known:
            raise InputError(
                f"got the key {key!r} in {path}; expected an option of pairity {command.name}:"
                f" {', '.join(sorted(known))}."
            )
        found[known[key].name or key] = _checked(known[key], key, value, path)
    return found


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"got {path}, which is no TOML ({error}); expected key = value.") from None


def _sections(content: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keys for every command, and those of the table of this command."""
    context = click.get_current_context(silent=True)
    group = context.find_root().command if context is not None else None
    commands = set(group.commands) if isinstance(group, click.Group) else {name}
    own = content.get(name, {})
    values = {key: value for key, value in content.items() if key not in commands}
    return values, own if isinstance(own, dict) else {}


def _keys(command: click.Command) -> dict[str, click.Parameter]:
    """Parameters by the names that users see."""
    keys: dict[str, click.Parameter] = {}
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            keys[(parameter.name or "").lower()] = parameter
        for option in parameter.opts if isinstance(parameter, click.Option) else ():
            if option.startswith("--"):
                keys[option.removeprefix("--")] = parameter
    return {key: value for key, value in keys.items() if key not in ("config", "help")}


def _checked(parameter: click.Parameter, key: str, value: Any, path: Path) -> Any:
    """A value of a kind that the same option could have."""
    several = parameter.nargs == -1 or (isinstance(parameter, click.Option) and parameter.multiple)
    entries = value if isinstance(value, list) else [value]
    flag = isinstance(parameter, click.Option) and parameter.is_flag
    fits = all(type(entry) is bool for entry in entries) if flag else _are_plain(entries)
    if not fits or (isinstance(value, list) and not several):
        expected = (
            "true or false" if flag else "a list of texts" if several else "a text or a number"
        )
        raise InputError(f"got {key} = {value!r} in {path}; expected {expected}.")
    return entries if several else value


def _are_plain(entries: list[Any]) -> bool:
    return all(type(entry) in (str, int, float) for entry in entries)
