"""What is said of a code, whatever the values in the message of one problem."""

from collections.abc import Mapping
from typing import NamedTuple


class ProblemEntry(NamedTuple):
    """A code's place on the page of problems, in Markdown.

    Attributes:
        meaning: What is so.
        cause: Why that comes about.
        fix: What to do.
    """

    meaning: str
    cause: str
    fix: str


class ProblemChapter(NamedTuple):
    """Codes that are about the same, in the order of the page.

    Attributes:
        title: Its heading.
        about: Where these problems are met.
        entries: By code.
    """

    title: str
    about: str
    entries: Mapping[str, ProblemEntry]
