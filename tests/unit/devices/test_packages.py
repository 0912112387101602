"""Commands that mend an installation."""

import shlex
import subprocess
import sys

import pytest

from gpupanel.devices import packages
from gpupanel.devices.packages import install, replace


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch):
    """Says which of pip and uv are there."""

    def set_tools(*, pip: bool, uv: bool) -> None:
        monkeypatch.setattr(packages, "find_spec", lambda _: object() if pip else None)
        monkeypatch.setattr(packages.shutil, "which", lambda _: "/bin/uv" if uv else None)

    return set_tools


def test_that_pip_of_this_python_is_asked(tools) -> None:
    tools(pip=True, uv=True)

    assert install("tensorflow[and-cuda]==2.21.0") == (
        f"{sys.executable} -P -m pip install 'tensorflow[and-cuda]==2.21.0'"
    )
    assert install("keras", anew=True).endswith("-m pip install --force-reinstall keras")
    assert install("keras", upgrade=True).endswith("-m pip install --upgrade keras")
    assert replace("keras", "jax") == (
        f"{sys.executable} -P -m pip uninstall -y keras"
        f" && {sys.executable} -P -m pip install --force-reinstall jax"
    )


def test_that_uv_is_asked_where_there_is_no_pip(tools) -> None:
    tools(pip=False, uv=True)

    assert install("keras", anew=True) == (
        f"uv pip install --python {sys.executable} --reinstall keras"
    )
    assert replace("keras", "jax").startswith(
        f"uv pip uninstall --python {sys.executable} keras && uv pip install "
    )


def test_that_pip_is_brought_where_there_is_neither(tools) -> None:
    tools(pip=False, uv=False)

    first, _, second = install("keras").partition(" && ")

    assert first == f"{sys.executable} -P -m ensurepip"
    assert second == f"{sys.executable} -P -m pip install keras"


def test_that_nothing_is_installed_into_a_bundle(tools, monkeypatch) -> None:
    tools(pip=True, uv=True)
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    assert install("keras", anew=True) == ""
    with_cuda = install("tensorflow[and-cuda]==2.21.0")
    assert with_cuda == "pipx install 'gpupanel[cuda]'"
    assert replace("tensorflow-cpu", "tensorflow[and-cuda]") == with_cuda


def test_that_a_path_with_spaces_survives_the_shell(tools, monkeypatch) -> None:
    tools(pip=True, uv=False)
    monkeypatch.setattr(sys, "executable", "/opt/my python/bin/python")

    assert shlex.split(install("a[b]")) == [
        "/opt/my python/bin/python",
        *("-P", "-m", "pip", "install", "a[b]"),
    ]


def test_that_the_command_is_one_that_pip_understands() -> None:
    command = install("pydantic", anew=True)
    if "-m pip install" not in command or "ensurepip" in command:
        pytest.skip("this Python has no pip")

    done = subprocess.run(
        [*shlex.split(command), "--help"], capture_output=True, timeout=60, check=False
    )

    assert done.returncode == 0
