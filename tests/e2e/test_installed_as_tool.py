"""pipx and uv install the wheel for one person, with all that it needs from PyPI.

The home is an empty one; what was downloaded once is taken from this machine's cache.
"""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.test_installed_wheel import WINDOW, built, ran
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

ROOT = Path(__file__).parents[2]
INSTALLERS = {
    "pipx": (("pipx", "install"), ("pipx", "uninstall", "gpupanel")),
    "uv": (("uv", "tool", "install"), ("uv", "tool", "uninstall", "gpupanel")),
}
_KEPT = ("LANG", "TMPDIR", "SSL_CERT_FILE", "PIP_CERT", "HTTPS_PROXY", "https_proxy", "NO_PROXY")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the commands pipx and uv: this machine's, else those of PyPI."""
    found = {name: shutil.which(name) for name in INSTALLERS}
    folder = tmp_path_factory.mktemp("tools")
    if None not in found.values():
        for name, command in found.items():
            (folder / name).symlink_to(str(command))
        return folder
    try:
        urllib.request.urlopen("https://pypi.org/simple/uv/", timeout=20).close()
    except OSError as error:
        pytest.skip(f"pipx and uv are not both here, and PyPI does not answer: {error}")
    venv.create(folder, symlinks=True, with_pip=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "pipx", "uv"]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    return folder / "bin"


@pytest.fixture
def environment(tools: Path, tmp_path: Path) -> Mapping[str, str]:
    """Of a person who has never installed anything so."""
    home = tmp_path / "home"
    home.mkdir()
    python = Path(sys.base_prefix) / "bin"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "HOME": str(home),
        "PATH": f"{home}/.local/bin:{tools}:{python}:/usr/bin:/bin",
        # A person's settings stay out, a person's downloads are not repeated.
        "PIP_CACHE_DIR": str(cache / "pip"),
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(cache / "uv")),
        "UV_PYTHON": str(python / "python3"),
        "PIPX_DEFAULT_PYTHON": str(python / "python3"),
        "QT_QPA_PLATFORM": "offscreen",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
    }


@pytest.mark.parametrize("installer", INSTALLERS)
def test_that_it_is_installed_for_one_person(
    installer: str, wheel: Path, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    install, uninstall = INSTALLERS[installer]
    ran([*install, wheel], tmp_path, environment)
    command = tmp_path / "home" / ".local" / "bin" / "gpupanel"

    lines = ran([command, "--version"], tmp_path, environment).stdout.splitlines()
    (tensorflow,) = [line.split()[1] for line in lines if line.startswith("TensorFlow")]
    # The newest one: no bound of another package brought an older one.
    assert tuple(map(int, tensorflow.split(".")[:2])) >= (2, 21)

    python = command.resolve().with_name("python")
    code = "from gpupanel.files import resources; print(resources.path('profiles', 'digits.toml'))"
    profile = Path(ran([python, "-P", "-c", code], tmp_path, environment).stdout.strip())
    assert profile.is_relative_to(tmp_path / "home")
    short = tmp_path / "short.toml"
    short.write_text(profile.read_text().replace("epochs = 30", "epochs = 2"))
    ended = json.loads(ran([command, "run", short, "--json"], tmp_path, environment).stdout)
    assert ended["outcome"] == "completed"
    assert ended["metrics"]["val_accuracy"] > 0.5

    (tmp_path / "window.py").write_text(WINDOW)
    opened = ran([python, "-P", tmp_path / "window.py"], tmp_path, environment)
    assert opened.stdout.splitlines()[-1] == "True"
    assert "Traceback" not in opened.stderr

    ran([command, "desktop", "install"], tmp_path, environment)
    launchers = tmp_path / "home" / ".local" / "share" / "applications"
    (launcher,) = launchers.glob("*.desktop")
    # The command's place stays when it is upgraded.
    assert str(tmp_path / "home") in launcher.read_text()
    ran([command, "desktop", "remove"], tmp_path, environment)
    assert not launcher.exists()

    ran(uninstall, tmp_path, environment)
    assert not os.path.lexists(command)
