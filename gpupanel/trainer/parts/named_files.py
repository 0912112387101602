"""Files that are chosen one by one, by their names as a profile holds them."""

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path

from gpupanel.domain.visible_text import as_utf8


@dataclass(slots=True)
class NamedFiles:
    """Finds files by their names as a profile holds them."""

    _seen: dict[str, dict[str, str]] = field(default_factory=dict)

    def path_of(self, root: str, name: str) -> str | None:
        """The path of a file; ``None``: it is not there.

        What of a name is no UTF-8 stands written out in a profile.
        """
        path = os.path.join(root, name)  # noqa: PTH118 - a Path each takes longer than to ask
        if _is_there(path):
            return path
        place = root
        for part in Path(name).parts:
            below = os.path.join(place, part)  # noqa: PTH118
            place = below if _is_there(below) else self._written_out(place).get(part, "")
            if not place:
                return None
        return place

    def _written_out(self, folder: str) -> dict[str, str]:
        """What is in a folder and has such a name, by how it is written out."""
        if folder not in self._seen:
            try:
                names = os.listdir(folder)  # noqa: PTH208
            except OSError:
                names = []
            odd = ((as_utf8(name), name) for name in names)
            self._seen[folder] = {
                text: os.path.join(folder, name)  # noqa: PTH118
                for text, name in odd
                if text != name
            }
        return self._seen[folder]


def _is_there(path: str) -> bool:
    """Whether there is a file; one that may not be asked for is, and reading it says why not."""
    try:
        os.stat(path)  # noqa: PTH116
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
    except ValueError:  # a name with the character 0
        return False
    return True
