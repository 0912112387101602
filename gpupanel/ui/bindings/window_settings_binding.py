"""Settings of the window: kept, changed in their dialog or a menu, and put into effect."""

from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Qt, Slot
from PySide6.QtWidgets import QApplication, QWidget

from gpupanel.ui import theme
from gpupanel.ui.bindings.machine_settings_binding import MachineSettingsBinding
from gpupanel.ui.bindings.notes_settings_binding import NotesSettingsBinding
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.remembered import remember_settings, remembered_settings
from gpupanel.ui.window_settings import ThemeChoice, WindowSettings
from gpupanel.ui.workers.device_worker import DeviceWatch

_THEMES = {ThemeChoice.LIGHT: theme.LIGHT, ThemeChoice.DARK: theme.DARK}


class WindowSettingsBinding(QObject):
    """Has the settings of the window in force.

    Args:
        remembered: Keeps them from window to window.
        actions: Open the dialog, and choose the theme.
        devices: Are read as often as is set.
        runs_dir: Where this window keeps its runs.
        machine: Has the page of the machine work.
        notes: Has that of notes work.
        window: Stands before the dialog.
    """

    def __init__(
        self,
        remembered: QSettings,
        actions: WindowActions,
        devices: DeviceWatch,
        runs_dir: Path,
        machine: MachineSettingsBinding,
        notes: NotesSettingsBinding,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._remembered, self._actions, self._devices = remembered, actions, devices
        self._runs_dir, self._window = runs_dir, window
        self._machine, self._notes = machine, notes
        self.value = remembered_settings(remembered)
        """As they are in force; the folder of runs is, from the next window on."""
        actions.settings.triggered.connect(self.open)
        actions.themes.triggered.connect(self._choose_theme)
        self._show_theme()

    @Slot()
    def open(self) -> None:
        """Show the dialog; what is changed there is in force at once."""
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.settings_dialog import SettingsDialog

        dialog = SettingsDialog(self.value, self._runs_dir, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.valueChanged.connect(self.change)
        self._machine.show_in(dialog.machine)
        self._notes.show_in(dialog.notes)
        dialog.open()

    @Slot(object)
    def change(self, value: WindowSettings) -> None:
        """Put settings into effect, and keep them."""
        before, self.value = self.value, value
        remember_settings(self._remembered, value)
        if value.sampling is not before.sampling:
            self._devices.set_interval(value.sampling.milliseconds)
        if value.theme is not before.theme:
            self._show_theme()

    @Slot()
    def _choose_theme(self) -> None:
        chosen = self._actions.themes.checkedAction()
        if chosen is not None:
            update = {"theme": ThemeChoice(chosen.data())}
            self.change(self.value.model_copy(update=update))

    def _show_theme(self) -> None:
        for action in self._actions.themes.actions():
            action.setChecked(action.data() == self.value.theme.value)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            theme.choose(application, _THEMES.get(self.value.theme))
