"""Supervises a run for as long only as whoever started it lives.

``python -m gpupanel.runs.tools.bench.supervisor RUN_DIR CHECKED``: as that of any run, which
outlives the process that asked for it. A comparison that is killed wants its runs no more, and
nobody would ever end them.
"""

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.supervision.process import supervise_as_told

_LOOK_S: Final = 0.5


def main() -> int:
    """Supervise a run: its directory is the first argument, what was checked of it the other."""
    layout = RunLayout(Path(sys.argv[1]))
    watch = threading.Thread(target=_end_with, args=(layout, os.getppid()), daemon=True)
    watch.start()
    # Somebody waits for it, and compares seconds: it knows no hours.
    return supervise_as_told(sys.argv[1:], heeds_hours=False)


def _end_with(layout: RunLayout, parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    with suppress(ProblemError):  # a folder that is gone has no run
        ask(layout, Request.END)


if __name__ == "__main__":
    sys.exit(main())
