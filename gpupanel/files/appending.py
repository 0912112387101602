"""Adding bytes to a file that only its owner reads: all of them, or none."""

import os
from pathlib import Path

from gpupanel.files.guarded_files import open_to_append


def append_whole(path: Path, content: bytes, within: Path | None = None) -> None:
    """Add bytes to the end of a file, which is made if it is not there.

    Args:
        path: The file.
        content: What is added.
        within: As :func:`~gpupanel.files.guarded_files.opened_folder` takes it.

    Raises:
        OSError: They cannot be written; of what was written of them nothing stays.
    """
    descriptor = open_to_append(path, within)
    size = os.fstat(descriptor).st_size
    try:
        waiting = memoryview(content)
        while waiting:
            waiting = waiting[os.write(descriptor, waiting) :]
    except OSError:
        os.ftruncate(descriptor, size)
        raise
    finally:
        os.close(descriptor)
