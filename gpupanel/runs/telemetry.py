"""Samples of the devices, written beside the events of a run while it goes on."""

import threading
import time
from collections.abc import Callable

from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.runs.line_log import LineLog

SAMPLE_INTERVAL_S = 0.5
HURRIED_INTERVAL_S = 0.1

Listener = Callable[[TelemetrySample, float], None]
"""Called in the sampling thread with each sample, and when the devices were first asked for it."""


class TelemetryRecorder:
    """Writes ``telemetry.jsonl`` from a thread of its own, so that a slow driver delays nobody.

    Args:
        layout: The run.
        listener: Gets each sample, too.
    """

    def __init__(self, layout: RunLayout, listener: Listener) -> None:
        self._layout = layout
        self._listener = listener
        self._interval_s = SAMPLE_INTERVAL_S
        self._woken = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._record, name="telemetry", daemon=True)

    def start(self) -> None:
        """Start sampling."""
        self._thread.start()

    def hurry(self) -> None:
        """Sample at once, and more often from now on."""
        self._interval_s = HURRIED_INTERVAL_S
        self._woken.set()

    def stop(self, timeout_s: float = 2.0) -> None:
        """End sampling; a driver that does not answer is left behind."""
        self._ending.set()
        self._woken.set()
        self._thread.join(timeout_s)

    def _record(self) -> None:
        # Imported here: NVML and psutil load while the trainer already starts.
        from gpupanel.devices.sampler import DeviceSampler

        log = LineLog(self._layout.telemetry)
        with DeviceSampler() as sampler:
            while self._pause():
                begun_s = time.time()
                sample = sampler.sample()
                self._listener(sample, begun_s)
                try:
                    log.append(sample.model_dump_json())
                except OSError as error:
                    # Disk full: a gap in the curves, told by the trainer's own writes.
                    print(f"telemetry: {error}", flush=True)  # noqa: T201 - trainer.log
        log.close()

    def _pause(self) -> bool:
        """Wait until the next sample is due; whether there is to be one."""
        self._woken.wait(self._interval_s)
        self._woken.clear()
        return not self._ending.is_set()
