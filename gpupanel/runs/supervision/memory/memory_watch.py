"""Watches the GPUs of a run until the memory that it held is back."""

import os
import threading
import time
from typing import Final

import psutil

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.events import Event, MemoryReturned, RunRestarted, TrainerStarted
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.runs.supervision.memory.held_memory import HeldMemory

LIMIT_S: Final = 5.0
"""The longest time that a run's end waits for its memory."""
SILENCE_S: Final = 2.0
"""As long as that at most for a driver that does not answer any more."""


class MemoryWatch:
    """Knows what a run holds of its GPUs, and waits until that is back.

    Samples come in from the thread that takes them; whoever waits never asks a driver itself. What
    was read before the end and what after it is known by a clock that nobody sets.

    Attributes:
        sample: The last one from before the end; ``None``: none was taken.
    """

    def __init__(self, plan: LaunchPlan) -> None:
        self._held = {
            device.key: HeldMemory(device.key)
            for device in plan.devices
            if device.kind is DeviceKind.GPU
        }
        self._pids: set[int] = set()
        self._is_ours: dict[tuple[int, float | None], bool] = {}
        self._news = threading.Condition()
        self._ended_s: float | None = None
        self.sample: TelemetrySample | None = None

    def notice(self, event: Event) -> None:
        """Take in what the supervisor reports of the run's processes."""
        with self._news:
            if isinstance(event, TrainerStarted):
                self._pids.add(event.pid)
            elif isinstance(event, RunRestarted):
                for held in self._held.values():
                    held.forget()

    def take(self, sample: TelemetrySample, begun_s: float) -> None:
        """Take in a sample.

        Args:
            sample: What the devices reported.
            begun_s: When they were first asked for it, as :func:`time.monotonic` has it.
        """
        now_s = time.monotonic()
        with self._news:
            self.sample = sample if self._ended_s is None else self.sample
            for key, held in self._held.items():
                reading = sample.reading(key)
                if reading is not None:
                    self._account(held, reading, now_s, begun_s)
            self._news.notify_all()

    def of_other_processes(self, key: str) -> tuple[int | None, tuple[DeviceProcess, ...]]:
        """What other processes hold of a GPU, in MiB (``None``: not known), and who they are."""
        with self._news:
            held = self._held.get(key)
            return (None, ()) if held is None else (held.other_processes_mib, held.other_processes)

    def is_of_the_run(self, process: DeviceProcess) -> bool:
        """Whether a process on a GPU is one of the run's."""
        with self._news:
            return self._is_of_the_run(process)

    def run_ended(self) -> bool:
        """Note that the last process has ended; whether there is memory to wait for."""
        with self._news:
            self._ended_s = time.monotonic()
            return any(held.held_mib for held in self._held.values())

    def wait(self) -> MemoryReturned | None:
        """Wait until the memory is back, after :meth:`run_ended`.

        Returns:
            What became of it; ``None`` when nothing is known.
        """
        begun_s = time.monotonic()
        with self._news:
            waited = [held for held in self._held.values() if held.held_mib]
            while (left_s := self._patience(waited, begun_s + LIMIT_S)) > 0.0:
                self._news.wait(left_s)
            seconds = time.monotonic() - begun_s
            known = [held for held in waited if held.is_settled or self._may_answer_s(held) > 0.0]
            returned = tuple(each for held in known if (each := held.returned()) is not None)
        if not returned:
            return None
        return MemoryReturned(time_s=time.time(), seconds=round(seconds, 3), devices=returned)

    def _patience(self, waited: list[HeldMemory], until_s: float) -> float:
        """How much longer to wait, in seconds."""
        missing = [held for held in waited if not held.is_settled]
        if not missing:
            return 0.0
        left_s = until_s - time.monotonic()
        return min(left_s, max(self._may_answer_s(held) for held in missing))

    def _may_answer_s(self, held: HeldMemory) -> float:
        """How much longer the GPU may be silent; below 0 where what it said is old."""
        said_s = held.answered_s or self._ended_s or 0.0
        return said_s + SILENCE_S - time.monotonic()

    def _account(
        self, held: HeldMemory, reading: DeviceReading, now_s: float, begun_s: float
    ) -> None:
        ours = tuple(process for process in reading.processes if self._is_of_the_run(process))
        # A slow driver answers late, and what is repeated for it may be from before the end.
        read_s = now_s - reading.age_s if reading.age_s else begun_s
        if self._ended_s is None:
            held.take(reading, ours)
        elif read_s >= self._ended_s:
            held.take_after(reading, ours, read_s)

    def _is_of_the_run(self, process: DeviceProcess) -> bool:
        identity = (process.pid, process.started_s)
        if identity not in self._is_ours:
            self._is_ours[identity] = self._descends(process.pid)
        return self._is_ours[identity]

    def _descends(self, pid: int) -> bool:
        """Whether it is one of the run's processes, or was started by one."""
        if pid in self._pids:
            return True
        try:
            if os.getpgid(pid) in self._pids:
                return True
            return any(parent.pid in self._pids for parent in psutil.Process(pid).parents())
        except (OSError, psutil.Error):
            return False  # it ended meanwhile, or is in another pid namespace
