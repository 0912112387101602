"""Files in a folder and in all folders below it, without those that systems put there."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator

from gpupanel.domain.image_names import is_hidden, suffix_of

OnEntry = Callable[["os.DirEntry[str]"], object]


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether it is a folder, or a link that leads to one; a link that leads to itself does not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def passed_over(entry: "os.DirEntry[str]") -> None:
    """Nothing is made of it."""


def listed_files(
    root: str, suffixes: Collection[str], on_other: OnEntry = passed_over, *, takes_links: bool
) -> Iterator[str]:
    """The paths of files with one of these suffixes, in order of their parts.

    A link to a folder is not gone into: it may lead back, or anywhere.

    Args:
        root: The folder.
        suffixes: In small letters.
        on_other: Called with whatever else is seen.
        takes_links: A link to such a file is one.

    Raises:
        OSError: One of the folders cannot be read.
    """
    waiting = [(root, True)]
    while waiting:
        place, is_one = waiting.pop()
        if not is_one:
            yield place
            continue
        below = []
        with os.scandir(place) as entries:
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append((entry.name, True))
                elif _is_one(entry, suffixes, takes_links=takes_links):
                    below.append((entry.name, False))
                else:
                    on_other(entry)
        below.sort(reverse=True)
        waiting += [(f"{place}{os.sep}{name}", is_one) for name, is_one in below]


def holds_file(root: str, suffixes: Collection[str], *, takes_links: bool) -> bool:
    """Whether :func:`listed_files` would find one; looked for no further than to the first.

    Raises:
        OSError: One of the folders cannot be read.
    """
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif _is_one(entry, suffixes, takes_links=takes_links):
                    return True
    return False


def _is_one(entry: "os.DirEntry[str]", suffixes: Collection[str], *, takes_links: bool) -> bool:
    if suffix_of(entry.name) not in suffixes:
        return False
    return not entry.is_symlink() or (takes_links and not is_folder(entry))


def folders_in(root: str) -> list[str]:
    """The names of the folders right in one, and of links to such, in order.

    Raises:
        OSError: It cannot be read.
    """
    with os.scandir(root) as entries:
        return sorted(each.name for each in entries if not is_hidden(each.name) and is_folder(each))


def by_folder(root: str, paths: Iterable[str]) -> dict[str, list[str]]:
    """Paths by the folders right in the root that they are below; those of none by an empty name.

    Args:
        root: The folder.
        paths: As :func:`listed_files` gives them.
    """
    found: dict[str, list[str]] = {}
    for path in paths:
        first, _, rest = path[len(root) :].lstrip(os.sep).partition(os.sep)
        found.setdefault(first if rest else "", []).append(path)
    return found
