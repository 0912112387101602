"""The ways in which a training fits its devices, each with what it costs and a button."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.ladder import Ladder, Rung
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.labels import Caption, Note, ProseLabel, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in, discard
from gpupanel.ui.widgets.tips import wrapped

_SHOWN_FIRST = 4
"""Ways that fit, until a person asks for the others."""
_ABOVE = 2
"""Labels above the rows."""
_TIME_TIP = (
    "How long a step takes over one of the session as it is: calculated, good for comparing ways "
    "with each other."
)


class RungRow(QWidget):
    """One way: what is done, the time of a step, what each device holds; the button does it."""

    fixRequested = Signal(object)
    """The way is to be taken: its :class:`Fix`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rung = Rung(title="")
        self._title = ProseLabel()
        self._time = QLabel()
        self._time.setFixedWidth(
            self.fontMetrics().horizontalAdvance("88.88\N{MULTIPLICATION SIGN} ")
        )
        self._time.setToolTip(wrapped(_TIME_TIP))
        self._use = QPushButton("Use")
        self._use.setProperty("role", "alternative")
        self._facts = Note("")
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 6, 0, 6)
        layout.setHorizontalSpacing(8)
        layout.setVerticalSpacing(2)
        layout.setColumnStretch(1, 1)
        top = Qt.AlignmentFlag.AlignTop
        layout.addWidget(self._time, 0, 0, top)
        layout.addWidget(self._title, 0, 1)
        layout.addWidget(self._use, 0, 2, top)
        layout.addWidget(self._facts, 1, 1, 1, 2)
        self._use.clicked.connect(self._ask)

    def rung(self) -> Rung:
        """What is shown."""
        return self._rung

    def setRung(self, rung: Rung, labels: DeviceLabels) -> None:
        """Shows another way."""
        self._rung = rung
        can_be_used = rung.fits and rung.fix is not None
        self._title.setProse(rung.title)
        self._time.setText("" if rung.time is None else f"{rung.time:.2f}\N{MULTIPLICATION SIGN}")
        self._use.setVisible(can_be_used)
        self._use.setAccessibleName(f"Use: {rung.title}")
        self._use.setToolTip(wrapped(f"Changes the session: {rung.title}. Undo takes it back."))
        facts = ["\N{NO-BREAK SPACE}".join(_amount(each, labels).split()) for each in rung.memory]
        if not rung.fits:
            facts.insert(0, "does not fit")
        elif rung.largest_batch:
            facts.append(f"batch up to {formatting.count(rung.largest_batch)}")
        if rung.result:
            facts.append(rung.result)
        self._facts.setText("\N{NO-BREAK SPACE}\N{MIDDLE DOT} ".join(facts))
        set_tone(self._facts, Tone.MUTED if rung.fits else Tone.WARNING)

    @Slot()
    def _ask(self) -> None:
        self.fixRequested.emit(self._rung.fix)


class LadderList(QWidget):
    """Rows that are kept while the ways change, so that focus and place stay."""

    fixRequested = Signal(object)
    """A way is to be taken: its :class:`Fix`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("ladder")
        self.setAccessibleName("Ways in which it fits")
        self._ladder = Ladder()
        self._labels = DeviceLabels()
        self._rows: list[RungRow] = []
        self._is_whole = False
        self._more = QPushButton()
        self._more.setObjectName("ladder_more")
        self._more.setProperty("role", "quiet")
        self._more.setToolTip("Also what is slower, and what alone is not enough.")
        self._side = Note("")
        self._side.setObjectName("ladder_side")
        self._column = column_in(self, spacing=0)
        self._column.addWidget(Caption("Ways in which it fits"))
        self._column.addWidget(
            Note("The time of a step, over the session as it is; then what is held.")
        )
        self._column.addWidget(self._more, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self._side)
        self._more.clicked.connect(self._toggle)
        self.hide()

    def ladder(self) -> Ladder:
        """What is shown."""
        return self._ladder

    def setLadder(self, ladder: Ladder, labels: DeviceLabels) -> None:
        """Shows other ways; none: nothing is seen."""
        self._ladder, self._labels = ladder, labels
        self.setVisible(bool(ladder.rungs))
        self._show()

    @Slot()
    def _toggle(self) -> None:
        self._is_whole = not self._is_whole
        self._show()

    def _show(self) -> None:
        rungs = self._ladder.rungs
        fitting = [each for each in self._ladder.fitting if each.fix is not None]
        few = (*rungs[:1], *fitting[:_SHOWN_FIRST])
        self._show_rows(rungs if self._is_whole else few)
        hidden = len(rungs) - len(few)
        self._more.setVisible(hidden > 0)
        self._more.setText("Show fewer" if self._is_whole else f"Show {hidden} more")
        side = self._ladder.largest_side
        fits = "as it is" if self._ladder.rungs and self._ladder.rungs[0].fits else "the first way"
        self._side.setText(
            f"Images of up to about {side} \N{MULTIPLICATION SIGN} {side} pixels fit {fits}."
            if side
            else ""
            if fitting or not rungs or rungs[0].fits
            else "None of them is enough: take a smaller model, or smaller examples."
        )
        self._side.setVisible(bool(self._side.text()))

    def _show_rows(self, rungs: Sequence[Rung]) -> None:
        while len(self._rows) > len(rungs):
            discard(self._column, [self._rows.pop()])
        while len(self._rows) < len(rungs):
            row = RungRow(self)
            row.fixRequested.connect(self.fixRequested)
            self._rows.append(row)
            self._column.insertWidget(_ABOVE + len(self._rows) - 1, row)
        for row, rung in zip(self._rows, rungs, strict=True):
            row.setRung(rung, self._labels)


def _amount(memory: DeviceMemory, labels: DeviceLabels) -> str:
    where = memory.logical_device.removeprefix("/device:")
    name = f"{labels.label(memory.device)}, {where}" if where else labels.label(memory.device)
    taken, room = formatting.mib(memory.counted_mib), formatting.mib(memory.room_mib)
    if memory.room_mib is None:
        return f"{name} {taken}"
    unit = room.rpartition(" ")[2]
    return f"{name} {taken.removesuffix(f' {unit}')} of {room}"
