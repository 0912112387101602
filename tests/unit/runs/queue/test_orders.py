"""The queue's files: what is ordered stands there, for everybody and whole."""

import json
import stat
import threading
from pathlib import Path

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState
from gpupanel.runs.queue.queue_files import QueueFiles
from tests.fakes.queued_runs import GPU_A, profile_on


def test_that_an_added_profile_waits_whole(files: QueueFiles, runs_dir: Path) -> None:
    profile = profile_on(GPU_A, name="digits & co")
    added = orders.add(files, profile, runs_dir)
    again = QueueFiles(files.folder)
    assert again.read().entries == (added,)
    assert (added.name, added.runs_dir, added.state) == (
        "digits & co",
        runs_dir,
        EntryState.WAITING,
    )
    assert again.profile(added.id) == profile


def test_that_a_queue_that_nobody_used_is_empty_and_makes_no_folder(files: QueueFiles) -> None:
    assert files.read().entries == ()
    assert files.fingerprint() is None
    assert not files.folder.exists()


def test_that_only_the_owner_can_read_the_queue(files: QueueFiles, runs_dir: Path) -> None:
    orders.add(files, Profile(), runs_dir)
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700


def test_that_relative_paths_mean_the_folder_where_the_profile_was_added(
    files: QueueFiles, runs_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = Profile.model_validate({"data": {"source": "npz", "path": "mine.npz"}})
    added = orders.add(files, data, runs_dir)
    assert files.profile(added.id).data.path == str(tmp_path / "mine.npz")  # type: ignore[union-attr]


def test_that_entries_added_at_once_from_everywhere_are_all_there(
    files: QueueFiles, runs_dir: Path
) -> None:
    def add_some() -> None:
        for _ in range(5):
            orders.add(QueueFiles(files.folder), Profile(), runs_dir)

    threads = [threading.Thread(target=add_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    line = files.read()
    assert len({entry.id for entry in line.entries}) == 20
    assert all(files.profile_path(entry.id).exists() for entry in line.entries)


def test_that_removed_entries_take_their_profiles_along(files: QueueFiles, runs_dir: Path) -> None:
    first, second = (orders.add(files, Profile(), runs_dir) for _ in range(2))
    orders.remove(files, first.id)
    assert files.read().entries == (second,)
    assert [path.stem for path in (files.folder / "profiles").iterdir()] == [second.id]


def test_that_what_was_taken_out_stands_where_it_stood_once_it_is_put_back(
    files: QueueFiles, runs_dir: Path
) -> None:
    entries = tuple(orders.add(files, Profile(name=name), runs_dir) for name in "abc")
    removed = orders.take_out(files, entries[1].id)
    assert removed is not None
    assert files.read().entries == (entries[0], entries[2])
    assert orders.put_back(files, removed).entries == entries
    assert files.profile(entries[1].id).name == "b"
    orders.edit(files, entries[1].id, Profile(name="later"))
    orders.put_back(files, removed)
    assert files.profile(entries[1].id).name == "later"


def test_that_an_entry_without_a_profile_is_taken_out_for_good(
    files: QueueFiles, runs_dir: Path
) -> None:
    entry = orders.add(files, Profile(), runs_dir)
    files.profile_path(entry.id).unlink()
    assert orders.take_out(files, entry.id) is None
    assert files.read().entries == ()


def test_that_an_edited_entry_has_the_other_profile(files: QueueFiles, runs_dir: Path) -> None:
    added = orders.add(files, Profile(name="before"), runs_dir)
    edited = orders.edit(files, added.id, Profile(name="after"))
    assert files.profile(added.id).name == edited.name == "after"
    assert files.read().entries == (edited,)


def test_that_of_two_who_edit_an_entry_at_once_the_later_is_refused_and_the_first_stays(
    files: QueueFiles, runs_dir: Path
) -> None:
    added = orders.add(files, Profile(name="before"), runs_dir)
    first = orders.edit(files, added.id, Profile(name="first"), added.revision)
    with pytest.raises(ProblemError) as caught:
        orders.edit(files, added.id, Profile(name="second"), added.revision)
    assert caught.value.problems[0].code == "queue_entry_edited_meanwhile"
    assert files.profile(added.id).name == "first"
    assert files.read().entries == (first,)
    orders.edit(files, added.id, Profile(name="second"), first.revision)
    assert files.profile(added.id).name == "second"


def test_that_what_was_refused_leaves_profile_and_queue_alone(
    files: QueueFiles, runs_dir: Path
) -> None:
    added = orders.add(files, Profile(name="before"), runs_dir)
    running = added.model_copy(update={"state": EntryState.RUNNING})
    files.change(lambda line: line.with_changed(running))
    with pytest.raises(ProblemError):
        orders.edit(files, added.id, Profile(name="after"))
    assert files.profile(added.id).name == "before"
    assert files.read().entries == (running,)


@pytest.mark.parametrize("content", ["", "{", '{"version": 2}', '{"entries": [{"id": 1}]}', "\xff"])
def test_that_a_damaged_queue_is_reported_and_left_as_it_is(
    files: QueueFiles, runs_dir: Path, content: str
) -> None:
    orders.add(files, Profile(), runs_dir)
    damaged = files.folder / "queue.json"
    damaged.write_text(content, encoding="latin-1")
    for act in (files.read, lambda: orders.add(files, Profile(), runs_dir)):
        with pytest.raises(ProblemError) as caught:
            act()
        assert caught.value.problems[0].code == "queue_unreadable"
        assert str(damaged) in caught.value.problems[0].message
    assert damaged.read_text(encoding="latin-1") == content


def test_that_a_folder_that_may_not_be_written_is_reported(
    files: QueueFiles, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(ProblemError) as caught:
        orders.add(files, Profile(), runs_dir)
    assert caught.value.problems[0].code == "not_permitted"


def test_that_what_killed_writers_left_is_removed(files: QueueFiles, runs_dir: Path) -> None:
    added = orders.add(files, Profile(), runs_dir)
    (files.folder / ".queue.json.123").write_text("half")
    files.profile_path("0123abcd").write_text("of no entry")
    files.remove_left_overs()
    assert [path.stem for path in (files.folder / "profiles").iterdir()] == [added.id]
    assert not (files.folder / ".queue.json.123").exists()
    assert json.loads((files.folder / "queue.json").read_text())["entries"][0]["id"] == added.id


def test_that_the_queue_can_be_paused_and_go_on(files: QueueFiles, runs_dir: Path) -> None:
    orders.add(files, Profile(), runs_dir)
    assert orders.pause(files).paused
    assert not files.read().needs_scheduler
    assert not orders.go_on(files).paused
    assert files.read().needs_scheduler
