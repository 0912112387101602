"""What the guide calls buttons is what stands on them."""

import ast
import re

import pytest

from tests.guide.pages import PAGES, source_of
from tests.unit.parsed_package import nodes, parsed_package

NO_BUTTONS = {"Strategy", "Growth", "A limit", "All", "Split", "Worst mistakes"}
"""In bold as a word of the text, or a part of a list."""


def shown_in_the_window() -> set[str]:
    """Texts of the window's source, without the mark of a letter."""
    return {
        node.value.replace("&", "")
        for path, tree in parsed_package().items()
        if path.startswith("ui/")
        for node in nodes(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.parametrize("page", PAGES)
def test_that_buttons_of_the_guide_are_those_of_the_window(page: str) -> None:
    text = re.sub(r"\s+", " ", source_of(page))
    named = set(re.findall(r"(?<!\*)\*{1,2}([A-Z][\w ]+…)\*{1,2}(?!\*)", text))
    if page == "window.md":
        named |= set(re.findall(r"\*\*([A-Z][\w ]+…?)\*\*", text)) - NO_BUTTONS
        assert len(named) > 10
    # "More ▾", "Warnings: 3": what follows is no part of the name.
    shown = {re.match(r"[\w ]*\w…?|", text)[0] for text in shown_in_the_window()}  # type: ignore[index]
    missing = {name for name in named if not {name, name.removesuffix("…")} & shown}
    assert missing == set()


def test_that_a_button_that_is_not_there_is_seen() -> None:
    assert "Scan data…" in shown_in_the_window()
    assert "Scan the data of the session" not in shown_in_the_window()
