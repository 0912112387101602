"""Where the sections of the Session tab stand: in as many columns as there is room for."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QScrollArea,
    QSplitter,
    QToolButton,
    QWidget,
)
from typing_extensions import override

from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.tips import wrapped

_TWO_COLUMNS, _THREE_COLUMNS, _FOUR_COLUMNS = 760, 1_500, 2_100
"""Pixels: so wide is the page at least where it has so many columns."""
_LEAST_WIDTH, _SCROLL_BAR_WIDTH = 440, 12
_LAYOUT_TURNS = 5
"""Of the event loop: a layout within a layout has its height one after it."""


class SessionLayout(QWidget):
    """Sections on the left, what they come to on the right; below each other where it is narrow.

    On the right stands what a person wants to see first and always: how long and how fast is
    trained, and what will happen. Where there is room, the left has two columns, and so has the
    right where there is more.

    Args:
        note: Above all sections.
        sections: On the left, from top to bottom.
        beside: On the right, from top to bottom.
    """

    foldsChanged = Signal()
    """A section was folded or unfolded."""

    def __init__(
        self, note: QWidget, sections: Sequence[SettingsCard], beside: Sequence[SettingsCard]
    ) -> None:
        super().__init__()
        self._note = note
        self._sections, self._beside = tuple(sections), tuple(beside)
        self._columns = 0
        self._left = (SectionColumn(left_margin=2 * GRID), SectionColumn())
        self._right = (SectionColumn(), SectionColumn())
        self._every = (*sections, *beside)
        self._links = JumpLinks(self._every)
        self._links.chosen.connect(self.show_section)
        self._left_area, self._right_area = (
            VerticalScrollArea(_side_by_side(self._left)),
            VerticalScrollArea(_side_by_side(self._right)),
        )
        self._left_area.setAccessibleName("Sections of the session")
        self._right_area.setAccessibleName("Training, and what will happen")
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self._left_area)
        self._splitter.addWidget(self._right_area)
        layout = column_in(self, spacing=0)
        layout.addWidget(self._links)
        layout.addWidget(self._splitter, 1)
        for section in self._every:
            section.foldChanged.connect(self.foldsChanged)
        self._arrange(2)

    @property
    def _all(self) -> tuple[SettingsCard, ...]:
        return (*self._sections, *self._beside)

    def set_order(self, sections: Sequence[SettingsCard], beside: Sequence[SettingsCard]) -> None:
        """Let the sections follow each other in another order; those left out are not shown.

        Args:
            sections: On the left.
            beside: On the right.
        """
        self._sections, self._beside = tuple(sections), tuple(beside)
        self._links.set_shown(self._all)
        for section in self._every:
            section.setVisible(section in self._all)
        self._arrange(self._columns)

    def folds(self) -> dict[str, bool]:
        """Which sections are open, by their titles."""
        return {section.section_title: not section.is_folded for section in self._every}

    def set_folds(self, open_: Mapping[str, bool]) -> None:
        """Open or fold sections; those that are not named stay as they are."""
        for section in self._every:
            section.set_folded(folded=not open_.get(section.section_title, not section.is_folded))

    def show_widget(self, widget: QWidget) -> None:
        """Scroll until a widget of a section is seen."""
        area = self._right_area if self._right_area.isAncestorOf(widget) else self._left_area
        # What was unfolded for it has its place from the next turn on.
        QTimer.singleShot(0, widget, partial(area.ensureWidgetVisible, widget))

    @Slot(QObject)
    def show_section(self, section: SettingsCard) -> None:
        """Unfold a section, scroll to its top, and give it the focus."""
        section.set_folded(folded=False)
        section.setFocus(Qt.FocusReason.ShortcutFocusReason)
        area = self._right_area if self._right_area.isAncestorOf(section) else self._left_area
        QTimer.singleShot(0, section, partial(_scroll_to_top, area, section))

    @override
    def minimumSizeHint(self) -> QSize:
        # That of one column, however many there are now.
        return QSize(_LEAST_WIDTH, super().minimumSizeHint().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self.width()
        columns = 1 + sum(map(width.__ge__, (_TWO_COLUMNS, _THREE_COLUMNS, _FOUR_COLUMNS)))
        if columns != self._columns:
            self._arrange(columns)

    def _arrange(self, columns: int) -> None:
        """Put every section into its place; the focus stays where it is."""
        focused = QApplication.focusWidget()
        self._columns = columns
        half = (len(self._sections) + 1) // 2
        sections, beside = self._sections, self._beside
        parts: tuple[Sequence[QWidget], ...] = {
            1: ((self._note, *self._all), (), (), ()),
            2: ((self._note, *sections), (), beside, ()),
            3: ((self._note, *sections[:half]), sections[half:], beside, ()),
            4: ((self._note, *sections[:half]), sections[half:], beside[:1], beside[1:]),
        }[columns]
        for column, of_column in zip((*self._left, *self._right), parts, strict=True):
            column.set_parts(of_column)
        self._left[1].setVisible(columns > 2)
        self._right[1].setVisible(columns > 3 and len(beside) > 1)
        self._right_area.setVisible(columns > 1)
        self._links.setVisible(columns < 3)
        self._splitter.setSizes({3: [2_000, 1_000], 4: [1_000, 1_000]}.get(columns, [1_000, 750]))
        if focused is not None and self.isAncestorOf(focused):
            focused.setFocus()


class SectionColumn(QWidget):
    """Sections below each other.

    Args:
        left_margin: Pixels.
    """

    def __init__(self, *, left_margin: int = 0) -> None:
        super().__init__()
        self.setProperty("page", "true")
        self._layout = column_in(self, spacing=2 * GRID)
        self._layout.setContentsMargins(left_margin, 2 * GRID, 2 * GRID, 2 * GRID)
        self._layout.addStretch(1)
        self._parts: tuple[QWidget, ...] = ()

    def set_parts(self, parts: Sequence[QWidget]) -> None:
        """Show these, and no others."""
        # Not taken out as items: one that Python still holds keeps Qt from measuring anew.
        for part in self._parts:
            self._layout.removeWidget(part)
        self._parts = tuple(parts)
        for place, part in enumerate(parts):
            self._layout.insertWidget(place, part)


class JumpLinks(QWidget):
    """The titles of all sections; each leads to its section.

    Args:
        sections: In their order.
    """

    chosen = Signal(QObject)
    """A person wants to see that section: a :class:`SettingsCard`."""

    def __init__(self, sections: Sequence[SettingsCard]) -> None:
        super().__init__()
        self.setObjectName("section_links")
        self._links: dict[SettingsCard, QToolButton] = {}
        row = FlowLayout(self, spacing=4)
        row.setContentsMargins(2 * GRID - 4, GRID, 2 * GRID, 0)
        for section in sections:
            link = QToolButton(self)
            link.setText(section.section_title)
            link.setProperty("role", "link")
            link.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            link.setAccessibleName(f"Go to {section.section_title}")
            link.setToolTip(wrapped(f"Goes to {section.section_title}"))
            link.clicked.connect(partial(self._choose, section))
            row.addWidget(link)
            self._links[section] = link

    def set_shown(self, sections: Collection[SettingsCard]) -> None:
        """Lead to these sections only: the others are not shown."""
        for section, link in self._links.items():
            link.setVisible(section in sections)

    def _choose(self, section: SettingsCard, _is_checked: object = None) -> None:
        self.chosen.emit(section)


class VerticalScrollArea(QScrollArea):
    """Scrolls up and down; it is never narrower than what is in it.

    Args:
        page: What is scrolled.
    """

    def __init__(self, page: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setWidget(page)
        self._fit()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The area watches its page already: Qt calls this.
        handled = super().eventFilter(watched, event)
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            self._fit()
        return handled

    def _fit(self) -> None:
        page = self.widget()
        if page is not None:
            self.setMinimumWidth(page.minimumSizeHint().width() + _SCROLL_BAR_WIDTH)


def _side_by_side(columns: Sequence[QWidget]) -> QWidget:
    page = QWidget()
    page.setProperty("page", "true")
    row = row_in(page, spacing=0)
    for column in columns:
        row.addWidget(column, 1)
    return page


def _scroll_to_top(area: QScrollArea, section: QWidget, turns: int = _LAYOUT_TURNS) -> None:
    page, bar = area.widget(), area.verticalScrollBar()
    if page is None:
        return
    top = section.mapTo(page, section.rect().topLeft()).y() - GRID
    bar.setValue(top)
    if bar.value() < top and turns > 0:
        # The page is not as high yet as what was unfolded makes it, or ends before.
        QTimer.singleShot(0, section, partial(_scroll_to_top, area, section, turns - 1))
