"""Tooltips that teach need room: Qt breaks lines in rich text only."""

from html import escape

from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QToolTip, QWidget

from gpupanel.domain.visible_text import visible_line, visible_lines


def wrapped(tip: str) -> str:
    """The tip as rich text, so that a long sentence becomes a block and not one endless line.

    Whatever it holds is shown as it is: Qt would take a name in which a tag stands for rich text,
    and load the picture that it names.
    """
    return f"<qt>{escape(visible_lines(tip)).replace(chr(10), '<br>')}</qt>" if tip else ""


def show_whole(widget: QWidget, event: QHelpEvent, whole: str, shown: str) -> bool:
    """Answers a question for the tooltip of what may be shortened: all of it first.

    Args:
        widget: What is asked.
        event: The question.
        whole: All that it says.
        shown: What is seen of that.

    Returns:
        That the question was answered.
    """
    tip = widget.toolTip()
    if shown != visible_line(whole) and escape(visible_lines(whole)) not in tip:
        tip = f"{wrapped(whole)}{tip and f'<p>{tip}</p>'}"
    QToolTip.showText(event.globalPos(), tip, widget)
    return True


def teach(widget: QWidget, name: str, tip: str) -> None:
    """Gives a control its tooltip, and the same words to assistive technology.

    Where a part of it has the focus in its place, such as the line of a field with a button, that
    part is what a screen reader is asked about: it has the words, too, unless it has its own.
    """
    widget.setToolTip(wrapped(tip))
    widget.setAccessibleName(name)
    widget.setAccessibleDescription(tip)
    part = widget.focusProxy()
    if part is not None and not part.accessibleName():
        part.setAccessibleName(name)
        part.setAccessibleDescription(tip)
        if not part.toolTip():
            part.setToolTip(wrapped(tip))
