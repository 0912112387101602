"""The site has the pages in the order of the index; `make guide` itself follows its links."""

import re
import tomllib
from typing import Any

from tests.guide.pages import GUIDE, PAGES, ROOT, index_pages, source_of

TEXT = (ROOT / "packaging" / "zensical.toml").read_text(encoding="utf-8")
SETTINGS: dict[str, Any] = tomllib.loads(TEXT)["project"]


def test_that_the_site_has_the_pages_in_the_order_of_the_index() -> None:
    pages = [page for part in SETTINGS["nav"] for named in part.values() for page in named]
    assert pages == ["index.md", *index_pages()]
    assert sorted(pages) == PAGES


def test_that_the_site_loads_nothing_from_elsewhere() -> None:
    """But for one of that name, the theme takes the search of pages that are files from the web."""
    assert SETTINGS["theme"]["font"] is False
    assert "offline" in SETTINGS["plugins"]
    assert SETTINGS["extra"]["polyfills"] == ["iframe-worker.js"]
    own = [*SETTINGS["extra_css"], *SETTINGS["extra_javascript"], *SETTINGS["extra"]["polyfills"]]
    assert sorted(own) == sorted(
        path.name for path in GUIDE.iterdir() if path.suffix in {".css", ".js"}
    )
    for text in (TEXT, *map(source_of, own)):
        assert "://" not in text


def test_that_codes_of_problems_stay_whole() -> None:
    """The theme breaks links and code anywhere, and cuts the contents at the column's end."""
    style = source_of("site.css")
    broken, cut = re.findall(r"\n([^{}/*]+)\{\s+(?:word-break: normal|overflow: visible);", style)
    assert {each.strip() for each in broken.split(",")} >= {".md-typeset a", ".md-typeset code"}
    assert cut.strip() == ".md-nav--secondary .md-ellipsis"


def test_that_every_picture_of_the_guide_is_there_for_light_and_for_dark_pages() -> None:
    """The site's script exchanges one for the other by their names."""
    names = {path.name for path in (GUIDE / "images").iterdir()}
    assert names
    for name in names:
        kind, other = ("light", "dark") if "-light" in name else ("dark", "light")
        assert name.replace(f"-{kind}.png", f"-{other}.png") in names - {name}


def test_that_what_is_wrong_with_the_site_fails() -> None:
    (command,) = re.findall(
        r"^\t.*zensical build.*$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    assert "--strict" in command
    assert SETTINGS["validation"] == {"invalid_links": True, "invalid_link_anchors": True}


def test_that_the_page_about_installing_names_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"^\| `(\w+)` \|", source_of("install.md"), re.MULTILINE)
    assert set(named) == project["optional-dependencies"].keys() - {"dev", "docs"}
