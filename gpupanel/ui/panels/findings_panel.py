"""Why the shown training is slower than it could be, each with its fixes."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from gpupanel.domain.finding import Finding
from gpupanel.ui import formatting
from gpupanel.ui.widgets.fix_buttons import FixButtons
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.layouts import column_in, discard
from gpupanel.ui.widgets.severity_icon import SeverityIcon
from gpupanel.ui.widgets.tips import wrapped

_FIX_TIP = (
    "The button puts the run's settings with this change into the Session tab, for the next run. "
    "This run stays as it is."
)
_MOST_ROWS = 4
"""The newest: the plots below are what the page is for."""


class FindingsPanel(QFrame):
    """A row for each finding, the newest first; hidden where there is none."""

    fixRequested = Signal(object)
    """The settings of the run are wanted with a change: its :class:`Fix`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findings")
        self.setAccessibleName("What holds the training up")
        self.setProperty("card", "true")
        self._rows: list[_FindingRow] = []
        self._column = column_in(self)
        self._column.setContentsMargins(16, 8, 16, 8)
        self._column.setSpacing(8)
        self.setFindings(())

    def findings(self) -> tuple[Finding, ...]:
        """Those that are shown."""
        return tuple(row.finding for row in self._rows if row.finding is not None)

    def setFindings(self, findings: Sequence[Finding]) -> None:
        """Show these; rows that are there stay, so that focus and place do.

        Args:
            findings: The newest last.
        """
        shown = list(reversed(findings))[:_MOST_ROWS]
        while len(self._rows) > len(shown):
            discard(self._column, [self._rows.pop()])
        while len(self._rows) < len(shown):
            row = _FindingRow(self)
            row.fixes.fixRequested.connect(self.fixRequested)
            self._rows.append(row)
            self._column.addWidget(row)
        for row, finding in zip(self._rows, shown, strict=True):
            row.setFinding(finding)
        self.setVisible(bool(shown))


class _FindingRow(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.finding: Finding | None = None
        self._icon = SeverityIcon(None, self)
        self._message = ProseLabel()
        self._hint = ProseLabel(tone="muted")
        self.fixes = FixButtons(self)
        self.fixes.setToolTip(wrapped(_FIX_TIP))
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self._message)
        words.addWidget(self._hint)
        words.addWidget(self.fixes)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._icon)
        row.addLayout(words, 1)

    def setFinding(self, finding: Finding) -> None:
        if finding == self.finding:
            return
        self.finding = finding
        problem = finding.problem
        self._icon.setSeverity(problem.severity)
        self._message.setProse(problem.message)
        since = f"Since {formatting.time_of_day(finding.since_s)}"
        cost = f"; {finding.cost_words}." if finding.cost_words else "."
        self._hint.setProse(f"{problem.hint} {since}{cost}")
        self.fixes.setProblem(problem)
        self.setAccessibleName(problem.message)
        self.setAccessibleDescription(problem.hint)
