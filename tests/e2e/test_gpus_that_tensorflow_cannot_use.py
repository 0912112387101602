"""Stand-in GPUs and this machine's TensorFlow, which has no CUDA to use them with.

What really happens on a machine whose driver is there while CUDA's libraries are not: a start
would fail, so nothing may say that it is ready.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton

from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.ui.dialogs.doctor_dialog import DoctorDialog
from gpupanel.ui.workers import gpu_support_worker
from tests.forked import terminal as forked
from tests.nvml.standin import RTX_4090, Standin

pytestmark = pytest.mark.tensorflow

ON_THE_GPU = f"""
schema_version = 1
[devices]
visible = ["{RTX_4090.uuid}"]
[data]
source = "digits"
[training]
epochs = 1
"""
_PATIENCE_MS = 120_000


@pytest.fixture(autouse=True)
def nothing_remembered(
    nvml_standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A cache of its own, made after the stand-in was said to be usable."""
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def gpupanel(standin: Standin, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpupanel", *map(str, arguments)],
        env={**os.environ, **standin.environment},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.mark.slow
def test_that_check_and_run_refuse_them_and_mend_the_profile(
    nvml_in_process: Standin, tmp_path: Path, runs_dir: Path
) -> None:
    profile, fixed = tmp_path / "profile.toml", tmp_path / "fixed.toml"
    profile.write_text(ON_THE_GPU)

    checked = gpupanel(nvml_in_process, "check", profile, "--json")
    document: dict[str, Any] = json.loads(checked.stdout)
    (problem,) = document["problems"]
    assert checked.returncode == 1
    assert not document["ok"]
    assert problem["code"] == "gpu_not_usable"
    assert "NVIDIA GeForce RTX 4090: TensorFlow does not find libcuda.so.1" in problem["message"]
    assert "tensorflow[and-cuda]" in problem["command"]
    assert problem["fix"]["label"] == "Train on the CPU"

    # From here on in this process: what was found is remembered for all.
    ran = forked.verb("run", profile)
    assert ran.returncode == 2
    assert "TensorFlow cannot use NVIDIA GeForce RTX 4090" in " ".join(ran.stderr.split())
    assert not runs_dir.exists()

    assert forked.verb("check", profile, "--fixed", fixed).returncode == 0
    assert forked.gpupanel("run", fixed).returncode == 0


@pytest.mark.slow  # tests/ui/test_doctor_dialog.py sees the problem that an answer makes
def test_that_choosing_one_gives_the_problem_instead_of_ready(
    qtbot, nvml_in_process: Standin, window, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A child of the window finds the stand-in by name, as it would the driver.
    for name, value in nvml_in_process.environment.items():
        monkeypatch.setenv(name, value)
    session = window.session
    session.open_profile(Profile(devices=DeviceSettings(visible=("cpu",))), None)
    assert session.prepare_now().is_startable
    qtbot.waitUntil(lambda: session.state_text == "Ready", timeout=_PATIENCE_MS)

    session.edit(Profile(devices=DeviceSettings(visible=(RTX_4090.uuid,))))
    session.prepare_now()
    assert session.state_text == "Checking whether TensorFlow can use the GPUs…"
    qtbot.waitUntil(lambda: not session.is_checking_gpus, timeout=_PATIENCE_MS)
    qtbot.waitUntil(lambda: not session.preparation.is_startable, timeout=5_000)

    (problem,) = session.preparation.problems
    assert problem.code == "gpu_not_usable"
    assert session.state_text == "1 problem to fix"
    assert not session.buttons.start

    (offer,) = (
        button
        for button in window.session_page.plan.findChildren(QPushButton)
        if button.text() == "Open Doctor" and not button.isHidden()
    )
    offer.click()
    dialog = window.findChild(DoctorDialog)
    assert dialog.isVisible()
    qtbot.waitUntil(lambda: dialog.report() is not None, timeout=_PATIENCE_MS)
    dialog.close()

    (mend,) = (
        button
        for button in window.session_page.plan.findChildren(QPushButton)
        if button.text() == "Train on the CPU" and not button.isHidden()
    )
    mend.click()
    assert session.prepare_now().is_startable
    assert session.state_text == "Ready"
    session.mark_saved(Path("saved.toml"))


def test_that_a_gpu_that_goes_at_the_moment_of_start_is_reported_and_nothing_is_started(
    qtbot,
    nvml_in_process: Standin,
    window,
    person,
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gpu_support_worker, "DELAY_MS", 1_000_000)
    session = window.session
    session.open_profile(Profile(devices=DeviceSettings(visible=(RTX_4090.uuid,))), None)
    assert session.prepare_now().is_startable
    qtbot.waitUntil(lambda: session.buttons.start, timeout=_PATIENCE_MS)
    # Whatever the next reading says comes too late.
    monkeypatch.setattr(session, "set_sample", lambda sample: None)

    nvml_in_process.tell(nvml_in_process.state.with_gpu(0, lost=True))
    with qtbot.waitSignal(window.control.refused, timeout=30_000) as refused:
        window.control.start()

    (problem,) = refused.args[0]
    assert problem.code == "device_not_answering"
    assert "GPU is lost" in problem.message
    assert not runs_dir.exists() or not any(runs_dir.iterdir())
    assert session.run_state.value == "idle"
    assert session.buttons.start
