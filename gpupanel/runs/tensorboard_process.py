"""``python -m gpupanel.runs.tensorboard_process FOLDER``: TensorBoard on loopback, for one window.

Its address stands on standard output, a line, once it serves. It ends when standard input does: the
pipe of a window that is closed or killed is, however it ended. What TensorBoard itself has started
ends with it in the same way.
"""

import os
import sys


def main() -> None:
    """Serve the folder until nobody wants it any more."""
    from tensorboard import program  # takes seconds

    board = program.TensorBoard()
    # Port 0: one that is free.
    arguments = ("--logdir", sys.argv[1], "--host", "127.0.0.1", "--port", "0")
    board.configure(argv=("tensorboard", *arguments))
    print(board.launch(), flush=True)  # noqa: T201 - for the window
    sys.stdin.buffer.read()
    # Its threads would go on.
    os._exit(0)


if __name__ == "__main__":
    main()
