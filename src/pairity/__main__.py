"""``python -m pairity`` is the command ``pairity``."""

from pairity.app.cli import run

run()
