"""Files that end too early, at any byte: read, or refused with a sentence, and left as they are."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from enum import Enum, auto
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.files import whole_files
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.profile_file import read_profile, read_run_profile, write_profile
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.history.label import change_label, read_label
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepBegun, append_event, read_state
from gpupanel.runs.trust.checked_start import check_start
from gpupanel.runs.trust.trusted import trust, trust_problem, trusted_file, untrusted
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.remembered import remembered_settings
from tests.fakes.run_directory import WrittenRun

FEW = 12
"""Places in each file at which it is cut in every run of the tests."""


class Cut:
    """A file of ours, what reads it, and what changes it."""

    def __init__(
        self,
        file: Path,
        *reads: Callable[[], object],
        changes: Callable[[], object] | None = None,
    ) -> None:
        self.file, self.reads, self.changes = file, reads, changes


def files_of(tmp_path: Path, runs_dir: Path) -> Iterator[Cut]:
    with WrittenRun(runs_dir, Profile(name="cut")) as written:
        written.begin()
        written.step(3)
        written.end(Outcome.STOPPED)
    layout = written.layout
    change_label(layout, name="a name", notes="notes\nof it", tags=("one", "two"))

    def listed() -> object:
        return summarize_run(layout)

    yield Cut(layout.profile, lambda: read_run_profile(layout), listed)
    yield Cut(layout.plan, lambda: check_start(layout), lambda: plan_if_readable(layout), listed)
    yield Cut(layout.events, lambda: RunFollower(layout).poll(), listed)
    yield Cut(
        layout.label,
        lambda: read_label(layout),
        listed,
        changes=lambda: change_label(layout, name="another"),
    )
    mine = tmp_path / "mine.toml"
    mine.write_text(dump_profile(Profile(name="mine")))
    yield Cut(mine, lambda: read_profile(mine))
    files = QueueFiles(queue_dir())
    orders.pause(files)
    entry = orders.add(files, Profile(name="waits"), runs_dir)
    yield Cut(files.profile_path(entry.id), lambda: files.profile(entry.id))

    def turned() -> object:
        return files.change(lambda line: line.with_paused(paused=not line.paused))

    yield Cut(files.folder / "queue.json", files.read, changes=turned)
    sweep = SweepLayout(tmp_path / "sweep")
    sweep.root.mkdir()
    append_event(sweep, SweepBegun(time_s=1.0, trial_count=3))
    yield Cut(sweep.record, lambda: read_state(sweep))
    code = UserCode(key="model.path", path=tmp_path / "code.py", content=b"pass")
    trust((code,))
    yield Cut(trusted_file(), lambda: trusted_or_told(code))
    another = UserCode(key="model.path", path=tmp_path / "another.py", content=b"...")
    yield Cut(trusted_file(), trust_problem, changes=lambda: trust((another,)))
    yield Cut(mine, changes=lambda: write_profile(mine, Profile(name="other")))


def trusted_or_told(code: UserCode) -> None:
    told = trust_problem()
    assert (told is None) == (not untrusted((code,)))
    if told is not None:
        raise ProblemError(told)


def assert_cut_is_told(cut: Cut, places: Callable[[int], range]) -> None:
    whole = cut.file.read_bytes()
    for place in places(len(whole)):
        cut.file.write_bytes(whole[:place])
        for act in (*cut.reads, *([cut.changes] if cut.changes else [])):
            try:
                act()
            except ProblemError as error:
                assert_told(error.problems)
                assert cut.file.read_bytes() == whole[:place], (cut.file, place)
            except OSError:
                assert act is not cut.changes
    cut.file.write_bytes(whole)


def assert_told(problems: tuple[Problem, ...]) -> None:
    assert problems
    for problem in problems:
        assert problem.message.endswith((".", "?")), problem
        assert problem.hint, problem


def test_that_files_cut_at_some_places_are_read_or_refused(
    tmp_path: Path, runs_dir: Path, state_dir: Path
) -> None:
    for cut in files_of(tmp_path, runs_dir):
        assert_cut_is_told(cut, lambda size: range(0, size, max(1, size // FEW)))


@pytest.mark.slow
def test_that_files_cut_at_every_place_are_read_or_refused(
    tmp_path: Path, runs_dir: Path, state_dir: Path
) -> None:
    for cut in files_of(tmp_path, runs_dir):
        assert_cut_is_told(cut, range)


@pytest.mark.slow
def test_that_settings_of_the_window_cut_at_every_place_are_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.ini"
    settings = QSettings(str(path), QSettings.Format.IniFormat)
    settings.setValue("window/geometry", b"\\x01\\xd9" * 40)
    settings.setValue("window/keeps_running", 1)
    settings.setValue("profiles/recent", ["one.toml", "two, three.toml"])
    settings.sync()
    whole = path.read_bytes()
    for place in range(len(whole)):
        cut = tmp_path / f"{place}.ini"
        cut.write_bytes(whole[:place])
        read = QSettings(str(cut), QSettings.Format.IniFormat)
        remembered_settings(read)
        for key in read.allKeys():
            read.value(key)


class Standing(Enum):
    """What somebody puts in the place of a file between its reading and its writing."""

    LINK = auto()
    FOLDER = auto()
    FIFO = auto()

    def put(self, place: Path, outside: Path) -> None:
        place.unlink(missing_ok=True)
        if self is Standing.LINK:
            place.symlink_to(outside)
        elif self is Standing.FOLDER:
            place.mkdir()
        else:
            os.mkfifo(place)


@pytest.mark.parametrize("standing", list(Standing))
def test_that_what_takes_the_place_of_a_file_before_it_is_written_leads_nowhere(
    tmp_path: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch, standing: Standing
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    opened_folder = whole_files.opened_folder
    for cut in files_of(tmp_path, runs_dir):
        if cut.changes is None:
            continue

        def swap_and_open(
            folder: Path, within: Path | None, place: Path = cut.file
        ) -> AbstractContextManager[int]:
            standing.put(place, outside)
            return opened_folder(folder, within)

        with monkeypatch.context() as patched:
            patched.setattr(whole_files, "opened_folder", swap_and_open)
            try:
                cut.changes()
            except ProblemError as error:
                assert_told(error.problems)
            else:
                assert cut.file.is_file()
                assert not cut.file.is_symlink()
        assert outside.read_text() == "mine"
        if cut.file.is_dir():
            cut.file.rmdir()
        else:
            cut.file.unlink()
