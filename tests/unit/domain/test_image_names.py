"""What names of files and folders say of images."""

import pytest

from gpupanel.domain.image_names import is_hidden, suffix_of


@pytest.mark.parametrize(
    "name",
    [
        *("._4.jpg", ".ipynb_checkpoints", ".DS_Store", "@eaDir", "__MACOSX", "Thumbs.db"),
        *("DESKTOP.INI", "$RECYCLE.BIN", "lost+found", "System Volume Information"),
    ],
)
def test_that_what_systems_put_beside_files_is_hidden(name: str) -> None:
    assert is_hidden(name)


@pytest.mark.parametrize("name", ["a.png", "_a.png", "a.", "@home", "thumbs", "macosx"])
def test_that_what_people_name_is_not_hidden(name: str) -> None:
    assert not is_hidden(name)


def test_that_a_suffix_has_a_name_before_and_letters_behind_it() -> None:
    names = ("a.b.PNG", "png", ".png", "x.", "")
    assert [suffix_of(name) for name in names] == [".png", "", "", "", ""]
