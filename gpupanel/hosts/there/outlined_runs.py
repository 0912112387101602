"""The runs of the host as a list shows them: what is new, has changed or is gone."""

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Final

from pydantic import ValidationError

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file, status
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.runs import PRESENT_FILES, KnownRuns, RunNews, RunOutline
from gpupanel.hosts.there.outlined_events import OutlinedEvents
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.locations import default_runs_dir

LOOK_S: Final = 1.0
_AGAIN_S: Final = 5.0
"""How often a run that goes on is told anew."""
_LOOKING_SHARE: Final = 0.05
"""Of a core, for looking at thousands of runs that have ended long ago."""
_MOST_BYTES: Final = 2**18
_FILES: Final = ("profile.toml", "plan.json", "label.toml")
_MOST_CHECKPOINTS: Final = 64

Say = Callable[[RunNews], None]


def tell_runs(known: KnownRuns, say: Say, dropped: Event) -> Nothing:
    """Tell which runs there are, newest first, and what becomes of them until nobody wants it.

    Args:
        known: What the window knows already: of runs that have not changed nothing is said.
        say: Called with what is new; it waits while the connection is slow.
        dropped: Set, by any thread, when nobody wants it any more.
    """
    watch = _RunsWatch(default_runs_dir(), dict(known.stamps))
    while True:
        watch.look(say, dropped)
        if dropped.wait(LOOK_S):
            return Nothing()


class _RunsWatch:
    def __init__(self, runs_dir: Path, stamps: dict[str, str]) -> None:
        self._runs_dir = runs_dir
        self._stamps = stamps
        self._running: dict[str, float] = {}
        """Those that go on, and when they were told last."""
        self._events: dict[str, OutlinedEvents] = {}
        """Of those that go on."""
        self._next_full_s = 0.0
        self._problem = ""

    def look(self, say: Say, dropped: Event) -> None:
        """Tell what has changed since the last look."""
        try:
            names = sorted(_names(self._runs_dir), reverse=True)
        except OSError as error:
            problem = disk_problem(error, self._runs_dir)
            if problem.message != self._problem:
                self._problem = problem.message
                say(RunNews(problem=problem))
            return
        self._problem = ""
        begun_s, is_full = time.monotonic(), time.monotonic() >= self._next_full_s
        for name in names:
            if dropped.is_set():
                return
            if is_full or name in self._running or name not in self._stamps:
                self._look_at(name, say)
        for name in self._stamps.keys() - set(names):
            del self._stamps[name]
            self._running.pop(name, None)
            self._events.pop(name, None)
            say(RunNews(gone=name))
        if is_full:
            took_s = time.monotonic() - begun_s
            self._next_full_s = time.monotonic() + max(LOOK_S, took_s / _LOOKING_SHARE)
            say(RunNews(is_whole=True))

    def _look_at(self, name: str, say: Say) -> None:
        layout = RunLayout(self._runs_dir / name)
        is_running, now_s = is_supervised(layout), time.monotonic()
        stamp = _stamp(layout, is_running=is_running)
        if stamp == self._stamps.get(name):
            return
        is_early = now_s - self._running.get(name, -_AGAIN_S) < _AGAIN_S
        if is_running and name in self._running and is_early:
            return
        events = self._events.setdefault(name, OutlinedEvents(layout))
        outline = _outline(layout, events, stamp, is_running=is_running)
        if not is_running:
            self._running.pop(name, None)
            del self._events[name]
        if outline is None:
            return
        self._stamps[name] = stamp
        if is_running:
            self._running[name] = now_s
        say(RunNews(outline=outline))


def _names(runs_dir: Path) -> list[str]:
    try:
        with os.scandir(runs_dir) as entries:
            return [
                entry.name
                for entry in entries
                # A link may lead to runs that are kept elsewhere, as it may in a list here.
                if not entry.name.startswith(".") and entry.is_dir()
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _stamp(layout: RunLayout, *, is_running: bool) -> str:
    found: list[object] = [is_running]
    for name in (layout.events.name, *_FILES, layout.checkpoints.name, *PRESENT_FILES):
        try:
            status = os.stat(f"{layout.root}/{name}", follow_symlinks=False)  # noqa: PTH116 - thousands
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return hashlib.sha256(repr(found).encode()).hexdigest()[:32]


def _outline(
    layout: RunLayout, events: OutlinedEvents, stamp: str, *, is_running: bool
) -> RunOutline | None:
    files: dict[str, str] = {}
    for name in _FILES:
        try:
            content = read_file(layout.root / name, most_bytes=_MOST_BYTES)
        except OSError:
            continue
        files[name] = content.decode("latin-1")
    with suppress(OSError):  # none yet, or none that is read
        files[layout.events.name] = events.told(is_running=is_running).decode("latin-1")
    if not files:
        return None  # a folder that is no run
    try:
        return RunOutline(
            name=layout.root.name,
            stamp=stamp,
            is_running=is_running,
            files=files,
            written_s={name: _written_s(layout.root / name) for name in files},
            folders=_checkpoints(layout),
            present=tuple(name for name in PRESENT_FILES if (layout.root / name).is_file()),
        )
    except ValidationError:
        return None  # a name that no window takes


def _written_s(path: Path) -> float:
    with suppress(OSError):
        if (found := status(path)) is not None:
            return found.st_mtime
    return 0.0  # it has gone meanwhile


def _checkpoints(layout: RunLayout) -> tuple[str, ...]:
    try:
        found = sorted(path.name for path in layout.checkpoints.glob("step-*"))
    except OSError:
        return ()
    return tuple(found[-_MOST_CHECKPOINTS:])
