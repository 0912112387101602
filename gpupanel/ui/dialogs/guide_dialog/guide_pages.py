"""The pages of the guide as text: their order, their headings, and what stands in each part."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from gpupanel.files import resources

FIRST: Final = "index.md"
"""Names all others, in their order."""
_LISTED: Final = 2
"""Headings of this depth are in the list of contents."""

_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_IMAGE: Final = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK: Final = re.compile(r"\[((?:[^\]`]|`[^`]*`)*)\]\(([^)#]*)[^)]*\)")
_HEADING: Final = re.compile(r"(#+) (.+)")
_ROW_BELOW_HEAD: Final = re.compile(r"[|\s:-]+")


class Passage(NamedTuple):
    """A heading, a paragraph, an item of a list, a row of a table or a block of code.

    Attributes:
        page: The file.
        heading: Of its section, as it is shown; of a heading: itself.
        text: What is read, without marks.
        is_heading: It is one.
    """

    page: str
    heading: str
    text: str
    is_heading: bool


class GuidePage(NamedTuple):
    """One page.

    Attributes:
        name: Of its file.
        title: Its first heading.
        headings: Those below it that are in the list of contents.
        passages: All of it, in order.
    """

    name: str
    title: str
    headings: Sequence[str]
    passages: Sequence[Passage]


def anchor(heading: str) -> str:
    """What links call a heading, as GitHub does it: "Your own data" is ``your-own-data``."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def shown_markdown(name: str) -> str:
    """A page as Qt shows it; empty: there is none of that name.

    Qt hides all that follows a tag that is not closed, breaks no line within a cell, and shows code
    in a heading as small as elsewhere.
    """
    path = resources.document(name)
    text = "" if path is None else _COMMENT.sub("", path.read_text(encoding="utf-8"))
    text = re.sub(r"(?<![.:])<br>", "; ", text).replace("<br>", " ")
    return re.sub(r"^#+ .*$", lambda heading: heading[0].replace("`", ""), text, flags=re.MULTILINE)


@cache
def guide_pages() -> tuple[GuidePage, ...]:
    """All pages, in the order in which the first one names them."""
    first = shown_markdown(FIRST)
    linked = (target for _, target in _LINK.findall(first))
    names = dict.fromkeys([FIRST, *(name for name in linked if name.endswith(".md"))])
    return tuple(_page(name) for name in names if resources.document(name) is not None)


def _page(name: str) -> GuidePage:
    passages = list(_passages(name))
    levels = [
        (len(found[1]), _plain(found[2]))
        for line in _without_code(shown_markdown(name))
        if (found := _HEADING.fullmatch(line))
    ]
    title = next((text for _, text in levels), name)
    return GuidePage(name, title, [text for level, text in levels if level == _LISTED], passages)


def _without_code(markdown: str) -> Iterator[str]:
    is_code = False
    for line in markdown.splitlines():
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield line


def _passages(name: str) -> Iterator[Passage]:
    heading, gathered = "", list[str]()
    is_code = False

    def gathered_passage() -> Iterator[Passage]:
        text = " ".join(filter(None, gathered))
        gathered.clear()
        if text:
            yield Passage(name, heading, text, is_heading=False)

    for line in shown_markdown(name).splitlines():
        if line.startswith("```"):
            is_code = not is_code
            yield from gathered_passage()
        elif is_code:
            # Each line of code is found by itself.
            gathered.append(line.strip())
            yield from gathered_passage()
        elif found := _HEADING.fullmatch(line):
            yield from gathered_passage()
            heading = _plain(found[2])
            yield Passage(name, heading, heading, is_heading=True)
        elif not line.strip() or _ROW_BELOW_HEAD.fullmatch(line):
            yield from gathered_passage()
        else:
            if re.match(r"\s*([-|]|\d+\.) ?", line):
                yield from gathered_passage()
            gathered.append(_plain(line))
    yield from gathered_passage()


def _plain(markdown: str) -> str:
    """A line without its marks; cells of a table are set apart by dots."""
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", markdown)).strip()
    if text.startswith("|"):
        cells = re.split(r"(?<!\\)\|", text.strip("|"))
        text = " · ".join(cell.strip() for cell in cells if cell.strip()).replace("\\|", "|")
    text = re.sub(r"^(-|\d+\.) ", "", text)
    return re.sub(r"\*\*|(?<!\w)\*(?=\w)|(?<=[\w…])\*(?!\w)", "", text.replace("`", ""))
