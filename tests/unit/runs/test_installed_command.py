"""The command that a script starts later."""

import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from gpupanel.runs.installed_command import installed_command


def test_that_this_installation_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gpupanel").touch(mode=0o700)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    assert installed_command() == str(tmp_path / "gpupanel")
    monkeypatch.setattr(sys, "executable", "/opt/gpupanel/gpupanel")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert installed_command() == "/opt/gpupanel/gpupanel"


@pytest.mark.parametrize("found", [None, "/opt/\udcff/gpupanel"])
def test_that_a_script_can_hold_it_whatever_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: str | None
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "none"))
    monkeypatch.setattr(shutil, "which", lambda _: found)
    assert installed_command() == "gpupanel"
