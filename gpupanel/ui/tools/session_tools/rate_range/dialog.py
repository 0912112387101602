"""What became of the loss while the learning rate rose, and which rate to use."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.rate_range import RateRange, rate_range_sentence
from gpupanel.ui.plots.rate_range_plot import RateRangePlot
from gpupanel.ui.tools.session_report_dialog import ReportWords, SessionReportDialog
from gpupanel.ui.widgets.labels import Note

_WORDS = ReportWords(
    name="rate_range",
    title="Learning rate",
    again=("&Try again", "Tries learning rates with the settings as they are now."),
    cancel=("S&top", "Ends the test and discards its results."),
    empty="The loss over the learning rate: where it falls fastest is a good rate to train with.",
    unknown=("Not tried yet", ""),
    busy=("Trying learning rates…", "Some steps of training, with a learning rate that rises."),
    outdated="The settings have changed since. Try again to see what is so now.",
)
_NOTE = (
    "Click into the plot, or press Left and Right, to choose another rate. The thin line is the "
    "loss of single steps."
)


class RateRangeDialog(SessionReportDialog[RateRange, object]):
    """Shows the curve, and offers the rate that is chosen in it."""

    rateChosen = Signal(float)
    """A learning rate is to be used."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_WORDS, parent)
        self._plot: RateRangePlot | None = None
        self._use = self._add_button("&Use", "use", "Sets the learning rate to the one chosen.")
        self._use.clicked.connect(self._emit_chosen)
        self._show_state()

    @override
    def _text_of(self, found: RateRange) -> str:
        if not found.points:
            return ""
        rows = (
            f"{point.rate:.3g}\t{point.loss:.6g}\t{point.smoothed:.6g}" for point in found.points
        )
        return "\n".join([rate_range_sentence(found), "", "Learning rate\tLoss\tSmoothed", *rows])

    @override
    def _sentence_of(self, found: RateRange) -> str:
        return rate_range_sentence(found)

    @override
    def _show_found(self) -> None:
        self._plot = None
        super()._show_found()

    @override
    def _parts_of(self, found: RateRange) -> list[QWidget]:
        if not found.points:
            return super()._parts_of(found)
        self._plot = RateRangePlot()
        self._plot.setPoints(found.points, found.suggested)
        self._plot.rateChosen.connect(self._show_state)
        return [self._plot, Note(_NOTE)]

    @override
    @Slot()
    def _show_state(self) -> None:
        super()._show_state()
        chosen = None if self._plot is None else self._plot.chosen()
        self._use.setEnabled(not self._is_busy and chosen is not None)
        self._use.setText("&Use" if chosen is None else f"&Use {chosen:g}")

    @Slot()
    def _emit_chosen(self) -> None:
        if self._plot is not None and self._plot.chosen() is not None:
            self.rateChosen.emit(self._plot.chosen())
            self.close()
