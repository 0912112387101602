"""The README says in short what the guide says, and the same figures."""

import re

import pytest

from tests.guide.pages import PAGES, ROOT, links_of, source_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
FIGURES = README.partition("## What was measured")[2].partition("\n## ")[0]


def test_that_the_readme_fits_on_a_screen_or_two() -> None:
    assert len(README.splitlines()) < 120


@pytest.mark.parametrize("page", PAGES)
def test_that_the_readme_leads_to_every_page(page: str) -> None:
    assert f"resources/guide/{page}" in [link.target for link in links_of(README)]


def test_that_every_figure_of_the_readme_stands_on_the_page_of_figures() -> None:
    rows = [line for line in FIGURES.splitlines() if line.startswith("| ")]
    assert len(rows) > 8
    assert [row for row in rows if row not in source_of("figures.md")] == []


def test_that_the_two_commands_of_the_readme_are_those_of_the_guide() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    assert blocks[0] in source_of("install.md")
