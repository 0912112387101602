"""Begins with the settings of a run that there is."""

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.live_page import LivePage
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.runs_page import RunsPage


class SettingsReuse(QObject):
    """What "Use these settings" does in Live and in Runs; the run stays as it is."""

    used = Signal()
    """The session has the settings of a run."""

    def __init__(
        self, profiles: ProfileActions, live: LivePage, runs: RunsPage, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._profiles = profiles
        live.settingsRequested.connect(self._use)
        runs.panel.settingsRequested.connect(self._use_of)
        runs.panel.setReusable(True)

    @Slot(object)
    def _use(self, layout: RunLayout) -> None:
        if self._profiles.use_settings_of(layout):
            self.used.emit()

    @Slot(object)
    def _use_of(self, run: RunSummary) -> None:
        self._use(RunLayout(run.path))
