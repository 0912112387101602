"""A run's folder is searched while the run writes, replaces and removes what is in it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.unsafe_entries import check_run_folder


@pytest.mark.parametrize("gone", ["file", "folder"])
def test_that_what_the_run_removes_meanwhile_is_no_flaw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    checkpoints = tmp_path / "checkpoints"
    partial = checkpoints / ".step-000004263.partial"
    partial.mkdir(parents=True)
    (partial / "state.npz").touch()
    scan, seen = os.scandir, []

    def scanned(folder: Path) -> "os.ScandirIterator[str]":
        """As if the run came between listing that folder and looking at what is in it."""
        found = scan(folder)
        if folder == (partial if gone == "file" else checkpoints):
            entries = list(found)
            shutil.rmtree(partial)
            seen.extend(entries)
            return _Listed(entries)  # type: ignore[return-value]
        return found

    monkeypatch.setattr(os, "scandir", scanned)
    check_run_folder(RunLayout(tmp_path))
    assert [each.name for each in seen] == ["state.npz" if gone == "file" else partial.name]


class _Listed:
    def __init__(self, entries: list["os.DirEntry[str]"]) -> None:
        self._entries = entries

    def __enter__(self) -> Iterator["os.DirEntry[str]"]:
        return iter(self._entries)

    def __exit__(self, *_: object) -> None:
        pass


def test_that_a_run_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        check_run_folder(RunLayout(tmp_path / "gone"))
