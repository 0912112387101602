"""Names that lead to what is open, whatever lies under its own name by then."""

import os
import stat
from pathlib import Path

import pytest

from gpupanel.files.guarded_files import make_folder, open_to_write, opened_folder
from gpupanel.files.named_descriptors import name_of_folder, named_file, still_copy
from gpupanel.files.regular_files import NotRegularFileError


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text("of the person's")
    return path


def test_that_what_is_written_by_such_a_name_reaches_the_open_file_and_no_link(
    tmp_path: Path, victim: Path
) -> None:
    place = tmp_path / "model.keras"
    with open_to_write(place) as file, named_file(file.fileno(), "model.keras") as name:
        place.rename(tmp_path / "before")
        place.symlink_to(victim)
        assert name.suffix == ".keras"
        assert stat.S_IMODE(name.parent.stat().st_mode) == 0o700
        name.write_text("written")
    assert (tmp_path / "before").read_text() == "written"
    assert victim.read_text() == "of the person's"
    assert not name.parent.exists()


def test_that_such_a_name_is_there_though_the_folder_for_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with (tmp_path / "file").open("w+b") as file, named_file(file.fileno(), "x") as name:
        name.write_text("written")
        assert file.read() == b"written"


def test_that_a_folder_stays_the_one_that_was_opened(tmp_path: Path, victim: Path) -> None:
    folder = tmp_path / "tensorboard"
    make_folder(folder, tmp_path)
    with opened_folder(folder, tmp_path) as opened:
        folder.rename(tmp_path / "before")
        folder.symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere").mkdir()
        (name_of_folder(opened) / "events").write_text("written")
    assert (tmp_path / "before" / "events").read_text() == "written"
    assert not list((tmp_path / "elsewhere").iterdir())


def test_that_a_copy_stays_still_whatever_becomes_of_the_file(tmp_path: Path, victim: Path) -> None:
    with still_copy(victim) as copy:
        with victim.open("r+b") as file:
            file.write(b"in its place")
        os.truncate(victim, 3)
        assert copy.read() == b"of the person's"
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(NotRegularFileError), still_copy(tmp_path / "fifo"):
        pass
