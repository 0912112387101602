"""Whether CUPTI, by which TensorFlow's profiler traces GPUs, is there and did what it was to do."""

import re
from pathlib import Path
from typing import Final

from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.probe.libraries import find_cupti

_ERROR: Final = re.compile(r"\bCUPTI_ERROR_[A-Z0-9_]{1,64}\b")
"""As of "cuptiSubscribe: error 35: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES": ``cupti_error_manager.cc``
in ``xla/backends/profiler/gpu``; once something has failed it asks CUPTI nothing more."""
_NO_RIGHT: Final = ("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "CUPTI_ERROR_NOT_INITIALIZED")


def missing_cupti(cuda: str, wheels: Path) -> str:
    """The name of the library that TensorFlow wants and does not find; empty: it does.

    In its place TensorFlow takes that of another CUDA, if there is one, which fails or traces
    nothing. What it has found is loaded already, after it was to trace.

    Args:
        cuda: The version that TensorFlow was built for ("12.5.1"); empty: for none.
        wheels: The folder ``nvidia`` beside TensorFlow's package.
    """
    found = find_cupti(cuda, wheels)
    return "" if found is None or found.was_found else found.soname


def cupti_error(log: DeviceLog) -> str:
    """The error that says most of those in the log of this process; empty: there is none."""
    errors = _ERROR.findall(log.text())
    return next((each for each in _NO_RIGHT if each in errors), errors[0] if errors else "")
