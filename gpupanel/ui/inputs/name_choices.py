"""Some of several names, chosen from a menu."""

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QIcon, QPaintEvent
from PySide6.QtWidgets import (
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.visible_text import visible_line
from gpupanel.files import resources
from gpupanel.ui import theme
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.menu_names import add_name
from gpupanel.ui.widgets.tips import wrapped

_MOST_OFFERED = 300
"""A menu of more entries takes long to open; the profile may name any other."""
_LONGEST = 60
_ARROW, _TO_ARROW = 14, 6
"""Pixels of the arrow, and beside it."""
_NONE = "Available once the data was read"


class NameChoices(QWidget):
    """Chooses names by click: one, several, or none."""

    valueChanged = Signal(object)
    """A person chose others: a tuple of names, or ``None``; :meth:`setValue` is silent."""

    def __init__(
        self,
        *,
        off: str,
        is_optional: bool,
        may_be_one: bool,
        parent: QWidget | None = None,
    ) -> None:
        """Shows that nothing is chosen.

        Args:
            off: What is said of choosing none.
            is_optional: Choosing none is ``None``, not an empty list.
            may_be_one: Usually one is chosen: a click on another one takes its place.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._off = off[:1].upper() + off[1:]
        self._is_optional = is_optional
        self._may_be_one = may_be_one
        self._choices: tuple[Choice, ...] = ()
        self._found: tuple[str, ...] = ()
        self._names: tuple[str, ...] = ()
        self._button = _MenuButton()
        self._button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._button.setMinimumWidth(96)
        self._button.setProperty("role", "choice")
        self._menu = QMenu(self._button)
        self._button.setMenu(self._menu)
        row_in(self).addWidget(self._button, 1)
        self.setFocusProxy(self._button)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._menu.aboutToShow.connect(self._fill)
        self._show()

    def value(self) -> tuple[str, ...] | None:
        """The names that are chosen."""
        return self._names or (None if self._is_optional else ())

    def setValue(self, value: str | Sequence[str] | None) -> None:
        """Shows others silently; a single name is a list of it."""
        self._names = (value,) if isinstance(value, str) else tuple(value or ())
        self._show()

    def setFound(self, choices: Sequence[Choice], found: str | Sequence[str]) -> None:
        """Offers what a preview found, silently.

        Args:
            choices: What can be chosen.
            found: What is taken where nothing is chosen.
        """
        self._choices = tuple(choices)
        self._found = (found,) if isinstance(found, str) else tuple(found)
        self._show()

    def text(self) -> str:
        """What the button says, in full."""
        if self._names:
            return _listed(self._names)
        return f"{self._off}: {_listed(self._found)}" if self._found else self._off

    @override
    def resizeEvent(self, event: object) -> None:
        self._show()

    def _show(self) -> None:
        metrics = QFontMetrics(self._button.font())
        room = max(60, self._button.width() - 40)
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        # An ampersand would be taken for the mark of a letter.
        self._button.setText(shown.replace("&", "&&"))
        self._button.setToolTip(wrapped(self.text()))
        self._button.setAccessibleName(f"{self.accessibleName()}: {self.text()}")

    def _fill(self) -> None:
        self._menu.clear()
        self._add(self._menu, self._off, (), is_chosen=not self._names)
        self._menu.addSeparator()
        offered = self._offered()
        if not offered:
            self._menu.addAction(_NONE).setEnabled(False)
        several = self._menu.addMenu("Several") if self._may_be_one and offered else self._menu
        for choice in offered:
            name = choice.value
            is_chosen = name in self._names
            if self._may_be_one:
                self._add(self._menu, choice.label, (name,), is_chosen=self._names == (name,))
            others = tuple(each for each in self._names if each != name)
            toggled = others if is_chosen else (*self._names, name)
            self._add(several, choice.label, self._in_order(toggled), is_chosen=is_chosen)
        if several is not self._menu:
            self._menu.addAction(several.menuAction())  # last, below what is chosen alone

    def _offered(self) -> list[Choice]:
        there = {choice.value for choice in self._choices}
        unknown = (Choice(name, f"{name} (not found)") for name in self._names if name not in there)
        return [*unknown, *self._choices][:_MOST_OFFERED]

    def _in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        places = {choice.value: place for place, choice in enumerate(self._choices)}
        return tuple(sorted(names, key=lambda name: places.get(name, -1)))

    def _add(self, menu: QMenu, label: str, names: tuple[str, ...], *, is_chosen: bool) -> None:
        shown = visible_line(label)
        shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
        action = add_name(menu, shown, visible_line(label))
        action.setCheckable(True)
        action.setChecked(is_chosen)
        action.triggered.connect(partial(self._choose, names))

    def _choose(self, names: tuple[str, ...], *_: object) -> None:
        if names != self._names:
            self._names = names
            self._show()
            self.valueChanged.emit(self.value())


class _MenuButton(QPushButton):
    """Opens a menu, and looks as a list does; Qt gives such a text no room at its left."""

    @override
    def paintEvent(self, arg__1: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.features &= ~QStyleOptionButton.ButtonFeature.HasMenu
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        name = "chevron-down" if self.isEnabled() else "chevron-down-off"
        arrow = QIcon(str(resources.path("icons", theme.current().name, f"{name}.svg")))
        top = (self.height() - _ARROW) // 2
        arrow.paint(painter, self.width() - _ARROW - _TO_ARROW, top, _ARROW, _ARROW)


def _listed(names: Sequence[str]) -> str:
    return visible_line(", ".join(names[:20])) + (", …" if len(names) > 20 else "")
