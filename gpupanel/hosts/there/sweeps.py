"""Sweeps on the host: their files as they grow, and what a window asks of them."""

import hashlib
from collections.abc import Callable
from io import BytesIO
from threading import Event

from gpupanel.domain.profile_toml import profile_from_document
from gpupanel.files.guarded_files import open_to_read, read_file
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
        OSError: A sweep's files cannot be read.
    """
    sweeps = UserSweeps(default_runs_dir())
    found, chosen = sweeps.found(wanted.name)
    names = tuple(filter(_can_be_told, found))
    stamp = hashlib.sha256("/".join(names).encode()).hexdigest()[:32]
    if chosen is not None and chosen.root.name == wanted.name:
        _send(chosen, wanted, say, dropped)
    return SweepsFound(
        names=None if stamp == wanted.stamp else names,
        stamp=stamp,
        name="" if chosen is None else chosen.root.name,
        is_known=chosen is not None and sweeps.is_known(chosen),
    )


def _can_be_told(name: str) -> bool:
    """Whether it is UTF-8, and not hidden."""
    return not name.startswith(".") and name == name.encode(errors="replace").decode()


def _send(layout: SweepLayout, wanted: SweepsWanted, say: Say, dropped: Event) -> None:
    if not wanted.has_profile:
        profile = read_file(layout.profile, layout.root).decode("latin-1")
        say(FilePiece(path=layout.profile.name, content=profile, is_first=True))
    try:
        with open_to_read(layout.record, layout.root) as file:
            size = file.seek(0, 2)
            # One that is shorter than what is known is another one.
            known = wanted.record_bytes if wanted.record_bytes <= size else 0
            file.seek(known)
            new = file.read(MOST_RECORD_BYTES)
    except FileNotFoundError:
        return  # it is only just made
    # Half a line at the end may be another one by the next time.
    lines = BytesIO(new[: new.rfind(b"\n") + 1])
    send_file(lines, layout.record.name, say, dropped, is_first=not known)


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
