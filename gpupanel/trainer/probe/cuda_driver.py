"""What the CUDA driver shows to this process, asked without TensorFlow and without memory.

``cuInit`` and the questions below make no context, so nothing of a GPU is taken. Signatures and
numbers are those of NVIDIA's ``cuda.h``.
"""

import ctypes
import uuid
from typing import Final

from gpupanel.domain.tensorflow_facts import CudaDevice, CudaFacts
from gpupanel.trainer.probe.libraries import DRIVER_LIBRARY

_MULTIPROCESSOR_COUNT: Final = 16
_CAPABILITY_MAJOR: Final = 75
_CAPABILITY_MINOR: Final = 76
_TEXT_BYTES: Final = 256
_UUID_BYTES: Final = 16


def cuda_facts(library: str = DRIVER_LIBRARY) -> CudaFacts | None:
    """The devices that CUDA lists here, or why it lists none; ``None`` without a driver.

    Args:
        library: The driver's, by name or path.
    """
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return None
    failure = int(driver.cuInit(0))
    if failure:
        return CudaFacts(error_code=failure, error=_words(driver, failure))
    count = ctypes.c_int()
    failure = int(driver.cuDeviceGetCount(ctypes.byref(count)))
    if failure:
        return CudaFacts(error_code=failure, error=_words(driver, failure))
    return CudaFacts(devices=tuple(_device(driver, index) for index in range(count.value)))


def _device(driver: ctypes.CDLL, index: int) -> CudaDevice:
    handle = ctypes.c_int()
    if driver.cuDeviceGet(ctypes.byref(handle), index):
        return CudaDevice(name="NVIDIA GPU")
    major = _attribute(driver, handle, _CAPABILITY_MAJOR)
    minor = _attribute(driver, handle, _CAPABILITY_MINOR)
    return CudaDevice(
        name=_text(driver.cuDeviceGetName, handle) or "NVIDIA GPU",
        uuid=_uuid(driver, handle),
        pci_bus_id=_text(driver.cuDeviceGetPCIBusId, handle),
        compute_capability=None if major is None or minor is None else (major, minor),
        multiprocessor_count=_attribute(driver, handle, _MULTIPROCESSOR_COUNT),
    )


def _attribute(driver: ctypes.CDLL, device: ctypes.c_int, attribute: int) -> int | None:
    value = ctypes.c_int()
    failure = driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
    return None if failure else value.value


def _text(question: "ctypes._NamedFuncPointer", device: ctypes.c_int) -> str | None:
    buffer = ctypes.create_string_buffer(_TEXT_BYTES)
    failure = question(buffer, _TEXT_BYTES, device)
    return None if failure else buffer.value.decode(errors="replace")


def _uuid(driver: ctypes.CDLL, device: ctypes.c_int) -> str | None:
    # The second version, of CUDA 11.4, gives that of a MIG instance and not of its GPU.
    question = getattr(driver, "cuDeviceGetUuid_v2", None) or driver.cuDeviceGetUuid
    buffer = ctypes.create_string_buffer(_UUID_BYTES)
    failure = question(buffer, device)
    return None if failure else f"GPU-{uuid.UUID(bytes=buffer.raw)}"


def _words(driver: ctypes.CDLL, failure: int) -> str:
    words = ctypes.c_char_p()
    if driver.cuGetErrorString(failure, ctypes.byref(words)) or words.value is None:
        return f"CUDA error {failure}"
    return f"{words.value.decode(errors='replace')} ({failure})"
