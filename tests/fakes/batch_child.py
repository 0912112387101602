"""A process that tries batches as a test wants, and what reads a device beside it."""

from gpupanel.runs.tools.batch_search.free_memory import FreeMemory

CHILD = r"""
import json, os, signal, sys, time
from pathlib import Path
request = json.load(sys.stdin)
started = Path(sys.argv[1]) / "started"
count = int(started.read_text()) if started.exists() else 0
started.write_text(str(count + 1))
(Path(sys.argv[1]) / f"{count}.json").write_text(json.dumps(request))
def say(**line):
    print(json.dumps(line), flush=True)
def fits(n, peak=None):
    say(begun={"examples": n})
    say(trial={"examples": n, "fits": True, "step_seconds": n / 1000,
               "examples_per_second": 1000.0, "peak_mib": peak})
def refused(n):
    say(begun={"examples": n})
    say(trial={"examples": n, "fits": False})
def end(how, count=5000):
    say(ended={"end": how, "example_count": count})
"""
"""Of a process that answers as a test wants: ``count`` is how many were started before it."""


class Reader:
    """Reads what a test says."""

    interval_s = 0.01

    def __init__(self, *readings: FreeMemory) -> None:
        self.readings = list(readings) or [FreeMemory(40_000, 0)]
        self.is_closed = False

    def read(self) -> FreeMemory:
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]

    def close(self) -> None:
        self.is_closed = True
