"""Whether a window can open here, said before Qt is loaded: without this Qt aborts the process.

Imports nothing of Qt. ``python -m gpupanel.ui.preflight`` says what every use of Qt lacks, a
display or not, and exits with 1 when something is missing.
"""

import ctypes
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from ctypes import c_char_p, c_int, c_void_p
from typing import Final, NamedTuple

from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import visible_beginning, visible_line


class _Package(NamedTuple):
    debian: str
    fedora: str


# What the loader has to find for PySide6, read from the NEEDED entries of its libraries; a test
# reads them again. Qt's own libraries and those that Python itself needs are left out.
_GUI: Final = {
    "libGL.so.1": _Package("libgl1", "libglvnd-glx"),
    "libEGL.so.1": _Package("libegl1", "libglvnd-egl"),
    "libX11.so.6": _Package("libx11-6", "libX11"),
    "libdbus-1.so.3": _Package("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": _Package("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": _Package("libfreetype6", "freetype"),
    "libglib-2.0.so.0": _Package("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": _Package("libglib2.0-0", "glib2"),
    "libxkbcommon.so.0": _Package("libxkbcommon0", "libxkbcommon"),
    "libz.so.1": _Package("zlib1g", "zlib-ng-compat"),
    "libzstd.so.1": _Package("libzstd1", "libzstd"),
}
_XCB: Final = {
    "libX11-xcb.so.1": _Package("libx11-xcb1", "libX11-xcb"),
    "libxcb.so.1": _Package("libxcb1", "libxcb"),
    "libxcb-cursor.so.0": _Package("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": _Package("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": _Package("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": _Package("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": _Package("libxcb-randr0", "libxcb"),
    "libxcb-render.so.0": _Package("libxcb-render0", "libxcb"),
    "libxcb-render-util.so.0": _Package("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-shape.so.0": _Package("libxcb-shape0", "libxcb"),
    "libxcb-shm.so.0": _Package("libxcb-shm0", "libxcb"),
    "libxcb-sync.so.1": _Package("libxcb-sync1", "libxcb"),
    "libxcb-util.so.1": _Package("libxcb-util1", "xcb-util"),
    "libxcb-xfixes.so.0": _Package("libxcb-xfixes0", "libxcb"),
    "libxcb-xkb.so.1": _Package("libxcb-xkb1", "libxcb"),
    "libxkbcommon-x11.so.0": _Package("libxkbcommon-x11-0", "libxkbcommon-x11"),
}
_WAYLAND: Final = {
    "libwayland-client.so.0": _Package("libwayland-client0", "libwayland-client"),
    "libwayland-cursor.so.0": _Package("libwayland-cursor0", "libwayland-cursor"),
}

_PLATFORM: Final = "QT_QPA_PLATFORM"
_WAYLAND_NAME: Final = "wayland"
_PLATFORMS: Final = frozenset(
    {"xcb", "offscreen", "minimal", "minimalegl", "eglfs", "linuxfb", "vnc", "vkkhrdisplay"}
)
"""What PySide6 has plugins for (``Qt/plugins/platforms``), beside those of Wayland."""

Loads = Callable[[str], bool]
"""Whether the loader finds a shared library by its name."""
Answers = Callable[[str], bool]
"""Whether a display of that name accepts a connection."""


def loads(soname: str) -> bool:
    """Whether the loader finds the library, and all that it needs itself."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def x_server_answers(display: str) -> bool:
    """Whether the X server accepts this user; ``True`` when libxcb is not there to ask."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.argtypes, xcb.xcb_connect.restype = (c_char_p, c_void_p), c_void_p
    xcb.xcb_connection_has_error.argtypes = (c_void_p,)
    xcb.xcb_connection_has_error.restype = c_int
    xcb.xcb_disconnect.argtypes, xcb.xcb_disconnect.restype = (c_void_p,), None
    connection = xcb.xcb_connect(display.encode(), None)
    failed: int = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return failed == 0


def wayland_compositor_answers(display: str) -> bool:
    """Whether the Wayland compositor does; ``True`` when its library is not there to ask."""
    try:
        wayland = ctypes.CDLL("libwayland-client.so.0")
    except OSError:
        return True
    wayland.wl_display_connect.argtypes = (c_char_p,)
    wayland.wl_display_connect.restype = c_void_p
    wayland.wl_display_disconnect.argtypes = (c_void_p,)
    wayland.wl_display_disconnect.restype = None
    connection: int | None = wayland.wl_display_connect(display.encode())
    if connection is None:
        return False
    wayland.wl_display_disconnect(connection)
    return True


def missing_display(
    environment: Mapping[str, str] = os.environ,
    system: str = sys.platform,
    x_answers: Answers = x_server_answers,
    wayland_answers: Answers = wayland_compositor_answers,
) -> Problem | None:
    """Why no window can be shown; ``None`` when one can, or when Qt draws off screen."""
    if system != "linux" or not _is_on_screen(environment):
        return None
    platforms = _platforms(environment)
    uses_x = not platforms or "xcb" in platforms
    uses_wayland = not platforms or any(name.startswith(_WAYLAND_NAME) for name in platforms)
    x = environment.get("DISPLAY", "") if uses_x else ""
    wayland = environment.get("WAYLAND_DISPLAY", "") if uses_wayland else ""
    if not x and not wayland and platforms:
        return Problem(
            code="no_display",
            message=f"QT_QPA_PLATFORM is {visible_beginning(environment[_PLATFORM])}, and there is "
            "no such display: its variable "
            f"({'DISPLAY' if uses_x else 'WAYLAND_DISPLAY'}) is not set.",
            hint="Start the window without it; every command but the window works without a "
            "display (gpupanel --help).",
            command=f"env -u {_PLATFORM} gpupanel",
        )
    if not x and not wayland:
        return Problem(
            code="no_display",
            message="There is no display to open a window on: neither DISPLAY nor "
            "WAYLAND_DISPLAY is set.",
            hint="Start it from a desktop session, or log in with `ssh -X`; every command but "
            "the window works without a display (gpupanel --help).",
        )
    if (wayland and wayland_answers(wayland)) or (x and x_answers(x)):
        return None
    named = [f"DISPLAY={x}"] * bool(x) + [f"WAYLAND_DISPLAY={wayland}"] * bool(wayland)
    return Problem(
        code="display_not_answering",
        message=f"The display does not answer ({', '.join(named)}): it is gone, or it is "
        "another user's.",
        hint="Start it from your own desktop session, or log in with `ssh -X`.",
    )


def missing_libraries(
    environment: Mapping[str, str] = os.environ,
    system: str = sys.platform,
    can_load: Loads = loads,
) -> Problem | None:
    """Which shared libraries Qt lacks here, and one command that installs them."""
    if system != "linux":
        return None
    missing = _lacking(_GUI, can_load)
    if _is_on_screen(environment):
        # Either is enough where both displays are there; X is what more machines can install.
        wanted = [_XCB] * bool(environment.get("DISPLAY"))
        wanted += [_WAYLAND] * bool(environment.get("WAYLAND_DISPLAY"))
        lacks = [_lacking(libraries, can_load) for libraries in wanted]
        if lacks and all(lacks):
            missing |= lacks[0]
    return _missing_problem(missing) if missing else None


def unknown_platform(
    environment: Mapping[str, str] = os.environ, system: str = sys.platform
) -> Problem | None:
    """Qt ends the process where ``QT_QPA_PLATFORM`` names nothing that it has a plugin for."""
    platforms = _platforms(environment)
    if system != "linux" or not platforms or any(map(_is_platform, platforms)):
        return None
    return Problem(
        code="qt_platform_unknown",
        message=f"QT_QPA_PLATFORM is {visible_beginning(environment[_PLATFORM])}, and Qt knows no "
        "such platform.",
        hint="Start the window without it; Qt detects the display automatically.",
        command=f"env -u {_PLATFORM} gpupanel",
    )


def _platforms(environment: Mapping[str, str]) -> list[str]:
    chosen = environment.get(_PLATFORM, "")
    return [name.partition(":")[0] for name in chosen.split(";") if name]


def _is_platform(name: str) -> bool:
    return name in _PLATFORMS or name.startswith(_WAYLAND_NAME)


def _is_on_screen(environment: Mapping[str, str]) -> bool:
    names = _platforms(environment)
    return all(name == "xcb" or name.startswith(_WAYLAND_NAME) for name in names)


def _lacking(libraries: Mapping[str, _Package], can_load: Loads) -> dict[str, _Package]:
    return {soname: package for soname, package in libraries.items() if not can_load(soname)}


def _missing_problem(missing: Mapping[str, _Package]) -> Problem:
    return Problem(
        code="qt_libraries_missing",
        message=f"Qt needs shared libraries that this system lacks: {', '.join(sorted(missing))}.",
        hint=f"Install them: {_install_command(missing.values(), _distributions())}",
    )


def _install_command(packages: Iterable[_Package], distributions: frozenset[str]) -> str:
    """For the distribution where it is known, else for both that are."""
    chosen = tuple(packages)
    apt = "sudo apt install " + " ".join(sorted({package.debian for package in chosen}))
    dnf = "sudo dnf install " + " ".join(sorted({package.fedora for package in chosen}))
    if distributions & {"debian", "ubuntu"}:
        return apt
    if distributions & {"fedora", "rhel", "centos"}:
        return dnf
    return f"{apt} (Debian, Ubuntu), {dnf} (Fedora), or the same of your distribution"


def _distributions() -> frozenset[str]:
    """What this system calls itself and descends from (``ubuntu``, ``debian``)."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return frozenset()
    return frozenset([release.get("ID", ""), *release.get("ID_LIKE", "").split()])


def main() -> int:
    """Say what Qt lacks even off screen; the exit status."""
    problem = missing_libraries({"QT_QPA_PLATFORM": "offscreen"})
    if problem is None:
        return 0
    sys.stderr.write(f"{visible_line(problem.message)}\n{visible_line(problem.hint)}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
