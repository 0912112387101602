"""``python -m gpupanel`` and the ``gpupanel`` command."""

import os
import sys
from contextlib import suppress

from gpupanel.domain.child_command import searched_folders

# Before anything else is imported: a file beside a profile may be named as what is.
with suppress(FileNotFoundError):  # a working directory that was removed holds no modules
    sys.path[:] = searched_folders(sys.path, os.environ, os.getcwd())  # noqa: PTH109 - pathlib is not imported yet

from gpupanel.cli.app import main

if __name__ == "__main__":
    main()
