"""A report of the doctor: its findings and groups of facts, seen and as a text to be copied."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from gpupanel.devices.doctor.report import DoctorReport, Fact, FactGroup
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.problem_text import problem_text, problem_title
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.labels import ElidedLabel, ProseLabel
from gpupanel.ui.widgets.severity_icon import SIZE, SeverityIcon
from gpupanel.ui.widgets.tips import wrapped

_NAME_WIDTH = 24 * GRID


class FactGroupView(QFrame):
    """A card with a title and its facts; a mark says which is well and which is not."""

    def __init__(self, group: FactGroup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        title = QLabel(group.title)
        title.setProperty("role", "title")
        rows = QGridLayout()
        rows.setHorizontalSpacing(GRID)
        rows.setVerticalSpacing(2)
        rows.setColumnMinimumWidth(0, SIZE)
        rows.setColumnMinimumWidth(1, _NAME_WIDTH)
        rows.setColumnStretch(2, 1)
        for row, fact in enumerate(group.facts):
            _add(rows, row, fact)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID + GRID // 2)
        layout.setSpacing(GRID)
        layout.addWidget(title)
        layout.addLayout(rows)


def _add(rows: QGridLayout, row: int, fact: Fact) -> None:
    # Every row keeps the mark's place, so that names and lines stand alike in all groups.
    rows.addWidget(QWidget() if fact.is_well is None else _mark(is_well=fact.is_well), row, 0)
    rows.setRowMinimumHeight(row, SIZE)
    name = QLabel(fact.name)
    name.setProperty("tone", "muted")
    rows.addWidget(name, row, 1)
    value = ElidedLabel(fact.value)
    value.setElideMode(Qt.TextElideMode.ElideMiddle)
    value.setToolTip(wrapped(fact.value))
    rows.addWidget(value, row, 2)


def _mark(*, is_well: bool) -> SeverityIcon:
    mark = SeverityIcon(None if is_well else Severity.ERROR)
    mark.setAccessibleName("OK" if is_well else "Problem")
    return mark


_DETAIL_HEIGHT = 16 * GRID


class FindingRow(QFrame):
    """A problem of the machine, which no change to the profile mends."""

    def __init__(self, problem: Problem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("problem", "true")
        words = QVBoxLayout()
        words.setSpacing(GRID)
        words.addWidget(_prose(problem_title(problem)))
        if problem.hint:
            words.addWidget(_prose(problem.hint, tone="muted"))
        if problem.command:
            words.addWidget(CommandLine(problem.command))
        if problem.detail:
            self._add_detail(words, problem.detail)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(SeverityIcon(problem.severity), 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)

    def _add_detail(self, words: QVBoxLayout, detail: str) -> None:
        text = QPlainTextEdit(detail)
        text.setReadOnly(True)
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        text.setProperty("role", "code")
        text.setFixedHeight(_DETAIL_HEIGHT)
        text.setAccessibleName("Detail")
        text.hide()
        fold = FoldButton("Detail")
        fold.toggled.connect(text.setVisible)
        fold.setToolTip("Technical detail, such as TensorFlow's own message.")
        words.addWidget(fold, 0, Qt.AlignmentFlag.AlignLeft)
        words.addWidget(text)


def _prose(text: str, tone: str = "") -> ProseLabel:
    label = ProseLabel(tone)
    label.setProse(text)
    return label


_MARKS = {True: "ok", False: "!!", None: ""}
_NAME_LETTERS = 28


def report_text(report: DoctorReport) -> str:
    """Problems first, then all that was seen."""
    parts = [problem_text(problem) for problem in report.problems]
    if report.command:
        parts.append(f"To fix it:\n{report.command}")
    parts += [_group(group) for group in report.groups()]
    return "\n\n".join(parts) + "\n"


def _group(group: FactGroup) -> str:
    lines = (
        f"{_MARKS[fact.is_well]:<3}{fact.name:<{_NAME_LETTERS}} {fact.value}"
        for fact in group.facts
    )
    return "\n".join((group.title, *lines))
