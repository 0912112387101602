"""The pages of the guide, and what stands in a page of Markdown: headings, links, blocks."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "resources" / "guide"
PAGES = sorted(path.name for path in GUIDE.glob("*.md"))
GENERATED = (
    "environment.md",
    "problems.md",
    "problems-data.md",
    "problems-programs.md",
    "problems-hours.md",
    "profile.md",
    "terminal.md",
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """What is fenced.

    Attributes:
        page: Where it stands.
        language: What is said beside the fence.
        text: What is inside.
    """

    page: str
    language: str
    text: str


class Link(NamedTuple):
    """What a link leads to.

    Attributes:
        is_image: It is shown in its place.
        target: A page or file; empty: the same page.
        fragment: The anchor of a heading; empty: none.
    """

    is_image: bool
    target: str
    fragment: str


def source_of(name: str) -> str:
    """A page of the guide as it is written."""
    return (GUIDE / name).read_text(encoding="utf-8")


def blocks_of(page: str, text: str) -> list[Block]:
    """What is fenced in a page."""
    return [Block(page, language, inner) for language, inner in _FENCE.findall(text)]


def guide_blocks(*languages: str) -> list[Block]:
    """What is fenced in all pages, in one of these languages."""
    found = [block for name in PAGES for block in blocks_of(name, source_of(name))]
    return [block for block in found if block.language in languages]


def headings_of(text: str) -> list[tuple[int, str]]:
    """Level and text of each heading, as it is shown."""
    found = _HEADING.findall(_FENCE.sub("", text))
    return [(len(marks), words.replace("`", "")) for marks, words in found]


def anchor(heading: str) -> str:
    """What links call a heading, as GitHub does it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links_of(text: str) -> list[Link]:
    """All links and images of a page, but for what is fenced."""
    return [
        Link(bool(mark), *_parted(target))
        for mark, _, target in _LINK.findall(_FENCE.sub("", text))
    ]


def _parted(target: str) -> tuple[str, str]:
    before, _, fragment = target.partition("#")
    return before, fragment
