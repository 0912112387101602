"""HTML that is put together so that no text of a run can be anything but text."""

import html
import re
from collections.abc import Iterable, Sequence

from gpupanel.domain.visible_text import visible_lines

LONGEST_TEXT = 2_000
"""Characters of one text of a run: more than any person writes into a setting or a message."""

_ENDS_PART = re.compile(r"(?<=\w)([_/]+|[-.](?!\d))(?=\w)")
"""Not within numbers and dates."""


class Html(str):
    """HTML that stands in a page as it is; every other text is escaped."""

    __slots__ = ()


def text(content: str, longest: int = LONGEST_TEXT) -> Html:
    """Text as HTML: marks of HTML are escaped, control characters seen, what is too long cut."""
    cut = content if len(content) <= longest else f"{content[:longest]}…"
    return Html(html.escape(visible_lines(cut)))


def breakable(name: str, longest: int) -> Html:
    """A name as HTML, with places where a line may end: between its parts, and not within one."""
    return Html(_ENDS_PART.sub(r"\1<wbr>", text(name, longest)))


def element(name: str, *children: str, **attributes: str | float) -> Html:
    """An element with its content.

    Args:
        name: Of the element.
        children: Its content; what is no :class:`Html` is text.
        attributes: By name; ``class_`` is ``class``, and ``stroke_width`` is ``stroke-width``. What
            is no :class:`Html` is text here, too.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{given}>{joined(*children)}</{name}>")


def _attribute(value: str | float) -> Html:
    return value if isinstance(value, Html) else text(str(value))


def joined(*parts: str) -> Html:
    """The parts, one after the other; what is no :class:`Html` is text."""
    return Html("".join(part if isinstance(part, Html) else text(part) for part in parts))


def note(words: str, look: str = "muted") -> Html:
    """A paragraph of that look (a class of the style sheet); empty without words."""
    return element("p", words, class_=look) if words else Html()


def section(title: str, *content: str) -> Html:
    """A part of the page under its heading; empty without content."""
    filled = [part for part in content if part]
    return element("section", element("h2", title), *filled) if filled else Html()


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> Html:
    """A table; empty without rows.

    Args:
        heads: Of the columns.
        rows: A cell for each column.
        texts: So many columns from the left hold text; those after them hold numbers, which stand
            one below the other.
    """
    kinds = ["" if place < texts else "number" for place in range(len(heads))]
    head = [
        element("th", title, scope="col", class_=kind)
        for title, kind in zip(heads, kinds, strict=True)
    ]
    body = [
        element(
            "tr", *(element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True))
        )
        for row in rows
    ]
    if not body:
        return Html()
    return element(
        "div",
        element("table", element("thead", element("tr", *head)), element("tbody", *body)),
        class_="scrolls",
    )


def terms(pairs: Iterable[tuple[str, str]], **attributes: str) -> Html:
    """Names and what they are, as a list of two columns; empty without any."""
    rows = [element("div", element("dt", name), element("dd", value)) for name, value in pairs]
    return element("dl", *rows, **attributes) if rows else Html()
