import pytest

from gpupanel.files import resources


def test_that_shipped_files_are_found_in_a_source_checkout():
    assert resources.path("styles", "panel.qss").is_file()


def test_that_an_installed_package_comes_before_what_lies_beside_it(monkeypatch, tmp_path):
    inside, beside = tmp_path / "gpupanel" / "resources", tmp_path / "resources"
    for place in (inside, beside):
        (place / "styles").mkdir(parents=True)
    monkeypatch.setattr(resources, "_PLACES", (inside, beside))
    resources.folder.cache_clear()
    try:
        assert resources.folder() == inside
    finally:
        resources.folder.cache_clear()


def test_that_a_damaged_installation_is_shown_with_where_it_was_searched(monkeypatch, tmp_path):
    monkeypatch.setattr(resources, "_PLACES", (tmp_path / "nothing",))
    resources.folder.cache_clear()
    try:
        with pytest.raises(FileNotFoundError, match="nothing"):
            resources.folder()
    finally:
        resources.folder.cache_clear()
