"""Copying files of this machine to a host, by the person's own ``rsync`` over their own ``ssh``.

Nothing there is deleted, and of what is there already only what differs is sent. What a link leads
to is copied in its place, since it would lead to nothing there.
"""

import os
import re
import select
import signal
import stat
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.devices.child_process import last_bytes, memory_file
from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.hosts.here.copy_problems import (
    copy_cut,
    copy_problem,
    is_full,
    leads_in_a_circle,
    name_without_text,
    no_rsync_here,
    nothing_to_copy,
    some_not_copied,
    twice_the_same_name,
)
from gpupanel.hosts.here.ssh import ssh_words

_RSYNC: Final = (
    "rsync",
    *("--recursive", "--times", "--copy-links", "--chmod=u+rwX"),
    # A picture of which half has come is no picture: it has another name until it is whole.
    *("--partial", "--partial-dir=.gpupanel-copying"),
    # All are counted before the first is sent, and no name is read by a shell there.
    *("--no-inc-recursive", "--protect-args", "--no-human-readable"),
    *("--info=progress2", "--outbuf=N"),
)
_HOST: Final = "COPY_HOST"
_BYTES: Final = re.compile(rb"(?<!\d)(\d{1,18})\s+\d+%")
_SOME_FAILED: Final = (23, 24)
"""What rsync exits with where single files could not be read, or were gone by then (rsync(1))."""
_TELL_S: Final = 0.2
_END_S: Final = 3.0
_MOST_UNREAD: Final = 2**16


@dataclass(frozen=True, slots=True)
class CopySize:
    """How much is to be copied."""

    files: int = 0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CopyProgress:
    """How far it is.

    Attributes:
        bytes_done: Sent; in the end less than all where some was there already.
        fraction: Of all bytes, 0 to 1.
        bytes_per_s: Over the whole time.
        is_waiting: There is no connection; it goes on once there is one.
    """

    bytes_done: int = 0
    fraction: float = 0.0
    bytes_per_s: float = 0.0
    is_waiting: bool = False


def measured(
    paths: Sequence[Path], cancelled: Event, on_progress: Callable[[CopySize], object]
) -> CopySize:
    """Count what is to be copied.

    Args:
        paths: Files and folders.
        cancelled: Set, by any thread, when it is not wanted any more.
        on_progress: Called now and then with what was counted until then.

    Raises:
        ProblemError: A folder leads back into itself, two have the same name, one has none that a
            profile can name, or there is nothing.
    """
    name, times = Counter(path.name for path in paths).most_common(1)[0]
    if times > 1:
        raise ProblemError(twice_the_same_name(name))
    for path in paths:
        if path.name != path.name.encode(errors="replace").decode():
            raise ProblemError(name_without_text(path.name))
    files = size_bytes = 0
    told_s = time.monotonic()
    for found in _all_files(paths, ()):
        files, size_bytes = files + 1, size_bytes + found
        if cancelled.is_set():
            break
        if time.monotonic() - told_s > _TELL_S:
            told_s = time.monotonic()
            on_progress(CopySize(files, size_bytes))
    if not files:
        raise ProblemError(nothing_to_copy(paths))
    return CopySize(files, size_bytes)


def _all_files(paths: Sequence[str | Path], above: tuple[tuple[int, int], ...]) -> Iterator[int]:
    """The size of each file; links are followed, what is neither file nor folder is left out."""
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116 - there may be a million
            if stat.S_ISREG(status.st_mode):
                yield status.st_size
            if not stat.S_ISDIR(status.st_mode):
                continue
            with os.scandir(path) as entries:
                inside = [entry.path for entry in entries]
        except OSError:
            continue  # rsync says which could not be read
        identity = status.st_dev, status.st_ino
        if identity in above:
            raise ProblemError(leads_in_a_circle(Path(path)))
        yield from _all_files(inside, (*above, identity))


def copy_files(
    paths: Sequence[Path],
    host: str,
    folder: str,
    size: CopySize,
    cancelled: Event,
    on_progress: Callable[[CopyProgress], object],
    *,
    shares: bool = True,
    is_there: Callable[[], bool] = lambda: True,
) -> Problem | None:
    """Copy files and folders into a folder of the host; what was cut short goes on where it was.

    Args:
        paths: Absolute, each with a name of its own.
        host: As the person gives it to ``ssh``.
        folder: Absolute, and there.
        size: As :func:`measured` found it.
        cancelled: Set, by any thread, when it is not wanted any more: rsync is ended then.
        on_progress: Called now and then.
        shares: As of :func:`~gpupanel.hosts.here.ssh.ssh_command`.
        is_there: Whether the host is, for all that is known: rsync is ended where it is not, as it
            would wait for a shared connection for as long as that is there.

    Returns:
        A warning where some of them could not be read.

    Raises:
        ProblemError: They were not copied, and why.
    """
    command = (*_RSYNC, "-e", _shell(shares=shares), "--", *map(str, paths), f"there:{folder}/")
    with memory_file() as log:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=child_environment(_without_own(os.environ), {"LC_ALL": "C", _HOST: host}),
                cwd=WORKING_DIRECTORY,
                start_new_session=True,
            )
        except OSError as error:
            raise ProblemError(no_rsync_here(error)) from error
        try:
            was_there = _follow(process, size, cancelled, is_there, on_progress)
        finally:
            _end(process)
        said = last_lines(last_bytes(log).decode(errors="replace"))
    if cancelled.is_set() or process.returncode == 0:
        return None
    if not was_there:
        raise ProblemError(copy_cut(host, said))
    if process.returncode in _SOME_FAILED and not is_full(said):
        return some_not_copied(host, said)
    raise ProblemError(copy_problem(host, process.returncode, said))


def _follow(
    process: "subprocess.Popen[bytes]",
    size: CopySize,
    cancelled: Event,
    is_there: Callable[[], bool],
    on_progress: Callable[[CopyProgress], object],
) -> bool:
    """Until it ends, is not wanted any more, or the host is not there: false then."""
    assert process.stdout is not None
    begun_s = told_s = time.monotonic()
    descriptor, unread, progress = process.stdout.fileno(), b"", None
    while not cancelled.is_set():
        if not is_there():
            return False
        is_ready = select.select([descriptor], [], [], _TELL_S)[0]
        piece = os.read(descriptor, 2**16) if is_ready else b""
        unread = (unread + piece)[-_MOST_UNREAD:]
        now_s = time.monotonic()
        for found in _BYTES.finditer(unread):
            progress = _progress(int(found[1]), size, now_s - begun_s)
            unread = found.string[found.end() :]
        has_ended = is_ready and not piece
        # rsync may write nothing more for long: what it wrote last is told in any case.
        if progress is not None and (has_ended or now_s - told_s > _TELL_S):
            on_progress(progress)
            told_s, progress = now_s, None
        if has_ended:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)  # it is about to end by itself
            return True
    return True


def _shell(*, shares: bool) -> str:
    """What rsync starts in place of ``ssh``.

    It would read some of the names that ``ssh`` takes otherwise (``ssh://ada@lab:22``,
    ``fe80::1``): it is given another one, and ``ssh`` the name itself. Where it fails it ends its
    shell by SIGUSR1, often before the reason has come through.
    """
    ssh = ssh_words(shares=shares)
    return f"""sh -c 'trap "" USR1; shift; exec {ssh} -- "${_HOST}" "$@"' sh"""


def _progress(done: int, size: CopySize, passed_s: float) -> CopyProgress:
    fraction = min(1.0, done / max(1, size.size_bytes))
    return CopyProgress(done, fraction, done / max(passed_s, _TELL_S))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End rsync with its ssh, if they go on."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
            break
    if process.stdout is not None:
        process.stdout.close()


def _without_own(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables without those of rsync, of which one names another shell."""
    return {name: each for name, each in environment.items() if not name.startswith("RSYNC_")}
