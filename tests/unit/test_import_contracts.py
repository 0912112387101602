"""Every import contract is seen red: a copy of the package with wrong imports breaks them all."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT_IMPORTS = Path(sysconfig.get_path("scripts")) / "lint-imports"

WRONG_IMPORTS = [
    ("layers", "domain/device.py", "import gpupanel.planning.shares"),
    ("layers", "planning/shares.py", "import gpupanel.devices.sampler"),
    ("layers", "runs/following/status.py", "import gpupanel.ui.theme"),
    ("no-tensorflow-outside-the-trainer", "ui/session.py", "import tensorflow"),
    (
        "no-tensorflow-outside-the-trainer",
        "runs/supervision/supervisor.py",
        "import gpupanel.trainer",
    ),
    ("trainer-alone", "trainer/__main__.py", "import gpupanel.runs.following.follower"),
    ("trainer-alone", "trainer/__main__.py", "import pynvml"),
    ("inside-the-trainer", "trainer/saving/position.py", "import gpupanel.trainer.loop.loop"),
    ("inside-the-trainer", "trainer/balancing/adjusting.py", "import gpupanel.trainer.loop.loop"),
    (
        "inside-the-trainer",
        "trainer/balancing/measuring.py",
        "import gpupanel.trainer.saving.position",
    ),
    ("inside-the-trainer", "trainer/steps/order.py", "import gpupanel.trainer.balancing.adjusting"),
    ("qt-stops-at-ui", "runs/following/follower.py", "import PySide6.QtCore"),
    ("qt-stops-at-ui", "devices/sampler.py", "import pyqtgraph"),
    ("pure-core", "planning/shares.py", "import numpy"),
    ("pure-core", "domain/device.py", "import subprocess"),
    ("panels-independent", "ui/panels/runs_panel.py", "import gpupanel.ui.panels.log_panel"),
    ("one-nvml-door", "devices/sampler.py", "import pynvml"),
    ("one-ray-door", "runs/cluster/reading.py", "import ray"),
    ("driver-alone", "runs/cluster/reading.py", "import gpupanel.runs.cluster.driver.nodes"),
]
CIRCLE = ("runs/directory/requests.py", "import gpupanel.runs.supervision.supervisor")


def contracts() -> dict[str, str]:
    """The name of each contract, by its id."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return {contract["id"]: contract["name"] for contract in settings["contracts"]}


def lint_imports(root: Path, *contract: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(LINT_IMPORTS), "--no-cache", *contract],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "gpupanel", folder / "gpupanel", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture(scope="module")
def broken(copy: Path) -> dict[str, str]:
    """What is said of each contract that the wrong imports break, by its name."""
    for file, line in (CIRCLE, *(wrong[1:] for wrong in WRONG_IMPORTS)):
        with (copy / "gpupanel" / file).open("a") as module:
            module.write(f"\n{line}\n")
    answer = lint_imports(copy)
    assert answer.returncode == 1, answer.stdout + answer.stderr
    _, _, reported = answer.stdout.partition("Broken contracts\n")
    headed = re.split(r"\n([^\n]+)\n-{4,}\n", reported)
    return {
        name: " ".join(said.split()) for name, said in zip(headed[1::2], headed[2::2], strict=True)
    }


def test_that_every_contract_is_broken_once_below() -> None:
    assert {contract for contract, _, _ in WRONG_IMPORTS} | {"no-circles"} == set(contracts())


@pytest.mark.parametrize(("contract", "file", "line"), WRONG_IMPORTS)
def test_that_a_wrong_import_breaks_its_contract(
    broken: dict[str, str], contract: str, file: str, line: str
) -> None:
    module = "gpupanel." + file.removesuffix(".py").replace("/", ".")
    imported = line.removeprefix("import ")
    # Of what is not gpupanel's own only the package counts.
    known = imported if imported.startswith("gpupanel.") else imported.partition(".")[0]
    assert f"{module} -> {known} (l." in broken[contracts()[contract]]


def test_that_a_room_that_reaches_itself_through_a_sibling_is_found(broken: dict[str, str]) -> None:
    found = broken[contracts()["no-circles"]]
    assert "No cycles are allowed in gpupanel.runs." in found
    assert "- .directory -> .supervision (1 import)" in found


def test_that_a_package_without_a_layer_breaks_the_layers(copy: Path) -> None:
    (copy / "gpupanel" / "a_new_package.py").touch()
    answer = lint_imports(copy, "--contract", "layers")
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "a_new_package" in answer.stdout
