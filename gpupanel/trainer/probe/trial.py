"""``python -m gpupanel.trainer.probe.trial [LIMIT]``: imports what a training does, and ends.

With the variables that it is given, and with a limit of address space in bytes (-1: none) in place
of the shell's where one is named. Its exit status is 0 where the import works.
"""

import importlib
import resource
import sys


def main(arguments: list[str]) -> None:
    """Import TensorFlow and Keras; raises whatever they do."""
    for limit in map(int, arguments):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for module in ("tensorflow", "keras"):
        importlib.import_module(module)


if __name__ == "__main__":
    main(sys.argv[1:])
