"""How many words texts have, how many of them count, and how many the vocabulary knows."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.preview import TextsPreview
from gpupanel.ui import formatting, theme
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.painted_widget import PaintedWidget
from gpupanel.ui.widgets.tips import wrapped

_HEIGHT = 56
_STALE_OPACITY = 0.35
_GAP = 1.0


class TextLengthsView(QWidget):
    """Bars of texts by their length, a line where they are cut, and what that means in words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars = _Bars()
        self._note = Note("")
        self._note.setObjectName("text_lengths_note")
        layout = column_in(self)
        layout.addWidget(self._bars)
        layout.addWidget(self._note)

    def setTexts(self, texts: TextsPreview | None, length: int) -> None:
        """Shows others.

        Args:
            texts: What is known of them; ``None``: they are none.
            length: How many words of a text count.
        """
        self._bars.setTexts(texts, length)
        self._note.setText(_said(texts, length) if texts else "")


class _Bars(PaintedWidget):
    """The bars; those of texts that are cut are paler."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: TextsPreview | None = None
        self._length = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Words per text")

    def setTexts(self, texts: TextsPreview | None, length: int) -> None:
        self._texts, self._length = texts, length
        self.setAccessibleDescription(_said(texts, length) if texts else "")
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(320, _HEIGHT + self._line_height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._texts is None or not self._texts.lengths:
            return
        painter = QPainter(self)
        painter.setOpacity(1.0 if self.isEnabled() else _STALE_OPACITY)
        painter.setFont(theme.small_font(self.font()))
        lengths = self._texts.lengths
        greatest, step = max(1, *(count for _, count in lengths)), self.width() / len(lengths)
        painter.setPen(Qt.PenStyle.NoPen)
        for place, (most, count) in enumerate(lengths):
            is_cut = most > self._length
            painter.setBrush(theme.current().color("muted" if is_cut else "accent"))
            height = _HEIGHT * count / greatest
            painter.drawRect(QRectF(place * step, _HEIGHT - height, step - _GAP, height))
        widest = lengths[-1][0]
        below = QRectF(0.0, _HEIGHT, self.width(), self._line_height())
        painter.setPen(theme.current().color("muted"))
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, "1 word")
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(below, right, f"{formatting.count(widest)} and more")
        if self._length < widest:
            at = self.width() * self._length / widest
            painter.setPen(QPen(theme.current().color("text"), 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(at, 0.0), QPointF(at, _HEIGHT))

    @override
    def tip_at(self, position: QPointF) -> str:
        if self._texts is None or not self._texts.lengths:
            return ""
        lengths = self._texts.lengths
        place = int(position.x() / max(1, self.width()) * len(lengths))
        place = min(max(0, place), len(lengths) - 1)
        most, count = lengths[place]
        first = lengths[place - 1][0] + 1 if place else 0
        up_to = "more" if place == len(lengths) - 1 else formatting.count(most)
        return wrapped(
            f"{formatting.count(first)} to {up_to} words: {formatting.count(count)} texts"
        )

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 4


def _said(texts: TextsPreview, length: int) -> str:
    cut = f"{texts.cut_share:.1%} of the texts have more than {formatting.count(length)} words"
    return (
        f"{cut} and are cut. The vocabulary knows {formatting.count(texts.known_count)} of "
        f"{formatting.count(texts.word_count)} different words: {texts.known_share:.1%} of all "
        "that the texts are made of."
    )
