"""The site has the pages in the order of the index; `make guide` itself follows its links."""

import re
import tomllib

from tests.guide.pages import PAGES, ROOT, index_pages, source_of

SETTINGS = (ROOT / "packaging" / "mkdocs.yml").read_text(encoding="utf-8")


def test_that_the_site_has_the_pages_in_the_order_of_the_index() -> None:
    pages = re.findall(r"^ +- (\S+\.md)$", SETTINGS, re.MULTILINE)
    assert pages == ["index.md", *index_pages()]
    assert sorted(pages) == PAGES


def test_that_the_site_loads_nothing_from_elsewhere() -> None:
    assert "\n  font: false\n" in SETTINGS
    # It loads a script from the web.
    assert "offline" not in SETTINGS
    assert "://" not in SETTINGS


def test_that_codes_of_problems_stay_whole() -> None:
    """The theme breaks links and code anywhere, and cuts the contents at the column's end."""
    assert "\nextra_css:\n  - site.css\n" in SETTINGS
    style = source_of("site.css")
    broken, cut = re.findall(r"\n([^{}/*]+)\{\s+(?:word-break: normal|overflow: visible);", style)
    assert {each.strip() for each in broken.split(",")} >= {".md-typeset a", ".md-typeset code"}
    assert cut.strip() == ".md-nav--secondary .md-ellipsis"


def test_that_what_is_wrong_with_the_site_fails() -> None:
    (command,) = re.findall(r"^\t.*mkdocs build.*$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert "--strict" in command
    assert "--quiet" not in command  # warnings are not counted then
    for what in ("not_found", "anchors", "omitted_files"):
        assert f"{what}: warn" in SETTINGS


def test_that_the_page_about_installing_names_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"^\| `(\w+)` \|", source_of("install.md"), re.MULTILINE)
    assert set(named) == project["optional-dependencies"].keys() - {"dev", "docs"}
