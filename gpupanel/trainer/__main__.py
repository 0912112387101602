"""``python -m gpupanel.trainer RUN_DIR``: trains the run in that directory."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from gpupanel.trainer.heartbeat import start_heartbeat

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m gpupanel.trainer RUN_DIR")
    start_heartbeat(Path(sys.argv[1]))

    # After the first heartbeat: reading all of it takes a while on a busy machine.
    from gpupanel.trainer.process import train_run

    status = train_run(Path(sys.argv[1]))
    # All is written. TensorFlow would take a second or more to take itself apart while its devices
    # wait, and in a gang it would wait for peers that may be gone, or abort.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # no space for the log: the status is what tells it
            stream.flush()
    os._exit(status)
