"""Options from a TOML file."""

import click
import pytest

from pairity.app.cli.commands import fit, predict
from pairity.app.cli.errors import InputError
from pairity.app.cli.options import read_config


def read(tmp_path, text, command=fit):
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    return read_config(path, command)


def test_keys_are_the_names_of_options(tmp_path):
    text = 'pairs = "p.csv"\nC = 2\nsymmetric-feature = ["a", "b"]\njson = true\ndrop-label = 0\n'
    assert read(tmp_path, text) == {
        "pairs": ["p.csv"],
        "penalty": 2,
        "symmetric_feature": ["a", "b"],
        "as_json": True,
        "drop_label": [0],
    }


def test_the_table_of_a_command_wins(tmp_path):
    text = 'first = "a"\n[fit]\nfirst = "b"\n'
    assert read(tmp_path, text) == {"first": "b"}


def test_every_option_has_a_key(tmp_path):
    for command in (fit, predict):
        keys = {
            name.removeprefix("--")
            for parameter in command.params
            if isinstance(parameter, click.Option)
            for name in parameter.opts
        } - {"config"}
        flags = {
            parameter.opts[0].removeprefix("--")
            for parameter in command.params
            if isinstance(parameter, click.Option) and parameter.is_flag
        }
        text = "".join(f"{key} = {'true' if key in flags else 1}\n" for key in keys)
        assert len(read(tmp_path, text, command)) == len(keys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("first = ", "which is no TOML"),
        ("frist = 'a'", r"got the key 'frist' .*expected an option of pairity fit"),
        ("config = 'a'", "got the key 'config'"),
        ("first = ['a']", r"got first = \['a'\] .*expected a text or a number"),
        ("first = true", "got first = True"),
        ("first = 2020-01-01", "got first = datetime"),
        ("ignore = [['a']]", "expected a list of texts"),
        ("force = 1", "expected true or false"),
    ],
)
def test_keys_that_are_refused(text, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)
