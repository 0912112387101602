"""An icon and a word or two in a place of their own, so that nothing moves when they come."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from gpupanel.ui import theme
from gpupanel.ui.panels.device_panel.reading_text import Notice
from gpupanel.ui.widgets.severity_icon import SIZE, SeverityIcon
from gpupanel.ui.widgets.tips import wrapped

_WIDEST, _WIDEST_WORD = "Throttled: heat", "Too hot"
_GAP = 4
_HELD_READINGS = 6
"""How long a notice stays after its reason went: what comes and goes twice a second is no help."""


class NoticeTag(QWidget):
    """Shows a :class:`Notice`; as wide as the widest one, also while there is none.

    Args:
        is_short: Say it in one word.
    """

    def __init__(self, *, is_short: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_short = is_short
        self._notice: Notice | None = None
        self._quiet_readings = 0
        self._icon = SeverityIcon(None)
        self._words = QLabel()
        self._words.setProperty("textSize", "small")
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_GAP)
        layout.addStretch(1)
        layout.addWidget(self._icon)
        layout.addWidget(self._words)
        small = QFont(self.font())
        small.setPointSizeF(max(7.0, small.pointSizeF() * theme.SMALL_TEXT))
        widest = QFontMetrics(small).horizontalAdvance(_WIDEST_WORD if is_short else _WIDEST)
        self.setFixedSize(SIZE + 2 * _GAP + widest, SIZE)
        self._show()

    def notice(self) -> Notice | None:
        """What is shown."""
        return self._notice

    def setNotice(self, notice: Notice | None) -> None:
        """Show what holds with this reading; what does not hold any more stays for a moment."""
        self._quiet_readings = 0 if notice is not None else self._quiet_readings + 1
        if notice is None and self._quiet_readings <= _HELD_READINGS:
            return
        if notice != self._notice:
            self._notice = notice
            self._show()

    def _show(self) -> None:
        notice = self._notice
        self._icon.setVisible(notice is not None)
        words = "" if notice is None else notice.word if self._is_short else notice.words
        self._words.setText(words)
        self.setToolTip(wrapped(notice.sentence) if notice else "")
        self.setAccessibleName(notice.sentence if notice else "")
        if notice is not None:
            self._icon.setSeverity(notice.severity)
