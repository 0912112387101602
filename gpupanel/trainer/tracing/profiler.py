"""TensorFlow's profiler: started for a request, stopped into a folder of the run."""

import shutil
import time
from contextlib import suppress
from pathlib import Path

import tensorflow as tf

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.request import Request
from gpupanel.domain.trace import TraceRecord, TraceRequest
from gpupanel.files.guarded_files import remove, status
from gpupanel.files.named_descriptors import private_folder
from gpupanel.files.trace_files import (
    asked_trace,
    keep_trace,
    new_trace_folder,
    write_trace_record,
)
from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.tracing.cupti import cupti_error, missing_cupti


class Profiler:
    """Traces this process while somebody asks for it.

    The request is withdrawn when its trace is whole; one that its asker withdraws ends the trace,
    of which nothing is recorded. What the profiler cannot do stands in the record: it never ends
    a training.
    """

    def __init__(self, run: StartedRun) -> None:
        self._layout = run.layout
        self._place = run.place
        self._folder: Path | None = None
        self._written: Path | None = None
        self._begun_s = 0.0
        devices = run.plan.gang[run.place].devices
        self._has_gpus = any(each.kind is DeviceKind.GPU for each in devices)
        self._log = DeviceLog(run.layout.process_log(run.place))

    @property
    def is_tracing(self) -> bool:
        """Whether it goes on."""
        return self._folder is not None

    @property
    def seconds(self) -> float:
        """Since it was started."""
        return time.monotonic() - self._begun_s

    def asked(self) -> TraceRequest | None:
        """What is asked of this process."""
        # Without a file nothing is read: this is done between any two calls.
        request = asked_trace(self._layout) if self._is_asked() else None
        return request if request is not None and request.process == self._place else None

    def start(self) -> None:
        """Start to trace; where that cannot be, that is recorded."""
        self._begun_s = time.monotonic()
        folder = None
        try:
            folder = new_trace_folder(self._layout)
            # It makes folders of known names in there, and would follow links that lie under them.
            self._written = private_folder()
            tf.profiler.experimental.start(str(self._written))
        except Exception as error:  # noqa: BLE001 - TensorFlow's own, or what the system says
            if folder is not None:
                self._record(folder, problem=_not_traced(error))
            # Without a folder its asker sees that the request is gone.
            self._withdraw()
            self._clear()
            return
        self._folder = folder

    def finish(self, first_step: int | None = None, steps: int | None = None) -> None:
        """Stop, write the trace, and record what it holds.

        Args:
            first_step: Updates done before it began; ``None``: this process counts none.
            steps: Updates that it holds.
        """
        folder, self._folder = self._folder, None
        if folder is None:
            return
        seconds, problem = self.seconds, None
        try:
            tf.profiler.experimental.stop()
            if self._written is not None:
                keep_trace(self._written, folder, self._layout)
        except Exception as error:  # noqa: BLE001 - as above
            problem = _not_traced(error)
        self._clear()
        if self._is_asked():
            self._record(folder, seconds, first_step, steps, problem)
        self._withdraw()

    def _clear(self) -> None:
        if self._written is not None:
            shutil.rmtree(self._written, ignore_errors=True)
            self._written = None

    def is_withdrawn(self) -> bool:
        """Whether nobody wants the trace any more that goes on."""
        return self.is_tracing and not self._is_asked()

    def _is_asked(self) -> bool:
        with suppress(OSError):  # a folder that is none holds no requests
            return status(self._layout.requests / Request.TRACE, self._layout.root) is not None
        return False

    def _record(
        self,
        folder: Path,
        seconds: float = 0.0,
        first_step: int | None = None,
        steps: int | None = None,
        problem: Problem | None = None,
    ) -> None:
        record = TraceRecord(
            time_s=time.time(),
            process=self._place,
            first_step=first_step,
            steps=steps,
            seconds=seconds,
            problem=problem,
            missing_cupti=_missing_cupti() if self._has_gpus else "",
            cupti_error=cupti_error(self._log) if self._has_gpus else "",
        )
        # On a full disk its asker sees that the request is gone.
        with suppress(OSError):
            write_trace_record(folder, record, self._layout)

    def _withdraw(self) -> None:
        with suppress(OSError):
            remove(self._layout.requests / Request.TRACE, self._layout.root)


def _missing_cupti() -> str:
    cuda = str(tf.sysconfig.get_build_info().get("cuda_version") or "")
    return missing_cupti(cuda, Path(tf.__file__).parent.parent / "nvidia")


def _not_traced(error: Exception) -> Problem:
    return Problem(
        code="not_traced",
        severity=Severity.WARNING,
        message="TensorFlow's profiler could not trace the training, which continues.",
        hint="Is another profiler at work, such as TensorBoard's, or is the disk full? "
        "The detail has its own words.",
        detail=f"{type(error).__name__}: {error}",
    )
