"""The README says in short what the guide says."""

import re
from pathlib import Path

import pytest

from tests.guide.pages import PAGES, ROOT, links_of, source_of

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_that_the_readme_fits_on_a_screen_or_two() -> None:
    assert len(README.splitlines()) < 80


@pytest.mark.parametrize("page", PAGES)
def test_that_the_readme_leads_to_every_page(page: str) -> None:
    assert f"resources/guide/{page}" in [link.target for link in links_of(README)]


def test_that_the_commands_of_the_readme_are_those_of_the_guide() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    assert blocks[0] in source_of("install.md")


def test_that_the_readme_shows_two_unequal_cards_in_both_colour_schemes() -> None:
    shown = re.findall(r'(?:src|srcset)="([^"]+)"', README)
    assert [*map(Path, shown)] == [
        Path(f"resources/screenshots/session-{scheme}.png") for scheme in ("light", "dark")
    ]
    assert all((ROOT / each).is_file() for each in shown)
