"""Pieces of a script, put together."""


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
