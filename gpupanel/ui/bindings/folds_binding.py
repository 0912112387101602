"""Remembers which devices and which sections of the session are open."""

from PySide6.QtCore import QObject, QSettings

from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.remembered import (
    remember_device_lines,
    remember_folds,
    remember_sections,
    remembered_device_lines,
    remembered_folds,
    remembered_sections,
)
from gpupanel.ui.session_layout import SessionLayout


class FoldsBinding(QObject):
    """Opens them as the last window had them.

    Args:
        devices: The list of devices.
        sections: Of the session.
        settings: Where both are remembered.
        parent: The window.
    """

    def __init__(
        self, devices: DevicePanel, sections: SessionLayout, settings: QSettings, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._devices, self._sections, self._settings = devices, sections, settings
        devices.setFolds(remembered_folds(settings))
        devices.setInLines(remembered_device_lines(settings))
        sections.set_folds(remembered_sections(settings))

    def stop(self) -> None:
        """Keep them for the next window."""
        remember_folds(self._settings, self._devices.folds())
        remember_device_lines(self._settings, in_lines=self._devices.in_lines())
        remember_sections(self._settings, self._sections.folds())
