"""Files that a person chose one by one, as a profile names them."""

import posixpath
from collections.abc import Iterable

from gpupanel.domain.visible_text import as_utf8

MOST_FILES = 5_000
MOST_NAME_BYTES = 512 * 2**10
"""A profile is 1 MiB at most, and is read whenever a run is listed."""


def files_below(paths: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    r"""The folder that all of these files are in, and each by its path in there, once.

    What of a name is no UTF-8 is written out (``\xe9``), as a profile cannot hold it; the folder
    has none of it.

    Args:
        paths: Absolute, at least one.
    """
    whole = tuple(dict.fromkeys(posixpath.normpath(path) for path in paths))
    root = posixpath.commonpath([posixpath.dirname(path) for path in whole])
    while as_utf8(root) != root:
        root = posixpath.dirname(root)
    return root, tuple(as_utf8(posixpath.relpath(path, root)) for path in whole)


def are_too_many(files: Iterable[str]) -> bool:
    """Whether a profile cannot name so many."""
    sizes = [len(name.encode(errors="replace")) for name in files]
    return len(sizes) > MOST_FILES or sum(sizes) > MOST_NAME_BYTES
