"""Pieces of a script, put together."""

from collections.abc import Collection


def lines_for(text: str, holds: Collection[str]) -> str:
    """The lines whose condition holds.

    Args:
        text: Each line is a margin, ``|`` and what is to be written. A capital letter in the margin
            has to hold, a small one must not.
        holds: Capital letters.
    """
    lines = []
    for line in text.strip("\n").split("\n"):
        margin, _, written = line.partition("|")
        conditions = margin.replace(" ", "")
        if all((each.upper() in holds) == each.isupper() for each in conditions):
            lines.append(written)
    return "\n".join(lines)


def joined(*parts: str) -> str:
    """The parts that hold something, one below the other."""
    text = ""
    for part in (each.strip("\n") for each in parts if each):
        # A definition ends before two empty lines.
        is_after_definition = text.rpartition("\n")[2].startswith(" ")
        text += ("\n\n\n" if is_after_definition else "\n" if text else "") + part
    return text


def indented(lines: str, spaces: int = 4) -> str:
    """The lines, further to the right."""
    return "\n".join(f"{' ' * spaces}{line}" if line else "" for line in lines.split("\n"))
