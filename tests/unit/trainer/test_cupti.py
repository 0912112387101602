"""What a process says of CUPTI after its profiler was to trace GPUs."""

import subprocess
from pathlib import Path

import pytest

from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.tracing.cupti import cupti_error, missing_cupti
from tests.nvml.standin import compiler

# As TensorFlow 2.21 said it where the library is missing, the second time.
MISSING = """cupti_error_manager.cc:227] cuptiSubscribe: error 999: CUPTI_ERROR_UNKNOWN
cupti_error_manager.cc:256] cuptiGetResultString: ignored due to a previous error.
cupti_tracer.cc:1383] function Subscribe(&subscriber_, (CUpti_CallbackFunc)ApiCallback, this)failed
profiler_controller.cc:51] INTERNAL: CUPTI call error:
cupti_error_manager.cc:219] cuptiSubscribe: ignored due to a previous error.
"""
# As public reports have it.
NO_RIGHT = """cupti_tracer.cc:1408] function cupti_interface_->ActivityRegisterCallbacks( \
AllocCuptiActivityBuffer, FreeCuptiActivityBuffer)failed with error CUPTI_ERROR_INVALID_PARAMETER
cupti_tracer.cc:1441] function cupti_interface_->Subscribe( &subscriber_, \
(CUpti_CallbackFunc)ApiCallback, this)failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
"""


class Log(DeviceLog):
    def __init__(self, text: str) -> None:
        self._words = text

    def text(self) -> str:
        return self._words


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (MISSING, "CUPTI_ERROR_UNKNOWN"),
        (NO_RIGHT, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
        ("Profiler session started.", ""),
    ],
)
def test_that_the_error_that_says_most_is_kept(text: str, error: str) -> None:
    assert cupti_error(Log(text)) == error


def test_that_the_library_of_tensorflows_own_cuda_is_missed_by_its_name(tmp_path: Path) -> None:
    if Path("/usr/local/cuda-12").exists() or (found := compiler()) is None:
        pytest.skip("this machine has it, or no C compiler")
    folder = tmp_path / "cuda_cupti" / "lib"
    folder.mkdir(parents=True)
    assert missing_cupti("12.5.1", tmp_path) == "libcupti.so.12"
    # Of a CUDA whose libraries are not known, and without any, nothing is missed.
    assert missing_cupti("99.0", tmp_path) == missing_cupti("", tmp_path) == ""
    source = tmp_path / "here.c"
    source.write_text("int here;")
    command = [found, "-shared", "-o", str(folder / "libcupti.so.12"), str(source)]
    subprocess.run(command, check=True, timeout=60)
    assert missing_cupti("12.5.1", tmp_path) == ""
