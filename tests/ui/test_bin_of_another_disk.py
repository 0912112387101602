"""The desktop's own bin, asked for a run that lies on another file system."""

from pathlib import Path

from gpupanel.runs.history.deleting import delete_run
from gpupanel.ui.workers.history_worker import DesktopBin
from tests.fakes.run_directory import WrittenRun
from tests.fakes.small_disks import disk_for_a_run  # noqa: F401 - a fixture


def files_of(folders: list[Path]) -> dict[str, bytes]:
    paths = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {path.name: path.read_bytes() for path in paths}


def test_that_the_desktops_bin_takes_the_run_whole_or_leaves_it_whole(
    qapp,
    tmp_path,
    disk_for_a_run,  # noqa: F811
    monkeypatch,
):
    home = tmp_path / "data home"
    home.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    with WrittenRun(disk_for_a_run / "runs") as run:
        run.begin()
        run.end()
    root = run.layout.root
    before = files_of([root])
    assert {"events.jsonl", "profile.toml", "plan.json"} <= before.keys()
    if delete_run(run.layout, DesktopBin().take):
        assert not root.exists()
        assert files_of([home, *disk_for_a_run.glob(".Trash*")]).items() >= before.items()
    else:
        assert files_of([root]).items() >= before.items()
        # Which the window then offers.
        assert delete_run(run.layout, None)
        assert not root.exists()
