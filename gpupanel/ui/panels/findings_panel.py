"""What was found about the shown training, each finding with its fixes."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.finding import Finding
from gpupanel.domain.setting_keys import with_titles
from gpupanel.ui import formatting
from gpupanel.ui.widgets.fix_buttons import FixButtons
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.severity_icon import SeverityIcon
from gpupanel.ui.widgets.tips import wrapped

_FIX_TIP = (
    "The button puts the run's settings with this change into the Session tab, for the next run. "
    "This run stays as it is."
)


class FindingsPanel(QFrame):
    """One finding at a time, the newest first; hidden where there is none.

    The plots below are what the page is for: a button leads to the others.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findings")
        self.setProperty("card", "true")
        self._findings: tuple[Finding, ...] = ()
        self._place = 0
        self._icon = SeverityIcon(None, self)
        self._message = ProseLabel()
        self._hint = ProseLabel(tone="muted")
        self.fixes = FixButtons(self)
        """Each wants the settings of the run with a change."""
        self.fixes.setToolTip(wrapped(_FIX_TIP))
        self._next = QPushButton(self)
        self._next.setObjectName("next_finding")
        self._next.setProperty("role", "quiet")
        self._next.setToolTip("Shows what else was found")
        self._next.clicked.connect(self._turn)
        self._row = QHBoxLayout(self)
        self._lay_out()
        self.hide()

    def findings(self) -> tuple[Finding, ...]:
        """All that can be shown here, the newest first."""
        return self._findings

    def shown(self) -> Finding | None:
        """The one that is shown."""
        return self._findings[self._place] if self._findings else None

    def setFindings(self, findings: Sequence[Finding]) -> None:
        """Show these: the newest, or the one that is shown as long as none is new.

        Args:
            findings: The newest last.
        """
        newest_first = tuple(reversed(findings))
        if newest_first == self._findings:
            return
        self._findings, self._place = newest_first, 0
        self._show()

    @override
    def hasHeightForWidth(self) -> bool:
        # An area that scrolls would give all of a page its preferred height then, not the least.
        return False

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return handled

    def _fit(self) -> None:
        """Make the list as high as its sentences are at this width."""
        self.setFixedHeight(self._row.totalHeightForWidth(self.width()))

    def _show(self) -> None:
        finding = self.shown()
        self.setVisible(finding is not None)
        if finding is None:
            return
        problem, count = finding.problem, len(self._findings)
        self._icon.setSeverity(problem.severity)
        message, hint = with_titles(problem.message), with_titles(problem.hint)
        self._message.setProse(message)
        since = f"Since {formatting.time_of_day(finding.since_s)}"
        cost = f"; {finding.cost_text}." if finding.cost_text else "."
        self._hint.setProse(f"{hint} {since}{cost}")
        self.fixes.setProblem(problem)
        self._next.setText(
            f"{self._place + 1:,} of {count:,} \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
        )
        self._next.setAccessibleName(f"Finding {self._place + 1:,} of {count:,}: next")
        self._next.setVisible(count > 1)
        self.setAccessibleName(message)
        self.setAccessibleDescription(hint)

    @Slot()
    def _turn(self) -> None:
        self._place = (self._place + 1) % len(self._findings)
        self._show()

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self._message)
        words.addWidget(self._hint)
        words.addWidget(self.fixes)
        row = self._row
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self._next, 0, Qt.AlignmentFlag.AlignTop)
