"""What became of the loss while the learning rate rose, and which rate to use."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.problem import Severity
from gpupanel.domain.rate_range import RateRange, rate_range_sentence
from gpupanel.ui.plots.rate_range_plot import RateRangePlot
from gpupanel.ui.tools.session_report_dialog import SessionReportDialog
from gpupanel.ui.widgets.labels import Note

_EMPTY = "The loss over the learning rate: where it falls fastest is a good rate to train with."
_OUTDATED = "The settings have changed since. Try again to see what is so now."
_NOTE = (
    "Click into the plot, or press Left and Right, to choose another rate. The thin line is the "
    "loss of single steps."
)


class RateRangeDialog(SessionReportDialog[RateRange, object]):
    """Shows the curve, and offers the rate that is chosen in it."""

    rateChosen = Signal(float)
    """A learning rate is to be used."""

    def __init__(self, parent: QWidget | None = None) -> None:
        again = ("&Try again", "Tries learning rates with the settings as they are now.")
        super().__init__("rate_range", "Learning rate", again, parent)
        self._range: RateRange | None = None
        self._plot: RateRangePlot | None = None
        tip = "Ends the test and discards its results."
        self._add_cancel("S&top", tip)
        self._use = self._add_button("&Use", "use", "Sets the learning rate to the one chosen.")
        self._use.clicked.connect(self._emit_chosen)
        self._show_empty(_EMPTY)
        self._show_state()

    def range(self) -> RateRange | None:
        """What is shown; ``None`` before anything is known."""
        return self._range

    @override
    def text(self) -> str:
        if self._range is None:
            return ""
        rows = (
            f"{point.rate:.3g}\t{point.loss:.6g}\t{point.smoothed:.6g}"
            for point in self._range.points
        )
        return "\n".join(
            [rate_range_sentence(self._range), "", "Learning rate\tLoss\tSmoothed", *rows]
        )

    @Slot(object)
    @override
    def setAnswer(self, found: RateRange) -> None:
        self._range, self._plot = found, None
        self._is_outdated = False
        if found.points:
            self._plot = RateRangePlot()
            self._plot.setPoints(found.points, found.suggested)
            self._plot.rateChosen.connect(self._show_state)
            self._show_page(self._plot, Note(_NOTE))
        elif found.problems:
            self._show_page(*map(self._row, found.problems))
        else:
            self._show_empty(_EMPTY)
        self._show_state()

    @override
    @Slot()
    def _show_state(self) -> None:
        found, is_busy = self._range, self._is_busy
        chosen = None if self._plot is None else self._plot.chosen()
        self._progress.setVisible(is_busy)
        self._cancel.setEnabled(is_busy)
        self._again.setEnabled(not is_busy)
        self._copy.setEnabled(not is_busy and found is not None and bool(found.points))
        self._use.setEnabled(not is_busy and chosen is not None)
        self._use.setText("&Use" if chosen is None else f"&Use {chosen:g}")
        is_refused = found is not None and bool(found.problems)
        self._icon.setVisible(found is not None and not is_busy)
        self._icon.setSeverity(Severity.ERROR if is_refused else None)
        if is_busy:
            self._title.setText("Trying learning rates…")
            self._sentence.setProse("Some steps of training, with a learning rate that rises.")
        elif found is None:
            self._title.setText("Not tried yet")
            self._sentence.setProse("")
        else:
            self._title.setText("Outdated" if self._is_outdated else "Learning rate")
            self._sentence.setProse(_OUTDATED if self._is_outdated else rate_range_sentence(found))

    @Slot()
    def _emit_chosen(self) -> None:
        if self._plot is not None and self._plot.chosen() is not None:
            self.rateChosen.emit(self._plot.chosen())
            self.close()
