"""A layout that many widgets use."""

from PySide6.QtWidgets import QVBoxLayout, QWidget


def column(parent: QWidget, *, spacing: int = 8) -> QVBoxLayout:
    """A vertical layout without margins, on the grid of eight pixels."""
    layout = QVBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    return layout
