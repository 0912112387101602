"""Every link of the guide, of the README and of CONTRIBUTING leads to what is there."""

import itertools
import re

import pytest

from tests.guide.pages import (
    GUIDE,
    PAGES,
    ROOT,
    anchor,
    blocks_of,
    headings_of,
    index_pages,
    links_of,
    source_of,
)

OUTSIDE = ("https://", "http://")
BESIDE = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "packaging/RELEASING.md"]


@pytest.mark.parametrize("name", PAGES)
def test_that_links_of_the_guide_lead_to_its_pages_and_images(name: str) -> None:
    for link in links_of(source_of(name)):
        if link.target.startswith(OUTSIDE):
            continue
        # The window's Help and the site have these files, and no others.
        path = GUIDE / (link.target or name)
        assert path.is_file(), link
        if link.is_image:
            assert link.target.startswith("images/"), link
        else:
            assert link.target == "" or link.target in PAGES, link
        if link.fragment:
            anchors = [anchor(text) for _, text in headings_of(path.read_text(encoding="utf-8"))]
            assert anchors.count(link.fragment) == 1, link


@pytest.mark.parametrize("name", BESIDE)
def test_that_links_beside_the_guide_lead_somewhere(name: str) -> None:
    file = ROOT / name
    for link in links_of(file.read_text(encoding="utf-8")):
        if link.target.startswith(OUTSIDE):
            continue
        path = file.parent / (link.target or file.name)
        assert path.exists(), link
        if link.fragment:
            anchors = [anchor(text) for _, text in headings_of(path.read_text(encoding="utf-8"))]
            assert link.fragment in anchors, link


def test_that_every_page_is_in_the_index() -> None:
    assert sorted(index_pages()) == sorted(set(PAGES) - {"index.md"})


@pytest.mark.parametrize("name", PAGES)
def test_that_a_page_has_one_title_and_headings_that_follow_each_other(name: str) -> None:
    headings = headings_of(source_of(name))
    levels = [level for level, _ in headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    at_top = [anchor(text) for level, text in headings if level <= 2]
    assert len(set(at_top)) == len(at_top)


@pytest.mark.parametrize("name", PAGES)
def test_that_the_window_and_the_site_can_show_all_of_a_page(name: str) -> None:
    source = source_of(name)
    # Qt loses the form of the first cell of a table right below a block of code.
    assert "```\n\n|" not in source
    code = [line for block in blocks_of(name, source) for line in block.text.splitlines()]
    assert [line for line in code if len(line) > 100] == []
    # Neither admonitions, tabs nor attributes, which only the site would know.
    assert not re.search(r"^(!!!|\?\?\?|===) |\{[:.#][^}]*\}$", source, re.MULTILINE)


def test_that_every_image_is_shown_on_a_page() -> None:
    shown = {link.target for name in PAGES for link in links_of(source_of(name)) if link.is_image}
    light = {f"images/{path.name}" for path in GUIDE.glob("images/*-light.png")}
    dark = {f"images/{path.name}" for path in GUIDE.glob("images/*-dark.png")}
    assert shown == light
    assert {name.replace("-light", "-dark") for name in light} == dark
    assert len(list(GUIDE.glob("images/*"))) == len(light | dark)
