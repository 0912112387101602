"""Puts launcher, icon and file type into the person's own folders, and takes them away again.

Where what stands is said by freedesktop.org: the Desktop Entry, Icon Theme, Shared MIME-info and
AppStream specifications, each below ``$XDG_DATA_HOME``.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.devices.child_process import ask_child
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files import resources
from gpupanel.files.regular_files import NotRegularFileError
from gpupanel.files.user_folders import user_folder
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.installed_command import command_of_this_installation

APPLICATION_ID: Final = "org.gpupanel.gpupanel"
MIME_TYPE: Final = "application/x-gpupanel-profile"
ICON_SIZES: Final = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Pixels: those of the theme hicolor that desktops ask for."""
_LIMIT_S: Final = 30.0
"""For a tool that brings a desktop's cache up to date; without it a desktop does that itself,
later."""
_RESERVED: Final = set(" \t\n\"'\\><~|&;$*?#()`")
"""Characters for which an argument of ``Exec`` has to be quoted (Desktop Entry Specification)."""
_ESCAPED: Final = set('"`$\\')
"""Which of these have a backslash before them between the quotes."""


@dataclass(frozen=True, slots=True)
class DesktopFile:
    """One file of the installation.

    Attributes:
        path: Where it stands.
        content: What it holds.
    """

    path: Path
    content: bytes


def data_home() -> Path:
    """The person's folder for what desktops read: ``$XDG_DATA_HOME``, or ``~/.local/share``."""
    given = os.environ.get("XDG_DATA_HOME", "")
    # A relative one is to be ignored (XDG Base Directory Specification).
    if given and Path(given).is_absolute():
        return Path(given)
    return user_folder("data").parent


def install() -> tuple[Path, ...]:
    """Write launcher, metadata, icons and file type; desktops learn of it.

    Returns:
        The files that were written.

    Raises:
        ProblemError: One cannot be written, or there is no command to launch.
    """
    files = tuple(_files(data_home(), launched_command()))
    for file in files:
        try:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file.path, file.content)
        except NotRegularFileError as error:
            raise ProblemError(_in_the_way(file.path, error.found)) from error
        except OSError as error:
            raise ProblemError(disk_problem(error, file.path)) from error
    _update_caches(data_home())
    return tuple(file.path for file in files)


def remove() -> tuple[Path, ...]:
    """Take away what :func:`install` wrote; what is not there is not missed.

    Returns:
        The files that were removed.

    Raises:
        ProblemError: One cannot be removed.
    """
    removed = []
    for path in _paths(data_home()):
        try:
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ProblemError(disk_problem(error, path)) from error
        removed.append(path)
    if removed:
        _update_caches(data_home())
    return tuple(removed)


def launched_command() -> Path:
    """The command that a launcher starts: this installation's, else that of the ``PATH``.

    Raises:
        ProblemError: There is none: the program runs from its source code.
    """
    found = command_of_this_installation()
    if found is None:
        raise ProblemError(_NO_COMMAND)
    return found


def quoted(argument: str) -> str:
    """An argument as it has to stand in ``Exec``: quoted where it holds a reserved character."""
    shown = argument.replace("%", "%%")
    if not _RESERVED.intersection(shown):
        return shown
    inner = "".join(f"\\{each}" if each in _ESCAPED else each for each in shown)
    # The value is a string of the desktop entry, where a backslash is written twice.
    return f'"{inner}"'.replace("\\", "\\\\")


def _files(home: Path, command: Path) -> Iterator[DesktopFile]:
    # Of Qt, which taking them away does without.
    from gpupanel.ui.desktop.icons import icon_image

    launcher, metadata, mime = _texts()
    entry = resources.path("desktop", launcher.name).read_text(encoding="utf-8")
    lines = [
        f"Exec={quoted(str(command))} %f" if line.startswith("Exec=") else line
        for line in entry.splitlines()
    ]
    # An entry whose program is gone is not shown (Desktop Entry Specification, TryExec).
    lines.insert(lines.index("Terminal=false"), f"TryExec={command}")
    yield DesktopFile(home / launcher, ("\n".join(lines) + "\n").encode())
    for place in (metadata, mime):
        yield DesktopFile(home / place, resources.path("desktop", place.name).read_bytes())
    yield DesktopFile(home / _SCALABLE, resources.path("icons", "gpupanel.svg").read_bytes())
    for size in ICON_SIZES:
        yield DesktopFile(home / _sized(size), icon_image(size))


def _paths(home: Path) -> Iterator[Path]:
    for place in (*_texts(), _SCALABLE, *map(_sized, ICON_SIZES)):
        yield home / place


def _texts() -> tuple[Path, Path, Path]:
    """Launcher, metadata and file type, below the data folder."""
    return (
        Path("applications") / f"{APPLICATION_ID}.desktop",
        Path("metainfo") / f"{APPLICATION_ID}.metainfo.xml",
        Path("mime") / "packages" / f"{APPLICATION_ID}.mime.xml",
    )


_ICONS: Final = Path("icons") / "hicolor"
_SCALABLE: Final = _ICONS / "scalable" / "apps" / f"{APPLICATION_ID}.svg"


def _sized(size: int) -> Path:
    return _ICONS / f"{size}x{size}" / "apps" / f"{APPLICATION_ID}.png"


def _update_caches(home: Path) -> None:
    """Bring caches up to date, where there is what does it."""
    for command in (
        ("update-mime-database", str(home / "mime")),
        ("update-desktop-database", str(home / "applications")),
        ("gtk-update-icon-cache", "--quiet", "--ignore-theme-index", str(home / _ICONS)),
    ):
        program = shutil.which(command[0])
        if program is None:
            continue
        # Whatever it says: what was written stands, and desktops read it in time.
        with suppress(OSError):
            ask_child((program, *command[1:]), _LIMIT_S)


_NO_COMMAND: Final = Problem(
    code="desktop_without_command",
    message="There is no command gpupanel that a launcher could start.",
    hint="Install gpupanel first, with pip, pipx or uv, and run that one.",
)


def _in_the_way(path: Path, found: str) -> Problem:
    return Problem(
        code="desktop_file_in_the_way",
        message=f"{path} is {found}: it is left as it is, and nothing was written there.",
        hint="Move it away, then try again.",
    )
