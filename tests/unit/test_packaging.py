"""What a desktop reads about the application fits together."""

import configparser
import re
import subprocess
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

from gpupanel import __version__

ROOT = Path(__file__).parents[2]
APPLICATION_ID = "org.gpupanel.gpupanel"
PACKAGING = ROOT / "resources" / "desktop"


def _metainfo() -> ET.Element:
    return ET.parse(PACKAGING / f"{APPLICATION_ID}.metainfo.xml").getroot()


def _desktop_entry() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(PACKAGING / f"{APPLICATION_ID}.desktop", encoding="utf-8")
    return parser["Desktop Entry"]


def _project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _files_in_wheel() -> dict[str, Path]:
    """Where each file of the package, and each that is included besides, comes to stand.

    As hatchling does it: https://hatch.pypa.io/latest/config/build/#forced-inclusion
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    places = {package: package for package in wheel["packages"]} | wheel["force-include"]
    files = {place: ROOT / source for source, place in places.items() if (ROOT / source).is_file()}
    return files | {
        f"{place}/{path.relative_to(ROOT / source).as_posix()}": path
        for source, place in places.items()
        for path in (ROOT / source).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_that_the_wheel_carries_what_the_program_reads_and_no_images_of_the_readme() -> None:
    carried = _files_in_wheel()
    read = re.compile(r'\b(?:resources\.|return |= )path\("([a-z]+)"')
    folders = {
        folder
        for path in (ROOT / "gpupanel").rglob("*.py")
        for folder in read.findall(path.read_text(encoding="utf-8"))
    }

    assert folders == {"desktop", "guide", "icons", "profiles", "styles", "templates"}
    for folder in folders:
        for path in (ROOT / "resources" / folder).rglob("*.*"):
            assert carried[f"gpupanel/{path.relative_to(ROOT).as_posix()}"] == path
    assert "gpupanel/__main__.py" in carried
    pictures = [name for name in carried if name.endswith((".png", ".jpg", ".gif"))]
    assert {name.rpartition("/")[0] for name in pictures} == {"gpupanel/resources/guide/images"}
    sizes = {path: path.stat().st_size for path in carried.values()}
    assert max(sizes.values()) < 100_000
    assert sum(carried[name].stat().st_size for name in pictures) < 500_000


def test_that_the_desktop_finds_window_entry_and_metadata_under_one_name() -> None:
    window = (ROOT / "gpupanel" / "ui" / "app.py").read_text(encoding="utf-8")

    assert re.findall(r'setDesktopFileName\("(.+)"\)', window) == [APPLICATION_ID]
    assert _metainfo().findtext("id") == APPLICATION_ID
    assert _metainfo().findtext("launchable") == f"{APPLICATION_ID}.desktop"
    assert _desktop_entry()["Icon"] == APPLICATION_ID


def test_that_the_entry_starts_a_command_that_the_package_installs() -> None:
    command = _desktop_entry()["Exec"].split()[0]

    assert command in _project()["scripts"]  # type: ignore[operator]
    assert _metainfo().findtext("provides/binary") == command


def test_that_the_metadata_name_this_licence() -> None:
    assert _metainfo().findtext("project_license") == _project()["license"]


def test_that_the_icon_is_a_square_drawing() -> None:
    icon = ET.parse(ROOT / "resources" / "icons" / "gpupanel.svg").getroot()

    assert icon.tag.endswith("svg")
    assert icon.get("width") == icon.get("height")


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_that_whatever_names_the_newest_release_names_this_version_and_its_date() -> None:
    version, date = re.findall(r"^## \[(\d\S*)\] - (\S+)$", _text("CHANGELOG.md"), re.MULTILINE)[0]
    assert version == __version__
    newest = _metainfo().find("releases/release")
    assert newest is not None
    assert (newest.get("version"), newest.get("date")) == (version, date)
    citation = re.findall(r'^(?:version|date-released): "?([^"\n]+)', _text("CITATION.cff"), re.M)
    assert citation == [version, date]
    assert f"\nOnly the newest release is supported: {version}.\n" in _text("SECURITY.md")
    # The wheel, and with it bundle and Debian package, read the one place.
    settings = tomllib.loads(_text("pyproject.toml"))
    assert settings["project"]["dynamic"] == ["version"]
    assert settings["tool"]["hatch"]["version"] == {"path": "gpupanel/__init__.py"}


def test_that_whatever_names_the_pythons_names_the_same() -> None:
    project = _project()
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if "Python :: 3." in each]  # type: ignore[attr-defined]
    first, *_, last = (int(each.partition(".")[2]) for each in named)
    assert named == [f"3.{minor}" for minor in range(first, last + 1)]
    assert project["requires-python"] == f">=3.{first},<3.{last + 1}"
    words = ", ".join(named[:-1]) + f" or {named[-1]}"
    for name in ("README.md", "resources/guide/install.md", "packaging/bundle", "Makefile"):
        assert f"Python {words}" in _text(name), name
    for name in ("Makefile", ".ci/run"):
        assert f"not (3, {first}) <= sys.version_info < (3, {last + 1})" in _text(name), name
    assert f"On Python {words.replace(' or ', ' and ')}:" in _text("packaging/RELEASING.md")


def test_that_a_release_is_not_built_beside_what_is_there(tmp_path: Path) -> None:
    """Its checksums would be of files that nobody has tried."""
    old = tmp_path / "gpupanel-0.0.1.tar.gz"
    old.touch()
    command = (str(ROOT / "packaging" / "release"), str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert f"{tmp_path} is not empty" in done.stderr
    assert list(tmp_path.iterdir()) == [old]
