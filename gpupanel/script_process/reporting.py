"""Figures of a training loop of one's own, drawn by gpupanel while it runs; nothing without it.

A copy of this file beside a program is all that it needs, in any Python:
``from reporting import report``, then ``report(step=i, loss=loss)``.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from typing import Any


class Report:
    """Call it with numbers, whose names are the curves; ``step`` and ``epoch`` say where."""

    def __init__(self) -> None:
        self._run = os.environ.get("GPUPANEL_RUN", "")
        self._written_s: dict[frozenset[str], float] = {}
        self._waiting: dict[frozenset[str], dict[str, Any]] = {}
        self._is_cut = False
        atexit.register(self._write_rest)

    def __call__(self, step: int | None = None, epoch: int | None = None, **figures: float) -> None:
        """Report figures; of the same names at most 20 times a second, and the last in any case."""
        names, now_s = frozenset(figures), time.monotonic()
        self._waiting[names] = {"step": step, "epoch": epoch, "figures": figures}
        if now_s - self._written_s.get(names, -1.0) >= 0.05:
            self._written_s[names] = now_s
            self._write("figures", **self._waiting.pop(names))

    def should_stop(self) -> bool:
        """Whether somebody asks to stop or to suspend: save in ``checkpoint_folder``, then end."""
        if not self._written_s.get(frozenset(), 0.0):
            self._written_s[frozenset()] = 1.0
            self._write("asks")
        asked = (os.path.join(self._run, "requests", name) for name in ("stop", "suspend"))
        return bool(self._run) and any(map(os.path.exists, asked))

    @property
    def checkpoint_folder(self) -> str | None:
        """Where to save what to continue from, and to look for it; ``None`` without gpupanel."""
        folder = os.path.join(self._run, "program")
        if self._run:
            os.makedirs(folder, exist_ok=True)
        return folder if self._run else None

    def _write_rest(self) -> None:
        for waiting in self._waiting.values():
            self._write("figures", **waiting)

    def _write(self, kind: str, figures: dict[str, float] | None = None, **values: object) -> None:
        if not self._run:
            return
        numbers = {name: float(value) for name, value in (figures or {}).items()}
        line = {"kind": kind, "time_s": time.time(), "figures": numbers, **values}
        # Of a line that found no room on the disk the end is missing: this one is not part of it.
        content = b"\n" * self._is_cut + json.dumps(line).encode() + b"\n"
        try:
            path = os.path.join(self._run, "reports.jsonl")
            file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(file, "ab", buffering=0) as opened:
                self._is_cut = (opened.write(content) or 0) < len(content)
        except OSError:
            return  # nobody listens, or the disk is full: no training ends for that


report = Report()
