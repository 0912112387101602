"""Launcher, icon and file type come into the person's own folders, and go again."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from gpupanel.domain.problem import ProblemError
from gpupanel.ui.desktop import installation
from gpupanel.ui.desktop.installation import (
    APPLICATION_ID,
    ICON_SIZES,
    MIME_TYPE,
    install,
    quoted,
    remove,
)
from tests.forked.terminal import verb

ROOT = Path(__file__).parents[2]
LAUNCHER = Path("applications") / f"{APPLICATION_ID}.desktop"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a name that has to be quoted, and a command with such a name."""
    home = tmp_path / "da ta"
    command = tmp_path / 'bin "100%"' / "gpupanel"
    command.parent.mkdir()
    command.touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    monkeypatch.setattr(installation, "launched_command", lambda: command)
    return home


def files_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def said_by(*command: str | Path) -> tuple[int, str]:
    """How a tool of the desktop ends, and what it says."""
    program = shutil.which(str(command[0]))
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        [program, *map(str, command[1:])], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def checked_by(*command: str | Path) -> str:
    """What a tool of the desktop says, which has to be content."""
    status, said = said_by(*command)
    assert status == 0, said
    return said


def test_that_what_was_installed_goes_again_and_nothing_else(home: Path) -> None:
    own = home / "applications" / "own.desktop"
    own.parent.mkdir(parents=True)
    own.write_text("[Desktop Entry]\n")
    written = set(install())
    assert written <= files_below(home)
    assert set(remove()) == written
    assert own.exists()
    assert not any(APPLICATION_ID in path.name for path in files_below(home))
    assert remove() == ()


def test_that_installing_again_changes_nothing(home: Path) -> None:
    first = {path: path.read_bytes() for path in install()}
    assert {path: path.read_bytes() for path in install()} == first


def test_that_desktop_file_validate_is_content(home: Path) -> None:
    install()
    assert checked_by("desktop-file-validate", home / LAUNCHER) == ""


def test_that_appstreamcli_is_content(home: Path) -> None:
    install()
    metadata = home / "metainfo" / f"{APPLICATION_ID}.metainfo.xml"
    _, said = said_by("appstreamcli", "validate", "--no-net", metadata)
    assert "Validation" in said
    # From 1.0 on it warns where no address of the project is named; there is none yet.
    assert set(re.findall(r"^[EW]: \S+ (\S+)", said, re.MULTILINE)) <= {"url-homepage-missing"}


def test_that_the_launcher_starts_the_command_of_this_installation(home: Path) -> None:
    install()
    command = installation.launched_command()
    lines = (home / LAUNCHER).read_text().splitlines()
    assert f"TryExec={command}" in lines
    (line,) = [line for line in lines if line.startswith("Exec=")]
    # As the specification has it: quoted, a quote escaped, that backslash twice, a percent twice.
    shown = str(command).replace("%", "%%").replace('"', '\\\\"')
    assert line == f'Exec="{shown}" %f'
    assert f"MimeType={MIME_TYPE};" in lines


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        ("/usr/bin/gpupanel", "/usr/bin/gpupanel"),
        ("/a b", '"/a b"'),
        ("/100%", "/100%%"),
        ("/a$b`c\\d", '"/a\\\\$b\\\\`c\\\\\\\\d"'),
    ],
)
def test_that_arguments_are_quoted_as_the_specification_has_it(argument: str, shown: str) -> None:
    assert quoted(argument) == shown


def test_that_icons_have_the_size_of_their_folder(home: Path) -> None:
    install()
    for size in ICON_SIZES:
        icon = home / f"icons/hicolor/{size}x{size}/apps/{APPLICATION_ID}.png"
        image = QImage(str(icon))
        assert (image.width(), image.height()) == (size, size)
        colors = {image.pixel(x, x) for x in range(size)}
        assert len(colors) > 3  # something is drawn


def test_that_profiles_are_known_by_their_content_and_other_toml_is_not(
    home: Path, tmp_path: Path
) -> None:
    install()
    profile = ROOT / "resources" / "profiles" / "digits.toml"
    another = tmp_path / "another.toml"
    another.write_text('[package]\nname = "x"\n')
    checked_by("update-mime-database", home / "mime")
    for path, is_profile in ((profile, True), (another, False)):
        said = checked_by("gio", "info", "-a", "standard::content-type", path)
        assert (MIME_TYPE in said) is is_profile, said


def test_that_what_stands_in_the_way_is_left_alone(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("a person's own")
    (home / LAUNCHER).parent.mkdir(parents=True)
    (home / LAUNCHER).symlink_to(outside)
    with pytest.raises(ProblemError) as refused:
        install()
    assert [each.code for each in refused.value.problems] == ["desktop_file_in_the_way"]
    assert outside.read_text() == "a person's own"


def test_that_a_file_in_the_place_of_a_folder_is_a_problem(home: Path) -> None:
    home.write_text("no folder")
    refused = verb("desktop", "install", "--json")
    assert refused.returncode == 1
    (problem,) = json.loads(refused.stdout)["problems"]
    assert str(home) in problem["message"]


def test_that_the_terminal_lists_what_it_did(home: Path) -> None:
    installed = verb("desktop", "install")
    assert installed.returncode == 0
    assert f"Installed {home / LAUNCHER}" in installed.stdout
    removed = json.loads(verb("desktop", "remove", "--json").stdout)
    assert str(home / LAUNCHER) in removed["files"]
    assert "Nothing was installed." in verb("desktop", "remove").stdout


def test_that_a_relative_data_folder_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert installation.data_home() == tmp_path / ".local" / "share"


def test_that_a_source_tree_without_a_command_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProblemError) as refused:
        installation.launched_command()
    assert "pipx" in refused.value.problems[0].hint
    (tmp_path / "gpupanel").touch(mode=0o700)
    assert installation.launched_command() == tmp_path / "gpupanel"


def test_that_a_bundle_is_launched_by_its_own_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    command = tmp_path / "gpupanel"
    monkeypatch.setattr(sys, "executable", str(command))
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    assert installation.launched_command() == command
