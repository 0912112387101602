"""Curves of the run that is shown, as files."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.plots.picture import PictureFormat
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl

if TYPE_CHECKING:
    from gpupanel.ui.bindings.curve_files import CurveFiles


class LiveCurveFiles(QObject):
    """Makes what writes them when it is first asked for: NumPy comes with it.

    Args:
        panel: Asks, and paints the picture.
        control: Knows which run is shown.
        questions: Asks where files are wanted, and shows why one could not be written.
    """

    def __init__(
        self,
        panel: LivePanel,
        control: RunControl,
        questions: Questions,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._panel, self._control, self._questions = panel, control, questions
        self._writing: CurveFiles | None = None
        panel.tableRequested.connect(self._save_table)
        panel.pictures.chosen.connect(self._save_picture)

    def stop(self) -> None:
        """Write no more."""
        if self._writing is not None:
            self._writing.stop()

    @Slot()
    def _save_table(self) -> None:
        if self._control.shown is not None:
            self._files().save_table((RunLayout(self._control.shown.root),))

    @Slot(object, bool)
    def _save_picture(self, wanted: PictureFormat, is_on_white: bool) -> None:
        shown = self._control.shown
        title = "" if shown is None else visible_line(shown.name)
        paint = partial(self._panel.picture, title, is_on_white=is_on_white)
        self._files().save_picture(wanted, paint)

    def _files(self) -> "CurveFiles":
        if self._writing is None:
            from gpupanel.ui.bindings.curve_files import CurveFiles

            self._writing = CurveFiles(self._questions, self)
            self._writing.reported.connect(self._panel.setFileNote)
            self._writing.tableBusy.connect(self._panel.setTableBusy)
        return self._writing
