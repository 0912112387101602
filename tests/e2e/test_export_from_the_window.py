"""From a click in the window to a model that runs without gpupanel, with the real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QDialog, QPushButton

from tests.fakes.person import Person
from tests.forked.terminal import answered, gpupanel
from tests.ui.new_window import new_window

PROFILE = """
schema_version = 1
name = "digits"
[devices]
visible = ["cpu"]
[model]
source = "mlp"
[training]
epochs = 1
tensorboard = false
"""


@pytest.mark.tensorflow
@pytest.mark.slow
def test_that_a_model_is_exported_by_mouse_and_predicts(qtbot, tmp_path, runs_dir):
    profile = tmp_path / "p.toml"
    profile.write_text(PROFILE)
    run = Path(answered(gpupanel("run", profile, "--runs-dir", runs_dir, "--json"))["run"])
    person = Person()
    person.saves = tmp_path / "out" / "digits.tflite"
    person.saves.parent.mkdir()
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    window.open_target(run)
    qtbot.waitUntil(lambda: window.control.shown_profile is not None, timeout=30_000)
    window.live_page.exports.findChild(QPushButton, "export_tflite").click()
    dialog = window.findChild(QDialog, "model_export_dialog")
    qtbot.waitUntil(lambda: bool(dialog.text()), timeout=120_000)
    assert "examples of the data its outputs differ" in dialog.text()
    window.close()

    np.save(tmp_path / "x.npy", np.full((2, 8, 8), 7, np.uint8))
    done = subprocess.run(
        [sys.executable, "-P", str(person.saves.with_name("predict.py")), "--json", "x.npy"],
        cwd=tmp_path,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert [name for name, _ in found[0]["outputs"]] == [str(digit) for digit in range(10)]
    assert sum(number for _, number in found[1]["outputs"]) == pytest.approx(1.0)
