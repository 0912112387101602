"""Devices keep their colours whoever comes, goes or returns."""

from PySide6.QtCore import QSettings
from PySide6.QtGui import QColor

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.ui import theme
from gpupanel.ui.device_colors import DeviceColors
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.remembered import remember_device_colors, remembered_device_colors
from gpupanel.ui.widgets.color_dot import ColorDot
from tests.fakes.devices import CPU, RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.device_panel_person import card
from tests.ui.new_window import new_window

ONLY_3060 = DeviceInventory(driver="580.65", devices=(RTX_3060, CPU))


def test_that_a_first_machines_colours_are_those_of_the_order() -> None:
    assert DeviceColors().numbers(("a", "b", "cpu")) == {
        "a": 0,
        "b": 1,
        "cpu": theme.PROCESSOR_COLOR,
    }


def test_that_a_device_that_comes_moves_no_colour() -> None:
    colors = DeviceColors()
    colors.see(("b", "cpu"))
    colors.see(("a", "b", "cpu"))
    assert colors.numbers(("a", "b", "cpu")) == {"a": 1, "b": 0, "cpu": theme.PROCESSOR_COLOR}
    assert colors.numbers(("a", "cpu")) == {"a": 1, "cpu": theme.PROCESSOR_COLOR}


def test_that_a_stranger_gets_a_colour_of_nobody_else_and_is_not_remembered() -> None:
    colors = DeviceColors()
    colors.see(("a", "b", "cpu"))
    assert colors.numbers(("stranger", "a")) == {"stranger": 2, "a": 0}
    assert "stranger" not in colors.remembered()


def test_that_devices_that_are_shown_together_never_share_one_while_there_are_enough() -> None:
    colors = DeviceColors()
    colors.see(f"old-{place}" for place in range(8))
    colors.see(("new", "cpu"))
    assert colors.numbers(("new", "cpu")) == {"new": 0, "cpu": theme.PROCESSOR_COLOR}
    together = colors.numbers(("new", "old-0", "old-1"))
    assert len(set(together.values())) == 3
    assert together["new"] == 0


def test_that_more_devices_than_colours_have_numbers_of_their_own() -> None:
    numbers = DeviceColors().numbers(str(place) for place in range(20))
    assert list(numbers.values()) == list(range(20))


def test_that_the_cpu_never_has_the_colour_of_a_gpu() -> None:
    colors = DeviceColors()
    colors.restore({"cpu": 0, "GPU-7": 8})  # as an earlier version remembered them
    numbers = colors.numbers((*(f"GPU-{place}" for place in range(8)), "cpu"))
    shown = {key: theme.device_color(number).name() for key, number in numbers.items()}
    assert shown.pop("cpu") not in shown.values()


def test_that_no_more_than_so_many_devices_are_remembered() -> None:
    colors = DeviceColors()
    for place in range(200):
        colors.see((f"MIG-{place}", "cpu"))
    assert len(colors.remembered()) == 64
    assert "MIG-199" in colors.remembered()


def test_that_damaged_memories_of_colours_are_left_out(tmp_path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    settings.setValue("devices/colors", '{"a": 1, "b": "red", "c": -1, "d": true, "e": null}')
    assert remembered_device_colors(settings) == {"a": 1}
    settings.setValue("devices/colors", "[")
    assert remembered_device_colors(settings) == {}
    remember_device_colors(settings, {"a": 3})
    assert remembered_device_colors(settings) == {"a": 3}


def test_that_a_gpu_that_returns_in_a_later_window_leaves_the_others_their_colours(
    qtbot, tmp_path, runs_dir
) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    windows = []  # the first one stays until the test is over, and is not collected before
    for inventory, expected in (
        (ONLY_3060, {RTX_3060.key: 0, CPU_KEY: theme.PROCESSOR_COLOR}),
        (TWO_UNEQUAL, {RTX_4090.key: 1, RTX_3060.key: 0, CPU_KEY: theme.PROCESSOR_COLOR}),
    ):
        window = new_window(settings, runs_dir, Person())
        windows.append(window)
        qtbot.addWidget(window)
        with qtbot.waitExposed(window):
            window.show()
        window.session.set_inventory(inventory)
        labels = DeviceLabels(inventory)
        for key, number in expected.items():
            shown = card(window.devices, key)
            assert shown.color == labels.color_number(key) == number
            dot = shown.findChild(ColorDot).grab().toImage()
            assert dot.pixelColor(dot.width() // 2, 2) == QColor(theme.device_color(number))
        window.close()


def test_that_a_card_stays_when_its_device_changes_places(qtbot, tmp_path, runs_dir) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(ONLY_3060)
    before = card(window.devices, RTX_3060.key)
    window.session.set_inventory(TWO_UNEQUAL)
    assert card(window.devices, RTX_3060.key) is before
    qtbot.waitUntil(lambda: card(window.devices, RTX_4090.key).y() < before.y())
    window.close()
