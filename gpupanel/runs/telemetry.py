"""Samples of the devices, written beside the events of a run while it goes on."""

import threading

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.line_log import LineLog

SAMPLE_INTERVAL_S = 0.5


class TelemetryRecorder:
    """Writes ``telemetry.jsonl`` from a thread of its own, so that a slow driver delays nobody."""

    def __init__(self, layout: RunLayout) -> None:
        self._layout = layout
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._record, name="telemetry", daemon=True)

    def start(self) -> None:
        """Start sampling."""
        self._thread.start()

    def stop(self, timeout_s: float = 2.0) -> None:
        """End sampling; a driver that does not answer is left behind."""
        self._ending.set()
        self._thread.join(timeout_s)

    def _record(self) -> None:
        # Imported here: NVML and psutil load while the trainer already starts.
        from gpupanel.devices.sampler import DeviceSampler

        log = LineLog(self._layout.telemetry)
        with DeviceSampler() as sampler:
            while not self._ending.wait(SAMPLE_INTERVAL_S):
                try:
                    log.append(sampler.sample().model_dump_json())
                except OSError as error:
                    # Disk full: a gap in the curves, told by the trainer's own writes.
                    print(f"telemetry: {error}", flush=True)  # noqa: T201 - trainer.log
        log.close()
