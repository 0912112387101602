"""`gpupanel --version` says what a report needs: the program, TensorFlow, the driver and GPUs."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

import gpupanel
from gpupanel.cli.app import app
from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.device import DeviceInventory
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

ROOT = Path(__file__).parents[3]


def printed(monkeypatch: pytest.MonkeyPatch, inventory: DeviceInventory) -> list[str]:
    monkeypatch.setattr(DeviceSampler, "inventory", lambda _: inventory)
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    return result.stdout.splitlines()


def test_that_the_version_of_everything_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(monkeypatch, TWO_UNEQUAL)
    assert f"gpupanel {version('gpupanel')}" in lines
    assert f"TensorFlow {version('tensorflow')}" in lines
    assert f"NVIDIA driver {TWO_UNEQUAL.driver}" in lines
    assert [line for line in lines if line.startswith("GPU ")] == [
        f"GPU {gpu.name}" for gpu in TWO_UNEQUAL.gpus
    ]


def test_that_a_missing_driver_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "NVIDIA driver none" in printed(monkeypatch, CPU_ONLY)


def test_that_the_version_stands_in_one_place_only() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "gpupanel/__init__.py"
    assert gpupanel.__version__ == version("gpupanel")
