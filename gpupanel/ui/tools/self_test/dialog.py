"""What was tested of this machine's devices before a long run, and what is wrong with them."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHeaderView, QWidget
from typing_extensions import override

from gpupanel.domain.problem import Severity
from gpupanel.domain.self_test import CaseOutcome, CaseResult, SelfTest, SelfTestProgress
from gpupanel.domain.self_test_text import (
    case_text,
    figure_text,
    places_text,
    progress_text,
    self_test_sentence,
)
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.tools.session_report_dialog import ReportWords, SessionReportDialog
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.severity_icon import severity_pixmap
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView

_WORDS = ReportWords(
    name="self_test",
    title="Test this machine",
    again=("Test the &rest", "Tests what is not known yet with the settings as they are now."),
    cancel=("Cance&l", "Ends the test; nothing of it is remembered."),
    empty="Known numbers through every all-reduce over the devices and each pair of them, copies, "
    "patterns in free memory, and a training step compared with the CPU's.",
    unknown=("Not tested yet", ""),
    busy=("Testing…", "Starting TensorFlow on the devices…"),
    outdated="The settings have changed since. Test the rest for what was not tested yet.",
)
_NOTE = (
    "Remembered for this driver, these devices and this TensorFlow. Of memory only what is free "
    "less a margin is tested, and no more than the limit."
)
_ROW_HEIGHT = 28
_MARKS = {
    **dict.fromkeys(CaseResult, Severity.ERROR),
    CaseResult.PASSED: None,
    CaseResult.NOT_DONE: Severity.HINT,
}


class SelfTestDialog(SessionReportDialog[SelfTest, SelfTestProgress]):
    """Shows what is wrong with its fixes, and below it each test with its figure."""

    againRequested = Signal()
    """All of it is to be tested again, whatever is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_WORDS, parent)
        self._labels = DeviceLabels()
        tip = "Tests everything once more, such as after a change of driver or wiring."
        self._all = self._button("Test a&gain", "all", tip)
        self._buttons.insertWidget(self._buttons.indexOf(self._cancel), self._all)
        self._all.clicked.connect(self.againRequested)
        self._progress.setAccessibleName("Tests done")
        resize_within_screen(self, 960, 680)
        self._show_state()

    @override
    def setLabels(self, labels: DeviceLabels) -> None:
        self._labels = labels

    @override
    def _text_of(self, found: SelfTest) -> str:
        problems = (f"{each.message} {each.hint}" for each in found.problems)
        rows = ("\t".join((*self._row_text(each), each.detail)) for each in found.outcomes)
        titles = "\t".join(("Devices", "Test", "Result", "Figure", "Detail"))
        return "\n".join([self_test_sentence(found), *problems, "", titles, *rows])

    @override
    def _title_of(self, found: SelfTest) -> str:
        return _verdict(found)

    @override
    def _sentence_of(self, found: SelfTest) -> str:
        return self_test_sentence(found)

    @override
    def _severity_of(self, found: SelfTest) -> Severity | None:
        return _severity(found)

    @override
    def _parts_of(self, found: SelfTest) -> list[QWidget]:
        parts = super()._parts_of(found)
        if found.tested_something:
            parts += [self._table(found.outcomes), Note(_NOTE)]
        return parts

    @Slot(object)
    @override
    def setProgress(self, news: SelfTestProgress) -> None:
        keys = () if news.case is None else (place.device_key for place in news.case.places)
        names = {key: self._labels.label(key) for key in keys}
        self._doing = f"{news.done} of {news.count} done. {progress_text(news, names)}"
        self._progress.setRange(0, news.count)
        self._progress.setValue(news.done)
        self._show_state()

    @override
    @Slot()
    def _show_state(self) -> None:
        super()._show_state()
        found, is_busy = self._found, self._is_busy
        self._all.setEnabled(not is_busy)
        has_rest = found is None or bool(found.not_done) or self._is_outdated
        self._again.setEnabled(not is_busy and has_rest)

    def _row_text(self, outcome: CaseOutcome) -> tuple[str, str, str, str]:
        names = {
            place.device_key: self._labels.label(place.device_key) for place in outcome.case.places
        }
        return (
            places_text(outcome.case, names),
            case_text(outcome.case),
            outcome.result.label,
            figure_text(outcome),
        )

    def _table(self, rows: Sequence[CaseOutcome]) -> QWidget:
        columns: tuple[Column[CaseOutcome], ...] = (
            Column("Devices", "What took part", lambda row: self._row_text(row)[0]),
            Column("Test", "What was tested", lambda row: case_text(row.case)),
            Column(
                "Result",
                "What came of it",
                lambda row: row.result.label,
                image=lambda row: severity_pixmap(_MARKS[row.result], self.devicePixelRatioF()),
            ),
            Column("Figure", _FIGURE_TIP, figure_text, is_number=True),
            Column("Seen", "What was seen", lambda row: row.detail.split("\n")[0]),
        )
        content = TableModel(columns, lambda row: row.case.identity, lambda row: row.detail)
        table = TableView(content, "self_test_cases", "Tests of this machine", _ROW_HEIGHT)
        table.content.set_rows(rows, keep_order=True)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setMinimumSectionSize(72)
        header.setStretchLastSection(True)
        height = header.sizeHint().height() + len(rows) * _ROW_HEIGHT
        table.setFixedHeight(height + 2 * table.frameWidth())
        return table


_FIGURE_TIP = (
    "Speed of sums and copies, memory that was tested, or by how much a step differs from the CPU's"
)


def _severity(test: SelfTest) -> Severity | None:
    if test.bad or any(each.is_error for each in test.problems):
        return Severity.ERROR
    passed = any(each.result is CaseResult.PASSED for each in test.outcomes)
    return None if passed and not test.not_done else Severity.WARNING


def _verdict(test: SelfTest) -> str:
    if test.bad:
        return "1 test failed" if len(test.bad) == 1 else f"{len(test.bad)} tests failed"
    if not test.is_well:
        return "Nothing could be tested"
    return "Not everything was tested" if test.not_done else "All tests passed"
