"""The power limit of a GPU is shown in the window, set, or refused with a command to copy."""

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QPushButton

from gpupanel.devices import power_limits
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.ui.bindings.power_binding import PowerBinding
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.new_window import new_window

COMMAND = "sudo nvidia-smi -i GPU-4090 -pl 250"


def limited(device: PhysicalDevice) -> PhysicalDevice:
    limits = {"power_limit_w": 450.0, "power_limit_least_w": 150.0, "power_limit_most_w": 600.0}
    return device.model_copy(update=limits if device.key == "GPU-4090" else {"power_limit_w": None})


INVENTORY = DeviceInventory(devices=tuple(map(limited, TWO_UNEQUAL.devices)))


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, preview_without_process):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(INVENTORY)
    yield window
    for dialog in window.findChildren(QDialog):
        dialog.close()
    window.close()


@pytest.fixture
def dialog(qtbot, window):
    window.parts[PowerBinding].open(INVENTORY.devices[0])
    dialog = window.findChild(QDialog, "power_dialog")
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def text(dialog, name) -> str:
    return dialog.findChild(QLabel, name).text().replace("\N{ZERO WIDTH SPACE}", "")


def ask(qtbot, dialog, limit_w: int) -> None:
    dialog.findChild(Counter, "power_limit").setValue(limit_w)
    dialog.findChild(QPushButton, "power_set").click()


def test_that_limits_and_what_they_cost_are_said(qtbot, dialog):
    words = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "450 W now" in words
    assert "150 W at the least, 600 W at the most" in words
    qtbot.waitUntil(lambda: "has not been measured here" in text(dialog, "power_cost"))
    field = dialog.findChild(Counter, "power_limit")
    assert (field.minimum(), field.maximum(), field.value()) == (150, 600, 450)


def test_that_a_limit_that_is_set_is_said(qtbot, dialog, monkeypatch):
    asked = []
    monkeypatch.setattr(power_limits, "set_power_limit", lambda *given: asked.append(given))
    ask(qtbot, dialog, 250)

    qtbot.waitUntil(lambda: "The limit is 250 W now." in text(dialog, "power_said"))
    assert asked == [(INVENTORY.devices[0], 250.0)]


def test_that_a_refusal_has_the_command_to_copy(qtbot, dialog, monkeypatch):
    def refuse(gpu: PhysicalDevice, limit_w: float) -> None:
        raise ProblemError(Problem(code="x", message="Not permitted.", command=COMMAND))

    monkeypatch.setattr(power_limits, "set_power_limit", refuse)
    ask(qtbot, dialog, 250)

    command = dialog.findChild(QLineEdit, "power_command")
    qtbot.waitUntil(lambda: command.text() == COMMAND)
    assert "Not permitted." in text(dialog, "power_said")
    assert dialog.findChild(QPushButton, "power_set").isEnabled()
    next(each for each in dialog.findChildren(QPushButton) if each.text() == "&Copy").click()
    assert QApplication.clipboard().text() == COMMAND


def test_that_the_menu_of_a_gpu_offers_it_where_it_has_a_limit(qtbot):
    for device, offers in zip(INVENTORY.devices[:2], (True, False), strict=True):
        card = DeviceCard(device, 0, device.name)
        qtbot.addWidget(card)
        (action,) = (a for a in card.memory.menu.menu().actions() if a.text() == "Power limit…")
        assert action.isVisible() is offers
        if offers:
            with qtbot.waitSignal(card.powerRequested) as requested:
                card.memory.menu.menu().triggered.emit(action)
            assert requested.args == [device]
