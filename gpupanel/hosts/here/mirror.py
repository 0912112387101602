"""Copies of a host's runs in a folder here, which the window reads as it reads any folder of runs.

What a host says is as little believed as a run folder that came from a stranger: a name is one
folder's, files have known names and bounded sizes, and nothing outside of the copies is written. A
lock is held here for each run that goes on there, since that is how a run says that it lives.
"""

import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.appending import append_whole
from gpupanel.files.cache_folder import cache_folder
from gpupanel.files.guarded_files import (
    make_folder,
    read_file,
    remove,
    remove_folder,
)
from gpupanel.files.locks import lock_in_folder
from gpupanel.files.whole_files import write_whole
from gpupanel.hosts.here.link_problems import too_large
from gpupanel.hosts.operations.runs import PRESENT_FILES, RunOutline, RunPiece, ToldUpTo
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.runs.sweeps.sweep_layout import SWEEPS

_FILES: Final = re.compile(
    r"(profile(-\d{1,2})?|label)\.toml|(plan(-\d{1,2})?|data)\.json|(events|telemetry)\.jsonl"
    r"|trainer\.log|evaluation\.npz|validation-examples\.jsonl"
)
_CHECKPOINT: Final = re.compile(r"step-\d{1,20}")
_MOST_BYTES_A_RUN: Final = 512 * 2**20
_MOST_KNOWN_BYTES: Final = 32 * 2**20
_UNKNOWN: Final = ""
"""The stamp of a run that is to be told anew: one that goes on, or is copied otherwise."""
_WINDOWS: Final = 8
"""On one host at once, each with copies of its own."""


class Mirror:
    """The copies of one host's runs, for one window at a time.

    Args:
        host: As the person names it.

    Attributes:
        root: The folder of all copies of that host.
        runs_dir: The folder of the copied runs.
        state_dir: Where what is remembered for that host is kept.

    Raises:
        OSError: The folder cannot be made.
        ProblemError: Eight windows work on that host already.
    """

    def __init__(self, host: str) -> None:
        self.root, self._held = _own_folder(host)
        self.runs_dir, self.state_dir = self.root / "runs", self.root / "state"
        for folder in (self.runs_dir, self.state_dir):
            make_folder(folder)
        self._lock = threading.Lock()
        self._locks: dict[str, FileLock] = {}
        self._stamps = _read_stamps(self.root / "known.json")
        self._open: dict[str, OpenedCopy] = {}

    def stamps(self) -> dict[str, str]:
        """The runs that are copied, each with the stamp of its copy."""
        with self._lock:
            return dict(self._stamps)

    def take_outline(self, outline: RunOutline) -> None:
        """Copy what a list shows of a run.

        Raises:
            OSError: It cannot be written.
        """
        with self._lock:
            layout = RunLayout(self.runs_dir / outline.name)
            if outline.name == SWEEPS:
                return  # no run is called as the folder of sweeps
            make_folder(layout.root)
            opened = self._open.get(outline.name)
            for name, content in outline.files.items():
                # Of a run that is open the window reads more than the ends of its events.
                if _FILES.fullmatch(name) and (opened is None or name != layout.events.name):
                    write_whole(layout.root / name, content.encode("latin-1"), private=True)
                    _set_time(layout.root / name, outline.written_s.get(name, 0.0))
            if layout.label.name not in outline.files:
                remove(layout.label)
            self._take_checkpoints(layout, outline.folders)
            for name in PRESENT_FILES:
                path = layout.root / name
                if name in outline.present:
                    make_folder(path.parent)
                    write_whole(path, b"", private=True, within=layout.root)
                else:
                    remove(path, layout.root)
            self._set_running(layout, is_running=outline.is_running)
            self._stamps[outline.name] = _UNKNOWN if outline.is_running else outline.stamp

    def forget(self, name: str) -> None:
        """Remove the copy of a run that is gone there."""
        with self._lock:
            layout = RunLayout(self.runs_dir / name)
            if name == SWEEPS:
                return
            self._set_running(layout, is_running=False)
            self._stamps.pop(name, None)
            remove_folder(layout.root)

    def opened(self, name: str) -> "OpenedCopy":
        """The copy of a run whose files are told as they grow; the same as long as it is open."""
        with self._lock:
            if name not in self._open:
                self._open[name] = OpenedCopy(self, name)
            return self._open[name]

    def close_copy(self, name: str) -> None:
        """Let a copy be one of a list again; it keeps what it has."""
        with self._lock:
            self._open.pop(name, None)
            self._stamps[name] = _UNKNOWN

    def set_running(self, name: str, *, is_running: bool) -> None:
        """Say whether the supervisor of a run lives."""
        with self._lock:
            layout = RunLayout(self.runs_dir / name)
            if layout.root.is_dir():
                self._set_running(layout, is_running=is_running)

    def keep_stamps(self) -> None:
        """Remember what is copied for the next window.

        Raises:
            OSError: It cannot be written.
        """
        with self._lock:
            write_whole(self.root / "known.json", json.dumps(self._stamps), private=True)

    def close(self) -> None:
        """Let go of all locks; the copies stay for the next window."""
        with suppress(OSError):
            self.keep_stamps()
        with self._lock:
            for lock in self._locks.values():
                lock.release()
            self._locks.clear()
        self._held.release()

    def _take_checkpoints(self, layout: RunLayout, folders: tuple[str, ...]) -> None:
        """Folders without content: what they hold is used on the host alone."""
        wanted = {name for name in folders if _CHECKPOINT.fullmatch(name)}
        if wanted:
            make_folder(layout.checkpoints)
        with suppress(OSError):
            for path in layout.checkpoints.iterdir():
                if path.name not in wanted:
                    remove_folder(path)
        for name in wanted:
            make_folder(layout.checkpoints / name, layout.root)

    def _set_running(self, layout: RunLayout, *, is_running: bool) -> None:
        held = self._locks.get(layout.root.name)
        if is_running and held is None:
            with suppress(OSError, Timeout):
                self._locks[layout.root.name] = hold_run_lock(layout)
        elif held is not None and not is_running:
            del self._locks[layout.root.name]
            held.release()


class OpenedCopy:
    """The copy of a run that a window shows: its files as they are told, piece by piece.

    Args:
        mirror: Has the copy.
        name: Of the run.
    """

    def __init__(self, mirror: Mirror, name: str) -> None:
        self._mirror, self._name = mirror, name
        self._layout = RunLayout(mirror.runs_dir / name)
        self._told: dict[str, ToldUpTo] = {}
        self._waiting: dict[str, list[bytes]] = {}
        self._bytes = 0
        self.is_filled = threading.Event()
        self.users = 0
        """How many show it."""

    def told(self) -> Mapping[str, ToldUpTo]:
        """How far its growing files are copied; nothing before they were filled once."""
        self._waiting.clear()
        return dict(self._told) if self.is_filled.is_set() else {}

    def take(self, piece: RunPiece) -> None:
        """Copy a piece.

        Raises:
            OSError: It cannot be written.
            ProblemError: The run is larger than a copy may be.
        """
        if _FILES.fullmatch(piece.file):
            self._take_content(piece)
        if piece.is_running is not None:
            self._mirror.set_running(self._name, is_running=piece.is_running)
        if piece.is_filled:
            self.is_filled.set()

    def _take_content(self, piece: RunPiece) -> None:
        path = self._layout.root / piece.file
        if piece.is_gone:
            remove(path)
            return
        content = piece.content.encode("latin-1")
        self._bytes += len(content)
        if self._bytes > _MOST_BYTES_A_RUN:
            if self.is_filled.is_set():
                # One that is shown for days is told anew, of which few lines are left.
                self.is_filled.clear()
                self._told.clear()
                self._bytes = 0
            raise ProblemError(too_large(self._name, _MOST_BYTES_A_RUN))
        make_folder(self._layout.root)
        waiting = self._waiting.setdefault(piece.file, [])
        if piece.is_first:
            waiting.clear()
            self._told.pop(piece.file, None)
        waiting.append(content)
        if piece.has_more:
            return
        whole = b"".join(self._waiting.pop(piece.file))
        if piece.told is None:
            write_whole(path, whole, private=True)
            return
        if piece.file not in self._told:
            remove(path)
        # What was written of it goes where it fails: it is told again, and may not stand twice.
        append_whole(path, whole)
        self._told[piece.file] = piece.told


def _set_time(path: Path, written_s: float) -> None:
    """A list dates a run that has not begun by its files."""
    with suppress(OSError, OverflowError, ValueError):
        os.utime(path, (written_s, written_s), follow_symlinks=False)


def _own_folder(host: str) -> tuple[Path, FileLock]:
    """A folder of copies of that host that no other window uses, and the lock that says so."""
    above = cache_folder("hosts")
    readable = re.sub(r"[^A-Za-z0-9.-]", "-", host)[:40].lstrip(".-")
    name = f"{readable}-{hashlib.sha256(host.encode()).hexdigest()[:12]}"
    for number in range(1, _WINDOWS + 1):
        root = above / (name if number == 1 else f"{name}-{number}")
        make_folder(root)
        lock = lock_in_folder(root / "window.lock", 0.0)
        try:
            lock.acquire()
        except Timeout:
            continue
        return root, lock
    raise ProblemError(
        Problem(
            code="host_windows_too_many",
            message=f"{_WINDOWS} windows work on {host} already.",
            hint="Close one of them.",
        )
    )


def _read_stamps(path: Path) -> dict[str, str]:
    """What is copied already; where that is not known all is asked for anew."""
    try:
        found: Any = json.loads(read_file(path, most_bytes=_MOST_KNOWN_BYTES))
    except (OSError, ValueError, RecursionError):
        shutil.rmtree(path.parent / "runs", ignore_errors=True)
        make_folder(path.parent / "runs")
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: each for key, each in found.items() if isinstance(each, str)}
