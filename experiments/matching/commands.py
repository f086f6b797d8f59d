"""``pairity match`` as users run it, in a process of its own: what it says, time, memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def run_match(folder: Path, *arguments: str) -> dict[str, Any]:
    """Summary of the command, with seconds (clock and processor) and the peak of memory in MB."""
    command = [sys.executable, "-m", "pairity", "match", *arguments, "--json", "--force"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    content = json.loads(done.stdout)
    return content | {
        "command": "pairity match " + " ".join(arguments),
        "wall seconds": round(seconds, 1),
        "processor seconds": round(used, 1),
        "largest MB so far": round(after.ru_maxrss / 1e3),
    }
