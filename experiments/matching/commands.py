"""``pairity match`` as users run it, in a process of its own: what it says, time, memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def run_match(folder: Path, *arguments: str) -> dict[str, Any]:
    """Summary of the command, with seconds (clock and processor) and the peak of memory in MB."""
    command = [sys.executable, "-m", "pairity", "match", *arguments, "--json", "--force"]
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        said.seek(0)
        content = json.load(said)
    return content | {
        "command": "pairity match " + " ".join(arguments),
        "cores": len(os.sched_getaffinity(0)),
        "wall seconds": round(seconds, 1),
        "processor seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak MB": round(used.ru_maxrss / 1e3),
    }
