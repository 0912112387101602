"""The queue of a host as a window works with it: told as it changes, and asked there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import profile_from_document
from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts import code
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.here.paths import CopiedPaths
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.queue import (
    QUEUE,
    QUEUE_ACT,
    EntryTakenOut,
    QueueDone,
    QueueNews,
    QueueWanted,
)
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.orders import RemovedEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.runs.trust.user_code import UserCode


class HostQueue:
    """One for each connection; its methods are those of ``UserQueue``.

    Args:
        link: To the host.
        paths: Exchanges those of runs there for those of their copies.
        take_trusted: The code that the person has trusted since the last order, once.
    """

    def __init__(
        self, link: Link, paths: CopiedPaths, take_trusted: Callable[[], Sequence[UserCode]]
    ) -> None:
        self._link, self._paths, self._take_trusted = link, paths, take_trusted
        self._line = WaitingLine()
        self._problems: tuple[Problem, ...] = ()
        self._changes = 0

    def begin(self) -> None:
        """Have it told from the first connection on."""
        self._link.follow(QUEUE, Nothing, self._take, self._take_refusal)

    def fingerprint(self) -> int | None:
        """Counts the changes; ``None``: nothing was told yet."""
        return self._changes or None

    def read(self) -> WaitingLine:
        """The queue as it was told last."""
        return self._line

    def problems(self, _line: WaitingLine) -> tuple[Problem, ...]:
        """What keeps it from working there."""
        return self._problems

    def wake(self) -> None:
        """Nothing: it is seen to there."""

    def profile(self, entry_id: str) -> tuple[int, Profile]:
        """The revision and the profile of an entry."""
        done = self._act(QueueWanted(act="profile", entry_id=entry_id))
        return done.revision, profile_from_document(done.profile or {})

    def add(self, profile: Profile, _runs_dir: Path) -> QueueEntry | None:
        """Let a run of the profile wait in the host's folder of runs."""
        return self._act(QueueWanted(act="add", profile=self._paths.document(profile))).entry

    def continue_run(self, layout: RunLayout, profile: Profile | None) -> QueueEntry | None:
        """Let a run of the host wait that is to go on."""
        document = None if profile is None else self._paths.document(profile)
        wanted = QueueWanted(act="continue", run=layout.root.name, profile=document)
        return self._act(wanted).entry

    def edit(self, entry_id: str, profile: Profile, revision: int) -> QueueEntry | None:
        """Give a waiting entry another profile."""
        document = self._paths.document(profile)
        wanted = QueueWanted(act="edit", entry_id=entry_id, profile=document, revision=revision)
        return self._act(wanted).entry

    def move(self, entry_id: str, place: int) -> None:
        """Put a waiting entry at another place, counted from 1."""
        self._act(QueueWanted(act="move", entry_id=entry_id, place=place))

    def take_out(self, entry_id: str) -> RemovedEntry | None:
        """Take an entry out; ``None``: it cannot be put back."""
        removed = self._act(QueueWanted(act="take_out", entry_id=entry_id)).removed
        return None if removed is None else removed.removed()

    def put_back(self, removed: RemovedEntry) -> None:
        """Let an entry that was taken out stand where it stood."""
        entry = self._paths.there(removed.entry.model_dump_json())
        told = replace(removed, entry=QueueEntry.model_validate_json(entry))
        self._act(QueueWanted(act="put_back", removed=EntryTakenOut.of(told)))

    def set_paused(self, *, paused: bool) -> None:
        """Start nothing any more, or go on."""
        self._act(QueueWanted(act="pause" if paused else "go_on"))

    def clear(self) -> None:
        """Take those out that have ended."""
        self._act(QueueWanted(act="clear"))

    def _act(self, wanted: QueueWanted) -> QueueDone:
        trusted = tuple(map(code.told, self._take_trusted()))
        wanted = wanted.model_copy(update={"trusted": trusted})
        done: QueueDone = self._link.call(QUEUE_ACT, wanted)
        if done.untrusted:
            raise CodeNotTrustedError([*map(code.heard, done.untrusted)])
        return done

    def _take(self, news: QueueNews) -> None:
        if news.line is not None:
            text = self._paths.here(news.line.model_dump_json())
            line = WaitingLine.model_validate_json(text)
            entries = tuple(map(self._of_copies, line.entries))
            self._line = line.model_copy(update={"entries": entries})
        self._problems = self._problems if news.problems is None else news.problems
        self._changes += 1

    def _of_copies(self, entry: QueueEntry) -> QueueEntry:
        """An entry whose run is a copy, or none: whatever else a host names is not opened here."""
        is_copy = entry.run is None or self._paths.is_copy(entry.run)
        return entry if is_copy else entry.model_copy(update={"run": None})

    def _take_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._problems = problems
        self._changes += 1
