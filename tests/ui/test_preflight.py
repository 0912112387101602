"""What is reported before Qt is loaded."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.ui import preflight
from gpupanel.ui.preflight import missing_display, missing_libraries, unknown_platform


def _yes(_: str) -> bool:
    return True


def _no(_: str) -> bool:
    return False


def test_that_without_a_display_it_says_what_works_all_the_same() -> None:
    problem = missing_display({}, "linux")

    assert problem is not None
    assert problem.code == "no_display"
    assert "DISPLAY" in problem.message
    assert "ssh -X" in problem.hint


@pytest.mark.parametrize("platform", ["offscreen", "minimal", "vnc:size=1280x800", "linuxfb"])
def test_that_drawing_off_screen_needs_no_display(platform: str) -> None:
    assert missing_display({"QT_QPA_PLATFORM": platform}, "linux") is None


@pytest.mark.parametrize("platform", ["xcb", "wayland", "wayland;xcb", "wayland-egl"])
def test_that_a_chosen_platform_of_a_desktop_needs_a_display(platform: str) -> None:
    assert missing_display({"QT_QPA_PLATFORM": platform}, "linux") is not None


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_that_other_systems_have_a_display_and_their_libraries(system: str) -> None:
    assert missing_display({}, system) is None
    assert missing_libraries({}, system, _no) is None


@pytest.mark.parametrize(
    ("environment", "x", "wayland", "is_there"),
    [
        ({"DISPLAY": ":0"}, _yes, _no, True),
        ({"DISPLAY": ":0"}, _no, _yes, False),
        ({"WAYLAND_DISPLAY": "wayland-0"}, _no, _yes, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, _yes, _no, False),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, _yes, _no, True),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, _no, _no, False),
    ],
)
def test_that_a_display_counts_when_it_answers(
    environment: dict[str, str],
    x: preflight.Answers,
    wayland: preflight.Answers,
    *,
    is_there: bool,
) -> None:
    problem = missing_display(environment, "linux", x, wayland)

    assert (problem is None) is is_there
    if problem is not None:
        assert problem.code == "display_not_answering"
        assert all(f"{name}={value}" in problem.message for name, value in environment.items())


@pytest.mark.skipif(not preflight.loads("libxcb.so.1"), reason="libxcb is not installed")
def test_that_a_display_that_nobody_serves_is_noticed_through_libxcb() -> None:
    problem = missing_display({"DISPLAY": ":64321"}, "linux")

    assert problem is not None
    assert problem.code == "display_not_answering"


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")
def test_that_an_x_server_that_runs_answers() -> None:
    with subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "64x64x24"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        display = f":{server.stdout.readline().strip()}"
        try:
            assert missing_display({"DISPLAY": display}, "linux") is None
        finally:
            server.terminate()


def test_that_missing_libraries_are_named_with_one_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking = {"libEGL.so.1", "libxcb-cursor.so.0", "libglib-2.0.so.0", "libgthread-2.0.so.0"}
    monkeypatch.setattr(
        "platform.freedesktop_os_release", lambda: {"ID": "pop", "ID_LIKE": "ubuntu debian"}
    )

    problem = missing_libraries({"DISPLAY": ":0"}, "linux", lambda name: name not in lacking)

    assert problem is not None
    assert problem.code == "qt_libraries_missing"
    assert all(name in problem.message for name in lacking)
    assert problem.hint == "Install them: sudo apt install libegl1 libglib2.0-0 libxcb-cursor0"


@pytest.mark.parametrize(
    ("release", "words"),
    [
        ({"ID": "fedora"}, ["sudo dnf install libglvnd-egl"]),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, ["sudo dnf install libglvnd-egl"]),
        ({"ID": "arch"}, ["sudo apt install libegl1", "sudo dnf install libglvnd-egl"]),
        (None, ["sudo apt install libegl1", "sudo dnf install libglvnd-egl"]),
    ],
)
def test_that_the_command_is_that_of_the_distribution(
    monkeypatch: pytest.MonkeyPatch, release: dict[str, str] | None, words: list[str]
) -> None:
    def answer() -> dict[str, str]:
        if release is None:
            raise OSError
        return release

    monkeypatch.setattr("platform.freedesktop_os_release", answer)

    problem = missing_libraries({"DISPLAY": ":0"}, "linux", lambda name: name != "libEGL.so.1")

    assert problem is not None
    assert re.findall(r"sudo \w+ install [\w.-]+", problem.hint) == words


@pytest.mark.parametrize(
    ("environment", "lacking", "is_well"),
    [
        ({"DISPLAY": ":0"}, "libxcb-cursor.so.0", False),
        ({"DISPLAY": ":0"}, "libwayland-client.so.0", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "libwayland-client.so.0", False),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "libxcb-cursor.so.0", True),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "libxcb-cursor.so.0", True),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "libGL.so.1", False),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, "libxcb-cursor.so.0", True),
    ],
)
def test_that_only_libraries_of_the_display_that_is_there_are_wanted(
    environment: dict[str, str], lacking: str, *, is_well: bool
) -> None:
    problem = missing_libraries(environment, "linux", lambda name: name != lacking)

    assert (problem is None) is is_well


def _needed(files: list[Path]) -> set[str]:
    """The libraries that these files ask the loader for, Qt's own and the system's C left out."""
    answer = subprocess.run(
        ["readelf", "-d", *map(str, files)], capture_output=True, text=True, timeout=60, check=True
    )
    names = set(re.findall(r"\(NEEDED\).*\[(.+)\]", answer.stdout))
    own = re.compile(
        r"libQt6|libicu|libpyside6|libshiboken6|libstdc\+\+|libgcc_s|"
        r"lib(c|m|dl|rt|pthread)\.so|ld-linux"
    )
    return {name for name in names if not own.match(name)}


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("readelf") is None, reason="needs ELF and readelf"
)
def test_that_the_libraries_asked_for_are_those_that_this_pyside_needs() -> None:
    import PySide6

    pyside = Path(PySide6.__file__).parent
    libraries, platforms = pyside / "Qt" / "lib", pyside / "Qt" / "plugins" / "platforms"
    names = ("Core", "DBus", "Gui", "Widgets")
    gui = [libraries / f"libQt6{name}.so.6" for name in names] + [platforms / "libqoffscreen.so"]

    assert set(preflight._GUI) == _needed(gui)
    xcb = _needed([libraries / "libQt6XcbQpa.so.6", platforms / "libqxcb.so"])
    assert set(preflight._XCB) == xcb - set(preflight._GUI)
    wayland = _needed([libraries / "libQt6WaylandClient.so.6", platforms / "libqwayland.so"])
    assert set(preflight._WAYLAND) == wayland - set(preflight._GUI)


def test_that_it_is_asked_without_loading_qt() -> None:
    code = (
        "import sys\n"
        "from gpupanel.ui.preflight import missing_display, missing_libraries\n"
        "missing_display(), missing_libraries()\n"
        "print([name for name in sys.modules if name.startswith(('PySide6', 'shiboken6'))])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert answer.stdout.strip() == "[]"


def test_that_as_a_program_it_reports_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ctypes.CDLL", _refuse)

    # The default was bound when the function was defined, so the loader itself is refused.
    assert preflight.main() == 1
    assert "libGL.so.1" in capsys.readouterr().err


def _refuse(name: str) -> None:
    raise OSError(name)


@pytest.mark.skipif(not preflight.loads("libGL.so.1"), reason="libGL is not installed")
def test_that_as_a_program_it_is_silent_when_nothing_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = preflight.main()

    assert (status == 0) == (capsys.readouterr().err == "")


def test_that_a_chosen_platform_needs_its_own_display() -> None:
    shell = {"QT_QPA_PLATFORM": "wayland", "DISPLAY": ":0"}
    problem = missing_display(shell, "linux", x_answers=_yes)
    assert problem is not None
    assert "QT_QPA_PLATFORM is wayland" in problem.message
    assert "(WAYLAND_DISPLAY)" in problem.message
    assert problem.command == "env -u QT_QPA_PLATFORM gpupanel"
    both = {**shell, "QT_QPA_PLATFORM": "wayland;xcb"}
    assert missing_display(both, "linux", x_answers=_yes) is None


@pytest.mark.parametrize(
    ("platform", "is_known"),
    [("", True), ("offscreen", True), ("wayland-egl", True), ("foo;xcb", True), ("windows", False)],
)
def test_that_a_platform_that_qt_does_not_know_is_named(platform: str, is_known: bool) -> None:
    problem = unknown_platform({"QT_QPA_PLATFORM": platform}, "linux")
    assert (problem is None) is is_known
    assert problem is None or problem.code == "qt_platform_unknown"
