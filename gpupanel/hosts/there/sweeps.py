"""Sweeps on the host: their files as they grow, and what a window asks of them."""

import hashlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from threading import Event

from gpupanel.domain.profile_toml import profile_from_document
from gpupanel.files.guarded_files import read_file
from gpupanel.hosts import code
from gpupanel.hosts.operations.exports import FilePiece
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.sweeps import (
    SweepOrder,
    SweepsFound,
    SweepStarted,
    SweepsWanted,
    SweepToStart,
)
from gpupanel.hosts.there.exports import send_file
from gpupanel.runs.directory.profile_file import LARGEST_PROFILE_BYTES
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import MOST_RECORD_BYTES
from gpupanel.runs.trust.trusted import CodeNotTrustedError, trust
from gpupanel.runs.user_sweeps import UserSweeps

Say = Callable[[FilePiece], None]


def tell_sweeps(wanted: SweepsWanted, say: Say, dropped: Event) -> SweepsFound:
    """Send what is not known yet of the sweep of that name, if there is one, and name all.

    Raises:
        ProblemError: The folder of sweeps cannot be read.
    """
    sweeps = UserSweeps(default_runs_dir())
    names = tuple(filter(_can_be_told, sweeps.names()))
    name = wanted.name if wanted.name in names else next(iter(names), "")
    stamp = hashlib.sha256("/".join(names).encode()).hexdigest()[:32]
    if name and name == wanted.name:
        _send(sweeps.layout(name), wanted, say, dropped)
    return SweepsFound(
        names=None if stamp == wanted.stamp else names,
        stamp=stamp,
        name=name,
        is_known=bool(name) and sweeps.is_known(sweeps.layout(name)),
    )


def _can_be_told(name: str) -> bool:
    """Whether it is UTF-8, and not hidden."""
    return not name.startswith(".") and name == name.encode(errors="replace").decode()


def _send(layout: SweepLayout, wanted: SweepsWanted, say: Say, dropped: Event) -> None:
    """Send what has changed of its two files; one that is none, or cannot be read, is empty."""
    profile = _content(layout.profile, layout.root, LARGEST_PROFILE_BYTES)
    if hashlib.sha256(profile).hexdigest() != wanted.profile:
        content = profile.decode("latin-1")
        say(FilePiece(path=layout.profile.name, content=content, is_first=True))
    record = _content(layout.record, layout.root, MOST_RECORD_BYTES)
    # Half a line at the end may be another one by the next time.
    lines = record[: record.rfind(b"\n") + 1]
    # One that is shorter than what is known is another one.
    known = wanted.record_bytes if wanted.record_bytes <= len(lines) else 0
    if known < len(lines) or not known:
        send_file(BytesIO(lines[known:]), layout.record.name, say, dropped, is_first=not known)


def _content(path: Path, folder: Path, most_bytes: int) -> bytes:
    try:
        return read_file(path, folder, most_bytes)
    except OSError:
        return b""


def start_sweep(
    wanted: SweepToStart, _say: Callable[[Nothing], None], _dropped: Event
) -> SweepStarted:
    """Start a sweep on this machine as it is now.

    Raises:
        ProblemError: As :func:`gpupanel.runs.sweeps.starting.start_sweep` says it.
    """
    trust([*map(code.heard, wanted.trusted)])
    try:
        name = UserSweeps(default_runs_dir()).start(profile_from_document(wanted.profile))
    except CodeNotTrustedError as error:
        return SweepStarted(untrusted=tuple(map(code.told, error.code)))
    return SweepStarted(name=name)


def act_on_sweep(wanted: SweepOrder, _say: Callable[[Nothing], None], _dropped: Event) -> Nothing:
    """Stop a sweep, or let one go on.

    Raises:
        ProblemError: It cannot be done.
    """
    sweeps = UserSweeps(default_runs_dir())
    (sweeps.stop if wanted.act == "stop" else sweeps.resume)(wanted.name)
    return Nothing()
