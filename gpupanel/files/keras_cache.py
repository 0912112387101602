"""Where Keras keeps what it downloads, and whether a file is there.

Imported by the trainer while its process has one thread, so without NumPy, whose libraries start
some.
"""

import os
from pathlib import Path

from gpupanel.domain.keras_file import KerasFile


def keras_home() -> Path:
    """The folder of what Keras downloads: ``$KERAS_HOME``, else ``~/.keras``."""
    home = os.environ.get("KERAS_HOME")
    # As Keras does: a "~" of nobody stays as it is.
    return Path(os.path.expanduser(home or "~/.keras"))  # noqa: PTH111


def place_of(file: KerasFile) -> Path:
    """The file, or the folder of the unpacked archive, in Keras's cache."""
    return keras_home() / file.folder / file.place


def is_here(file: KerasFile) -> bool:
    """Whether it was downloaded before, by Keras or by us."""
    return (place_of(file) / file.holds).is_file()
