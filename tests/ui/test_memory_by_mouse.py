"""Memory by mouse in the whole window, over two unequal GPUs of the stand-in driver."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton

from gpupanel.domain.memory import AllMemory, GrowingMemory
from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.questions import SaveChoice
from tests.fakes.person import Person
from tests.nvml.standin import RTX_3060, RTX_4090
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def window(qtbot, nvml_in_process, runs_dir, tmp_path):
    person = Person()
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.begin()
    qtbot.waitUntil(lambda: window.session.preparation.plan is not None, timeout=10_000)
    mirrored = window.session.profile.strategy.model_copy(update={"kind": StrategyKind.MIRRORED})
    window.session.edit(window.session.profile.model_copy(update={"strategy": mirrored}))
    yield window
    person.choice = SaveChoice.DISCARD
    window.close()


def _choose_all(window, key):
    (card,) = (each for each in window.devices.findChildren(DeviceCard) if each.device.key == key)
    (policy,) = (
        box
        for box in card.findChildren(QComboBox)
        if box.accessibleName().startswith("Memory policy")
    )
    policy.setFocus()
    policy.setCurrentIndex(policy.findText("Take all"))
    policy.activated.emit(policy.currentIndex())


def _button(window, text):
    buttons = (
        each
        for each in window.devices.findChildren(QPushButton)
        if each.text() == text and each.isVisible()
    )
    return next(buttons, None)


@pytest.mark.parametrize(
    ("label", "policies", "kind"),
    [
        ("Let every chosen GPU grow", (GrowingMemory(), GrowingMemory()), StrategyKind.MIRRORED),
        (
            "Give each GPU a process of its own",
            (AllMemory(), GrowingMemory()),
            StrategyKind.MULTI_WORKER,
        ),
    ],
)
def test_that_growth_that_differs_is_shown_beside_the_devices_and_mended_by_a_click(
    qtbot, window, label, policies, kind
):
    _choose_all(window, RTX_4090.uuid)
    qtbot.waitUntil(lambda: _button(window, label) is not None)
    assert not window.findChild(QPushButton, "start_button").isEnabled()

    QTest.mouseClick(_button(window, label), Qt.MouseButton.LeftButton)

    qtbot.waitUntil(window.findChild(QPushButton, "start_button").isEnabled)
    profile, plan = window.session.profile, window.session.preparation.plan
    keys = (RTX_4090.uuid, RTX_3060.uuid)
    assert tuple(profile.memory_policy(key) for key in keys) == policies
    assert profile.strategy.kind is kind
    assert len(plan.gang) == (2 if kind is StrategyKind.MULTI_WORKER else 1)
