"""Remembers which devices and sections of the session are open, and which plots are shown."""

from PySide6.QtCore import QObject, QSettings

from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.remembered import (
    remember_device_lines,
    remember_folds,
    remember_plots,
    remember_sections,
    remembered_device_lines,
    remembered_folds,
    remembered_plots,
    remembered_sections,
)
from gpupanel.ui.session_layout import SessionLayout


class FoldsBinding(QObject):
    """Shows them as the last window had them.

    Args:
        devices: The list of devices.
        sections: Of the session.
        live: Has the plots.
        settings: Where all three are remembered.
        parent: The window.
    """

    def __init__(
        self,
        devices: DevicePanel,
        sections: SessionLayout,
        live: LivePanel,
        settings: QSettings,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._devices, self._sections, self._live = devices, sections, live
        self._settings = settings
        devices.setFolds(remembered_folds(settings))
        devices.setInLines(remembered_device_lines(settings))
        sections.set_folds(remembered_sections(settings))
        live.set_shown_plots(remembered_plots(settings))

    def stop(self) -> None:
        """Keep them for the next window."""
        remember_folds(self._settings, self._devices.folds())
        remember_device_lines(self._settings, in_lines=self._devices.in_lines())
        remember_sections(self._settings, self._sections.folds())
        remember_plots(self._settings, self._live.shown_plots())
