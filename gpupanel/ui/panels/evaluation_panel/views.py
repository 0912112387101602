"""Which of several views of an evaluation is shown: a row of buttons, and the view below it."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QButtonGroup, QPushButton, QStackedLayout, QWidget

from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.tips import wrapped

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures


class FiguresView(QWidget):
    """One way to look at an evaluation."""

    @abstractmethod
    def setFigures(self, figures: "EvaluationFigures") -> None:
        """Show another evaluation."""
        ...


@dataclass(frozen=True, slots=True)
class View:
    """One view.

    Attributes:
        name: Of its button, as an object.
        title: On the button.
        tip: What is seen there.
        make: Makes it, when it is first shown.
    """

    name: str
    title: str
    tip: str
    make: Callable[[], FiguresView]


class Views(QWidget):
    """Makes a view when it is first shown; the one that was chosen stays where it is offered.

    Args:
        views: In the order of their buttons.
        beside: Stands at the end of the row of buttons.
    """

    def __init__(
        self, views: Sequence[View], beside: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._views = {view.name: view for view in views}
        self._made: dict[str, FiguresView] = {}
        self._figures: EvaluationFigures | None = None
        self._stale: set[str] = set()
        self._offered: tuple[str, ...] = ()
        self._chosen = ""
        self._buttons = {view.name: _button(view) for view in views}
        group = QButtonGroup(self)
        bar, buttons = QWidget(), QWidget()
        choices = FlowLayout(buttons)
        for place, button in enumerate(self._buttons.values()):
            group.addButton(button, place)
            choices.addWidget(button)
        row = row_in(bar)
        row.addWidget(buttons, 1)
        row.addWidget(beside, 0, Qt.AlignmentFlag.AlignTop)
        self._stack = QStackedLayout()
        column = column_in(self)
        column.addWidget(bar)
        column.addLayout(self._stack, 1)
        group.idClicked.connect(self._on_clicked)

    def setFigures(self, figures: "EvaluationFigures", offered: Collection[str]) -> None:
        """Show another evaluation.

        Args:
            figures: What it found.
            offered: The names of the views that it has; one alone needs no button.
        """
        self._figures, self._stale = figures, set(self._views)
        self._offered = tuple(name for name in self._views if name in offered)
        for name, button in self._buttons.items():
            button.setVisible(name in self._offered and len(self._offered) > 1)
        self._show()

    def _show(self) -> None:
        if not self._offered or self._figures is None:
            return
        name = self._chosen if self._chosen in self._offered else self._offered[0]
        self._buttons[name].setChecked(True)
        if name not in self._made:
            self._made[name] = self._views[name].make()
            self._stack.addWidget(self._made[name])
        view = self._made[name]
        if name in self._stale:
            self._stale.remove(name)
            view.setFigures(self._figures)
        self._stack.setCurrentWidget(view)

    @Slot(int)
    def _on_clicked(self, place: int) -> None:
        self._chosen = tuple(self._views)[place]
        self._show()


def _button(view: View) -> QPushButton:
    button = QPushButton(view.title)
    button.setObjectName(view.name)
    button.setToolTip(wrapped(view.tip))
    button.setCheckable(True)
    return button
