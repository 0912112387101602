"""A button for each change to the profile that mends a problem."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpupanel.domain.change_text import change_text
from gpupanel.domain.problem import Fix, Problem
from gpupanel.ui.widgets.buttons import ElidedButton
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.layouts import discard
from gpupanel.ui.widgets.tips import wrapped

_NARROWEST = 64
_PADDING = 13
"""Pixels at either side of a label that is shortened."""


class FixButtons(QWidget):
    """The obvious fix first, the other ones behind it or below; nothing where there is none."""

    fixRequested = Signal(object)
    """A button was pressed: its :class:`Fix`."""

    def __init__(self, parent: QWidget | None = None, *, further: QWidget | None = None) -> None:
        """Shows no button.

        Args:
            parent: The owner in Qt's sense.
            further: Stands behind the buttons, in the next line where there is no room.
        """
        super().__init__(parent)
        self._further = further
        self._buttons: list[_FixButton] = []
        self._problem: Problem | None = None
        self._most: int | None = None
        self._layout = FlowLayout(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def setMost(self, most: int | None) -> None:
        """Show so many fixes at most; ``None``: all that there are."""
        if most != self._most:
            self._most = most
            if self._problem is not None:
                self.setProblem(self._problem)

    def setProblem(self, problem: Problem) -> None:
        """Show the fixes of that problem; buttons that are there already stay."""
        self._problem = problem
        first = () if problem.fix is None else (problem.fix,)
        fixes = (*first, *problem.alternatives)[: self._most]
        while len(self._buttons) > len(fixes):
            button = self._buttons.pop()
            discard(self._layout, [button])
        while len(self._buttons) < len(fixes):
            button = _FixButton(self)
            button.fixRequested.connect(self.fixRequested)
            self._buttons.append(button)
            self._layout.addWidget(button)
        if self._further is not None:
            self._layout.removeWidget(self._further)
            self._layout.addWidget(self._further)
        for position, (button, fix) in enumerate(zip(self._buttons, fixes, strict=True)):
            button.setFix(fix, is_first=position == 0)
        is_further = self._further is not None and not self._further.isHidden()
        self.setVisible(bool(fixes) or is_further)


class _FixButton(ElidedButton):
    fixRequested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_PADDING, _NARROWEST, parent=parent)
        self._fix: Fix | None = None
        self.clicked.connect(self._request)

    def setFix(self, fix: Fix, *, is_first: bool) -> None:
        """Offer that; the first of several stands out."""
        role = "fix" if is_first else "alternative"
        if self.property("role") != role:
            self.setProperty("role", role)
            self.style().unpolish(self)
            self.style().polish(self)
        if fix == self._fix:
            return
        self._fix = fix
        self.setText(fix.label)
        self.setAccessibleName(fix.label)
        lines = (fix.label, *(change_text(each) for each in fix.changes))
        self.setToolTip(wrapped("\n".join(lines)))

    def _request(self) -> None:
        if self._fix is not None:
            self.fixRequested.emit(self._fix)
