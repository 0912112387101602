"""A scan's sections, seen: rows of facts, and classes as bars."""

from collections.abc import Iterator, Sequence

from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpupanel.domain.scan import DataScan, ScannedSet
from gpupanel.domain.scan_text import ScanSection, scan_sections
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.class_counts_view import ClassCountsView
from gpupanel.ui.widgets.facts_card import FactsCard, TitledCard

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
    rows = [(row.name, row.text) for row in section.rows]
    return FactsCard(section.title, rows, is_tally=is_tally)


def _classes(part: ScannedSet) -> QWidget:
    counts = ClassCountsView()
    counts.setCounts(part.class_counts)
    return TitledCard(f"{_CLASSES}{part.name}", counts)


def _beside_each_other(cards: Sequence[QWidget]) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(GRID)
    for card in cards:
        layout.addWidget(card, 1)
    return row
