"""``python -m pairity`` is the command ``pairity``."""

from pairity.cli import run

run()
