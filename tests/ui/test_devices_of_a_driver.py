"""The window on NVML's stand-in: a GPU lost before the start, its return, and who uses it."""

import os

import pytest
from PySide6.QtCore import QSettings

from gpupanel.domain.device import CPU_KEY
from gpupanel.ui import theme
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.unresponsive_card import UnresponsiveCard
from gpupanel.ui.widgets.buttons import FoldButton
from tests.fakes.person import Person
from tests.nvml.standin import RTX_3060, RTX_4090, TWO_UNEQUAL_GPUS
from tests.ui.device_panel_person import card, seen, seen_texts
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

_WAIT_MS = 20_000


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, nvml_in_process):
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, lost=True))
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.resize(1280, 900)
    with qtbot.waitExposed(window):
        window.show()
    window.core.device_watch.start(50)
    yield window
    window.close()


def test_that_a_gpu_lost_before_the_start_is_shown_and_its_return_moves_no_colour(
    window, qtbot, nvml_in_process
):
    devices = window.devices
    qtbot.waitUntil(lambda: len(seen(devices, UnresponsiveCard)) == 1, timeout=_WAIT_MS)
    assert "Does not answer: the driver says: GPU is lost" in seen_texts(devices)
    assert card(devices, RTX_3060.uuid).color == 0
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(
            0, compute=((os.getpid(), 900),), process_use=((os.getpid(), 62, 100),)
        )
    )
    qtbot.waitUntil(lambda: len(seen(devices, DeviceCard)) == 3, timeout=_WAIT_MS)
    assert seen(devices, UnresponsiveCard) == []
    colors = {key: card(devices, key).color for key in (RTX_4090.uuid, RTX_3060.uuid, CPU_KEY)}
    assert colors == {RTX_3060.uuid: 0, CPU_KEY: theme.PROCESSOR_COLOR, RTX_4090.uuid: 1}
    returned = card(devices, RTX_4090.uuid)
    returned.details.findChild(FoldButton).click()
    qtbot.waitUntil(lambda: "62 %" in seen_texts(returned), timeout=_WAIT_MS)
    assert f"{os.getpid()} · " in seen_texts(returned)
