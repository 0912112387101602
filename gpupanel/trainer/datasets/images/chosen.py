"""Images that were chosen one by one."""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpupanel.domain.images_data import ImagesData
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.images.listing import is_image

_FIELD = "data.files"
_SHOWN = 5


def chosen_images(data: ImagesData) -> list[str]:
    """The paths of the images that the settings name, in their order; none is opened.

    Raises:
        ProblemError: Some are not there, or are not images by their names.
    """
    there, missing, others = [], [], []
    folders = _Folders()
    for name in data.files:
        path = folders.path_of(data.path, name)
        if path is None:
            missing.append(name)
        elif not is_image(Path(name).name) or os.path.isdir(path):  # noqa: PTH112 - of a text
            others.append(name)
        else:
            there.append((name, path))
    rest = [name for name, _ in there]
    of_chosen = f"of the {len(data.files):,} chosen"
    problems = [
        Problem(
            code=code,
            field=_FIELD,
            message=f"{len(names):,} {what}: {_named(names)}.",
            hint=hint,
            detail="\n".join(names[:1000]),
            fix=_without(names, rest),
        )
        for code, names, what, hint in (
            (
                "data_files_missing",
                missing,
                f"{of_chosen} images are not in {data.path}",
                "Put them back, or leave them out.",
            ),
            (
                "data_files_no_pictures",
                others,
                f"{of_chosen} files are not images by their names",
                "Leave them out; a folder of images is chosen alone.",
            ),
        )
        if names
    ]
    if problems:
        raise ProblemError(*problems)
    return [path for _, path in there]


@dataclass(slots=True)
class _Folders:
    """Finds files by their names as a profile holds them."""

    seen: dict[str, dict[str, str]] = field(default_factory=dict)

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
        if folder not in self.seen:
            try:
                names = os.listdir(folder)  # noqa: PTH208
            except OSError:
                names = []
            odd = ((as_utf8(name), name) for name in names)
            self.seen[folder] = {
                text: os.path.join(folder, name)  # noqa: PTH118
                for text, name in odd
                if text != name
            }
        return self.seen[folder]


def _is_there(path: str) -> bool:
    """Whether there is a file; one that may not be asked for is, and reading it says why not."""
    try:
        os.stat(path)  # noqa: PTH116
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
    except ValueError:  # a name with the character 0
        return False
    return True


def _without(names: Sequence[str], rest: list[str]) -> Fix | None:
    what = "it" if len(names) == 1 else f"these {len(names):,}"
    return Fix.of(f"Leave {what} out", _FIELD, rest) if rest else None


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN])
    return f"{shown}, ..." if len(names) > _SHOWN else shown
