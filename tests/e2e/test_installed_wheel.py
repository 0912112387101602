"""The wheel that people install: all that the program reads is in it, and nothing else is read.

It is installed into an environment of its own, whose other packages are those of this one, and used
in another folder: nothing of the source tree is on its way.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gpupanel import __version__
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
WINDOW = """\
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from gpupanel.ui import app, main_window
begin = main_window.MainWindow.begin
def begin_and_close(window):
    begin(window)
    QTimer.singleShot(1000, lambda: (print(window.isVisible()), window.close()))
main_window.MainWindow.begin = begin_and_close
sys.exit(app.open_window(None))
"""
"""A program that opens the window, says whether it is seen, and closes it."""
WHEEL = f"gpupanel-{__version__}-py3-none-any.whl"


def built(kind: str, source: Path, folder: Path) -> Path:
    """A wheel or an sdist of a source tree."""
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = folder.iterdir()
    return made


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands of an environment are that has the wheel."""
    home = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(home, symlinks=True)
    packages = home / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    # Of folders that are named there no .pth file is read: this source tree is not found by it.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = [sys.executable, "-P", "-m", "pip", "--python", str(home / "bin" / "python")]
    done = subprocess.run(
        [*command, "install", "--quiet", "--no-deps", "--no-index", str(wheel)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return home / "bin"


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Of a person who has never used it."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    home = tmp_path / "home"
    home.mkdir()
    return {
        **kept,
        "HOME": str(home),
        "QT_QPA_PLATFORM": "offscreen",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
    }


def ran(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.slow
def test_that_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    packed = built("sdist", ROOT, tmp_path / "sdist")
    # Python 3.11 has filters from 3.11.4 on only; 3.12 warns where none is named.
    named = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "unpacked", **named)
    again = built("wheel", tmp_path / "unpacked" / packed.name[: -len(".tar.gz")], tmp_path / "w")
    assert contents(again) == contents(wheel)


def test_that_the_wheel_holds_no_tests_and_no_pictures_but_the_guides(wheel: Path) -> None:
    names = contents(wheel)
    assert wheel.name == WHEEL
    assert {name.split("/")[0] for name in names} == {
        "gpupanel",
        f"gpupanel-{__version__}.dist-info",
    }
    assert not [name for name in names if name.endswith(".pyc")]
    pictures = {name.rpartition("/")[0] for name in names if name.endswith(".png")}
    assert pictures == {"gpupanel/resources/guide/images"}
    guide = {path.name for path in (ROOT / "resources" / "guide").glob("*.md")}
    assert {f"gpupanel/resources/guide/{name}" for name in guide} <= set(names)
    assert "gpupanel/py.typed" in names


def test_that_what_was_installed_is_what_runs(
    scripts: Path, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    code = "import gpupanel, sys; print(gpupanel.__file__); print(sys.path)"
    said = ran([scripts / "python", "-P", "-c", code], tmp_path, environment).stdout
    assert said.startswith(str(scripts.parent))
    assert str(ROOT / "gpupanel") not in said
    assert f"'{ROOT}'" not in said
    version = ran([scripts / "gpupanel", "--version"], tmp_path, environment).stdout
    assert version.startswith(f"gpupanel {__version__}\n")


@pytest.mark.tensorflow
def test_that_the_example_trains_and_its_page_of_keys_is_there(
    scripts: Path, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    code = (
        "from gpupanel.files import resources; "
        "print(resources.path('profiles', 'digits.toml')); print(resources.document('index.md'))"
    )
    said = ran([scripts / "python", "-P", "-c", code], tmp_path, environment).stdout
    profile, guide = map(Path, said.splitlines())
    assert profile.is_relative_to(scripts.parent)
    assert guide.is_relative_to(scripts.parent)
    short = tmp_path / "short.toml"
    short.write_text(profile.read_text().replace("epochs = 30", "epochs = 2"))
    run = ran([scripts / "gpupanel", "run", short, "--json"], tmp_path, environment)
    ended = json.loads(run.stdout)
    assert ended["outcome"] == "completed"
    assert ended["metrics"]["val_accuracy"] > 0.5
    # What it keeps is kept in the person's home.
    assert Path(ended["run"]).is_relative_to(environment["HOME"])


def test_that_the_window_opens_and_closes(
    scripts: Path, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    program = tmp_path / "window.py"
    program.write_text(WINDOW)
    done = ran([scripts / "python", "-P", program], tmp_path, environment)
    assert done.stdout.splitlines()[-1] == "True"
    assert "Traceback" not in done.stderr
