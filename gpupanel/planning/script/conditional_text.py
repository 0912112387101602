"""Text of which some lines are there only where something holds."""

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
