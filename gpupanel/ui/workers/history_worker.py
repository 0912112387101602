"""Lists, names and deletes runs, off the GUI thread: each of them is a directory."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFile, QObject, Signal, Slot

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.error_problems import problems_of
from gpupanel.runs.history.label import RunLabel
from gpupanel.runs.history.past_speed import PastSpeeds
from gpupanel.runs.history.restoring import BinnedRun, restore_run
from gpupanel.runs.history.run_settings import RunSettings, RunSettingsReader
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import RunLister
from gpupanel.runs.resumable import run_to_resume
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace

_SETTINGS_AT_ONCE = 100
"""Runs whose profiles are read in one piece of work: a twentieth of a second."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """What became of runs that were to go.

    Attributes:
        gone: They are in the bin, or deleted for good.
        binned: Those of them that are in the bin, where it said where.
        kept: Their file system has no bin.
        problems: Why others were not deleted.
    """

    gone: tuple[Path, ...]
    kept: tuple[Path, ...]
    problems: tuple[Problem, ...]
    for_good: bool
    binned: tuple[BinnedRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Restoration:
    """What became of runs that were to come back from the bin.

    Attributes:
        back: They are where they were.
        problems: Why others are not.
    """

    back: tuple[Path, ...]
    problems: tuple[Problem, ...]


class RunHistory(WorkerFacade):
    """Knows the runs of a folder; ``refused`` says why one was not named or deleted."""

    listed = Signal(object)
    """The runs, newest first: a tuple of :class:`RunSummary`."""
    unreadable = Signal(object)
    """The :class:`Problem` because of which they cannot be listed."""
    deleted = Signal(object)
    """What became of runs that were to go: a :class:`Deletion`."""

    restored = Signal(object)
    """What became of runs that were to come back: a :class:`Restoration`."""
    settingsRead = Signal(object)
    """What the listed runs were started with, once asked for: a mapping from the names of their
    directories to :class:`RunSettings`."""
    settingsUnreadable = Signal(object)
    """The :class:`Problem` because of which they cannot be shown."""
    toResumeFound = Signal(object)
    """The training that waits to be resumed: a :class:`RunSummary`; ``None``: none does."""
    pastSpeedFound = Signal(object)
    """How fast the same training was before: a :class:`PastSpeed`; ``None``: nobody knows."""

    def __init__(self, runs_dir: Path, parent: QObject | None = None) -> None:
        super().__init__("run history", parent)
        self._lister = RunLister(runs_dir)
        self._speeds = PastSpeeds()
        self._runs: tuple[RunSummary, ...] = ()
        self._is_reading = False
        self._is_asked_again = False
        self._settings_reader = RunSettingsReader()
        self._settings: dict[str, tuple[RunSummary, RunSettings]] = {}
        self._unread: list[RunSummary] = []
        """Runs whose settings are read next; when none are left it is looked for more."""
        self._are_settings_wanted = self._is_reading_settings = self._has_new_settings = False

    @Slot()
    def want_settings(self) -> None:
        """Read what each run was started with, now and whenever runs are listed."""
        if not self._are_settings_wanted:
            self._are_settings_wanted = self._has_new_settings = True
            self._read_settings()

    @Slot()
    def refresh(self) -> None:
        """List the runs anew; ``listed`` follows. Asked meanwhile, it is done once more after."""
        self._is_asked_again = self._is_reading
        if not self._is_reading:
            self._is_reading = True
            self.submit(self._lister.list, self._on_listed, self._on_unlisted)

    def find_past_speed(
        self, profile: Profile, device_keys: frozenset[str], inventory: DeviceInventory | None
    ) -> None:
        """Look for a run that trained the same on these devices; ``pastSpeedFound`` follows.

        Where no run did, a comparison of the devices of this machine may have measured it.
        """
        find = partial(self._speeds.find, profile, device_keys, self._runs, inventory)
        self.submit(find, self.pastSpeedFound.emit, self._on_no_speed)

    def find_run_to_resume(self) -> None:
        """Look for a training that waits to be resumed; ``toResumeFound`` follows."""
        self.submit(partial(run_to_resume, self._runs), self.toResumeFound.emit)

    def change_label(self, path: Path, before: RunLabel, after: RunLabel) -> None:
        """Write what was changed of a run's label; it is listed anew, or ``refused`` follows."""
        if after.changes_of(before):
            change = partial(workplace().change_label, RunLayout(path), before, after)
            self.submit(change, self._on_labelled, self._on_not_labelled)

    def delete(self, paths: tuple[Path, ...], *, for_good: bool = False) -> None:
        """Move runs to the bin, or delete them for good; ``deleted`` follows."""
        self.submit(partial(_delete, paths, for_good), self.deleted.emit)

    def restore(self, runs: tuple[BinnedRun, ...]) -> None:
        """Move runs back from the bin; ``restored`` follows."""
        self.submit(partial(_restore, runs), self.restored.emit)

    def _on_listed(self, runs: tuple[RunSummary, ...]) -> None:
        self._runs = runs
        self.listed.emit(runs)
        # Only now: read anew meanwhile, two threads would take turns, and the window's twice as
        # long.
        self._read()
        self._read_settings()

    def _read_settings(self) -> None:
        """Those of runs that are new or have changed, some at a time: others wait meanwhile."""
        if not self._are_settings_wanted or self._is_reading_settings:
            return
        known = self._settings
        if not self._unread:
            self._unread = [
                run for run in self._runs if run.name not in known or known[run.name][0] is not run
            ]
        if self._unread:
            self._is_reading_settings = True
            some = tuple(self._unread[-_SETTINGS_AT_ONCE:])
            del self._unread[-_SETTINGS_AT_ONCE:]
            read = partial(self._settings_reader.read, some)
            self.submit(read, partial(self._on_settings, some), self._on_no_settings)
            return
        if not self._has_new_settings and len(known) == len(self._runs):
            return
        self._has_new_settings = False
        self._settings = {run.name: known[run.name] for run in self._runs}
        self.settingsRead.emit({name: each for name, (_, each) in self._settings.items()})

    def _on_settings(self, runs: tuple[RunSummary, ...], settings: dict[str, RunSettings]) -> None:
        self._is_reading_settings = False
        self._has_new_settings = True
        self._settings |= {run.name: (run, settings[run.name]) for run in runs}
        self._read_settings()

    def _on_no_settings(self, problems: tuple[Problem, ...]) -> None:
        self._is_reading_settings = False
        self.settingsUnreadable.emit(problems[0])

    def _on_unlisted(self, problems: tuple[Problem, ...]) -> None:
        self._read()
        self.unreadable.emit(problems[0])

    def _on_no_speed(self, _problems: tuple[Problem, ...]) -> None:
        # Runs that cannot be read are shown as such in their list.
        self.pastSpeedFound.emit(None)

    def _on_labelled(self, _done: object) -> None:
        self.refresh()

    def _on_not_labelled(self, problems: tuple[Problem, ...]) -> None:
        self.refused.emit(problems)
        self.refresh()  # what stands there may be another window's

    def _read(self) -> None:
        self._is_reading = False
        if self._is_asked_again:
            self.refresh()


def _delete(paths: tuple[Path, ...], for_good: bool) -> Deletion:
    gone: list[Path] = []
    kept: list[Path] = []
    problems: list[Problem] = []
    desktop_bin = DesktopBin()
    for path in paths:
        try:
            is_gone = workplace().delete(RunLayout(path), None if for_good else desktop_bin.take)
        except Exception as error:  # noqa: BLE001 - the other runs are to go all the same
            problems += problems_of(error)
        else:
            (gone if is_gone else kept).append(path)
    binned = tuple(desktop_bin.taken)
    return Deletion(tuple(gone), tuple(kept), tuple(problems), for_good, binned)


def _restore(runs: tuple[BinnedRun, ...]) -> Restoration:
    back: list[Path] = []
    problems: list[Problem] = []
    for run in runs:
        try:
            restore_run(run)
        except Exception as error:  # noqa: BLE001 - the other runs are to come back all the same
            problems += problems_of(error)
        else:
            back.append(run.place)
    return Restoration(tuple(back), tuple(problems))


class DesktopBin:
    """The bin of the person's desktop, as the freedesktop.org trash specification has it.

    Attributes:
        taken: What it took, and where that is.
    """

    def __init__(self) -> None:
        self.taken: list[BinnedRun] = []

    def take(self, path: Path) -> bool:
        """Move a directory into it; false where its file system has no bin."""
        # Through a file of its own, which then knows its new place: the static function gives no
        # result in PySide6.
        file = QFile(str(path))
        if not file.moveToTrash():
            return False
        in_bin = Path(file.fileName())
        if in_bin != path:
            self.taken.append(BinnedRun(path, in_bin))
        return True
