"""The sweeps of a host as a window works with them: shown from copies, and asked there."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.files.guarded_files import make_folder, read_file, remove_folder, size_of
from gpupanel.hosts import code
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.here.link_problems import odd_file, too_large
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.hosts.here.paths import CopiedPaths
from gpupanel.hosts.here.received_files import ReceivedFiles
from gpupanel.hosts.operations.exports import FilePiece
from gpupanel.hosts.operations.sweeps import (
    START_SWEEP,
    SWEEP_ACT,
    SWEEPS,
    SweepOrder,
    SweepsFound,
    SweepsWanted,
    SweepToStart,
)
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import MOST_RECORD_BYTES
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.runs.user_sweeps import SweepsRead, UserSweeps


class HostSweeps:
    """One for each connection; its methods are those of ``UserSweeps``.

    Args:
        link: To the host.
        paths: Exchanges those of runs there for those of their copies.
        folder: Of the copied sweeps.
        take_trusted: The code that the person has trusted since the last order, once.
    """

    def __init__(
        self,
        link: Link,
        paths: CopiedPaths,
        folder: Path,
        take_trusted: Callable[[], Sequence[UserCode]],
    ) -> None:
        self._link, self._paths = link, paths
        self._folder, self._take_trusted = folder, take_trusted
        self._names: tuple[str, ...] = ()
        self._stamp = ""

    def read(self, name: str) -> SweepsRead:
        """All names, and the sweep of that name as it is now; empty: the newest.

        Without a connection, as they were copied last.

        Raises:
            ProblemError: The host says what is none of a sweep.
        """
        if self._link.state.kind is not LinkCondition.CONNECTED:
            return self._copied(name)
        found = self._asked(name)
        if found.name and found.name != name:
            found = self._asked(found.name)  # the newest, of which nothing was sent
        if not found.name:
            return SweepsRead((), None)
        layout = SweepLayout(self._folder / found.name)
        return SweepsRead.of(self._names, layout, is_known=found.is_known)

    def _copied(self, name: str) -> SweepsRead:
        sweeps = UserSweeps(self._folder.parent)
        names = sweeps.names()
        if not names:
            return SweepsRead((), None)
        layout = sweeps.layout(name if name in names else names[0])
        # Whether the queue there looks after it is not known now, and not asked for in vain.
        return SweepsRead.of(names, layout, is_known=True)

    def start(self, profile: Profile) -> str:
        """Start the profile's sweep there; the name of its folder.

        Raises:
            CodeNotTrustedError: The profile names Python code there that nobody trusted yet.
            ProblemError: It cannot be started.
        """
        trusted = tuple(map(code.told, self._take_trusted()))
        wanted = SweepToStart(profile=self._paths.document(profile), trusted=trusted)
        started = self._link.call(START_SWEEP, wanted)
        if started.untrusted:
            raise CodeNotTrustedError([*map(code.heard, started.untrusted)])
        return started.name

    def stop(self, name: str) -> None:
        """Begin no more trials of a sweep there, and stop those that go on."""
        self._link.call(SWEEP_ACT, SweepOrder(name=name, act="stop"))

    def resume(self, name: str) -> None:
        """Let a sweep there go on that the queue does not know any more."""
        self._link.call(SWEEP_ACT, SweepOrder(name=name, act="resume"))

    def _asked(self, name: str) -> SweepsFound:
        layout = SweepLayout(self._folder / name) if name else None
        wanted = SweepsWanted(
            name=name,
            profile="" if layout is None else _digest(layout),
            record_bytes=0 if layout is None else size_of(layout.record),
            stamp=self._stamp,
        )
        take = _refuse if layout is None else self._taking(layout)
        found = self._link.call(SWEEPS, wanted, on_part=take)
        if found.names is not None:
            self._names, self._stamp = found.names, found.stamp
            self._forget_others()
        return found

    def _forget_others(self) -> None:
        """Remove the copies of sweeps that are gone there."""
        with suppress(OSError):
            for path in self._folder.iterdir():
                if path.name not in self._names:
                    remove_folder(path)

    def _taking(self, layout: SweepLayout) -> Callable[[FilePiece], None]:
        """What copies the pieces of a sweep's two files."""
        for folder in (self._folder, layout.root):
            make_folder(folder)
        files, names = ReceivedFiles(layout.root), (layout.profile.name, layout.record.name)

        def take(piece: FilePiece) -> None:
            if piece.path not in names:
                _refuse(piece)
            if size_of(layout.root / piece.path) + len(piece.content) > MOST_RECORD_BYTES:
                raise ProblemError(too_large(layout.name, MOST_RECORD_BYTES))
            files.take(piece)

        return take


def _digest(layout: SweepLayout) -> str:
    try:
        return hashlib.sha256(read_file(layout.profile, layout.root)).hexdigest()
    except OSError:
        return ""


def _refuse(piece: FilePiece) -> None:
    raise ProblemError(odd_file(piece.path))
