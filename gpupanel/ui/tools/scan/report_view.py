"""A scan's sections, seen: rows of facts, and classes as bars."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.scan import DataScan, ScannedSet
from gpupanel.domain.scan_text import ScanSection, scan_sections
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.class_counts_view import ClassCountsView
from gpupanel.ui.widgets.labels import ElidedLabel, ProseLabel
from gpupanel.ui.widgets.tips import wrapped

_NAME_WIDTH = 20 * GRID
_CLASSES = "Classes: "
_TALLIES = ("Stored as", "Pixels, width x height")
"""Their names are longer than their numbers."""
_SHORT = ("Examples", "Empty classes", *_TALLIES)
"""Sections of few and short lines: two of them stand beside each other."""


def section_views(scan: DataScan) -> Iterator[QWidget]:
    """A card for each section, from top to bottom."""
    short: list[QWidget] = []
    sets: dict[str, ScannedSet] = {each.name: each for each in scan.sets}
    long: list[QWidget] = []
    for section in scan_sections(scan):
        part = sets.get(section.title.removeprefix(_CLASSES).lower())
        if section.title.startswith(_CLASSES) and part is not None:
            short.append(_classes(part))
        elif section.title in _SHORT:
            short.append(_facts(section, is_tally=section.title in _TALLIES))
        else:
            long.append(_facts(section))
    for first in range(0, len(short), 2):
        yield _beside_each_other(short[first : first + 2])
    yield from long


def _facts(section: ScanSection, *, is_tally: bool = False) -> QWidget:
    card, layout = _card(section.title)
    rows = QGridLayout()
    rows.setHorizontalSpacing(GRID)
    rows.setVerticalSpacing(2)
    rows.setColumnMinimumWidth(0, _NAME_WIDTH)
    rows.setColumnStretch(0, 3 if is_tally else 2)
    rows.setColumnStretch(1, 1 if is_tally else 3)
    for place, row in enumerate(section.rows):
        name = ElidedLabel(row.name)
        name.setElideMode(Qt.TextElideMode.ElideMiddle)
        name.setProperty("tone", "muted")
        name.setToolTip(wrapped(row.name))
        text = ProseLabel()
        text.setProse(row.text)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        rows.addWidget(name, place, 0, Qt.AlignmentFlag.AlignTop)
        rows.addWidget(text, place, 1)
    layout.addLayout(rows)
    layout.addStretch(1)
    return card


def _classes(part: ScannedSet) -> QWidget:
    card, layout = _card(f"{_CLASSES}{part.name}")
    counts = ClassCountsView()
    counts.setCounts(part.class_counts)
    layout.addWidget(counts)
    layout.addStretch(1)
    return card


def _card(title: str) -> tuple[QFrame, QVBoxLayout]:
    card = QFrame()
    card.setProperty("card", "true")
    caption = QLabel(title)
    caption.setProperty("role", "title")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID + GRID // 2)
    layout.setSpacing(GRID)
    layout.addWidget(caption)
    return card, layout


def _beside_each_other(cards: Sequence[QWidget]) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(GRID)
    for card in cards:
        layout.addWidget(card, 1)
    return row
