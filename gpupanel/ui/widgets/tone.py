"""How a text is meant, as the style sheet colours it."""

from enum import StrEnum

from PySide6.QtWidgets import QWidget


class Tone(StrEnum):
    """How a text is meant; its words say the same."""

    PLAIN = ""
    MUTED = "muted"
    GOOD = "good"
    WARNING = "warning"
    ERROR = "error"


def set_tone(widget: QWidget, tone: Tone) -> None:
    """Colour a label, also when it is on the screen already."""
    if widget.property("tone") == tone.value:
        return
    widget.setProperty("tone", tone.value)
    # A style sheet looks at properties only when it is applied.
    widget.style().unpolish(widget)
    widget.style().polish(widget)
