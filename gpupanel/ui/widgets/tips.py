"""Tooltips that teach need room: Qt breaks lines in rich text only."""

from html import escape


def wrapped(tip: str) -> str:
    """The tip as rich text, so that a long sentence becomes a block and not one endless line."""
    return f"<qt>{escape(tip)}</qt>" if tip else ""
