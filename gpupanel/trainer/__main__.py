"""``python -m gpupanel.trainer RUN_DIR``: trains the run in that directory."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from gpupanel.domain.child_command import python_module_command
from gpupanel.trainer.heartbeat import start_heartbeat
from gpupanel.trainer.private_network import enter_handed_over, handed_over


def main(root: Path) -> int:
    """Do the process's part of the run; gives the exit status."""
    fetches_first, refusal = False, None
    if handed_over() is not None:
        from gpupanel.trainer.downloads.keras_cache import run_needs_download

        fetches_first = run_needs_download(root)
        refusal = None if fetches_first else _entered()
    start_heartbeat(root)

    # After the first heartbeat: reading all of it takes a while on a busy machine.
    from gpupanel.trainer.process import fetch_for_run, refuse_run, train_run

    if refusal is not None:
        return refuse_run(root, refusal)
    if not fetches_first:
        return train_run(root)
    ended = fetch_for_run(root)
    if ended is None:
        # The same process from its beginning: with the threads that it has by now it could not
        # enter the run's network any more. It keeps all that its supervisor gave it: a child would
        # lose its place in the gang (``TF_CONFIG``) and the allocator of its plan.
        command = python_module_command("gpupanel.trainer", str(root))
        os.execv(command[0], command)  # noqa: S606 - no shell
    return ended


def _entered() -> OSError | None:
    """Enter the run's network; gives why that cannot be done."""
    try:
        enter_handed_over()
    except OSError as error:
        return error
    return None


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m gpupanel.trainer RUN_DIR")
    status = main(Path(sys.argv[1]))
    # All is written. TensorFlow would take a second or more to take itself apart while its devices
    # wait, and in a gang it would wait for peers that may be gone, or abort.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # no space for the log: the status says it
            stream.flush()
    os._exit(status)
