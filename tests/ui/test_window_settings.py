"""Settings of the window: chosen in a dialog or a menu, in force at once, and kept."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QDialog, QLabel, QLineEdit

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.runs.locations import RUNS_DIR_VARIABLE, default_runs_dir
from gpupanel.ui import theme
from gpupanel.ui.bindings.window_settings_binding import WindowSettingsBinding
from gpupanel.ui.remembered import remember_settings, remembered_settings
from gpupanel.ui.window_settings import (
    SamplingChoice,
    ThemeChoice,
    WindowSettings,
    runs_folder,
    runs_folder_problem,
)
from gpupanel.ui.workers.device_worker import DeviceWatch
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.ui.new_window import new_window

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def settings(tmp_path):
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def themes(restored_theme):
    yield
    theme.changes.chosen = None


@pytest.fixture
def window(qtbot, settings, runs_dir, themes, preview_without_process):
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    for dialog in window.findChildren(QDialog):
        dialog.close()
    window.close()


def opened(qtbot, window) -> QDialog:
    qtbot.keyClick(window, Qt.Key.Key_Comma, CTRL)
    dialog = window.findChild(QDialog, "settings_dialog")
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def named(dialog, kind, name):
    return next(each for each in dialog.findChildren(kind) if each.accessibleName() == name)


def test_that_a_theme_is_shown_at_once_and_kept(qtbot, window, settings):
    box: QComboBox = named(opened(qtbot, window), QComboBox, "Theme")
    for choice, shown in ((ThemeChoice.DARK, theme.DARK), (ThemeChoice.LIGHT, theme.LIGHT)):
        box.setCurrentIndex(box.findData(choice))
        assert theme.current() is shown
        assert remembered_settings(settings).theme is choice
        assert window.window_actions.themes.checkedAction().data() == choice


def test_that_a_chosen_theme_stays_when_the_system_changes(qapp, window):
    dark = next(a for a in window.window_actions.themes.actions() if a.data() == "dark")
    dark.trigger()
    assert theme.current() is theme.DARK
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.current() is theme.DARK
    system = next(a for a in window.window_actions.themes.actions() if a.data() == "system")
    system.trigger()
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.current() is theme.LIGHT


def test_that_a_new_window_has_the_theme_of_the_last_one(qtbot, settings, runs_dir, themes):
    remember_settings(settings, WindowSettings(theme=ThemeChoice.DARK))
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    theme.follow_system(QApplication.instance())
    assert theme.current() is theme.DARK
    window.close()


def test_that_notifications_are_switched_off_by_a_click(qtbot, window, settings):
    box: QCheckBox = named(opened(qtbot, window), QCheckBox, "Desktop notifications")
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center() / 8)
    assert not window.parts[WindowSettingsBinding].value.notifications
    assert not remembered_settings(settings).notifications


def test_that_a_folder_of_runs_says_when_it_is_used(
    qtbot, window, settings, runs_dir, tmp_path, monkeypatch
):
    monkeypatch.delenv(RUNS_DIR_VARIABLE, raising=False)
    dialog = opened(qtbot, window)
    field = next(e for e in dialog.findChildren(QLineEdit) if e.placeholderText().startswith("/"))
    field.setFocus()
    qtbot.keyClicks(field, str(tmp_path / "mine"))
    note = dialog.findChild(QLabel, "settings_note").text().replace("\N{ZERO WIDTH SPACE}", "")
    assert str(runs_dir) in note
    assert f"From the next start of gpupanel on: {tmp_path / 'mine'}." in note
    assert remembered_settings(settings).runs_dir == str(tmp_path / "mine")


def test_that_a_folder_that_cannot_be_used_is_refused_with_the_reason(qtbot, window, tmp_path):
    (tmp_path / "file").write_text("x")
    dialog = opened(qtbot, window)
    field = next(e for e in dialog.findChildren(QLineEdit) if e.placeholderText().startswith("/"))
    qtbot.keyClicks(field, str(tmp_path / "file"))
    words = [label.text() for label in dialog.findChildren(QLabel)]
    assert any("is a file, not a folder" in each for each in words)
    assert window.parts[WindowSettingsBinding].value.runs_dir != str(tmp_path / "file")


@pytest.mark.parametrize("path", ["relative", "/dev/null/x", "a\0b", "~nobody-here/x"])
def test_that_a_path_that_leads_nowhere_is_a_problem(path):
    assert runs_folder_problem(path) is not None


def test_that_the_environment_wins_over_the_folder_that_was_set(monkeypatch, tmp_path):
    monkeypatch.delenv(RUNS_DIR_VARIABLE, raising=False)
    chosen = WindowSettings(runs_dir=str(tmp_path / "chosen"))
    assert runs_folder(chosen) == tmp_path / "chosen"
    assert runs_folder(WindowSettings()) == default_runs_dir()
    monkeypatch.setenv(RUNS_DIR_VARIABLE, str(tmp_path / "named"))
    assert runs_folder(chosen) == tmp_path / "named"


@pytest.mark.parametrize("stored", ["", "[]", "{", '{"theme": "pink"}', '{"x": 1}', "null"])
def test_that_settings_that_cannot_be_read_are_the_defaults(settings, stored):
    settings.setValue("window/settings", stored)
    assert remembered_settings(settings) == WindowSettings()


def test_that_one_setting_that_cannot_be_read_does_not_cost_the_others(settings):
    settings.setValue("window/settings", '{"theme": "pink", "notifications": false}')
    assert remembered_settings(settings) == WindowSettings(notifications=False)


class Counted:
    """Devices that count how often they are read."""

    def __init__(self) -> None:
        self.samples = 0

    def inventory(self) -> DeviceInventory:
        return CPU_ONLY

    def sample(self) -> TelemetrySample:
        self.samples += 1
        return TelemetrySample(time_s=0.0, readings=())

    def wake(self) -> None:
        pass

    def stop_waiting(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_that_devices_are_read_as_often_as_is_set_from_now_on(qtbot):
    source = Counted()
    watch = DeviceWatch(make_source=lambda: source)
    watch.start(SamplingChoice.FIVE.milliseconds)
    qtbot.waitUntil(lambda: source.samples == 1)
    watch.set_interval(20)  # five seconds are not waited for
    qtbot.waitUntil(lambda: source.samples > 3, timeout=4_000)
    watch.stop()


def test_that_a_choice_of_how_often_reaches_the_devices(qtbot, window, monkeypatch):
    heard = []
    monkeypatch.setattr(window.core.device_watch, "set_interval", heard.append)
    box: QComboBox = named(opened(qtbot, window), QComboBox, "Read devices")
    box.setCurrentIndex(box.findData(SamplingChoice.TWO))
    assert heard == [2_000]
