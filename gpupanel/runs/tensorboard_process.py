"""``python -m gpupanel.runs.tensorboard_process FOLDER``: TensorBoard on loopback, for one window.

Its address stands on standard output, a line, once it serves. It ends when standard input does: the
pipe of a window that is closed or killed is, however it ended. What TensorBoard itself has started
ends with it in the same way.
"""

import os
import sys
from typing import Any, Final

_NOT_LOADED: Final = frozenset({"projector"})
"""Its ``projector_config.pbtxt``, which lies in the folder, names any files of this machine, and up
to TensorBoard 2.20 what is in them is served to everybody here. No run writes one."""


def main() -> None:
    """Serve the folder until nobody wants it any more."""
    from tensorboard import program  # takes seconds

    board = program.TensorBoard(plugins=loaded_plugins())
    # Port 0: one that is free.
    arguments = ("--logdir", sys.argv[1], "--host", "127.0.0.1", "--port", "0")
    board.configure(argv=("tensorboard", *arguments))
    print(board.launch(), flush=True)  # noqa: T201 - for the window
    # What it says from now on nobody reads: a file of that would grow as long as the window lives.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(nowhere, descriptor)
    sys.stdin.buffer.read()
    # Its threads would go on.
    os._exit(0)


def loaded_plugins() -> list[Any]:
    """TensorBoard's own and the installed ones that read nothing but what is in the folder."""
    from tensorboard import default

    found = default.get_plugins()
    return [each for each in found if getattr(each, "plugin_name", None) not in _NOT_LOADED]


if __name__ == "__main__":
    main()
